//! Connections of the SDKs' clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::types::AttributeValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::aws;

/// The fate of the connection with this number.
type Serve = fn(usize) -> Fate;

#[derive(Clone, Copy)]
enum Fate {
    /// The call is read, and nothing is said.
    Broken,
    /// One call is answered, and then the connection ends.
    AnswersOnce,
    /// Every call is answered.
    Answers,
}

/// A service that answers `{}`: where it is, and how many connections it was asked for.
async fn service(serve: Serve) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    #[allow(clippy::disallowed_methods, reason = "a server of the test's own")]
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            answer(stream, serve(number)).await;
        }
    });
    (url, connections)
}

async fn answer(mut stream: TcpStream, fate: Fate) {
    let mut read = vec![0; 16 << 10];
    loop {
        match stream.read(&mut read).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if matches!(fate, Fate::Broken) {
            return;
        }
        let said = "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 2\r\n\r\n{}";
        if stream.write_all(said.as_bytes()).await.is_err() || matches!(fate, Fate::AnswersOnce) {
            return;
        }
    }
}

fn table(url: &str) -> aws_sdk_dynamodb::Client {
    let credentials = Credentials::new("local", "local", None, None, "local");
    let sdk = aws(credentials, "us-east-1");
    let config = aws_sdk_dynamodb::config::Builder::from(&sdk).endpoint_url(url).build();
    aws_sdk_dynamodb::Client::from_conf(config)
}

/// The number of connections for two successful calls, one after the other.
async fn connections_of_two_calls(serve: Serve) -> usize {
    let (url, connections) = service(serve).await;
    let client = table(&url);
    for _ in 0..2 {
        let key = AttributeValue::S("a".to_owned());
        let item = client.get_item().table_name("t").key("PK", key).send().await.unwrap();
        assert!(item.item.is_none());
    }
    connections.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_connection_serves_every_call() {
    assert_eq!(connections_of_two_calls(|_| Fate::Answers).await, 1);
}

#[tokio::test]
async fn a_call_is_retried_over_another_connection() {
    let broken_first = |number| if number == 0 { Fate::Broken } else { Fate::Answers };
    assert_eq!(connections_of_two_calls(broken_first).await, 2);
}

#[tokio::test]
async fn a_connection_that_was_ended_in_between_is_no_ones_failure() {
    assert_eq!(connections_of_two_calls(|_| Fate::AnswersOnce).await, 2);
}

#[tokio::test]
async fn a_service_behind_https_is_spoken_to_in_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let client = table(&url);
    let call = client.get_item().table_name("t").key("PK", AttributeValue::S("a".to_owned()));
    let heard = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 6];
        stream.read_exact(&mut head).await.unwrap();
        head
    };
    let heard = tokio::select! {
        heard = heard => heard,
        _ = call.send() => panic!("there is nobody to answer"),
    };
    // A handshake's record, and in it a client's hello (RFC 8446 §5.1, §4).
    assert_eq!((heard[0], heard[5]), (22, 1));
}
