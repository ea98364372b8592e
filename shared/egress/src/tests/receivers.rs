//! The behaviour of receivers on a connection.

use super::*;

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
