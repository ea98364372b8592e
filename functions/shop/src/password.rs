//! The page of a shop that asks for a password, in the theme's own template where it has one.

use axum::response::{Html, IntoResponse, Redirect, Response};
use gateway::request::ip_prefix;
use http::{StatusCode, header};
use identity::password::Guess;
use identity::throttle::{self, AttemptSubject, Kind};
use maud::html;
use primitives::fields::FromText;
use services::Services;
use shop_theme::{Data, Page, Posted};
use table::item::Item;

use crate::access;
use crate::document::{Plain, with_headers};
use crate::fault::Fault;
use crate::form::Fields;
use crate::pages;
use crate::visit::{ACCESS, AnyVisit, Visit};

/// The type of a theme's form.
const FORM: &str = "storefront_password";

/// `GET /password`.
pub(crate) async fn show(AnyVisit(visit): AnyVisit) -> Response {
    // In a preview a merchant looks at it before it is needed.
    if !visit.store().password_protected && visit.preview().is_none() {
        return Redirect::to("/").into_response();
    }
    page(&visit, None, StatusCode::OK).await
}

/// `POST /password`. The right password sets a cookie, which ends when the password changes.
pub(crate) async fn enter(AnyVisit(visit): AnyVisit, sent: Fields) -> Response {
    if !visit.store().password_protected {
        return Redirect::to("/").into_response();
    }
    match try_password(&visit, sent.get("password").unwrap_or_default()).await {
        Ok(Some(pass)) => visit.with_cookie(Redirect::to("/").into_response(), ACCESS, &pass),
        Ok(None) => {
            let error = visit.words().errors.wrong_password;
            page(&visit, Some(error), StatusCode::UNPROCESSABLE_ENTITY).await
        }
        Err(fault) if fault.status == StatusCode::TOO_MANY_REQUESTS => {
            let error = visit.words().too_often;
            let mut response = page(&visit, Some(error), StatusCode::TOO_MANY_REQUESTS).await;
            if let Some(after) = fault.retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, after);
            }
            response
        }
        Err(fault) => fault.into_response(),
    }
}

/// The value of the cookie for the right password. An attempt is counted before it is compared, by the visitor's network.
async fn try_password(visit: &Visit, text: &str) -> Result<Option<String>, Fault> {
    let services: &Services = &visit.shops.app;
    let settings = visit.settings().await?;
    let network = ip_prefix(visit.client_address());
    let subject = AttemptSubject::of_item(Kind::Shop, &settings.key(), &network);
    throttle::attempt(services, &subject, None, &[]).await?;
    let Ok(guess) = Guess::from_text(text) else { return Ok(None) };
    if !guess.matches(settings.shop.password_hash.as_deref()).await {
        return Ok(None);
    }
    let forget = services.table.write().delete(&subject.key()).commit().await;
    if let Err(problem) = forget {
        tracing::debug!(cause = %problem, "attempts not forgotten");
    }
    access::pass(visit).await.map(Some)
}

async fn page(visit: &Visit, error: Option<&str>, status: StatusCode) -> Response {
    let message = match visit.settings().await {
        Ok(settings) => settings.shop.password_message.clone().unwrap_or_default(),
        Err(problem) => return Fault::from(problem).into_response(),
    };
    match of_theme(visit, &message, error).await {
        Ok(Some(html)) => pages::private(status, html),
        Ok(None) => plain(visit, &message, error, status),
        Err(fault) => pages::fault(visit, fault),
    }
}

async fn of_theme(
    visit: &Visit,
    message: &str,
    error: Option<&str>,
) -> Result<Option<String>, Fault> {
    let Some(theme) = pages::theme_with(visit, &Page::Password).await? else { return Ok(None) };
    let fill = |data: &mut Data| {
        if let Some(store) = data.store.as_object_mut() {
            store.insert("password_message".to_owned(), message.into());
        }
        data.form = error.map(|error| Posted {
            form: FORM.to_owned(),
            errors: vec![("form".to_owned(), error.to_owned())],
            ..Posted::default()
        });
    };
    pages::render_own(visit, theme, Page::Password, fill).await
}

/// The page of a shop whose theme has none. It leads nowhere, for everything else leads here.
fn plain(visit: &Visit, message: &str, error: Option<&str>, status: StatusCode) -> Response {
    let (name, words) = (visit.store().name.as_str(), visit.words());
    let content = html! {
        h1 { (name) }
        @if message.is_empty() { p { (words.pages.not_open) } } @else { p.block { (message) } }
        @if let Some(error) = error { div.notice role="alert" tabindex="-1" { p { (error) } } }
        form method="post" action=(access::PASSWORD_PAGE) {
            div.field {
                label for="password" { (words.accounts.password) }
                input id="password" name="password" type="password" autocomplete="current-password" required;
            }
            button.primary { (words.pages.enter) }
        }
    };
    let page = Plain { title: name, content, words }.render();
    with_headers((status, Html(page.into_string())).into_response())
}
