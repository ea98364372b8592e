//! A browser at a shop: it keeps cookies, follows redirects, and says where its requests come from.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::{Method, RequestBuilder, StatusCode, header};
use serde_json::Value;

use crate::client::fresh_ip;

/// A browser at one shop.
#[derive(Debug, Clone)]
pub struct Browser {
    http: reqwest::Client,
    /// Where the shops listen.
    base: String,
    /// The shop's name.
    host: String,
    ip: String,
    pub cookies: BTreeMap<String, String>,
}

/// What a shop has answered.
#[derive(Debug, Clone)]
pub struct Shown {
    pub status: u16,
    pub headers: header::HeaderMap,
    pub text: String,
    /// The path that the answer is of, after redirects.
    pub path: String,
}

impl Shown {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.path, self.text);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    #[track_caller]
    pub fn shows(self, text: &str) -> Self {
        assert!(self.text.contains(text), "{} does not show {text}: {}", self.path, self.text);
        self
    }

    #[track_caller]
    pub fn lacks(self, text: &str) -> Self {
        assert!(!self.text.contains(text), "{} shows {text}: {}", self.path, self.text);
        self
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The value of a hidden or other input of the page.
    #[track_caller]
    pub fn input(&self, name: &str) -> String {
        self.quoted_after(&format!("name=\"{name}\" value=\"")).to_owned()
    }

    /// What follows the first such text, up to the next quotation mark.
    #[track_caller]
    pub fn quoted_after(&self, mark: &str) -> &str {
        let found = self.text.split_once(mark);
        let (_, behind) = found.unwrap_or_else(|| panic!("no {mark}: {}", self.text));
        behind.split('"').next().unwrap_or_default()
    }
}

/// The digest of a script, as a content security policy names it.
pub fn sha256_base64(script: &str) -> String {
    BASE64_STANDARD.encode(crypto::seal::sha256(script.as_bytes()))
}

impl Browser {
    pub(crate) fn new(http: reqwest::Client, port: u16, host: &str) -> Self {
        let base = format!("http://127.0.0.1:{port}");
        Self {
            http,
            base,
            host: host.to_owned(),
            ip: fresh_ip().to_string(),
            cookies: BTreeMap::new(),
        }
    }

    /// The same browser at another shop: it has none of this one's cookies.
    #[must_use]
    pub fn at(&self, host: &str) -> Self {
        Self { host: host.to_owned(), cookies: BTreeMap::new(), ..self.clone() }
    }

    /// The same browser in another network.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        Self { ip: fresh_ip().to_string(), ..self.clone() }
    }

    /// The shop's name, with its port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Opens a page, as a link or the address bar does.
    pub async fn open(&mut self, path: &str) -> Shown {
        let request = self.request(Method::GET, path);
        let request =
            request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
        self.follow(request, path).await
    }

    /// Submits a form of a page of this shop.
    pub async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let request = self.submission(path, fields);
        self.follow(request, path).await
    }

    /// Submits a form, and does not follow where it leads.
    pub async fn submit_once(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let request = self.submission(path, fields);
        self.send(request, path).await
    }

    fn submission(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        self.request(Method::POST, path)
            .header("sec-fetch-mode", "navigate")
            .header("sec-fetch-dest", "document")
            .header("sec-fetch-site", "same-origin")
            .form(fields)
    }

    /// Sends JSON, as a theme's script does.
    pub async fn script(&mut self, path: &str, body: &Value) -> Shown {
        let request = self
            .request(Method::POST, path)
            .header("sec-fetch-mode", "cors")
            .header("sec-fetch-dest", "empty")
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(body.to_string());
        self.send(request, path).await
    }

    /// Sends a form, as a theme's script does that reads JSON from the form's own address.
    pub async fn form_by_script(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let request = self
            .request(Method::POST, path)
            .header("sec-fetch-mode", "cors")
            .header("sec-fetch-dest", "empty")
            .header("sec-fetch-site", "same-origin")
            .header(header::ACCEPT, "application/javascript")
            .header("x-requested-with", "XMLHttpRequest")
            .form(fields);
        self.send(request, path).await
    }

    /// Reads what a theme's script reads.
    pub async fn fetch(&mut self, path: &str) -> Shown {
        let request = self.request(Method::GET, path);
        let request = request.header("sec-fetch-mode", "cors").header("sec-fetch-dest", "empty");
        self.send(request, path).await
    }

    /// A request with this shop's name and cookies.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let pairs: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.header(header::HOST, &self.host).header("x-forwarded-for", &self.ip);
        if pairs.is_empty() { request } else { request.header(header::COOKIE, pairs.join("; ")) }
    }

    /// Sends a request, and keeps the cookies of the answer.
    pub async fn send(&mut self, request: RequestBuilder, path: &str) -> Shown {
        let answer = request.send().await.expect("an answer");
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        for set in headers.get_all(header::SET_COOKIE) {
            let set = set.to_str().expect("a cookie");
            let (name, rest) = set.split_once('=').expect("a name");
            let value = rest.split(';').next().unwrap_or_default();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let text = answer.text().await.expect("a text");
        Shown { status, headers, text, path: path.to_owned() }
    }

    /// Sends a request, and follows redirects within the shop and to others.
    async fn follow(&mut self, request: RequestBuilder, path: &str) -> Shown {
        let mut shown = self.send(request, path).await;
        for _ in 0..8 {
            let status = StatusCode::from_u16(shown.status).expect("a status");
            if !status.is_redirection() {
                return shown;
            }
            let to = shown.header("location").to_owned();
            let own = [format!("http://{}", self.host), format!("https://{}", self.host)];
            let to =
                own.iter().find_map(|own| to.strip_prefix(own.as_str())).unwrap_or(&to).to_owned();
            if !to.starts_with('/') {
                // Another site: a payment provider's.
                return Shown { path: to, ..shown };
            }
            let request = self.request(Method::GET, to.split('#').next().unwrap_or("/"));
            let request =
                request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document");
            shown = self.send(request, &to).await;
        }
        shown
    }
}
