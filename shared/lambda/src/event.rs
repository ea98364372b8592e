//! Repairs events for `lambda_http`, which otherwise rejects the whole event for one header that is not
//! ASCII. It also uses the last of repeated headers that are listed twice, and panics on a body that is
//! not base64, on a query or a host that is invalid in a URI, and on an empty list of values. It changes a
//! path that arrives decoded (docs/platform.md §3).
//!
//! Only the event is repaired: it is reduced to the members that make a request, in a readable
//! spelling.

mod sent;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use lambda_http::aws_lambda_events::alb::AlbTargetGroupRequest;
use lambda_http::aws_lambda_events::apigw::{ApiGatewayProxyRequest, ApiGatewayV2httpRequest};
use lambda_http::request::LambdaRequest;
use lambda_runtime::Error;
use serde_json::value::RawValue;
use url::Url;

pub use sent::Event;
use sent::{Sent, is_object, members, plain, text, texts};

use super::unreadable_line;
use primitives::problem::{Code, Problem};

const NO_REQUEST: &str = "this function takes requests, and the event is none";
/// The most bytes of a request line that are read: a URI has 64 KiB at most, and no source sends as many.
const REQUEST_LINE: usize = 60_000;
/// The bytes of an escaped byte.
const ESCAPED: usize = 3;
/// The most bytes of a host's name and port.
const HOST: usize = 300;

/// A repaired event.
pub(super) struct Mended {
    /// The event for the adapter.
    pub(super) event: LambdaRequest,
    /// The sender.
    pub(super) source: Source,
    /// The client's address, according to the source.
    pub(super) client: Option<IpAddr>,
    /// The part that could not be repaired, as a problem; it is left out of the event.
    pub(super) fault: Option<Problem>,
}

/// A service that sends requests as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// An HTTP API or a function URL, in payload format 2.0.
    HttpApi,
    /// A REST API, or an HTTP API in payload format 1.0.
    RestApi,
    /// An Application Load Balancer.
    LoadBalancer,
}

impl Source {
    fn of(event: &Sent) -> Option<Self> {
        if event.context.elb.is_some_and(is_object) {
            Some(Self::LoadBalancer)
        } else if event.context.http.is_some_and(is_object) {
            Some(Self::HttpApi)
        } else {
            event.http_method.as_ref().map(|_| Self::RestApi)
        }
    }

    /// Whether it decodes the path: only an HTTP API does, in both formats.
    fn decodes_path(self, event: &Sent) -> bool {
        match self {
            Self::HttpApi => !plain(&event.context.domain_name).contains(".lambda-url."),
            Self::RestApi => plain(&event.version) == "1.0",
            Self::LoadBalancer => false,
        }
    }

    fn client(self, event: &Sent, headers: &HeaderMap) -> Option<IpAddr> {
        let named = match self {
            Self::HttpApi => plain(&event.http.source_ip),
            Self::RestApi => plain(&event.identity.source_ip),
            // It appends the address that it sees to whatever the client sent.
            Self::LoadBalancer => {
                let forwarded = headers.get_all("x-forwarded-for").iter().next_back()?;
                forwarded.to_str().ok()?.rsplit(',').next()?.trim()
            }
        };
        named.parse().ok()
    }
}

/// Values by name.
type Lists = HashMap<String, Vec<String>>;

/// Reduces an event to the members that make a request, in the form that `lambda_http` reads.
pub(super) fn mend(event: &Event) -> Result<Mended, Error> {
    let event = Sent::read(event).ok_or(NO_REQUEST)?;
    let source = Source::of(&event).ok_or(NO_REQUEST)?;
    let (body, unreadable_body) = body(&event);
    let mut headers = headers(&event);
    let client = source.client(&event, &headers);
    let line = line(source, &event).filter(|line| line.len() <= REQUEST_LINE);
    let fault = match (&line, unreadable_body) {
        (None, _) => Some(unreadable_line()),
        (Some(_), true) => Some(Code::InvalidRequest.detail("The body cannot be read.")),
        (Some(_), false) => None,
    };
    let Line { method, path, query, parameters } = line.unwrap_or_default();
    let is_base64 = fault.is_none() && event.is_base64();
    let event = match source {
        Source::HttpApi => {
            leave_a_host(&mut headers);
            let mut mended = ApiGatewayV2httpRequest::default();
            mended.request_context.stage = Some("$default".to_owned());
            mended.request_context.http.method = method;
            (mended.raw_path, mended.raw_query_string) = (Some(path), Some(query));
            mended.headers = headers;
            (mended.body, mended.is_base64_encoded) = (body, is_base64);
            LambdaRequest::ApiGatewayV2(mended)
        }
        Source::RestApi => {
            // `headers` stays empty: the adapter would ignore the lists of any name in it.
            let mut mended = ApiGatewayProxyRequest::default();
            (mended.http_method, mended.path) = (method, Some(path));
            mended.multi_value_headers = headers;
            mended.multi_value_query_string_parameters = parameters.into();
            (mended.body, mended.is_base64_encoded) = (body, is_base64);
            LambdaRequest::ApiGatewayV1(mended)
        }
        Source::LoadBalancer => {
            let mut mended = AlbTargetGroupRequest::default();
            (mended.http_method, mended.path) = (method, Some(path));
            mended.multi_value_headers = headers;
            mended.multi_value_query_string_parameters = parameters.into();
            (mended.body, mended.is_base64_encoded) = (body, is_base64);
            LambdaRequest::Alb(mended)
        }
    };
    Ok(Mended { event, source, client, fault })
}

