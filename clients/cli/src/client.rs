//! The API as commands call it: with the profile's session and store, an idempotency key for each write, and retries.

use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use url::Url;

use crate::context::Context;
use crate::failure::{Failure, Problem};
use crate::profile::Session;
use crate::secret::{Secret, random_hex};

/// How long a request may take, answer included.
const TIMEOUT: Duration = Duration::from_mins(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request without an answer, or with one that asks for patience, is sent.
const TRIES: u32 = 5;
/// A longer `Retry-After` is not waited for: somebody is waiting here.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    /// The path with its leading slash.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Body>,
    /// The key of a write: each try of it has the same.
    pub key: String,
    /// Whether it is sent without the session, as by anybody.
    pub is_public: bool,
}

/// A body, and its media type.
#[derive(Debug, Clone)]
pub struct Body {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl Request {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            key: random_hex::<16>(),
            is_public: false,
        }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().into_bytes())
    }

    pub fn body(self, media_type: &'static str, bytes: Vec<u8>) -> Self {
        Self { body: Some(Body { media_type, bytes }), ..self }
    }

    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<Value, Failure> {
        if self.bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.bytes).map_err(|_| {
            Failure::Unreachable("The answer is no JSON: is --api the address of the API?".into())
        })
    }

    /// The answer, if it is no rejection.
    pub fn accepted(self) -> Result<Self, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        let id = self.header("x-request-id");
        let problem = Problem::read(self.status.as_u16(), id, &self.bytes);
        Err(Failure::Rejected(Box::new(problem)))
    }

    /// How long the answer asks to wait before the same request is sent again; none if it is final.
    fn wait(&self, tries: u32) -> Option<Duration> {
        let is_running = || self.text().contains("\"request_in_progress\"");
        let is_temporary = match self.status.as_u16() {
            429 | 502 | 503 | 504 => true,
            409 => is_running(),
            _ => false,
        };
        let asked = self.header("retry-after").and_then(|text| text.trim().parse().ok());
        let wait = asked.map_or_else(|| backoff(tries), Duration::from_secs);
        (is_temporary && wait <= LONGEST_WAIT).then_some(wait)
    }
}

/// A growing delay, of which a part is random so that clients that failed together do not come together.
pub fn backoff(tries: u32) -> Duration {
    let longest = Duration::from_millis(250).saturating_mul(2_u32.saturating_pow(tries.min(7)));
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    let share = u32::from(byte[0]).saturating_add(768);
    longest.saturating_mul(share).checked_div(1024).unwrap_or(longest)
}

/// A client of the API.
#[derive(Debug)]
pub struct Client<'c> {
    context: &'c Context,
    http: reqwest::Client,
    pub api: Url,
    token: Mutex<Option<Secret>>,
    /// The header that names the store.
    store: Option<String>,
}

impl<'c> Client<'c> {
    /// A client with this credential, which acts on this store.
    pub fn new(
        context: &'c Context,
        api: &Url,
        token: Option<Secret>,
        store: Option<String>,
    ) -> Result<Self, Failure> {
        let http = http_client(false)?;
        Ok(Self { context, http, api: api.clone(), token: Mutex::new(token), store })
    }

    /// The same, acting on another store.
    pub fn on_store(self, store: String) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Sends a request, and again while that is asked for. The answer may be a rejection.
    pub async fn send(&self, request: &Request) -> Result<Reply, Failure> {
        if !request.is_public {
            self.keep_fresh().await?;
        }
        let mut reloaded = false;
        for tries in 1_u32.. {
            let is_last = tries >= TRIES;
            let wait = match self.once(request).await {
                Err(failure) if is_last => return Err(failure),
                Err(failure) => {
                    self.context.output.note(&format!("{}; trying again", failure.text()));
                    backoff(tries)
                }
                Ok(reply) if reply.status == StatusCode::UNAUTHORIZED && !reloaded => {
                    // Another process may have exchanged the token meanwhile.
                    reloaded = true;
                    if request.is_public || !self.reload()? {
                        return Ok(reply);
                    }
                    Duration::ZERO
                }
                Ok(reply) => match reply.wait(tries) {
                    Some(wait) if !is_last => {
                        let (status, seconds) = (reply.status.as_u16(), wait.as_secs_f64());
                        self.context
                            .output
                            .note(&format!("HTTP {status}: again in {seconds:.1} s"));
                        wait
                    }
                    _ => return Ok(reply),
                },
            };
            tokio::time::sleep(wait).await;
        }
        Err(Failure::Unreachable("No answer".into()))
    }

