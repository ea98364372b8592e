//! The arguments that a handler can take of a request: a typed body, query, path and precondition.
//!
//! Every rejection is a [`Problem`] that names all field errors at once ([`primitives::input`]). So all
//! arguments are validated before any is extracted ([`Argument`]). Unknown fields, unknown parameters and
//! repeated ones are rejected.

mod accept;
mod arguments;
mod multipart;
mod ruled;
mod signed;

use std::any::Any;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::extract::FromRequestParts;
use bytes::Bytes;
use deserr::ValuePointerRef;
use http::request::Parts;
use http::{Extensions, HeaderMap, Method};
use serde_json::{Map, Value};

pub use accept::Accept;
pub use arguments::{Argument, Reads, Validation};
pub use multipart::{FormPart, parts_of};
use primitives::fields::{FieldErrors, FromPath, Violation};
pub use ruled::{RequestRules, Ruled};
pub use signed::Signed;

/// A type that the OpenAPI document can describe: it has a JSON Schema.
#[cfg(feature = "openapi")]
pub trait Described: schemars::JsonSchema {}
#[cfg(feature = "openapi")]
impl<T: schemars::JsonSchema> Described for T {}

/// A type that the OpenAPI document can describe. Without the feature, any type.
#[cfg(not(feature = "openapi"))]
pub trait Described {}
#[cfg(not(feature = "openapi"))]
impl<T> Described for T {}

use crate::row::Row;
use primitives::context;
use primitives::input::parse_json;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;

/// A request as received, with its whole body.
#[derive(Debug)]
pub struct Inbound {
    /// The method; `GET` for `HEAD`.
    pub method: Method,
    /// The path as sent.
    pub path: String,
    /// The query string, undecoded.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub body: Bytes,
    /// Path parameters in path order, percent-decoded.
    pub params: Vec<(String, String)>,
    /// The client's address, if known.
    pub client: Option<IpAddr>,
    /// The row of the route table that was matched.
    pub row: Row,
    json: OnceLock<Result<Value, Problem>>,
    /// Validated values of the arguments, until they are extracted.
    arguments: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Inbound {
    pub(crate) fn new(
        parts: &Parts,
        body: Bytes,
        params: Vec<(String, String)>,
        row: Row,
    ) -> Arc<Self> {
        Arc::new(Self {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers.clone(),
            body,
            params,
            client: parts.extensions.get::<ClientIp>().map(|client| client.0),
            row,
            json: OnceLock::new(),
            arguments: Mutex::default(),
        })
    }

    /// The same request, as a `GET` of the object that a prefix of its path names; `row` reads that object.
    pub(crate) fn with_row(&self, row: Row) -> Arc<Self> {
        let named = row.path.matches('{').count();
        // A body that is JSON may select the store.
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&self.body).is_ok();
        Arc::new(Self {
            method: Method::GET,
            path: self.path.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: if is_json { self.body.clone() } else { Bytes::new() },
            params: self.params.iter().take(named).cloned().collect(),
            client: self.client,
            row,
            json: OnceLock::new(),
            arguments: Mutex::default(),
        })
    }

