//! The storefront as HTML pages: `/_local/shop/{subdomain}`, with the live theme, or with a draft by
//! `?preview_token=…`. It uses only the public API, as any storefront could.
//!
//! A theme's page runs no script ([`POLICY`]), but could still leak the preview token by the URL of a picture
//! or a link. So the token is moved to a cookie that the page cannot read.

mod input;

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use gateway::request::ClientIp;
use maud::{DOCTYPE, html};
use primitives::clock::{Clock, DAY};
use serde::Deserialize;
use serde_json::{Value, json};
use shop_theme::{Data, Finding, Limits, Listing, Page};

use crate::pages::STYLE;
use input::{Api, Rejected, Storefront, segment};

/// The path prefix of shops, without a slash at the end; a shop is below it at its subdomain.
pub const PATH: &str = "/_local/shop";

/// The name of the cookie with a preview token.
const COOKIE: &str = "preview_token";

/// The content security policy of a theme's page: pictures and its own styles. It runs no script, posts no
/// form and has an opaque origin, so that nothing in it can call the API as the service's own pages could.
const POLICY: &str = "default-src 'none'; img-src 'self' http: https: data:; style-src 'self' 'unsafe-inline'; \
     font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     sandbox";

/// The query parameters of a page.
#[derive(Debug, Default, Deserialize)]
struct PageQuery {
    preview_token: Option<String>,
    /// The page number of a paginated list.
    page: Option<String>,
}

/// The routes of the pages, over this API.
pub(crate) fn router(api: Router, clock: Clock) -> Router {
    Router::new()
        .route(&format!("{PATH}/{{subdomain}}"), get(show))
        .route(&format!("{PATH}/{{subdomain}}/"), get(show))
        .route(&format!("{PATH}/{{subdomain}}/files/{{digest}}"), get(asset))
        .route(&format!("{PATH}/{{subdomain}}/{{family}}"), get(show))
        .route(&format!("{PATH}/{{subdomain}}/{{family}}/{{handle}}"), get(show))
        .with_state(Arc::new(Api::new(api, clock)))
}

/// The path parameters of a page: the shop, and the page in it.
#[derive(Debug, Deserialize)]
struct Address {
    subdomain: String,
    #[serde(default)]
    family: String,
    #[serde(default)]
    handle: String,
}

async fn show(
    State(api): State<Arc<Api>>,
    Path(address): Path<Address>,
    Query(query): Query<PageQuery>,
    headers: HeaderMap,
    visitor: Option<Extension<ClientIp>>,
) -> Response {
    let visitor = visitor.map(|Extension(ip)| ip);
    let of = |token| Storefront::new(&api, &address.subdomain, token, visitor);
    if let Some(token) = query.preview_token {
        return previewed(of(Some(token.clone())), &address, &token).await;
    }
    let token = cookie(&headers);
    let is_preview = token.is_some();
    let number = query.page.and_then(|number| number.parse().ok()).unwrap_or(1);
    match page(&of(token), &address, number).await {
        Ok((status, html)) => answer(status, html),
        Err(Fault::Rejected(rejected)) => {
            let response = answer(rejected.status, error_page(&rejected.title, &rejected.detail));
            // The cookie of an expired preview is deleted.
            let is_over = is_preview && rejected.status.is_client_error();
            if is_over { with_cookie(response, &address.subdomain, "") } else { response }
        }
        Err(Fault::Finding(finding)) => {
            let code = serde_json::to_value(finding.code).unwrap_or_default();
            let code = code.as_str().unwrap_or_default();
            let title = format!("The theme cannot be shown: {code}");
            let detail = format!("{}: {}", finding.path, finding.message);
            answer(StatusCode::UNPROCESSABLE_ENTITY, error_page(&title, &detail))
        }
    }
}

/// Sets the cookie of a preview, and redirects to the page without the token. An empty token ends the
/// preview.
async fn previewed(storefront: Storefront<'_>, address: &Address, token: &str) -> Response {
    if !token.is_empty()
        && let Err(rejected) = storefront.find_store().await
    {
        return answer(rejected.status, error_page(&rejected.title, &rejected.detail));
    }
    let below = [&address.family, &address.handle].map(|part| segment(part));
    let below = below.iter().filter(|part| !part.is_empty());
    let path = below.fold(root(&address.subdomain), |path, part| format!("{path}/{part}"));
    with_cookie(Redirect::to(&path).into_response(), &address.subdomain, token)
}

