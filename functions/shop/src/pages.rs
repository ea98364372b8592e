//! The pages of a shop's theme.

mod data;
mod filters;
mod listing;
mod plain;
mod rendering;
mod respond;
mod suggestions;
mod theme;
mod wanted;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, StatusCode};
use maud::html;
use serde_json::{Map, Value};
use shop_theme::{Data, Limits, Page, Rendered, Theme};

use crate::cart::{Cart, lines};
use crate::document::json;
use crate::fault::Fault;
use crate::form::Fields;
use crate::page_cache::KeptPage;
use crate::shops::Shops;
use crate::visit::{PREVIEW, Visit};

pub(crate) use data::{product_json, products_by_id};
use rendering::blocking;
pub(crate) use respond::{fault, private};
pub(crate) use suggestions::{recommend, recommended, suggest, suggest_json};
use wanted::Wanted;

/// How a part of the platform's is placed in a page whose design is not known.
pub(crate) const PLACE: &str = "max-width: 60rem; margin: 1.5rem auto; padding: 0 1.5rem;";

/// Any page of the theme.
pub(crate) async fn show(
    State(shops): State<Arc<Shops>>,
    headers: HeaderMap,
    visit: Visit,
) -> Response {
    let query = Fields::of_query(visit.query().as_bytes());
    if query.has("preview_token") {
        return begin_preview(&visit, query.text("preview_token")).await;
    }
    let key = visit.is_anonymous().then(|| visit.page_key());
    if let Some(kept) = key.as_ref().and_then(|key| shops.pages.get(key, &shops.app)) {
        return respond::kept(&kept, &headers);
    }
    match Box::pin(page(&visit, &query)).await {
        Ok(Shown::Html(status, html)) => {
            let is_kept = key.is_some() && status == StatusCode::OK;
            let page = KeptPage::new(html, shops.app.clock.now());
            if let Some(key) = key.filter(|_| is_kept) {
                shops.pages.insert(key, page.clone());
            }
            respond::page(&visit, status, &page, &headers)
        }
        Ok(Shown::Json(sections)) => json(StatusCode::OK, &Value::Object(sections)),
        Ok(Shown::Elsewhere(path)) => Redirect::to(&path).into_response(),
        Err(fault) => respond::fault(&visit, fault),
    }
}

/// What a request of a page gets.
enum Shown {
    Html(StatusCode, String),
    /// Sections of the page.
    Json(Map<String, Value>),
    Elsewhere(String),
}

/// Sets the cookie of a preview, and leads to the page without its token: a theme could leak it in the URL of a picture.
/// An empty token ends the preview.
async fn begin_preview(visit: &Visit, token: Option<&str>) -> Response {
    if token.is_some()
        && let Err(problem) = visit.preview_session().await
    {
        return Fault::from(problem).into_response();
    }
    let to = Redirect::to(visit.path()).into_response();
    visit.with_cookie(to, PREVIEW, token.unwrap_or_default())
}

/// What is asked for of a page instead of the whole.
enum Part {
    /// One section, as HTML.
    Section(String),
    /// Several, as JSON.
    Sections(Vec<String>),
}

impl Part {
    fn of(query: &Fields) -> Option<Self> {
        let ids = query.sections();
        let one = || query.text("section_id").map(|id| Self::Section(id.to_owned()));
        if ids.is_empty() { one() } else { Some(Self::Sections(ids)) }
    }

    async fn render(
        self,
        (theme, page, data): (Theme, Page, Data),
        status: StatusCode,
    ) -> Result<Shown, Fault> {
        let (ids, is_one) = match self {
            Self::Section(id) => (vec![id], true),
            Self::Sections(ids) => (ids, false),
        };
        let render = move || shop_theme::sections(&theme, page, &data, &ids, Limits::default());
        let mut rendered = blocking(render).await?;
        if !is_one {
            return Ok(Shown::Json(rendered));
        }
        match rendered.values_mut().next().map(Value::take) {
            Some(Value::String(html)) => Ok(Shown::Html(status, html)),
            _ => Err(Fault::not_found()),
        }
    }
}

/// Leads from a product's id to its page.
async fn page_of_product(visit: &Visit, id: &str) -> Result<Shown, Fault> {
    let found = data::products_by_id(visit, &[id]).await?;
    let handle = found.first().map(|product| crate::values::text(product, "handle"));
    let handle = handle.filter(|handle| !handle.is_empty()).ok_or_else(Fault::not_found)?;
    let query = visit.query();
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(Shown::Elsewhere(format!("/products/{handle}{query}")))
}

