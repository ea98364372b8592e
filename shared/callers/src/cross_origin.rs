//! The routes that any web page may call: storefront, token and public catalogue routes
//! (docs/conventions.md §1).
//!
//! They are matched by path, not by row: a preflight and a 404 have no row. Every function that serves
//! one of them has this list.

use http::Method;

/// The prefixes of paths whose responses any origin may read. None of them accepts a cookie.
const OPEN: &[&str] = &[
    "/health",
    "/.well-known/oauth-authorization-server",
    "/v1/storefront/",
    "/v1/app-store/oauth/token",
    "/v1/app-store/oauth/revoke",
    "/v1/app-store/oauth/introspect",
    "/v1/app-store/oauth/jwks",
    "/v1/app-store/oauth/metadata",
    "/v1/app-store/apps",
    "/v1/operations/event-types",
];

/// The catalogue of themes, and a theme's own page.
const THEMES: &str = "/v1/themes";

/// Whether any origin may call this route. In the catalogue of apps that is limited to reading: writes
/// there act for a merchant or a developer.
pub fn is_open(method: &Method, path: &str) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let merchant = path == "/v1/app-store/oauth/token-exchange"
        || (path.starts_with("/v1/app-store/apps") && !reads);
    !merchant && (OPEN.iter().any(|open| path.starts_with(open)) || (reads && is_theme(path)))
}

fn is_theme(path: &str) -> bool {
    let Some(below) = path.strip_prefix(THEMES) else { return false };
    let slug = below.strip_prefix('/').unwrap_or_default();
    below.is_empty() || (!slug.is_empty() && !slug.contains('/') && slug != "packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_paths_are_open() {
        for open in [
            "/v1/storefront/lookup",
            "/.well-known/oauth-authorization-server",
            "/v1/app-store/oauth/token",
            "/v1/app-store/apps",
            "/v1/themes",
            "/v1/themes/plain-linen",
        ] {
            assert!(is_open(&Method::GET, open), "{open}");
        }
        for closed in [
            "/v1/auth/signin",
            "/v1/stores",
            "/v1/app-store/oauth/token-exchange",
            "/v1/app-store/apps/app_1/oauth/authorize",
            "/v1/app-store/apps/app_1/reviews",
            "/v1/app-store/developers/apps",
        ] {
            assert!(!is_open(&Method::POST, closed), "{closed}");
        }
        for closed in [
            "/v1/app-store/oauth/authorize",
            "/v1/themes/packages",
            "/v1/themes/plain-linen/editor",
            "/v1/themesque",
        ] {
            assert!(!is_open(&Method::GET, closed), "{closed}");
        }
    }
}