/// Method, path and query; the latter as text or as lists of values, depending on the source.
struct Line {
    method: Method,
    path: String,
    query: String,
    parameters: Lists,
}

impl Default for Line {
    fn default() -> Self {
        let (path, parameters) = ("/".to_owned(), Lists::new());
        Self { method: Method::GET, path, query: String::new(), parameters }
    }
}

impl Line {
    /// The most bytes of its URI.
    fn len(&self) -> usize {
        let pairs = self.parameters.iter().flat_map(|(name, values)| {
            values.iter().map(|value| name.len().saturating_add(value.len()).saturating_add(2))
        });
        let parameters = pairs.fold(0_usize, usize::saturating_add).saturating_mul(ESCAPED);
        self.path.len().saturating_add(self.query.len()).saturating_add(parameters)
    }
}

/// The request line; none if the method is invalid.
fn line(source: Source, event: &Sent) -> Option<Line> {
    let (method, path) = match source {
        Source::HttpApi => (&event.http.method, &event.raw_path),
        Source::RestApi | Source::LoadBalancer => (&event.http_method, &event.path),
    };
    let method = Method::from_bytes(plain(method).as_bytes()).ok()?;
    let unescaped = if source.decodes_path(event) { "/-._~:@" } else { "/-._~:@!$&'()*+,;=%" };
    let path = escape(plain(path), unescaped);
    Some(Line {
        method,
        path: if path.starts_with('/') { path } else { format!("/{path}") },
        query: escape(plain(&event.raw_query_string), "/-._~:@!$&'()*+,;=%?"),
        parameters: match source {
            Source::HttpApi => Lists::new(),
            _ => owned(listed(event.query_string_parameters, event.multi_value_parameters)),
        },
    })
}

fn owned(lists: HashMap<Cow<'_, str>, Vec<Cow<'_, str>>>) -> Lists {
    let texts = |values: Vec<Cow<'_, str>>| values.into_iter().map(Cow::into_owned).collect();
    lists.into_iter().map(|(name, values)| (name.into_owned(), texts(values))).collect()
}

/// Percent-encodes every byte (RFC 3986 §2.1) except letters, digits and those in `unescaped`. A `%` in
/// `unescaped` that begins no escape is encoded itself.
fn escape(text: &str, unescaped: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (place, byte) in text.bytes().enumerate() {
        let is_unescaped = byte.is_ascii_alphanumeric() || unescaped.as_bytes().contains(&byte);
        if is_unescaped && (byte != b'%' || encodes(text.as_bytes(), place)) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Whether the `%` at this index begins an escape such as `%2F`.
fn encodes(text: &[u8], place: usize) -> bool {
    let digits = text.iter().skip(place.saturating_add(1)).take(2);
    digits.filter(|byte| byte.is_ascii_hexdigit()).count() == 2
}

/// The body, and whether it is unreadable: it is then left out.
fn body(event: &Sent) -> (Option<String>, bool) {
    let body = event.body.and_then(text).map(Cow::into_owned);
    match body {
        Some(text) if event.is_base64() && BASE64_STANDARD.decode(&text).is_err() => (None, true),
        body => (body, false),
    }
}

/// Every header, with all of its values. An invalid header is dropped, as a proxy would.
fn headers(event: &Sent) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, values) in listed(event.headers, event.multi_value_headers) {
        let Ok(name) = HeaderName::try_from(&*name) else { continue };
        for value in values.into_iter().filter_map(|value| HeaderValue::from_str(&value).ok()) {
            headers.append(&name, value);
        }
    }
    let cookies = event.cookies.map(texts).unwrap_or_default();
    if !cookies.is_empty() {
        headers.remove(header::COOKIE);
        if let Ok(cookies) = HeaderValue::try_from(cookies.join("; ")) {
            headers.insert(header::COOKIE, cookies);
        }
    }
    headers
}

/// Drops an invalid scheme or host: the adapter builds a URL of them, and panics if it is none.
fn leave_a_host(headers: &mut HeaderMap) {
    let named = |name: &str, or: &'static str| {
        headers.get(name).map_or(or, |value| value.to_str().unwrap_or_default())
    };
    let (scheme, host) = (named("x-forwarded-proto", "https"), named("host", "localhost"));
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let is_sound = matches!(scheme, "http" | "https")
        && host.len() <= HOST
        && host.bytes().all(is_host)
        && Url::parse(&format!("{scheme}://{host}/")).is_ok();
    if !is_sound {
        headers.remove("x-forwarded-proto");
        headers.remove("host");
    }
}

/// The values of a name: all of them where the event lists all, otherwise the single one.
fn listed<'a>(
    one: Option<&'a RawValue>,
    all: Option<&'a RawValue>,
) -> HashMap<Cow<'a, str>, Vec<Cow<'a, str>>> {
    let mut values = HashMap::new();
    for (name, value) in [one, all].into_iter().flatten().flat_map(members) {
        let texts = texts(value);
        if !texts.is_empty() {
            values.insert(name, texts);
        }
    }
    values
}
