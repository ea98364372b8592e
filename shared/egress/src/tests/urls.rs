//! Validation of a URL's text.

use super::*;

/// Hosts that are an address, or hide one, in every spelling we know.
const LITERALS: &[&str] = &[
    // Loopback: canonical, short, zero-padded, decimal, octal, hex, mixed, and the rest of the /8.
    "127.0.0.1 127.1 127.0.1 127.00.00.01 127.000.000.001 2130706433 02130706433 017700000001 \
     0177.0.0.1 0177.0.0.01 0177.1 0x7f000001 0X7F000001 0x7f.1 0x7f.0.0.1 0x7f.0x0.0x0.0x1 \
     0x7F.0.0x0.01 127.0x1 127.0.0.1. 127.255.255.254 127.127.127.127 %31%32%37.0.0.1 \
     127%2e0%2e0%2e1 127.0.0.%31 １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 0177.0x0.0.1 localhost LOCALHOST \
     LocalHost. localhost. a.localhost loc%61lhost ｌocalhost",
    // IPv6 loopback, unspecified, and every way to wrap IPv4 in it.
    "[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::] [0::0] \
     [::ffff:127.0.0.1] [::FFFF:7f00:1] [0:0:0:0:0:ffff:7f00:0001] [::127.0.0.1] [::7f00:1] \
     [::ffff:0:127.0.0.1] [::ffff:8.8.8.8] [64:ff9b::127.0.0.1] [64:ff9b:1::a00:1] [2002:7f00:1::] \
     [2001:0:7f00:1::] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe]",
    // "This network", metadata services, private, CGNAT, multicast, reserved, broadcast.
    "0 0.0.0.0 0x0 00 0.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 \
     10.0.0.1 10.1 0xa000001 172.16.0.1 172.31.255.255 192.168.1.1 192.168.257 3232235777 \
     100.64.0.1 100.127.255.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 4294967295 \
     192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1",
    // IPv6 that is not global unicast.
    "[fe80::1] [febf::1] [fc00::1] [fd00:ec2::254] [fec0::1] [ff02::1] [2001:db8::1] [3fff::1] \
     [100::1] [2001::1] [2001:2::1] [2001:10::1] [2001:20::1] [5f00::1] [4000::1] [1fff::1] \
     [fe80::1%25eth0]",
    // Global, but still not a name.
    "8.8.8.8 134744072 [2606:4700:4700::1111] [2606:4700:4700:0:0:0:0:1111]",
    // Names of private networks.
    "printer.local metadata.google.internal host.docker.internal intranet local",
];

#[tokio::test]
async fn no_spelling_of_a_literal_is_accepted_or_connected_to() {
    let canary = Receiver::canary().await;
    // A name server that would lead every name to the canary, should one be asked.
    let lenient = Egress::with_resolver(no_loopback(), Script::new([vec![LOOPBACK]]));
    let hosts: Vec<&str> = LITERALS.iter().flat_map(|line| line.split(' ')).collect();
    assert!(hosts.len() >= 60);
    for host in hosts {
        let url = canary.url(host);
        let rejected = lenient.check(&url).await.expect_err(host);
        // Rejected for the host alone: by the text, before any resolver.
        assert_eq!(Destination::parse(&url, &no_loopback()), Err(rejected), "{host}");
        assert!(Destination::parse(&format!("https://{host}/"), &Policy::strict()).is_err());
        // Validated under a more lenient policy, it is validated again.
        if let Ok(destination) = Destination::parse(&url, &Policy::development()) {
            assert_eq!(lenient.send(post(destination)).await.unwrap_err(), rejected.into());
        }
    }
    assert_eq!(canary.connections().await, 0);
}

#[test]
fn literals_are_rejected_with_the_code_that_says_why() {
    let code =
        |host| Destination::parse(&format!("https://{host}/"), &Policy::strict()).unwrap_err();
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "db.internal"] {
        assert_eq!(code(host).code(), "blocked_address", "{host}");
    }
    for host in ["8.8.8.8", "[2606:4700:4700::1111]", "intranet", "example.com.", "a..b"] {
        assert_eq!(code(host).code(), "invalid_url", "{host}");
    }
}

#[test]
fn only_loopback_literals_are_allowed_in_development() {
    let policy = Policy::development();
    for host in ["127.0.0.1:3000", "127.1", "[::1]:8080", "localhost:9", "shop.localhost"] {
        assert!(Destination::parse(&format!("http://{host}/"), &policy).is_ok(), "{host}");
    }
    for host in ["10.0.0.1", "8.8.8.8", "[::ffff:127.0.0.1]", "0.0.0.0", "a.internal", "a.local"] {
        assert!(Destination::parse(&format!("http://{host}/"), &policy).is_err(), "{host}");
    }
}

