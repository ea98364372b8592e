//! Answers that are ready before the body was read (RFC 9112 §9.6), by a client that speaks TCP.

use std::time::Duration;

use support::Gateway;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(30);

struct Wire(BufReader<TcpStream>);

/// What came over the wire.
struct Said {
    head: String,
    body: String,
}

impl Said {
    fn status(&self) -> &str {
        &self.head[9..12]
    }

    fn closes(&self) -> bool {
        self.head.to_ascii_lowercase().contains("\r\nconnection: close\r\n")
    }
}

impl Wire {
    async fn open(gateway: &Gateway) -> Self {
        let address = gateway.url().trim_start_matches("http://");
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).await.unwrap();
    }

    /// The next answer.
    async fn answer(&mut self) -> Said {
        timeout(DEADLINE, async {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                let read = self.0.read_line(&mut head).await.unwrap();
                assert!(read > 0, "the connection ended in {head:?}");
            }
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length: ").nth(1).expect("a length");
            let length = length.split("\r\n").next().unwrap().parse().unwrap();
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).await.unwrap();
            Said { head, body: String::from_utf8(body).unwrap() }
        })
        .await
        .expect("an answer in time")
    }

    /// Demands that nothing more comes.
    async fn ends(&mut self) {
        let mut rest = Vec::new();
        let read = timeout(DEADLINE, self.0.read_to_end(&mut rest)).await.expect("an end in time");
        assert_eq!((read.unwrap(), rest.len()), (0, 0));
    }
}

#[tokio::test]
async fn an_unread_body_is_not_parsed_as_a_request() {
    let gateway = Gateway::start().await;
    let smuggled = "DELETE /v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    for (line, status) in [
        ("POST /v1/nowhere", "404"),
        ("PUT /health", "405"),
        ("OPTIONS /v1/stores", "204"),
        ("GET /v1/stores", "401"),
    ] {
        let mut wire = Wire::open(&gateway).await;
        let head = format!(
            "{line} HTTP/1.1\r\nhost: x\r\norigin: https://a.example\r\n\
             access-control-request-method: GET\r\ncontent-length: {}\r\n\r\n",
            smuggled.len()
        );
        if status == "204" {
            // An answer without a length; the next one is enough to know.
            wire.send(head + smuggled + "GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
            let mut text = String::new();
            while !text.ends_with("\r\n\r\n") {
                wire.0.read_line(&mut text).await.unwrap();
            }
            assert_eq!(&text[9..12], status);
        } else {
            // The body comes late, and the next request right behind it.
            wire.send(&head).await;
            tokio::task::yield_now().await;
            wire.send(smuggled.to_owned() + "GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
            let said = wire.answer().await;
            assert_eq!((said.status(), said.closes()), (status, false), "{}", said.head);
        }
        let next = wire.answer().await;
        assert_eq!(next.status(), "200", "{line}: {}", next.body);
        assert!(next.body.contains("\"status\":\"ok\""), "{line}: {}", next.body);
    }
}

#[tokio::test]
async fn a_slightly_too_large_body_is_drained_and_the_connection_reused() {
    let gateway = Gateway::start().await;
    let mut wire = Wire::open(&gateway).await;
    let size = 3 << 20;
    let head = "POST /v1/auth/signin HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    wire.send(format!("{head}content-length: {size}\r\n\r\n")).await;
    wire.send(vec![b' '; size]).await;
    wire.send("GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let said = wire.answer().await;
    assert_eq!((said.status(), said.closes()), ("413", false), "{}", said.head);
    assert_eq!(wire.answer().await.status(), "200");
}

#[tokio::test]
async fn a_connection_with_a_large_unread_body_is_closed() {
    let gateway = Gateway::start().await;
    for line in ["POST /v1/nowhere", "DELETE /health", "POST /v1/auth/signin"] {
        let mut wire = Wire::open(&gateway).await;
        let head = format!("{line} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n");
        wire.send(head).await;
        // More than fits between here and there, of which the answer must not be lost.
        let sent = 2 << 20;
        wire.send(vec![b' '; sent]).await;
        let said = wire.answer().await;
        assert!(["404", "405", "413"].contains(&said.status()), "{}", said.head);
        assert!(said.closes(), "{line}: {}", said.head);
        assert!(said.body.ends_with('}'), "{line}: {}", said.body);
        wire.ends().await;
    }
}

#[tokio::test]
async fn an_endless_body_is_not_read_forever() {
    let gateway = Gateway::start().await;
    let wire = Wire::open(&gateway).await;
    let (reader, mut writer) = wire.0.into_inner().into_split();
    let pour = async move {
        let head = "POST /v1/nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
        writer.write_all(head.as_bytes()).await.unwrap();
        let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
        for number in 0..1_000 {
            if writer.write_all(&chunk).await.is_err() {
                return number;
            }
        }
        1_000
    };
    let listen = async move {
        let mut lines = BufReader::new(reader);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        Said { head, body: String::new() }
    };
    let (poured, said) = timeout(DEADLINE, async { tokio::join!(pour, listen) }).await.unwrap();
    assert_eq!((said.status(), said.closes()), ("404", true));
    assert!(poured < 100, "{poured} MiB were taken");
}

#[tokio::test]
async fn expect_100_continue_is_answered_with_the_final_status() {
    let gateway = Gateway::start().await;
    let mut wire = Wire::open(&gateway).await;
    let head = "POST /v1/nowhere HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n";
    wire.send(format!("{head}content-length: 1000\r\n\r\n")).await;
    let said = wire.answer().await;
    assert_eq!((said.status(), said.closes()), ("404", true), "{}", said.head);
    wire.ends().await;
}
