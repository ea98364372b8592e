//! What a hostile URL, a hostile name server and a hostile receiver can do: nothing.

#![expect(clippy::disallowed_methods, reason = "receivers of a test run beside it")]

use std::{
    collections::VecDeque,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use ip_network::IpNetwork;

use super::destination::REFUSED_NETWORKS;
use super::*;

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A listener that answers with `behave` and counts who came.
struct Receiver {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start<F, R>(behave: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(behave(stream));
            }
        });
        Self { port, connections }
    }

    /// Answers every request with these bytes.
    async fn answering(answer: &'static str) -> Self {
        Self::start(move |mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await
    }

    /// Accepts everything, and keeps its connections open for more.
    async fn canary() -> Self {
        Self::start(|mut stream| async move {
            while !read_head(&mut stream).await.is_empty() {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer).await.unwrap();
            }
        })
        .await
    }

    fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/hook", self.port)
    }

    async fn connections(&self) -> usize {
        // Whatever was dialled is in the backlog by now; let the accept loop see it.
        tokio::time::sleep(Duration::from_millis(30)).await;
        self.connections.load(Ordering::SeqCst)
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// A name server that gives these answers in turn, and the last of them for ever.
struct Script(Mutex<VecDeque<Vec<IpAddr>>>);

impl Script {
    fn new<const N: usize>(answers: [Vec<IpAddr>; N]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(answers.into())))
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        let mut answers = self.0.lock().unwrap();
        let last = answers.len() == 1;
        let answer = if last { answers.front().cloned() } else { answers.pop_front() };
        Box::pin(std::future::ready(answer.ok_or_else(|| io::Error::other("no answer"))))
    }
}

/// A name server that never answers.
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        Box::pin(std::future::pending())
    }
}

/// As in production, but over http and on any port: whatever stops a request is its address.
fn no_loopback() -> Policy {
    Policy { allow_loopback: false, ..Policy::development() }
}

fn post(destination: Destination) -> Outgoing {
    Outgoing {
        method: Method::POST,
        destination,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        deadline: Duration::from_secs(5),
        max_body: 16 * 1024,
    }
}

/// Sends to a receiver on this machine, as development may.
async fn send_to(receiver: &Receiver, deadline: Duration) -> Result<Incoming, SendError> {
    let egress = Egress::new(Policy::development());
    let destination = egress.check(&receiver.url("127.0.0.1")).await.unwrap();
    egress.send(Outgoing { deadline, ..post(destination) }).await
}

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
        let refused = lenient.check(&url).await.expect_err(host);
        // Refused for the host alone: by the text, before any resolver.
        assert_eq!(Destination::parse(&url, &no_loopback()), Err(refused), "{host}");
        assert!(Destination::parse(&format!("https://{host}/"), &Policy::strict()).is_err());
        // Judged under a more lenient policy, it is judged again.
        if let Ok(destination) = Destination::parse(&url, &Policy::development()) {
            assert_eq!(lenient.send(post(destination)).await.unwrap_err(), refused.into());
        }
    }
    assert_eq!(canary.connections().await, 0);
}

