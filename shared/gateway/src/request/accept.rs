//! Content negotiation (RFC 9110 §12.5.1).

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, header};

use super::{Argument, Raw, Validation};
use crate::quality::{FULL, weighted};
use primitives::problem::Problem;

/// The media types of a request's `Accept`. Unreadable parts are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept(Vec<(String, u16)>);

impl Accept {
    fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
        Self(lines.flat_map(|line| line.split(',')).filter_map(range).collect())
    }

    /// The quality of a media type, in thousandths; 0 if it is not accepted. The most specific range that
    /// matches it decides; without any range everything is accepted.
    pub fn quality(&self, media_type: &str) -> u16 {
        if self.0.is_empty() {
            return FULL;
        }
        let family = media_type.split('/').next().unwrap_or_default();
        let ranges = [media_type.to_owned(), format!("{family}/*"), "*/*".to_owned()];
        let of = |range: &String| self.0.iter().find(|(named, _)| named == range);
        ranges.iter().find_map(of).map_or(0, |(_, quality)| *quality)
    }

    /// Whether `one` is preferred to `other`; `other` is, if they are equal.
    pub fn prefers(&self, one: &str, other: &str) -> bool {
        self.quality(one) > self.quality(other)
    }
}

/// A media range in lower case, without parameters, and its quality.
fn range(text: &str) -> Option<(String, u16)> {
    weighted(text).filter(|(range, _)| range.contains('/'))
}

impl<S: Sync> FromRequestParts<S> for Accept {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Ok(Self::of(&inbound.headers))
    }
}

/// Nothing in it is rejected: JSON is returned if no form is acceptable.
impl Argument for Accept {
    async fn validate(_: &mut Validation<'_>) -> Result<(), Problem> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn accept(lines: &[&'static str]) -> Accept {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, HeaderValue::from_static(line));
        }
        Accept::of(&headers)
    }

    #[test]
    fn the_form_that_is_wanted_more_is_preferred() {
        let (html, json) = ("text/html", "application/json");
        for (lines, wants_html) in [
            (&[][..], false),
            (&["*/*"], false),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true),
            (&["text/html"], true),
            (&["TEXT/HTML; charset=utf-8; Q=0.5, application/json;q=0.499"], true),
            (&["text/html;q=0.5, application/json"], false),
            (&["text/html;q=0"], false),
            (&["text/html;q=0, */*"], false),
            (&["*/*;q=0.1, text/*;q=0.2"], true),
            (&["application/json;q=0.2", "text/html;q=1.000"], true),
            (&["text/html;q=2, text/html;q=0.1234, image/png"], false),
            (&["image/png"], false),
            (&["html"], false),
        ] {
            assert_eq!(accept(lines).prefers(html, json), wants_html, "{lines:?}");
        }
        assert_eq!(accept(&["text/html;q=0.25"]).quality(html), 250);
        assert_eq!(accept(&["text/html"]).quality(json), 0);
    }
}
