//! The API as commands call it: with the profile's session and store, an idempotency key for each write, and retries.

use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use url::Url;

use crate::context::Context;
use crate::failure::Failure;
use crate::profile::Session;
use crate::request::{Reply, Request, backoff, http_client, root_cause};
use crate::secret::Secret;

/// How often a request without an answer, or with one that asks for patience, is sent.
const TRIES: u32 = 5;
/// How often it is sent while its first sending is still running, a second apart: a connection that broke leaves a lease
/// of 30 seconds behind (docs/conventions.md §4).
const LEASE_TRIES: u32 = 40;

/// A client of the API.
#[derive(Debug)]
pub struct Client<'c> {
    context: &'c Context,
    http: reqwest::Client,
    pub api: Url,
    token: Mutex<Option<Secret>>,
    is_of_profile: bool,
    /// The header that names the store.
    store: Option<String>,
}

impl<'c> Client<'c> {
    /// A client with this credential.
    pub fn new(context: &'c Context, api: &Url, token: Option<Secret>) -> Result<Self, Failure> {
        let (api, token) = (api.clone(), Mutex::new(token));
        let http = http_client(false)?;
        Ok(Self { context, http, api, token, is_of_profile: false, store: None })
    }

    /// The same, whose credential is the profile's session, and is refreshed with it.
    pub fn of_profile(self) -> Self {
        Self { is_of_profile: true, ..self }
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
                    Some(wait) if !is_last || reply.is_running() && tries < LEASE_TRIES => {
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
                Err(failure) if failure.is("request_in_progress") => {}
                Err(Failure::Rejected(problem))
                    if problem.status >= 500 || problem.status == 429 => {}
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
        if !self.session()?.is_some_and(|session| session.is_due(Timestamp::now())) {
            return Ok(());
        }
        let _lock = self.context.directory.lock()?;
        let Some(session) = self.session()? else { return Ok(()) };
        if !session.is_due(Timestamp::now()) {
            self.set_token(session.token);
            return Ok(());
        }
        self.set_token(session.token);
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

    /// The profile's session, if this client acts with it: a session of another API is none.
    fn session(&self) -> Result<Option<Session>, Failure> {
        if !self.is_of_profile {
            return Ok(None);
        }
        let profile = self.context.profile()?;
        let is_here = profile.api.parse::<Url>().is_ok_and(|api| api == self.api);
        Ok(profile.session.filter(|_| is_here))
    }

    /// Takes the token over that the profile has now. Whether it is another one.
    fn reload(&self) -> Result<bool, Failure> {
        let Some(session) = self.session()? else { return Ok(false) };
        let before = self.token.lock().ok().and_then(|token| token.clone());
        let is_other = before.as_ref() != Some(&session.token);
        self.set_token(session.token);
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