    /// Stores the validated value of an argument until it is extracted.
    pub fn insert<T: Any + Send>(&self, value: T) {
        self.arguments.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(value));
    }

    /// Takes the stored value of this type.
    ///
    /// # Errors
    /// 500: it was not validated.
    pub fn take<T: Any + Send>(&self) -> Result<T, Problem> {
        let mut arguments = self.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let found = arguments.iter().position(|value| value.is::<T>());
        let value = found.and_then(|index| arguments.swap_remove(index).downcast().ok());
        value.map(|value| *value).ok_or_else(|| Problem::internal("an argument was not validated"))
    }

    /// A header's text; `None` when it is absent or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        context::header(&self.headers, name)
    }

    /// A path parameter by name.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first query parameter of this name, decoded.
    pub fn query_param(&self, name: &str) -> Option<String> {
        form_urlencoded::parse(self.query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }

    /// The address a rate limit applies to: IPv4 by /24, IPv6 by /56 (docs/conventions.md §5).
    pub fn client_prefix(&self) -> String {
        ip_prefix(self.client)
    }

    /// The body as JSON, parsed once. An empty body is an empty object: a route whose fields are all optional
    /// needs no body.
    pub fn json(&self) -> Result<&Value, Problem> {
        self.json.get_or_init(|| self.parse_json()).as_ref().map_err(Clone::clone)
    }

    fn parse_json(&self) -> Result<Value, Problem> {
        if self.body.is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        match self.media_type().as_str() {
            "" | "application/json" => parse_json(&self.body),
            other if other.starts_with("application/") && other.ends_with("+json") => {
                parse_json(&self.body)
            }
            _ => Err(Code::UnsupportedMediaType.detail("Send `application/json`.")),
        }
    }

    /// The content type without its parameters, in lower case; empty when there is none.
    pub fn media_type(&self) -> String {
        let full = self.header("content-type").unwrap_or_default();
        full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The body as a flat object, from JSON or from a form, by its content type. In a form a repeated
    /// field is rejected, and an empty one counts as absent (RFC 6749 §3.2). If `known` lists fields,
    /// other fields of a form are ignored.
    ///
    /// # Errors
    /// `invalid_form`, `invalid_json`, `unsupported_media_type`; `validation_failed`.
    pub fn form_or_json(&self, known: Option<&[&str]>) -> Result<Value, Problem> {
        if self.media_type() != "application/x-www-form-urlencoded" {
            return self.json().cloned();
        }
        let body = std::str::from_utf8(&self.body).map_err(|_| Problem::from(Code::InvalidForm))?;
        let mut fields = pairs(body)?;
        if let Value::Object(object) = &mut fields {
            let is_known = |name: &str| known.is_none_or(|known| known.contains(&name));
            object.retain(|name, value| value != "" && is_known(name));
        }
        Ok(fields)
    }
}

/// Decoded pairs as an object of strings; a repeated name is rejected.
fn pairs(encoded: &str) -> Result<Value, Problem> {
    let mut object = Map::new();
    let mut errors = FieldErrors::default();
    for (key, value) in form_urlencoded::parse(encoded.as_bytes()) {
        if object.insert(key.to_string(), Value::String(value.into_owned())).is_some() {
            errors.add_at(ValuePointerRef::Origin.push_key(&key), || {
                Violation::new("duplicate_parameter", "This parameter is repeated.")
            });
        }
    }
    if errors.is_empty() { Ok(Value::Object(object)) } else { Err(Problem::invalid(errors)) }
}

/// The IP address of the client, set by the server that accepted the connection.
#[derive(Debug, Clone, Copy)]
pub struct ClientIp(pub IpAddr);

impl ClientIp {
    /// The client of a request. Behind a proxy that is trusted it is what that proxy says: the last entry of the last
    /// `X-Forwarded-For`, for whatever is before it the client may have written. In a Lambda, API Gateway says
    /// it in its event.
    pub fn of(headers: &HeaderMap, extensions: &Extensions, trusts_proxy: bool) -> Option<Self> {
        let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
        let last = forwarded.and_then(|list| list.to_str().ok()?.rsplit(',').next());
        let named = last.filter(|_| trusts_proxy).and_then(|text| text.trim().parse().ok());
        named.map(Self).or_else(|| extensions.get().copied())
    }
}

/// The page at which a customer of a shop sets a new password, at the host that they visit: the link to it that is
/// mailed. It is an extension of the request, which no client can send.
#[derive(Debug, Clone)]
pub struct PasswordPage(pub Arc<str>);

/// Marks a request whose discount codes are those of a cart, which were looked up when they were added: it guesses none.
/// It is an extension of the request, which no client can send.
#[derive(Debug, Clone, Copy)]
pub struct KnownCodes;

/// The network of an address, as it is used by rate limits and stored in sessions and logs: never a whole
/// address.
pub fn ip_prefix(address: Option<IpAddr>) -> String {
    match address {
        None => "unknown".to_owned(),
        Some(IpAddr::V4(v4)) => {
            let [a, b, c, _] = v4.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        Some(IpAddr::V6(v6)) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{:x}::/56", d & 0xff00)
        }
    }
}

/// The inbound request, as an argument.
#[derive(Debug, Clone)]
pub struct Raw(pub Arc<Inbound>);

impl<S: Sync> FromRequestParts<S> for Raw {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let inbound = parts.extensions.get::<Arc<Inbound>>().cloned();
        inbound.map(Self).ok_or_else(|| Problem::internal("a handler was called without a route"))
    }
}

