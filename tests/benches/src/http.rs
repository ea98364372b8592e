//! A minimal HTTP/1.1 client with one persistent connection, and a minimal server, so that the load itself is
//! cheap.

use std::fmt::Write as _;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::AnyError;

/// A request.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The method: `GET`, `POST` …
    pub method: &'static str,
    /// The path, with its query.
    pub path: String,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body, if there is one.
    pub body: Option<Value>,
}

impl Input {
    /// A `GET` request.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), ..Self::default() }
    }

    /// A `POST` request.
    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Self { method: "POST", path: path.into(), body: Some(body), ..Self::default() }
    }

    /// A `PATCH` request.
    pub fn patch(path: impl Into<String>, body: Value) -> Self {
        Self { method: "PATCH", ..Self::post(path, body) }
    }

    /// The request with one more header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A response.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Result<Value, AnyError> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// The response, if its status is a success.
    pub fn success(self, what: &str) -> Result<Self, AnyError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let text = String::from_utf8_lossy(&self.body);
        Err(format!("{what}: {} {text}", self.status).into())
    }
}

/// A persistent connection, which is opened again after an error.
#[derive(Debug)]
pub struct Connection {
    address: String,
    host: String,
    stream: Option<BufReader<TcpStream>>,
    line: String,
}

impl Connection {
    /// A connection to this address, opened at the first request.
    pub fn to(address: &str) -> Self {
        Self::of_host(address, address)
    }

    /// The same, for requests to this host.
    pub fn of_host(address: &str, host: &str) -> Self {
        Self {
            address: address.to_owned(),
            host: host.to_owned(),
            stream: None,
            line: String::new(),
        }
    }

    /// Sends a request and reads the response.
    pub async fn send(&mut self, input: &Input) -> Result<Reply, AnyError> {
        let mut stream = if let Some(stream) = self.stream.take() {
            stream
        } else {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            BufReader::with_capacity(32 << 10, stream)
        };
        let body = input.body.as_ref().map(Value::to_string).unwrap_or_default();
        let mut head =
            format!("{} {} HTTP/1.1\r\nhost: {}\r\n", input.method, input.path, self.host);
        for (name, value) in &input.headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        if input.body.is_some() {
            head.push_str("content-type: application/json\r\n");
        }
        write!(head, "content-length: {}\r\n\r\n{body}", body.len())?;
        stream.get_mut().write_all(head.as_bytes()).await?;
        let (first, headers) = read_head(&mut stream, &mut self.line).await?;
        let status = first.split(' ').nth(1).and_then(|text| text.parse().ok());
        let body = read_body(&mut stream, &headers).await?;
        self.stream = Some(stream);
        Ok(Reply { status: status.ok_or("an answer without a status")?, headers, body })
    }
}

/// Reads the first line and the headers.
async fn read_head(
    stream: &mut BufReader<TcpStream>,
    line: &mut String,
) -> Result<(String, Vec<(String, String)>), AnyError> {
    line.clear();
    if stream.read_line(line).await? == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let first = line.trim_end().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(line).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok((first, headers));
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

async fn read_body(
    stream: &mut BufReader<TcpStream>,
    headers: &[(String, String)],
) -> Result<Vec<u8>, AnyError> {
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

/// Reads the requests of a connection one after the other, and gives each body to `handle`, which returns the
/// status; none leaves the request unanswered.
pub async fn serve<F>(stream: TcpStream, handle: impl Fn(Vec<u8>) -> F)
where
    F: Future<Output = Option<u16>>,
{
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    while let Ok((_, headers)) = read_head(&mut stream, &mut line).await {
        let Ok(body) = read_body(&mut stream, &headers).await else { return };
        let Some(status) = handle(body).await else {
            return std::future::pending().await;
        };
        let answer = format!("HTTP/1.1 {status} Done\r\ncontent-length: 0\r\n\r\n");
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