#[test]
fn urls_are_validated_by_their_text() {
    use DestinationRejection::{Fragment, HostName, Malformed, Port, Scheme, TooLong, UserInfo};
    let long = format!("https://example.com/{}", "a".repeat(2048));
    let cases = [
        ("", Malformed),
        ("example.com", Malformed),
        ("https:example.com", Malformed),
        ("https:/example.com", Malformed),
        ("//example.com/", Malformed),
        ("https://", HostName),
        ("https:///example.com/", HostName),
        ("https://?x", HostName),
        (" https://example.com/", Malformed),
        ("https://exa\tmple.com/", Malformed),
        ("https://example.com/\r\nx: y", Malformed),
        ("https://example.com/\u{7f}", Malformed),
        ("https://example.com\\@evil.example/", Malformed),
        ("https://example.com:99999/", Malformed),
        ("https://exa<mple.com/", Malformed),
        ("http://example.com/", Scheme),
        ("ftp://example.com:443/", Scheme),
        ("file:///etc/passwd", HostName),
        ("gopher://example.com:443/", Scheme),
        ("https://user@example.com/", UserInfo),
        ("https://:pass@example.com/", UserInfo),
        ("https://@example.com/", UserInfo),
        ("https://example.com/#", Fragment),
        ("https://example.com/#x", Fragment),
        ("https://example.com:80/", Port),
        ("https://example.com:22/", Port),
        ("https://example.com:0/", Port),
        (long.as_str(), TooLong),
    ];
    for (text, rejection) in cases {
        assert_eq!(Destination::parse(text, &Policy::strict()), Err(rejection), "{text:?}");
    }
    for text in
        ["https://example.com", "HTTPS://Example.COM:8443/a?b=c@d", "https://bücher.example/"]
    {
        assert!(Destination::parse(text, &Policy::strict()).is_ok(), "{text:?}");
    }
}

#[test]
fn a_url_has_as_many_bytes_as_are_allowed_and_not_one_more() {
    let of = |bytes: usize| format!("https://example.com/{}", "a".repeat(bytes - 20));
    let validated = |bytes: usize| Destination::parse(&of(bytes), &Policy::strict());
    assert_eq!(validated(2048).unwrap().as_str(), of(2048));
    assert_eq!(validated(2049), Err(DestinationRejection::TooLong));
}

#[test]
fn a_destination_is_known_by_its_host_and_requested_in_normal_form() {
    let text = "HTTPS://Example.COM:8443/a?b=c";
    let destination = Destination::parse(text, &Policy::strict()).unwrap();
    assert_eq!(destination.host(), "example.com");
    assert_eq!(destination.as_str(), "https://example.com:8443/a?b=c");
}

#[test]
fn each_rejection_and_failure_has_its_own_message() {
    let said: std::collections::BTreeSet<String> = [
        DestinationRejection::TooLong,
        DestinationRejection::Malformed,
        DestinationRejection::Scheme,
        DestinationRejection::UserInfo,
        DestinationRejection::Fragment,
        DestinationRejection::Port,
        DestinationRejection::HostName,
        DestinationRejection::Literal,
        DestinationRejection::LocalName,
        DestinationRejection::Address,
        DestinationRejection::Unresolvable,
    ]
    .map(|rejection| rejection.to_string())
    .into();
    assert!(said.len() == 11 && said.iter().all(|text| text.starts_with("The URL")), "{said:?}");
    let blocked = SendError::Blocked(DestinationRejection::Address);
    assert_eq!(blocked.to_string(), DestinationRejection::Address.to_string());
    assert!(SendError::Timeout.to_string().contains("in time"));
}

#[test]
fn a_receiver_is_its_host_in_normal_form_and_its_port() {
    for (url, receiver) in [
        ("https://Hooks.Example.com/secret?token=1", "hooks.example.com"),
        ("https://hooks.example.com:443/", "hooks.example.com"),
        ("https://hooks.example.com./", "hooks.example.com"),
        ("https://hooks.example.com:8443/a", "hooks.example.com:8443"),
        ("http://127.0.0.1:3000/", "127.0.0.1:3000"),
        ("nonsense", ""),
    ] {
        assert_eq!(Destination::receiver_of(url), receiver, "{url}");
    }
}
