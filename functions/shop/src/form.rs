//! What a page sends: an HTML form in either encoding, or JSON, as one list of named values. Members of JSON get the
//! names that a form would give them: `items[0][id]`.

use std::convert::Infallible;

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use gateway::request::parts_of;
use http::request::Parts;
use http::{StatusCode, header};
use serde_json::Value;

use crate::fault::Fault;
use crate::paths::is_path;

/// The largest body, in bytes.
const LARGEST: usize = 256 << 10;
/// The most values of a body. A cart has 40 lines.
const MOST: usize = 2_000;

/// The named values of a form, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        let (parts, body) = request.into_parts();
        let sent = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let sent = sent.unwrap_or_default();
        let kind = sent.to_ascii_lowercase();
        let bytes = to_bytes(body, LARGEST).await.map_err(|_| too_large())?;
        let fields = if kind.starts_with("multipart/form-data") {
            let parts = parts_of(sent, bytes).await?;
            let texts = parts.into_iter().filter(|part| !part.is_file);
            Self(
                texts
                    .map(|it| (it.name, String::from_utf8_lossy(&it.bytes).into_owned()))
                    .collect(),
            )
        } else if kind.starts_with("application/json") {
            let json = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
            let mut fields = Self::default();
            fields.flatten(String::new(), &json);
            fields
        } else {
            Self::of_query(&bytes)
        };
        if fields.0.len() > MOST { Err(too_large()) } else { Ok(fields) }
    }
}

/// The named values of an address's query.
pub(crate) struct Query(pub(crate) Fields);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(Fields::of_query(parts.uri.query().unwrap_or_default().as_bytes())))
    }
}

fn too_large() -> Fault {
    Fault::of(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "")
}

fn unreadable() -> Fault {
    Fault::of(StatusCode::BAD_REQUEST, "invalid_json", "")
}

impl Fields {
    /// The values of a query or of a form in its encoding.
    pub(crate) fn of_query(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().take(MOST.saturating_add(1)).collect())
    }

    fn flatten(&mut self, name: String, value: &Value) {
        match value {
            _ if self.0.len() > MOST => {}
            Value::Null => self.0.push((name, String::new())),
            Value::Bool(flag) => self.0.push((name, flag.to_string())),
            Value::Number(number) => self.0.push((name, number.to_string())),
            Value::String(text) => self.0.push((name, text.clone())),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let is_plain = !item.is_object() && !item.is_array();
                    let at =
                        if is_plain { format!("{name}[]") } else { format!("{name}[{index}]") };
                    self.flatten(at, item);
                }
            }
            Value::Object(members) => {
                for (member, value) in members {
                    let is_first = name.is_empty();
                    let at = if is_first { member.clone() } else { format!("{name}[{member}]") };
                    self.flatten(at, value);
                }
            }
        }
    }

    /// The last value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().rev().filter(|(other, _)| other == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// The last value of a name, trimmed; none if it is blank.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|text| !text.is_empty())
    }

    /// The path of this shop that a name has; none for another site's address.
    pub(crate) fn path(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|to| is_path(to))
    }

    /// All values of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        let values = self.0.iter().filter(move |(other, _)| other == name);
        values.map(|(_, value)| value.as_str())
    }

    /// All names and values.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Whether there is a value of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    /// The values of `name[…]`, each with what is in the brackets, in the form's order. Of `items[0][id]`, the values of
    /// `items` have the name `0][id`.
    pub(crate) fn within<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        self.0.iter().filter_map(move |(other, value)| {
            let inner = other.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            Some((inner, value.as_str()))
        })
    }

    /// The items of `name[0][…]`, each with its own values.
    pub(crate) fn items(&self, name: &str) -> Vec<Self> {
        let mut found: Vec<(&str, Self)> = Vec::new();
        for (inner, value) in self.within(name) {
            let Some((index, member)) = inner.split_once("][") else { continue };
            // `properties][Name` of an item is `properties[Name]` in it.
            let member = match member.split_once("][") {
                Some((first, rest)) => format!("{first}[{rest}]"),
                None => member.to_owned(),
            };
            let at = found.iter().position(|(known, _)| *known == index);
            let at = at.unwrap_or_else(|| {
                found.push((index, Self::default()));
                found.len().saturating_sub(1)
            });
            if let Some((_, item)) = found.get_mut(at) {
                item.0.push((member, value.to_owned()));
            }
        }
        found.into_iter().map(|(_, item)| item).collect()
    }

    /// The section ids of the Section Rendering API: `sections=a,b`, or several.
    pub(crate) fn sections(&self) -> Vec<String> {
        let one = self.get("sections").into_iter();
        let all = one.chain(self.within("sections").map(|(_, id)| id));
        let ids = all.flat_map(|text| text.split(',')).map(str::trim).filter(|id| !id.is_empty());
        ids.map(str::to_owned).take(5).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_json(json: &Value) -> Fields {
        let mut fields = Fields::default();
        fields.flatten(String::new(), json);
        fields
    }

    #[test]
    fn json_has_the_names_of_a_form() {
        let json = json!({
            "items": [{"id": "var_1", "quantity": 2, "properties": {"Name": "Ada"}}, {"id": "var_2"}],
            "sections": ["a", "b,c"], "note": null,
        });
        let form = Fields::of_query(
            b"items[0][id]=var_1&items[0][quantity]=2&items[0][properties][Name]=Ada\
              &items[1][id]=var_2&sections=a,b,c",
        );
        for fields in [of_json(&json), form] {
            let items = fields.items("items");
            assert_eq!(items.len(), 2);
            assert_eq!(items[0].get("id"), Some("var_1"));
            assert_eq!(items[0].get("quantity"), Some("2"));
            assert_eq!(items[0].within("properties").collect::<Vec<_>>(), [("Name", "Ada")]);
            assert_eq!(items[1].get("id"), Some("var_2"));
            assert_eq!(fields.sections(), ["a", "b", "c"]);
            assert_eq!(fields.text("note"), None);
        }
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let fields = Fields::of_query(b"a=1&a=2&updates[]=3&updates[]=0&b=+&c=");
        assert_eq!(fields.get("a"), Some("2"));
        assert_eq!(fields.within("updates").collect::<Vec<_>>(), [("", "3"), ("", "0")]);
        assert!(fields.has("c") && !fields.has("d"));
        assert_eq!(fields.text("b"), None);
    }
}