/// The inbound request, for a handler that reads the body itself, which need not be JSON.
#[derive(Debug, Clone)]
pub struct Whole(pub Arc<Inbound>);

impl<S: Sync> FromRequestParts<S> for Whole {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Raw::from_request_parts(parts, state).await.map(|Raw(inbound)| Self(inbound))
    }
}

/// A JSON body. Where the row selects the store, `store_id` selects it and is no field of `T`.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Sync, T: Send + 'static> FromRequestParts<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// A form, or the same fields as JSON.
#[derive(Debug)]
pub struct Form<T>(pub T);

/// A type that may be sent as a [`Form`].
pub trait Parameters {
    /// The fields that are read of a form, where others are ignored (RFC 6749 §3.2).
    const KNOWN: Option<&'static [&'static str]> = None;
}

impl<S: Sync, T: Send + 'static> FromRequestParts<S> for Form<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// Query parameters, all of them text, without those of paging and store selection.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Sync, T: Send + 'static> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// Query parameters as they were sent, for a handler that validates them itself: also unknown and repeated
/// ones. `T` has those that it knows.
#[derive(Debug)]
pub struct SentQuery<T> {
    /// Names and values, decoded, in the order of the query.
    pub pairs: Vec<(String, String)>,
    known: PhantomData<fn() -> T>,
}

impl<S: Sync, T> FromRequestParts<S> for SentQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        let pairs = form_urlencoded::parse(inbound.query.as_bytes()).into_owned().collect();
        Ok(Self { pairs, known: PhantomData })
    }
}

/// Path parameters: one, or a tuple in path order. A parameter that does not parse is answered 404.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: FromPath> Path<T> {
    fn of(inbound: &Inbound) -> Result<Self, Problem> {
        let values: Vec<&str> = inbound.params.iter().map(|(_, value)| value.as_str()).collect();
        T::from_path(&values).map(Self).ok_or_else(|| Code::NotFound.into())
    }
}

impl<S: Sync, T: FromPath> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Self::of(&inbound)
    }
}

/// `If-Match: "<version>"` (docs/conventions.md §1).
#[derive(Debug, Clone, Copy, Default)]
pub struct IfMatch(pub ExpectedVersion);

impl IfMatch {
    /// # Errors
    /// `precondition_failed` when the caller named another version.
    pub fn check(self, version: u64) -> Result<(), Problem> {
        self.0.check(version)
    }

    fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut all = headers.get_all("if-match").iter();
        let Some(value) = all.next() else { return Ok(Self::default()) };
        if all.next().is_some() {
            return Err(Code::InvalidHeader.detail("If-Match is repeated."));
        }
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self::default());
        }
        // One entity tag: between two quotes, or bare as people write it.
        let within = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let tag = within.unwrap_or(text);
        let digits = tag.strip_prefix('v').unwrap_or(tag);
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        let version = digits.parse().ok().filter(|_| is_number);
        let rejected = || Code::InvalidHeader.detail("If-Match must be one version, like \"7\".");
        version.map(|version| Self(ExpectedVersion::of(version))).ok_or_else(rejected)
    }
}

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&parts.headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_cut_to_their_network() {
        assert_eq!(ip_prefix("203.0.113.77".parse().ok()), "203.0.113.0/24");
        assert_eq!(ip_prefix("2a00:1450:4001:8ff::1".parse().ok()), "2a00:1450:4001:800::/56");
        assert_eq!(ip_prefix(None), "unknown");
    }

    #[test]
    fn repeated_parameters_are_rejected() {
        assert!(pairs("a=1&b=2").is_ok());
        assert_eq!(pairs("a=1&a=1").unwrap_err().errors().len(), 1);
    }
}