    /// Sends a request, and fails if it is rejected.
    pub async fn call(&self, request: &Request) -> Result<Reply, Failure> {
        let reply = self.send(request).await?;
        if request.is_public { reply.accepted() } else { self.accept(reply) }
    }

    /// The answer, unless it is a rejection. An ended session is one of its own kind.
    pub fn accept(&self, reply: Reply) -> Result<Reply, Failure> {
        let is_signed_in = self.token.lock().is_ok_and(|token| token.is_some());
        reply.accepted().map_err(|failure| match failure {
            Failure::Rejected(problem) if problem.code == "unauthenticated" && is_signed_in => {
                Failure::NotSignedIn(self.context.session_over())
            }
            other => other,
        })
    }

    /// The store that requests name.
    pub fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// As [`Client::call`], for JSON.
    pub async fn json(&self, request: &Request) -> Result<Value, Failure> {
        self.call(request).await?.json()
    }

    /// As [`Client::call`], and again until the API can be reached: for work that goes on by itself.
    pub async fn patiently(&self, request: &Request) -> Result<Reply, Failure> {
        let mut failures = 0_u32;
        loop {
            match self.call(request).await {
                Err(Failure::Unreachable(_)) => {}
                Err(Failure::Rejected(problem)) if problem.status >= 500 => {}
                outcome => return outcome,
            }
            failures = failures.saturating_add(1).min(7);
            let wait = backoff(failures);
            let seconds = wait.as_secs_f64();
            self.context
                .output
                .note(&format!("The API cannot be reached; again in {seconds:.0} s"));
            tokio::time::sleep(wait).await;
        }
    }

    /// All items of a list.
    pub async fn list(&self, request: &Request) -> Result<Vec<Value>, Failure> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut page = request.clone();
            page.query.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
            let mut page = self.json(&page).await?;
            if let Some(data) = page.get_mut("data").and_then(Value::as_array_mut) {
                items.append(data);
            }
            match next_cursor(&page) {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(items),
            }
        }
    }

    async fn once(&self, request: &Request) -> Result<Reply, Failure> {
        let url = self
            .api
            .join(&request.path)
            .map_err(|_| Failure::Usage(format!("{} is no path of the API", request.path)))?;
        let mut sent =
            self.http.request(request.method.clone(), url).headers(self.headers(request)?);
        if !request.query.is_empty() {
            sent = sent.query(&request.query);
        }
        if let Some(body) = &request.body {
            sent = sent.body(body.bytes.clone());
        }
        // The address may have a token in its query.
        let lost = |cause: reqwest::Error| {
            let api = self.api.as_str().trim_end_matches('/');
            let cause = cause.without_url();
            let what =
                if cause.is_timeout() { "did not answer in time" } else { "cannot be reached" };
            Failure::Unreachable(format!("{api} {what} ({})", root_cause(&cause)))
        };
        let response = sent.send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.map_err(lost)?.to_vec();
        Ok(Reply { status, headers, bytes })
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            let fault = || Failure::Usage(format!("{name} cannot be a header with this value"));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault())?;
            headers.insert(name, HeaderValue::from_str(value).map_err(|_| fault())?);
            Ok::<(), Failure>(())
        };
        set("accept", "application/json")?;
        if let Some(body) = &request.body {
            set("content-type", body.media_type)?;
        }
        if request.method != Method::GET {
            set("idempotency-key", &request.key)?;
        }
        if !request.is_public {
            if let Some(store) = &self.store {
                set("x-service-store-id", store)?;
            }
            let token = self.token.lock().ok().and_then(|token| token.clone());
            if let Some(token) = token {
                set("authorization", &format!("Bearer {}", token.reveal()))?;
            }
        }
        for (name, value) in &request.headers {
            set(name, value)?;
        }
        Ok(headers)
    }

    /// Exchanges the session's token for a new one when it is due. One process does it, others wait for it.
    async fn keep_fresh(&self) -> Result<(), Failure> {
        if !self.context.owns_session() || !self.is_due(self.context.profile()?.session.as_ref()) {
            return Ok(());
        }
        let _lock = self.context.directory.lock()?;
        let profile = self.context.profile()?;
        let Some(session) = profile.session.filter(|session| self.is_due(Some(session))) else {
            self.reload()?;
            return Ok(());
        };
        self.set_token(session.token.clone());
        let Ok(reply) = self.once(&Request::new(Method::POST, "/v1/auth/session/refresh")).await
        else {
            return Ok(());
        };
        // A rejected one is answered by the request itself.
        let Ok(reply) = reply.accepted() else { return Ok(()) };
        let renewed = session_of(&reply.json()?)?;
        self.set_token(renewed.token.clone());
        let (directory, name) = (&self.context.directory, self.context.profile_name());
        directory.change_locked(name, |profile| profile.session = Some(renewed))
    }

    fn is_due(&self, session: Option<&Session>) -> bool {
        session.is_some_and(|session| session.is_due(Timestamp::now()))
    }

    /// Takes the token over that the profile has now. Whether it is another one.
    fn reload(&self) -> Result<bool, Failure> {
        if !self.context.owns_session() {
            return Ok(false);
        }
        let session = self.context.profile()?.session;
        let Some(token) = session.map(|session| session.token) else { return Ok(false) };
        let before = self.token.lock().ok().and_then(|it| it.clone());
        let is_other = before.as_ref() != Some(&token);
        self.set_token(token);
        Ok(is_other)
    }

    fn set_token(&self, token: Secret) {
        if let Ok(mut current) = self.token.lock() {
            *current = Some(token);
        }
    }
}

