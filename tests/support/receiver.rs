//! The other side of webhooks: a server on loopback that records what comes and answers as told,
//! and names that lead where a test wants.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crypto::signature::SigningSecret;
use egress::{Resolve, Resolving};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::eventually;

/// One request, to the byte.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.to_str().expect("the header is text")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// The service's own signature of a body, with a subscription's secret (docs/conventions.md §10).
pub fn service_hmac(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let secret: SigningSecret = secret.parse().expect("a secret");
    crypto::signature::service_hmac(&secret, timestamp.parse().expect("seconds"), body)
}

/// What a receiver does with a request once it has read it.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// Answers this status with an empty body.
    Status(u16),
    /// The same, and waits for the next request on the connection.
    Keep(u16),
    /// Answers this status, these headers and this body.
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// Answers 302 to this place.
    Redirect(String),
    /// Waits, then answers this status.
    Delay(Duration, u16),
    /// Never answers.
    Hang,
    /// Answers 200 and then one byte of body each time this has passed, for ever.
    Drip(Duration),
    /// Answers 200 with a body of this many bytes.
    BigBody(usize),
    /// Closes the connection without an answer.
    Close,
    /// Answers what is not HTTP.
    Garbage,
}

#[derive(Debug)]
struct State {
    requests: Vec<Received>,
    connections: usize,
    next: VecDeque<Behaviour>,
    otherwise: Behaviour,
}

/// A server on loopback. Dropping it ends it.
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _tasks: JoinSet<()>,
}

impl Receiver {
    /// A receiver that answers 200.
    pub async fn start() -> Self {
        Self::that(Behaviour::Status(200)).await
    }

    /// A receiver that does this.
    pub async fn that(otherwise: Behaviour) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let next = VecDeque::new();
        let state = State { requests: Vec::new(), connections: 0, next, otherwise };
        let state = Arc::new(Mutex::new(state));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&state)));
        Self { address, state, _tasks: tasks }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:…` with this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on it does this.
    pub fn now(&self, behaviour: Behaviour) {
        self.state().otherwise = behaviour;
    }

    /// The next requests are treated so, one each; then as before.
    pub fn next(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.state().next.extend(behaviours);
    }

    /// What has come so far.
    pub fn requests(&self) -> Vec<Received> {
        self.state().requests.clone()
    }

    /// What has come so far about events of this name.
    pub fn events(&self, name: &str) -> Vec<Received> {
        let mut requests = self.requests();
        requests.retain(|request| request.json()["type"] == name);
        requests
    }

    /// Connections that were made, whether or not a request came over them.
    pub fn connections(&self) -> usize {
        self.state().connections
    }

    /// Waits until `count` requests have come, and gives all that have.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let look = || async {
            let requests = self.requests();
            (requests.len() >= count).then_some(requests)
        };
        eventually(Duration::from_secs(30), look).await
    }

    /// Waits for an event of this name.
    pub async fn wait_for_event(&self, name: &str) -> Received {
        let look = || async { self.events(name).pop() };
        eventually(Duration::from_secs(30), look).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panicked in here")
    }
}

async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        state.lock().unwrap().connections += 1;
        connections.spawn(serve(stream, Arc::clone(&state)));
        while connections.try_join_next().is_some() {}
    }
}

/// One request of one connection, or as many as it is kept for; a failed read or write is the other
/// side's choice.
async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let behaviour = {
            let mut state = state.lock().unwrap();
            state.requests.push(request);
            state.next.pop_front().unwrap_or_else(|| state.otherwise.clone())
        };
        let is_kept = matches!(behaviour, Behaviour::Keep(_));
        if behave(behaviour, &mut stream).await.is_err() || !is_kept {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let name = HeaderName::try_from(name).ok()?;
        headers.append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    let length = headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some(Received { method, path, headers, body })
}

async fn behave(behaviour: Behaviour, stream: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    match behaviour {
        Behaviour::Status(status) => answer(stream, status, &[], b"").await,
        Behaviour::Keep(status) => {
            let head = format!("HTTP/1.1 {status} Test\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            stream.flush().await
        }
        Behaviour::Answer(status, headers, body) => answer(stream, status, &headers, &body).await,
        Behaviour::Redirect(to) => answer(stream, 302, &[("Location".to_owned(), to)], b"").await,
        Behaviour::Delay(time, status) => {
            tokio::time::sleep(time).await;
            answer(stream, status, &[], b"").await
        }
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Drip(pause) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await?;
            loop {
                stream.write_all(b".").await?;
                stream.flush().await?;
                tokio::time::sleep(pause).await;
            }
        }
        Behaviour::BigBody(bytes) => answer(stream, 200, &[], &vec![b'x'; bytes]).await,
        Behaviour::Close => Ok(()),
        Behaviour::Garbage => stream.write_all(b"SMTP is over there\r\n\r\n").await,
    }
}

async fn answer(
    stream: &mut BufReader<TcpStream>,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> std::io::Result<()> {
    let length = body.len();
    let mut head = format!("HTTP/1.1 {status} Test\r\ncontent-length: {length}\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

/// Names that lead where a test wants: give it to `Egress::with_resolver`. A name that was not
/// taught does not resolve.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>);

impl Names {
    /// From now on `host` has these addresses.
    pub fn teach(&self, host: &str, addresses: &[&str]) {
        self.teach_turns(host, &[addresses]);
    }

    /// `host` has the first addresses when asked first, and so on; the last stay. This is how a
    /// rebinding attack looks from here.
    pub fn teach_turns(&self, host: &str, turns: &[&[&str]]) {
        let parse = |turn: &&[&str]| turn.iter().map(|text| text.parse().unwrap()).collect();
        self.0.lock().unwrap().insert(host.to_owned(), turns.iter().map(parse).collect());
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let mut names = self.0.lock().unwrap();
        let answer = names.get_mut(host).and_then(|turns| match turns.len() {
            0 | 1 => turns.front().cloned(),
            _ => turns.pop_front(),
        });
        let unknown = || std::io::Error::other("no such name");
        Box::pin(async move { answer.ok_or_else(unknown) })
    }
}