async fn page(visit: &Visit, query: &Fields) -> Result<Shown, Fault> {
    let path = visit.path().to_owned();
    let wanted = match Wanted::of(&path) {
        Wanted::ProductId(id) => return page_of_product(visit, &id).await,
        wanted => wanted,
    };
    let Some(theme) = theme::of(visit).await? else {
        let (status, html) = plain::page(visit, &wanted).await?;
        return Ok(Shown::Html(status, html));
    };
    let (page, carts, ()) = tokio::join!(
        wanted.load(visit, query, Some(&theme)),
        data::of_visitor(visit),
        data::prefetch(visit),
    );
    let page = page?;
    let status =
        if matches!(page, Page::NotFound) { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let mut data = data::load(visit, &theme, &page, carts?).await?;
    if matches!(page, Page::Cart) && lines(&data.cart).is_empty() {
        let notice = visit.unpaid_notice().await;
        let notice = notice.map(|notice| html! { div style=(PLACE) { (notice) } });
        data.around.0 = notice.unwrap_or_default().into_string();
    }
    if let Some(part) = Part::of(query) {
        return part.render((theme, page, data), status).await;
    }
    let rendered = blocking(move || shop_theme::render(&theme, page, &data, Limits::default()));
    match rendered.await {
        Ok(Rendered { html, warnings }) => {
            if !warnings.is_empty() {
                tracing::debug!(count = warnings.len(), "theme has warnings");
            }
            Ok(Shown::Html(status, html))
        }
        Err(fault) if visit.preview().is_some() => Err(fault),
        Err(fault) => {
            // Shoppers can buy even if the theme is broken; its merchant sees why in a preview.
            tracing::warn!(code = %fault.code, detail = %fault.detail, "theme not rendered");
            let (status, html) = plain::page(visit, &wanted).await?;
            Ok(Shown::Html(status, html))
        }
    }
}

/// The theme, if it has a template of its own for a page.
///
/// # Errors
/// `invalid_or_expired_token`, `preview_expired`, 503.
pub(crate) async fn theme_with(visit: &Visit, page: &Page) -> Result<Option<Theme>, Fault> {
    let theme = theme::of(visit).await?;
    Ok(theme.filter(|theme| shop_theme::has_template(theme, page)))
}

/// Renders a page that has a form of the platform's; `fill` adds what it shows. None if the theme fails: the platform's own
/// page takes its place.
///
/// # Errors
/// 429, 503; in a preview, why the theme fails.
pub(crate) async fn render_own(
    visit: &Visit,
    theme: Theme,
    page: Page,
    fill: impl FnOnce(&mut Data),
) -> Result<Option<String>, Fault> {
    let carts = match data::of_visitor(visit).await {
        // A session that is over: this may be the page on which the next one begins.
        Err(fault) if fault.status == StatusCode::UNAUTHORIZED => {
            data::of_cart(visit, &visit.location, None).await
        }
        found => found?,
    };
    let mut data = data::load(visit, &theme, &page, carts).await?;
    fill(&mut data);
    let rendered = blocking(move || shop_theme::render(&theme, page, &data, Limits::default()));
    match rendered.await {
        Ok(Rendered { html, .. }) => Ok(Some(html)),
        Err(fault) if visit.preview().is_some() => Err(fault),
        Err(fault) => {
            tracing::warn!(code = %fault.code, detail = %fault.detail, "theme not rendered");
            Ok(None)
        }
    }
}

/// `POST /localization`: a shop has one country and language so far; the form leads back.
pub(crate) async fn localize(_: Visit, sent: Fields) -> Redirect {
    Redirect::to(sent.path("return_to").unwrap_or("/"))
}

/// What a cart's JSON is made from, for a page at this location.
pub(crate) async fn cart_data(visit: &Visit, at: &str, cart: Option<&Cart>) -> Data {
    data::of_cart(visit, at, cart).await
}

/// The cart as themes' scripts read it.
pub(crate) fn cart_json(data: &Data) -> Value {
    shop_theme::cart_json(&data.cart, data)
}

/// Renders sections of the page at a location, with the data of a cart that has changed.
pub(crate) async fn sections(
    visit: &Visit,
    at: &str,
    ids: Vec<String>,
    carts: Data,
) -> Option<Map<String, Value>> {
    let (path, query) = at.split_once('?').unwrap_or((at, ""));
    let theme = theme::of(visit).await.ok()??;
    let query = Fields::of_query(query.as_bytes());
    let page = Wanted::of(path).load(visit, &query, Some(&theme)).await.ok()?;
    let data = data::load(visit, &theme, &page, carts).await.ok()?;
    blocking(move || shop_theme::sections(&theme, page, &data, &ids, Limits::default())).await.ok()
}
