//! The page of a fault, in the language of its shop.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use identity::store::Store;
use maud::{Markup, html};

use super::Fault;
use crate::ajax::{Asked, rejection};
use crate::document::Plain;
use crate::words::Words;

/// The language of the shop that a request is for, once the shop is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShopLanguage(Arc<OnceLock<&'static Words>>);

impl ShopLanguage {
    /// Notes which shop a request is for.
    pub(crate) fn note(parts: &Parts, store: &Store) {
        if let Some(Self(language)) = parts.extensions.get::<Self>() {
            language.get_or_init(|| Words::of(&store.locale));
        }
    }

    fn words(&self) -> &'static Words {
        self.0.get().copied().unwrap_or_else(Words::english)
    }
}

/// Gives the response of a fault its page. Most code that fails knows no shop, and so no language.
pub(crate) async fn with_page(mut request: Request, next: Next) -> Response {
    let language = ShopLanguage::default();
    request.extensions_mut().insert(language.clone());
    let asked = Asked::of(request.uri().path(), request.headers());
    let mut response = next.run(request).await;
    if let Some(fault) = response.extensions_mut().remove::<Fault>() {
        if asked == Asked::ByScript {
            return rejection(&fault.in_words(language.words()));
        }
        *response.body_mut() = Body::from(fault.page(language.words()).into_string());
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, html);
    }
    response
}

impl Fault {
    fn page(self, words: &Words) -> Markup {
        let is_shop = !self.is("storefront_not_found");
        // A shop that is not open says so; where there is none, the request is told.
        let own = Some(self.said(words).to_owned()).filter(|_| !is_shop);
        let title = own.unwrap_or_else(|| self.title(words).to_owned());
        let fault = self.in_words(words);
        // The details of this system's own faults are for its log.
        let is_told_by_title = fault.status.is_server_error() || fault.is("not_found");
        let sentences = if is_told_by_title { Vec::new() } else { fault.sentences() };
        let content = html! {
            h1 { (title) }
            @for sentence in sentences { @if !sentence.is_empty() && sentence != title { p { (sentence) } } }
            // The start page of no shop is this one.
            @if is_shop { p { a href="/" { (words.pages.to_start) } } }
        };
        Plain { title: &title, content, words }.render()
    }

    /// What a shopper reads first.
    fn title(&self, words: &Words) -> &'static str {
        let pages = &words.pages;
        match self.status {
            StatusCode::NOT_FOUND => pages.no_page,
            StatusCode::TOO_MANY_REQUESTS => pages.too_many_requests,
            StatusCode::UNAUTHORIZED => pages.sign_in_again,
            StatusCode::FORBIDDEN => pages.not_from_here,
            status if status.is_server_error() => pages.no_answer,
            _ => pages.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::values::text;

    fn of(locale: &str) -> &'static Words {
        let locale = serde_json::from_value(json!(locale)).unwrap();
        Words::of(&locale)
    }

    #[test]
    fn the_page_of_a_fault_is_in_the_language_of_its_shop() {
        let limited = json!({"code": "rate_limited", "detail": "The budget is used up."});
        let limited = Fault::rejected(
            StatusCode::TOO_MANY_REQUESTS,
            &http::HeaderMap::new(),
            limited.to_string().as_bytes(),
        );
        assert_eq!(text(&limited.problem, "code"), "rate_limited");
        let page = limited.page(of("de")).into_string();
        for german in
            ["<html lang=\"de\">", "Zu viele Anfragen", "Zu viele Versuche", "Zur Startseite"]
        {
            assert!(page.contains(german), "{page}");
        }
        assert!(!page.contains("budget"), "{page}");
        let failed = Fault::internal().page(of("en")).into_string();
        assert!(failed.contains("does not answer") && !failed.contains("internal"), "{failed}");
    }

    #[test]
    fn a_shop_that_is_not_open_says_so_in_its_language() {
        let fault =
            Fault::of(StatusCode::NOT_FOUND, "storefront_not_found", of("fr").pages.opens_soon);
        let page = fault.page(of("fr")).into_string();
        assert_eq!(page.matches("Cette boutique ouvre bientôt.").count(), 2, "{page}");
        assert!(!page.contains("href=\"/\""), "{page}");
    }

    #[test]
    fn what_the_shop_says_itself_stays() {
        let fault = Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "insufficient_stock", "Nur 2.");
        assert_eq!(fault.in_words(of("de")).sentences(), ["Nur 2."]);
        let empty = Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "empty_form", "");
        assert_eq!(empty.in_words(of("de")).sentences(), ["Bitte füllen Sie das Formular aus."]);
    }
}
