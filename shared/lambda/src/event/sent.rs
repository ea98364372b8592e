//! The members of an event that make a request, by their position in its text. A member of another type
//! than expected counts as absent.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use primitives::members::{Member, Members};

/// An event as received: unparsed JSON.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Event(Box<RawValue>);

type Raw<'a> = Option<&'a RawValue>;
type Text<'a> = Option<Cow<'a, str>>;

/// The members of an event, of all sources.
#[derive(Default)]
pub(super) struct Sent<'a> {
    pub(super) version: Text<'a>,
    pub(super) raw_path: Text<'a>,
    pub(super) raw_query_string: Text<'a>,
    pub(super) path: Text<'a>,
    pub(super) http_method: Text<'a>,
    pub(super) headers: Raw<'a>,
    pub(super) multi_value_headers: Raw<'a>,
    pub(super) query_string_parameters: Raw<'a>,
    pub(super) multi_value_parameters: Raw<'a>,
    pub(super) cookies: Raw<'a>,
    pub(super) body: Raw<'a>,
    is_base64: bool,
    pub(super) context: RequestContext<'a>,
    pub(super) http: Origin<'a>,
    pub(super) identity: Origin<'a>,
}

/// `requestContext`.
#[derive(Default)]
pub(super) struct RequestContext<'a> {
    pub(super) elb: Raw<'a>,
    pub(super) http: Raw<'a>,
    identity: Raw<'a>,
    pub(super) domain_name: Text<'a>,
}

/// `requestContext.http`, and `requestContext.identity`.
#[derive(Default)]
pub(super) struct Origin<'a> {
    pub(super) method: Text<'a>,
    pub(super) source_ip: Text<'a>,
}

impl<'a> Sent<'a> {
    /// The members of an event; none if it is no object.
    pub(super) fn read(event: &'a Event) -> Option<Self> {
        let mut sent = Self::default();
        for (name, value) in object(&event.0)? {
            match &*name {
                "version" => sent.version = text(value),
                "rawPath" => sent.raw_path = text(value),
                "rawQueryString" => sent.raw_query_string = text(value),
                "path" => sent.path = text(value),
                "httpMethod" => sent.http_method = text(value),
                "headers" => sent.headers = Some(value),
                "multiValueHeaders" => sent.multi_value_headers = Some(value),
                "queryStringParameters" => sent.query_string_parameters = Some(value),
                "multiValueQueryStringParameters" => sent.multi_value_parameters = Some(value),
                "cookies" => sent.cookies = Some(value),
                "body" => sent.body = Some(value),
                "isBase64Encoded" => sent.is_base64 = value.get() == "true",
                "requestContext" => sent.context = RequestContext::read(value),
                _ => {}
            }
        }
        sent.http = sent.context.http.map(Origin::read).unwrap_or_default();
        sent.identity = sent.context.identity.map(Origin::read).unwrap_or_default();
        Some(sent)
    }

    pub(super) fn is_base64(&self) -> bool {
        self.is_base64
    }
}

impl<'a> RequestContext<'a> {
    fn read(context: &'a RawValue) -> Self {
        let mut read = Self::default();
        for (name, value) in members(context) {
            match &*name {
                "elb" => read.elb = Some(value),
                "http" => read.http = Some(value),
                "identity" => read.identity = Some(value),
                "domainName" => read.domain_name = text(value),
                _ => {}
            }
        }
        read
    }
}

impl<'a> Origin<'a> {
    fn read(origin: &'a RawValue) -> Self {
        let mut read = Self::default();
        for (name, value) in members(origin) {
            match &*name {
                "method" => read.method = text(value),
                "sourceIp" => read.source_ip = text(value),
                _ => {}
            }
        }
        read
    }
}

/// Whether it is an object.
pub(super) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// The text, or an empty one.
pub(super) fn plain<'t>(text: &'t Text<'_>) -> &'t str {
    text.as_deref().unwrap_or_default()
}

/// The text of a value, if it is a string.
pub(super) fn text(value: &RawValue) -> Text<'_> {
    let inside = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str(value.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

/// The texts of a string or of a list of strings.
pub(super) fn texts(value: &RawValue) -> Vec<Cow<'_, str>> {
    if let Some(text) = text(value) {
        return vec![text];
    }
    let listed: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    listed.into_iter().filter_map(text).collect()
}

/// The members of an object, in their order; none of any other value.
pub(super) fn members(value: &RawValue) -> Vec<Member<'_>> {
    object(value).unwrap_or_default()
}

fn object(value: &RawValue) -> Option<Vec<Member<'_>>> {
    let members: Members<'_> = serde_json::from_str(value.get()).ok()?;
    Some(members.0)
}
