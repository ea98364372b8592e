//! Who asks: a script, which reads JSON, or a form, which is led to a page.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, header};

/// What a request about the cart is answered with. Scripts of themes say so by the path's `.js`, or by their headers
/// alone, as Dawn's do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    ByScript,
    ByForm,
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.path(), &parts.headers))
    }
}

impl Asked {
    pub(crate) fn of(path: &str, headers: &HeaderMap) -> Self {
        let text = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_ascii_lowercase()
        };
        let accepted = text(header::ACCEPT.as_str());
        let is_script = path.strip_suffix(".js").is_some()
            || text("x-requested-with") == "xmlhttprequest"
            || (accepted.contains("json") || accepted.contains("javascript"))
                && !accepted.contains("text/html");
        if is_script { Self::ByScript } else { Self::ByForm }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn scripts_say_that_they_read_json() {
        let asked = |path: &str, name: &'static str, value: &'static str| {
            let name = http::HeaderName::from_static(name);
            let headers = std::iter::once((name, HeaderValue::from_static(value))).collect();
            Asked::of(path, &headers)
        };
        for (path, name, value) in [
            ("/cart/add.js", "accept", "*/*"),
            ("/cart/change", "accept", "application/json"),
            ("/cart/add", "accept", "application/javascript"),
            ("/cart/add", "x-requested-with", "XMLHttpRequest"),
        ] {
            assert_eq!(asked(path, name, value), Asked::ByScript, "{path} {name} {value}");
        }
        let navigation = "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8";
        for accepted in [navigation, "*/*"] {
            assert_eq!(asked("/cart/add", "accept", accepted), Asked::ByForm, "{accepted}");
        }
    }
}