#[test]
fn literals_are_refused_with_the_code_that_says_why() {
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
fn urls_are_judged_by_their_text() {
    use Refusal::{Fragment, HostName, Malformed, Port, Scheme, TooLong, UserInfo};
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
    for (text, refusal) in cases {
        assert_eq!(Destination::parse(text, &Policy::strict()), Err(refusal), "{text:?}");
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
    let judged = |bytes: usize| Destination::parse(&of(bytes), &Policy::strict());
    assert_eq!(judged(2048).unwrap().as_str(), of(2048));
    assert_eq!(judged(2049), Err(Refusal::TooLong));
}

#[test]
fn a_destination_is_known_by_its_host_and_requested_in_normal_form() {
    let text = "HTTPS://Example.COM:8443/a?b=c";
    let destination = Destination::parse(text, &Policy::strict()).unwrap();
    assert_eq!(destination.host(), "example.com");
    assert_eq!(destination.as_str(), "https://example.com:8443/a?b=c");
}

#[test]
fn each_refusal_and_each_failure_says_what_it_was() {
    let said: std::collections::BTreeSet<String> = [
        Refusal::TooLong,
        Refusal::Malformed,
        Refusal::Scheme,
        Refusal::UserInfo,
        Refusal::Fragment,
        Refusal::Port,
        Refusal::HostName,
        Refusal::Literal,
        Refusal::LocalName,
        Refusal::Address,
        Refusal::Unresolvable,
    ]
    .map(|refusal| refusal.to_string())
    .into();
    assert!(said.len() == 11 && said.iter().all(|text| text.starts_with("The URL")), "{said:?}");
    let blocked = SendError::Blocked(Refusal::Address);
    assert_eq!(blocked.to_string(), Refusal::Address.to_string());
    assert!(SendError::Timeout.to_string().contains("in time"));
}

/// docs/conventions.md §11 once more, written independently of the table under test: first and last
/// addresses.
const REFUSED_ADDRESSES: &[&str] = &[
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
async fn refused_addresses_are_refused_whether_written_or_resolved() {
    let addresses: Vec<&str> = REFUSED_ADDRESSES.iter().flat_map(|line| line.split(' ')).collect();
    for text in addresses {
        let address: IpAddr = text.parse().expect(text);
        assert!(!address_is_allowed(address, &Policy::strict()), "{text}");
        let in_development = address_is_allowed(address, &Policy::development());
        assert_eq!(in_development, address.is_loopback(), "{text}");
        let egress = Egress::with_resolver(Policy::strict(), Script::new([vec![PUBLIC, address]]));
        assert_eq!(egress.check("https://shop.example/").await, Err(Refusal::Address), "{text}");
    }
}

#[test]
fn every_refused_network_parses_and_is_refused_at_both_ends() {
    for text in REFUSED_NETWORKS {
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
fn the_neighbours_of_refused_networks_are_allowed() {
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
async fn names_that_resolve_into_a_refused_network_are_refused() {
    let canary = Receiver::canary().await;
    let url = canary.url("shop.example");
    for text in REFUSED_NETWORKS {
        let network: IpNetwork = text.parse().unwrap();
        let bad = network.network_address();
        for answer in [vec![bad], vec![PUBLIC, bad], vec![bad, PUBLIC]] {
            let egress = Egress::with_resolver(no_loopback(), Script::new([answer]));
            assert_eq!(egress.check(&url).await, Err(Refusal::Address), "{text}");
            let destination = Destination::parse(&url, &no_loopback()).unwrap();
            let sent = egress.send(post(destination)).await;
            assert_eq!(sent.unwrap_err(), SendError::Blocked(Refusal::Address), "{text}");
        }
    }
    assert_eq!(canary.connections().await, 0);
}

#[tokio::test]
async fn a_name_that_rebinds_after_its_check_is_refused() {
    let canary = Receiver::canary().await;
    let script = Script::new([vec![PUBLIC], vec![LOOPBACK]]);
    let egress = Egress::with_resolver(no_loopback(), script);
    let destination = egress.check(&canary.url("rebind.example")).await.unwrap();
    for _ in 0..3 {
        let sent = egress.send(post(destination.clone())).await;
        assert_eq!(sent.unwrap_err().class(), "blocked_address");
    }
    assert_eq!(canary.connections().await, 0);
}

#[tokio::test]
async fn a_name_is_resolved_and_connected_anew_for_every_request() {
    let canary = Receiver::canary().await;
    let script =
        Script::new([vec![LOOPBACK], vec![LOOPBACK], vec![Ipv4Addr::new(10, 0, 0, 1).into()]]);
    let egress = Egress::with_resolver(Policy::development(), script);
    let destination = Destination::parse(&canary.url("shop.example"), egress.policy()).unwrap();
    assert_eq!(egress.send(post(destination.clone())).await.unwrap().status, 200);
    assert_eq!(egress.send(post(destination.clone())).await.unwrap().status, 200);
    assert_eq!(egress.send(post(destination)).await.unwrap_err().class(), "blocked_address");
    assert_eq!(canary.connections().await, 2);
}

#[tokio::test]
async fn a_kept_connection_is_used_again_only_where_the_name_leads_to_the_same_judged_addresses() {
    let canary = Receiver::canary().await;
    let other = Ipv4Addr::new(127, 0, 0, 2);
    let elsewhere = TcpListener::bind((other, canary.port)).await.unwrap();
    let both = vec![LOOPBACK, other.into()];
    let script = Script::new([
        vec![LOOPBACK],
        vec![LOOPBACK],
        both.clone(),
        both.into_iter().rev().collect(),
        vec![other.into()],
        vec![LOOPBACK, Ipv4Addr::new(10, 0, 0, 1).into()],
    ]);
    let egress = Egress::with_resolver(Policy::development(), script);
    let destination = Destination::parse(&canary.url("shop.example"), egress.policy()).unwrap();
    let send = || egress.send_kept(post(destination.clone()));
    for connections in [1, 1, 2, 2] {
        assert_eq!(send().await.unwrap().status, 200);
        assert_eq!(canary.connections().await, connections);
    }
    // The name has moved: whoever is there now is connected to, and nobody else asked.
    let (sent, accepted) = tokio::join!(send(), async {
        let (mut stream, _) = elsewhere.accept().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        stream
    });
    assert_eq!(sent.unwrap().status, 204);
    drop(accepted);
    // A connection to where it may not lead is of no use, although one to the canary is left.
    for _ in 0..2 {
        assert_eq!(send().await.unwrap_err(), SendError::Blocked(Refusal::Address));
    }
    assert_eq!(canary.connections().await, 2);
    assert_eq!(egress.kept.len(), 1);
}

#[tokio::test]
async fn receivers_on_other_ports_and_under_other_names_have_connections_of_their_own() {
    let (one, two) = (Receiver::canary().await, Receiver::canary().await);
    let egress = Egress::with_resolver(Policy::development(), Script::new([vec![LOOPBACK]]));
    let send = |url: String| {
        let destination = Destination::parse(&url, egress.policy()).unwrap();
        egress.send_kept(post(destination))
    };
    for (url, made) in [
        (one.url("a.example"), (1, 0)),
        (one.url("b.example"), (2, 0)),
        (two.url("a.example"), (2, 1)),
    ] {
        for _ in 0..3 {
            assert_eq!(send(url.clone()).await.unwrap().status, 200);
            assert_eq!((one.connections().await, two.connections().await), made);
        }
    }
    for number in 0..100 {
        send(one.url(&format!("{number}.example"))).await.unwrap();
    }
    assert_eq!(egress.kept.len(), 64);
}

#[tokio::test]
async fn what_was_cut_off_leaves_no_connection() {
    let flood = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nx";
    let receiver = Receiver::answering(flood).await;
    let egress = Egress::new(Policy::development());
    let destination = egress.check(&receiver.url("127.0.0.1")).await.unwrap();
    for connections in 1..=3 {
        let request = Outgoing { max_body: 0, ..post(destination.clone()) };
        let answer = egress.send_kept(request).await.unwrap();
        assert!(answer.truncated && answer.body.is_empty());
        assert_eq!(receiver.connections().await, connections);
    }
}

#[tokio::test]
async fn names_without_an_address_are_dns_errors() {
    let url = "https://nothing.example/";
    for resolver in [Script::new([vec![]]), Script::new([])] {
        let egress = Egress::with_resolver(Policy::strict(), resolver);
        assert_eq!(egress.check(url).await, Err(Refusal::Unresolvable));
        let destination = Destination::parse(url, egress.policy()).unwrap();
        assert_eq!(egress.send(post(destination)).await.unwrap_err(), SendError::Dns);
    }
}

#[tokio::test]
async fn a_resolver_that_hangs_ends_with_the_deadline() {
    let egress = Egress::with_resolver(Policy::strict(), Arc::new(Silent));
    let destination = Destination::parse("https://silent.example/", egress.policy()).unwrap();
    let short = Outgoing { deadline: Duration::from_millis(100), ..post(destination.clone()) };
    assert_eq!(in_time(egress.send(short)).await.unwrap_err(), SendError::Timeout);
    let (sent, checked) =
        tokio::join!(egress.send(post(destination)), egress.check("https://silent.example/"));
    assert_eq!(sent.unwrap_err(), SendError::Dns);
    assert_eq!(checked, Err(Refusal::Unresolvable));
}

#[tokio::test]
async fn development_reaches_loopback_with_the_exact_bytes() {
    let receiver = Receiver::start(|mut stream| async move {
        let head = read_head(&mut stream).await.to_lowercase();
        assert!(head.starts_with("post /hook http/1.1\r\n"), "{head}");
        assert!(head.contains("content-length: 2\r\n"), "{head}");
        assert!(!head.contains("accept-encoding"), "{head}");
        let mut body = [0; 2];
        stream.read_exact(&mut body).await.unwrap();
        assert_eq!(&body, b"{}");
        stream
            .write_all(b"HTTP/1.1 201 Created\r\nx-a: b\r\ncontent-length: 4\r\n\r\ndone")
            .await
            .unwrap();
    })
    .await;
    for host in ["127.0.0.1", "localhost", "127.1"] {
        let egress = Egress::new(Policy::development());
        let destination = egress.check(&receiver.url(host)).await.unwrap();
        let incoming = egress.send(post(destination)).await.unwrap();
        assert_eq!((incoming.status, incoming.truncated), (201, false));
        assert_eq!(incoming.headers["x-a"], "b");
        assert_eq!(&incoming.body[..], b"done");
    }
    assert_eq!(receiver.connections().await, 3);
}

#[tokio::test]
async fn redirects_are_answers() {
    let canary = Receiver::canary().await;
    let location = canary.url("127.0.0.1");
    let answer = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let receiver = Receiver::answering(answer.leak()).await;
    let incoming = send_to(&receiver, Duration::from_secs(5)).await.unwrap();
    assert_eq!(incoming.status, 302);
    assert_eq!(incoming.headers["location"], location);
    assert_eq!(canary.connections().await, 0);
}

#[tokio::test]
async fn a_receiver_that_hangs_ends_with_the_deadline() {
    let receiver = Receiver::start(|mut stream| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let sent = in_time(send_to(&receiver, Duration::from_millis(200))).await;
    assert_eq!(sent.unwrap_err(), SendError::Timeout);
}

#[tokio::test]
async fn a_receiver_that_drips_ends_with_the_deadline() {
    // Once in the headers, once in the body.
    for head in ["HTTP/1.1 200 OK\r\nx-long: ", "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"] {
        let receiver = Receiver::start(move |mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let sent = in_time(send_to(&receiver, Duration::from_millis(300))).await;
        assert_eq!(sent.unwrap_err(), SendError::Timeout);
    }
}

#[tokio::test]
async fn a_huge_body_is_cut_and_its_connection_dropped() {
    let (hung_up, when) = tokio::sync::oneshot::channel();
    let hung_up = Arc::new(Mutex::new(Some(hung_up)));
    let receiver = Receiver::start(move |mut stream| {
        let hung_up = Arc::clone(&hung_up);
        async move {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut written = 0;
            while stream.write_all(&[b'x'; 8192]).await.is_ok() {
                written += 8192;
            }
            hung_up.lock().unwrap().take().unwrap().send(written).unwrap();
        }
    })
    .await;
    let incoming = send_to(&receiver, Duration::from_secs(5)).await.unwrap();
    assert_eq!((incoming.status, incoming.truncated), (200, true));
    assert_eq!(incoming.body.len(), 16 * 1024);
    let written = tokio::time::timeout(Duration::from_secs(2), when).await.unwrap().unwrap();
    // What fits into the buffers of the two sockets, not what the receiver could have sent.
    assert!(written < 32 * 1024 * 1024, "{written}");
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_whole() {
    let receiver = Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour").await;
    let egress = Egress::new(Policy::development());
    let destination = egress.check(&receiver.url("127.0.0.1")).await.unwrap();
    for (max_body, truncated) in [(5, false), (4, false), (3, true), (0, true)] {
        let incoming =
            egress.send(Outgoing { max_body, ..post(destination.clone()) }).await.unwrap();
        assert_eq!(incoming.truncated, truncated, "{max_body}");
        assert_eq!(incoming.body.len(), max_body.min(4));
    }
}

#[tokio::test]
async fn failures_have_their_class_and_leak_nothing() {
    let egress = Egress::new(Policy::development());
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap();
    let garbage = Receiver::answering("SSH-2.0-OpenSSH_9.6\r\n\r\n").await;
    let short = Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour").await;
    let plain = Receiver::start(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let cases = [
        (format!("http://{closed}/"), SendError::Connect, "connect"),
        (garbage.url("127.0.0.1"), SendError::Protocol, "protocol"),
        (short.url("127.0.0.1"), SendError::Protocol, "protocol"),
        (format!("https://127.0.0.1:{}/", plain.port), SendError::Tls, "tls"),
    ];
    for (url, error, class) in cases {
        let destination = egress.check(&url).await.unwrap();
        let sent = egress.send(post(destination)).await.unwrap_err();
        assert_eq!((sent, sent.class()), (error, class), "{url}");
        assert!(!sent.to_string().contains("127.0.0.1"));
    }
}

#[test]
fn ipv6_loopback_needs_the_policy() {
    let loopback = IpAddr::V6(Ipv6Addr::LOCALHOST);
    assert!(address_is_allowed(loopback, &Policy::development()));
    assert!(!address_is_allowed(loopback, &Policy::strict()));
}

/// What a deadline must cut off: without one it would never end.
async fn in_time<F: Future>(cut_off: F) -> F::Output {
    let limit = Duration::from_secs(30);
    tokio::time::timeout(limit, cut_off).await.expect("the deadline cuts it off")
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
