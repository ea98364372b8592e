//! Names, whatever their servers say, and the connections that are kept under them.

use super::*;

#[tokio::test]
async fn a_name_that_rebinds_after_its_check_is_rejected() {
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
async fn a_pooled_connection_is_reused_only_for_the_same_validated_addresses() {
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
    let send = || egress.send_pooled(post(destination.clone()));
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
        assert_eq!(send().await.unwrap_err(), SendError::Blocked(DestinationRejection::Address));
    }
    assert_eq!(canary.connections().await, 2);
    assert_eq!(egress.connections.len(), 1);
}

#[tokio::test]
async fn receivers_on_other_ports_and_under_other_names_have_connections_of_their_own() {
    let (one, two) = (Receiver::canary().await, Receiver::canary().await);
    let egress = Egress::with_resolver(Policy::development(), Script::new([vec![LOOPBACK]]));
    let send = |url: String| {
        let destination = Destination::parse(&url, egress.policy()).unwrap();
        egress.send_pooled(post(destination))
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
    assert_eq!(egress.connections.len(), 64);
}

#[tokio::test]
async fn an_aborted_request_leaves_no_pooled_connection() {
    let flood = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nx";
    let receiver = Receiver::answering(flood).await;
    let egress = Egress::new(Policy::development());
    let destination = egress.check(&receiver.url("127.0.0.1")).await.unwrap();
    for connections in 1..=3 {
        let request = Outgoing { max_body: 0, ..post(destination.clone()) };
        let answer = egress.send_pooled(request).await.unwrap();
        assert!(answer.truncated && answer.body.is_empty());
        assert_eq!(receiver.connections().await, connections);
    }
}

#[tokio::test]
async fn names_without_an_address_are_dns_errors() {
    let url = "https://nothing.example/";
    for resolver in [Script::new([vec![]]), Script::new([])] {
        let egress = Egress::with_resolver(Policy::strict(), resolver);
        assert_eq!(egress.check(url).await, Err(DestinationRejection::Unresolvable));
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
    assert_eq!(checked, Err(DestinationRejection::Unresolvable));
}
