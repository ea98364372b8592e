//! Hostile URLs, name servers and receivers.

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

use super::*;

mod addresses;
mod names;
mod receivers;
mod urls;

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

/// Cuts off a future that would otherwise never end.
async fn in_time<F: Future>(cut_off: F) -> F::Output {
    let limit = Duration::from_secs(30);
    tokio::time::timeout(limit, cut_off).await.expect("the deadline cuts it off")
}
