//! Validation of addresses, literal or resolved.

use ip_network::IpNetwork;

use super::*;
use crate::destination::REJECTED_NETWORKS;

/// addresses.
const REJECTED_ADDRESSES: &[&str] = &[
    "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 127.0.0.0 \
     127.255.255.255 169.254.0.0 169.254.169.254 169.254.255.255 100.64.0.0 100.127.255.255 \
     224.0.0.0 239.255.255.255 255.255.255.255 192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255 \
     203.0.113.0 203.0.113.255 198.18.0.0 198.19.255.255 0.0.0.0 0.255.255.255 240.0.0.0 \
     255.255.255.254 192.0.0.0 192.0.0.255 192.88.99.0 192.88.99.255",
    ":: ::1 fe80:: febf:ffff::1 fc00:: fdff:ffff::1 fec0:: feff:ffff::1 ff00:: ffff:ffff::1 \
     2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff::1 100:: \
     100::ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff::1 64:ff9b:: 64:ff9b::ffff:ffff 64:ff9b:1:: \
     64:ff9b:1:ffff::1 2001:: 2001:0:ffff:ffff::1 2001:2:: 2001:2:0:ffff::1 2001:10:: \
     2001:1f:ffff::1 2001:20:: 2001:2f:ffff::1 5f00:: 5f00:ffff::1 ::2 ::ffff:ffff ::ffff:10.0.0.1 \
     ::ffff:127.0.0.1 ::ffff:169.254.169.254",
    // Outside 2000::/3, whatever else it may be; and the rest of 2001::/23.
    "1fff:: 1fff:ffff::1 4000:: 4000::1 6000::1 8000::1 a000::1 c000::1 e000::1 1::1 2001:1::1 \
     2001:30::1 2001:1ff:ffff::1",
];

#[tokio::test]
async fn rejected_addresses_are_rejected_whether_written_or_resolved() {
    let addresses: Vec<&str> = REJECTED_ADDRESSES.iter().flat_map(|line| line.split(' ')).collect();
    for text in addresses {
        let address: IpAddr = text.parse().expect(text);
        assert!(!address_is_allowed(address, &Policy::strict()), "{text}");
        let in_development = address_is_allowed(address, &Policy::development());
        assert_eq!(in_development, address.is_loopback(), "{text}");
        let egress = Egress::with_resolver(Policy::strict(), Script::new([vec![PUBLIC, address]]));
        assert_eq!(
            egress.check("https://shop.example/").await,
            Err(DestinationRejection::Address),
            "{text}"
        );
    }
}

#[test]
fn every_rejected_network_parses_and_is_rejected_at_both_ends() {
    for text in REJECTED_NETWORKS {
        let network: IpNetwork = text.parse().expect(text);
        let (first, last) = match network {
            IpNetwork::V4(v4) => (v4.network_address().into(), v4.broadcast_address().into()),
            IpNetwork::V6(v6) => (IpAddr::V6(v6.network_address()), IpAddr::V6(v6.last_address())),
        };
        for address in [first, last] {
            assert!(!address_is_allowed(address, &Policy::strict()), "{address} in {text}");
            let allowed = address_is_allowed(address, &Policy::development());
            assert_eq!(allowed, address.is_loopback(), "{address} in {text}");
        }
    }
}

#[test]
fn the_neighbours_of_rejected_networks_are_allowed() {
    let neighbours =
        ["1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
     169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 \
     192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 \
     198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200::1 \
     2001:db7::1 2001:db9::1 2003::1 2606:4700:4700::1111 3ffe::1 3fff:1000::1"];
    for text in neighbours.iter().flat_map(|line| line.split(' ')) {
        assert!(address_is_allowed(text.parse().unwrap(), &Policy::strict()), "{text}");
    }
}

#[tokio::test]
async fn names_that_resolve_into_a_rejected_network_are_rejected() {
    let canary = Receiver::canary().await;
    let url = canary.url("shop.example");
    for text in REJECTED_NETWORKS {
        let network: IpNetwork = text.parse().unwrap();
        let bad = network.network_address();
        for answer in [vec![bad], vec![PUBLIC, bad], vec![bad, PUBLIC]] {
            let egress = Egress::with_resolver(no_loopback(), Script::new([answer]));
            assert_eq!(egress.check(&url).await, Err(DestinationRejection::Address), "{text}");
            let destination = Destination::parse(&url, &no_loopback()).unwrap();
            let sent = egress.send(post(destination)).await;
            assert_eq!(
                sent.unwrap_err(),
                SendError::Blocked(DestinationRejection::Address),
                "{text}"
            );
        }
    }
    assert_eq!(canary.connections().await, 0);
}

#[test]
fn ipv6_loopback_needs_the_policy() {
    let loopback = IpAddr::V6(Ipv6Addr::LOCALHOST);
    assert!(address_is_allowed(loopback, &Policy::development()));
    assert!(!address_is_allowed(loopback, &Policy::strict()));
}
