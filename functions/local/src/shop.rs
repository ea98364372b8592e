//! The store as a page, for people who want to look: `/_local/shop/{subdomain}`, under its live theme, or
//! under a draft with `?preview_token=…`, which becomes a cookie: a theme's page runs nothing, and still
//! could send away what it is shown, by the address of a picture or a style for a link. It is a storefront as anybody could build one: all that it
//! knows it asks the public API, and a theme's page runs nothing (`POLICY`).

mod input;

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use gateway::request::ClientIp;
use primitives::clock::DAY;
use render::{Data, Finding, Limits, Page};
use serde::Deserialize;
use serde_json::Value;

use input::{Api, Rejected, Storefront, segment};

/// Where shops are, without a slash at the end: their subdomains are below it.
pub const PATH: &str = "/_local/shop";

/// The cookie of a preview.
const COOKIE: &str = "preview_token";

/// What a theme's page may do: show pictures and its own style. It runs no script, posts no form, and is
/// of no origin, so that nothing in it speaks to the API as the service's own pages could.
const POLICY: &str = "default-src 'none'; img-src 'self' http: https: data:; style-src 'self' 'unsafe-inline'; \
     font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     sandbox";

/// What an address may say.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    preview_token: Option<String>,
    /// Which page of what is paginated.
    page: Option<String>,
}

/// The pages, over this API.
pub(crate) fn router(api: Router) -> Router {
    Router::new()
        .route(&format!("{PATH}/{{subdomain}}"), get(shown))
        .route(&format!("{PATH}/{{subdomain}}/"), get(shown))
        .route(&format!("{PATH}/{{subdomain}}/files/{{digest}}"), get(asset))
        .route(&format!("{PATH}/{{subdomain}}/{{family}}"), get(shown))
        .route(&format!("{PATH}/{{subdomain}}/{{family}}/{{handle}}"), get(shown))
        .with_state(Arc::new(Api::new(api)))
}

/// Which page of which shop.
#[derive(Debug, Deserialize)]
struct Address {
    subdomain: String,
    #[serde(default)]
    family: String,
    #[serde(default)]
    handle: String,
}

async fn shown(
    State(api): State<Arc<Api>>,
    Path(address): Path<Address>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    visitor: Option<Extension<ClientIp>>,
) -> Response {
    let visitor = visitor.map(|Extension(ip)| ip);
    let of = |token| Storefront::new(&api, &address.subdomain, token, visitor);
    if let Some(token) = asked.preview_token {
        return previewed(of(Some(token.clone())), &address, &token).await;
    }
    let token = cookie(&headers);
    let is_preview = token.is_some();
    let number = asked.page.and_then(|number| number.parse().ok()).unwrap_or(1);
    match page(&of(token), &address, number).await {
        Ok((status, html)) => answer(status, html),
        Err(Fault::Rejected(rejected)) => {
            let said = answer(rejected.status, told(&rejected.title, &rejected.detail));
            // A preview that is over is not asked for again.
            let is_over = is_preview && rejected.status.is_client_error();
            if is_over { with_cookie(said, &address.subdomain, "") } else { said }
        }
        Err(Fault::Finding(finding)) => {
            let code = serde_json::to_value(finding.code).unwrap_or_default();
            let code = code.as_str().unwrap_or_default();
            let title = format!("The theme cannot be shown: {code}");
            let detail = format!("{}: {}", finding.path, finding.message);
            answer(StatusCode::UNPROCESSABLE_ENTITY, told(&title, &detail))
        }
    }
}

/// Keeps the token of a preview in the browser, and leads to the page without it. Without a token the
/// preview is left.
async fn previewed(storefront: Storefront<'_>, address: &Address, token: &str) -> Response {
    if !token.is_empty()
        && let Err(rejected) = storefront.find_store().await
    {
        return answer(rejected.status, told(&rejected.title, &rejected.detail));
    }
    let below = [&address.family, &address.handle].map(|part| segment(part));
    let below = below.iter().filter(|part| !part.is_empty());
    let path = below.fold(root(&address.subdomain), |path, part| format!("{path}/{part}"));
    with_cookie(Redirect::to(&path).into_response(), &address.subdomain, token)
}

/// Where the pages of a shop are.
fn root(subdomain: &str) -> String {
    format!("{PATH}/{}", segment(subdomain))
}

/// The token that the browser keeps for these pages.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|line| line.split(';')).map(str::trim);
    let token = pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))?;
    (!token.is_empty()).then(|| token.to_owned())
}

/// The answer, with the token for the browser to keep; an empty one is forgotten.
fn with_cookie(mut answer: Response, subdomain: &str, token: &str) -> Response {
    let age = if token.is_empty() { 0 } else { DAY.as_secs() };
    let kept = format!(
        "{COOKIE}={token}; Path={}; Max-Age={age}; HttpOnly; SameSite=Lax",
        root(subdomain)
    );
    if let Ok(kept) = HeaderValue::from_str(&kept) {
        answer.headers_mut().insert(header::SET_COOKIE, kept);
    }
    answer
}

/// A file of the theme that is previewed.
async fn asset(
    State(api): State<Arc<Api>>,
    Path((subdomain, digest)): Path<(String, String)>,
    visitor: Option<Extension<ClientIp>>,
) -> Response {
    let visitor = visitor.map(|Extension(ip)| ip);
    Storefront::new(&api, &subdomain, None, visitor).asset(&digest).await
}

/// Why there is no page.
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
    // It takes the thread that it is on, for up to two seconds.
    let rendering = move || render::render(&theme, page, &data, Limits::default());
    let rendered = tokio::task::spawn_blocking(rendering).await;
    let rendered = rendered.map_err(|_| Rejected::internal())?;
    rendered.map(|html| (status, html)).map_err(Fault::Finding)
}

/// The page at this path, with what it needs.
async fn wanted(
    storefront: &Storefront<'_>,
    data: &Data,
    family: &str,
    handle: &str,
) -> Result<Page, Rejected> {
    let of_page = |page: &Value| page.get("handle").and_then(Value::as_str) == Some(handle);
    let is_known = data.collections.iter().any(|(page, _)| of_page(page));
    Ok(match (family, handle) {
        ("", "") => Page::Index,
        ("collections", "") => Page::Collections,
        ("products", "") | ("collections", "all") => Page::Collection("all".to_owned()),
        ("collections", handle) if is_known => Page::Collection(handle.to_owned()),
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

/// A page of ours, which says why there is none of the theme's.
fn told(title: &str, detail: &str) -> String {
    let (title, detail) = (escaped(title), escaped(detail));
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1><pre>{detail}</pre>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