/// The session in an answer to a sign-in or a refresh.
pub fn session_of(answer: &Value) -> Result<Session, Failure> {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let missing = || Failure::Unreachable("The answer has no session".to_owned());
    Ok(Session {
        email: text("/merchant/email").ok_or_else(missing)?,
        token: text("/session/access_token").ok_or_else(missing)?.into(),
        issued_at: Timestamp::now().to_string(),
    })
}

/// The cursor of the next page, if there is one.
pub fn next_cursor(page: &Value) -> Option<&str> {
    page.pointer("/page/next_cursor").and_then(Value::as_str)
}

/// A client that follows no redirect; of receivers whose certificate nobody knows, if it need not be verified.
pub fn http_client(accepts_any_certificate: bool) -> Result<reqwest::Client, Failure> {
    // A second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("commerce-cli/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .tls_danger_accept_invalid_certs(accepts_any_certificate)
        .build()
        .map_err(|cause| Failure::Local(cause.to_string()))
}

/// The innermost cause, which says most.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, retry_after: Option<&str>, body: &str) -> Reply {
        let mut headers = HeaderMap::new();
        if let Some(text) = retry_after {
            headers.insert("retry-after", HeaderValue::from_str(text).expect("a header"));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        Reply { status, headers, bytes: body.as_bytes().to_vec() }
    }

    #[test]
    fn an_answer_is_waited_for_as_long_as_it_says() {
        assert_eq!(reply(429, Some("3"), "").wait(1), Some(Duration::from_secs(3)));
        assert_eq!(reply(503, Some("61"), "").wait(1), None);
        assert_eq!(reply(500, Some("1"), "").wait(1), None);
        assert_eq!(reply(409, Some("1"), "{\"code\":\"version_conflict\"}").wait(1), None);
        let running = reply(409, Some("1"), "{\"code\":\"request_in_progress\"}");
        assert_eq!(running.wait(1), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_delay_grows_and_ends_at_half_a_minute() {
        assert!(backoff(1) <= Duration::from_millis(500));
        assert!(backoff(30) <= Duration::from_secs(32));
        assert!(backoff(7) > Duration::from_secs(23));
    }
}