/// The path of a shop's pages.
fn root(subdomain: &str) -> String {
    format!("{PATH}/{}", segment(subdomain))
}

/// The preview token in the request's cookies.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|line| line.split(';')).map(str::trim);
    let token = pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))?;
    (!token.is_empty()).then(|| token.to_owned())
}

/// Adds the cookie with the preview token to a response; an empty token deletes it.
fn with_cookie(mut answer: Response, subdomain: &str, token: &str) -> Response {
    let age = if token.is_empty() { 0 } else { DAY.as_secs() };
    let cookie = format!(
        "{COOKIE}={token}; Path={}; Max-Age={age}; HttpOnly; SameSite=Lax",
        root(subdomain)
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// `GET …/files/{digest}`: a file of the previewed theme.
async fn asset(
    State(api): State<Arc<Api>>,
    Path((subdomain, digest)): Path<(String, String)>,
    visitor: Option<Extension<ClientIp>>,
) -> Response {
    let visitor = visitor.map(|Extension(ip)| ip);
    Storefront::new(&api, &subdomain, None, visitor).asset(&digest).await
}

/// The reason why a page cannot be rendered.
enum Fault {
    Rejected(Rejected),
    Finding(Finding),
}

impl From<Rejected> for Fault {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

async fn page(
    storefront: &Storefront<'_>,
    address: &Address,
    number: usize,
) -> Result<(StatusCode, String), Fault> {
    let root = root(&address.subdomain);
    let data = storefront.data(root.clone(), number).await?;
    let locale = data.store.get("locale").and_then(Value::as_str).unwrap_or("en").to_owned();
    let theme = storefront.theme(&root, locale).await?;
    let page = wanted(storefront, &data, &address.family, &address.handle).await?;
    let status =
        if matches!(page, Page::NotFound) { StatusCode::NOT_FOUND } else { StatusCode::OK };
    // Rendering blocks its thread, for up to two seconds.
    let rendering = move || shop_theme::render(&theme, page, &data, Limits::default());
    let rendered = tokio::task::spawn_blocking(rendering).await;
    let rendered = rendered.map_err(|_| Rejected::internal())?;
    rendered.map(|rendered| (status, rendered.html)).map_err(Fault::Finding)
}

/// The page at this path, with the data that it needs.
async fn wanted(
    storefront: &Storefront<'_>,
    data: &Data,
    family: &str,
    handle: &str,
) -> Result<Page, Rejected> {
    let of_page = |page: &Value| page.get("handle").and_then(Value::as_str) == Some(handle);
    let known = data.collections.iter().find(|(page, _)| of_page(page));
    let listing = |collection: Value, products: &[Value]| {
        let products = products.to_vec();
        Page::Collection(Box::new(Listing { collection, products, ..Listing::default() }))
    };
    let everything = || json!({"handle": "all", "title": "All products"});
    Ok(match (family, handle) {
        ("", "") => Page::Index,
        ("collections", "") => Page::Collections,
        ("products", "") | ("collections", "all") => listing(everything(), &data.products),
        ("collections", _) => {
            known.map_or(Page::NotFound, |(page, products)| listing(page.clone(), products))
        }
        ("products", handle) => storefront
            .find(&format!("/products/{handle}"))
            .await?
            .map_or(Page::NotFound, |product| Page::Product(Box::new(product))),
        ("policies", handle) => storefront
            .find(&format!("/policies/{handle}"))
            .await?
            .map_or(Page::NotFound, |text| Page::Text(Box::new(text))),
        _ => Page::NotFound,
    })
}

/// An error page, which does not use the theme.
fn error_page(title: &str, detail: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href=(STYLE);
            }
            body.plain { main { h1 { (title) } @if !detail.is_empty() && detail != title { pre { (detail) } } } }
        }
    };
    page.into_string()
}

fn answer(status: StatusCode, html: String) -> Response {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "private, no-store"),
    ];
    (status, headers, Html(html)).into_response()
}
