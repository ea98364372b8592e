//! An answer, and what a test demands of it.

use http::HeaderMap;
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// The body as sent; `text` is that where it is text.
    pub bytes: Vec<u8>,
    /// Null when the body is not JSON.
    pub json: Value,
    /// What was asked, for messages.
    pub asked: String,
}

impl Reply {
    pub(crate) async fn of(asked: String, response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await.expect("the body comes whole").to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let json = serde_json::from_str(&text).unwrap_or_default();
        Self { status, headers, text, bytes, json, asked }
    }

    /// Demands a status, and goes on.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        let Self { asked, text, .. } = &self;
        assert_eq!(self.status, status, "{asked} answered {}: {text}", self.status);
        self
    }

    /// Demands a problem of this code, in the form that all problems have.
    #[track_caller]
    pub fn problem(self, code: &str) -> Self {
        let Self { asked, text, .. } = &self;
        assert_eq!(self.json["code"], code, "{asked} answered {}: {text}", self.status);
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{asked}");
        assert_eq!(self.json["status"], self.status, "{asked}: {text}");
        assert_eq!(self.json["request_id"].as_str(), self.header("x-request-id"), "{asked}");
        self
    }

    /// Demands an error of RFC 6749 §5.2.
    #[track_caller]
    pub fn oauth_error(self, error: &str) -> Self {
        let Self { asked, text, .. } = &self;
        assert_eq!(self.json["error"], error, "{asked} answered {}: {text}", self.status);
        assert!(self.json["error_description"].is_string(), "{asked}: {text}");
        assert!((400..500).contains(&self.status), "{asked} answered {}", self.status);
        self
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("the header is text"))
    }

    /// The value at a JSON pointer.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> &Value {
        let found = self.json.pointer(pointer);
        found.unwrap_or_else(|| panic!("{}: nothing at {pointer} in {}", self.asked, self.text))
    }

    /// The text at a JSON pointer.
    #[track_caller]
    pub fn str(&self, pointer: &str) -> String {
        let found = self.at(pointer).as_str();
        found
            .unwrap_or_else(|| panic!("{}: no text at {pointer}: {}", self.asked, self.text))
            .into()
    }

    /// The number at a JSON pointer.
    #[track_caller]
    pub fn int(&self, pointer: &str) -> i64 {
        let found = self.at(pointer).as_i64();
        found.unwrap_or_else(|| panic!("{}: no number at {pointer}: {}", self.asked, self.text))
    }

    /// The items of a list.
    #[track_caller]
    pub fn data(&self) -> &Vec<Value> {
        self.at("/data").as_array().expect("`data` is a list")
    }

    /// The fields at fault: pointer and code of each, sorted.
    pub fn field_errors(&self) -> Vec<(String, String)> {
        let errors = self.json["errors"].as_array().cloned().unwrap_or_default();
        let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let mut found: Vec<_> =
            errors.iter().map(|error| (text(error, "pointer"), text(error, "code"))).collect();
        found.sort();
        found
    }

    /// The version to send as `If-Match`, quotes included.
    #[track_caller]
    pub fn etag(&self) -> String {
        self.header("etag").unwrap_or_else(|| panic!("{} has no ETag", self.asked)).to_owned()
    }

    /// Round trips to the table that the request took, those of its budget excluded.
    #[track_caller]
    pub fn trips(&self) -> u32 {
        self.timing("trips=")
    }

    /// Tenths of a capacity unit that the request consumed, those of its budget and of its claim of
    /// an idempotency key excluded.
    #[track_caller]
    pub fn tenths(&self) -> u32 {
        self.timing("tenths=")
    }

    /// Writes of rate buckets that the request took.
    #[track_caller]
    pub fn charges(&self) -> u32 {
        self.timing("writes=")
    }

    #[track_caller]
    fn timing(&self, name: &str) -> u32 {
        let timing = self.header("server-timing").expect("the system runs in development");
        let (_, rest) = timing.split_once(name).expect("the header counts it");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("it is a number")
    }
}
