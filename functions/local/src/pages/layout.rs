//! The frame of every page: its head, its navigation, its headers, and the parts that several pages have.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::paths::{
    self, ACTIVITY, APPS, DOCUMENTS, EVENTS, MAIL, OPERATIONS, ORDERS, REFERENCE, SCRIPT, SELL,
    START, WEBHOOKS,
};
use super::site::Site;

/// The style sheet: the variables of the operators' pages, and what these pages add.
const STYLE_TEXT: &str = concat!(
    include_str!("../../../operations/src/page/tokens.css"),
    include_str!("style.css"),
    include_str!("content.css")
);
const SCRIPT_TEXT: &str =
    concat!(include_str!("script.js"), include_str!("sell.js"), include_str!("try.js"));

/// The content security policy: everything from here, no code and no style in the page itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A part of the navigation: its heading, and the names and paths of its pages.
const NAVIGATION: [(&str, &[(&str, &str)]); 5] = [
    ("", &[("Start", START)]),
    ("Watch", &[("Activity", ACTIVITY), ("Events", EVENTS), ("Mail", MAIL)]),
    ("Demo store", &[("Sell", SELL), ("Orders", ORDERS), ("Webhooks", WEBHOOKS), ("Apps", APPS)]),
    ("Learn", &[("Reference", REFERENCE), ("Documentation", DOCUMENTS)]),
    ("Run", &[("Operations", OPERATIONS)]),
];

/// The version of style sheet and script, which their URLs carry.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::digest([STYLE_TEXT, SCRIPT_TEXT].concat());
    URL_SAFE_NO_PAD.encode(digest.get(..6).unwrap_or_default())
});

/// A page.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    /// The path of its entry in the navigation.
    pub(super) current: &'a str,
    /// Whether only the open pages are served.
    pub(super) is_public: bool,
    pub(super) content: Markup,
}

impl Page<'_> {
    /// The page as a response.
    pub(super) fn answer(self) -> Response {
        with_headers(Html(self.render().into_string()).into_response(), POLICY)
    }

    fn render(&self) -> Markup {
        let version = &*VERSION;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (self.title) " · Commerce gateway" }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href={ (paths::STYLE) "?v=" (version) };
                    script src={ (SCRIPT) "?v=" (version) } defer {}
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.site { div.inside {
                        a.brand href=(START) { "Commerce gateway" span.badge { "local" } }
                        (self.navigation())
                    } }
                    main id="content" tabindex="-1" { (self.content) }
                }
            }
        }
    }

    fn navigation(&self) -> Markup {
        let is_open = |path: &str| [START, REFERENCE, DOCUMENTS].contains(&path);
        html! {
            nav aria-label="Pages" {
                @for (heading, pages) in NAVIGATION {
                    @let pages = pages.iter().filter(|(_, path)| !self.is_public || is_open(path));
                    @if pages.clone().next().is_some() {
                        @if !heading.is_empty() { p.heading { (heading) } }
                        ul { @for (name, path) in pages {
                            li { a href=(path) aria-current=[(self.current == *path).then_some("page")] { (name) } }
                        } }
                    }
                }
            }
        }
    }
}

/// Adds the headers that every page has.
pub(super) fn with_headers(mut answer: Response, policy: &'static str) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// A part of a page, for the script to insert.
pub(super) fn fragment(content: &Markup) -> Response {
    with_headers(Html(content.0.clone()).into_response(), POLICY)
}

/// An error page.
pub(crate) fn error(status: StatusCode, title: &str, detail: &str) -> Response {
    error_of(false, status, title, detail)
}

/// An error page of a system that others reach, or of another one.
pub(super) fn error_of(is_public: bool, status: StatusCode, title: &str, detail: &str) -> Response {
    let content = html! {
        p.eyebrow { (status.as_str()) }
        h1 { (title) }
        @if !detail.is_empty() { p.lede { (detail) } }
        p { a.button href=(START) { "Back to the start" } }
    };
    let page = Page { title, current: "", is_public, content };
    (status, page.answer()).into_response()
}

/// `GET` of any other path below `/_local/`.
pub(super) async fn not_found(State(site): State<Arc<Site>>) -> Response {
    error_of(site.whereabouts.is_public, StatusCode::NOT_FOUND, "There is no such page", "")
}

/// `GET /_local/assets/style.css`.
pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE_TEXT)
}

/// `GET /_local/assets/script.js`.
pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT_TEXT)
}

fn asset(kind: &'static str, content: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "max-age=31536000, immutable"),
    ];
    (headers, content).into_response()
}

/// A moment as the API writes it (RFC 3339): the day and the time of day, in UTC.
pub(super) fn moment(text: &str) -> Markup {
    let (day, rest) = text.split_once('T').unwrap_or((text, ""));
    let time = rest.split(['.', 'Z']).next().unwrap_or_default();
    html! { time datetime=(text) title={ (text) } { (day) " " (time) } }
}

/// A word in the colour of its meaning.
pub(super) fn chip(word: &str) -> Markup {
    let class = match word {
        "succeeded" | "published" | "paid" | "fulfilled" | "active" | "healthy" | "completed"
        | "closed" | "passed" => "chip good",
        "exhausted" | "failed" | "blocked" | "cancelled" | "voided" | "expired" | "failing"
        | "disabled_by_system" | "suspended" | "uninstalled" => "chip bad",
        "retrying" | "partially_paid" | "disabled" | "degraded" => "chip open",
        _ => "chip",
    };
    html! { span class=(class) { (word.replace('_', " ")) } }
}

/// A status code in the colour of its class.
pub(super) fn status_chip(status: u16) -> Markup {
    let class = match status {
        200..=299 => "chip good",
        300..=399 => "chip",
        400..=499 => "chip open",
        _ => "chip bad",
    };
    html! { span class=(class) { (status) } }
}

/// The time of day of a moment, where its day is plain.
pub(super) fn time_of_day(text: &str) -> Markup {
    let time = text.split('T').nth(1).unwrap_or_default();
    html! { time datetime=(text) title=(text) { (time.split(['.', 'Z']).next().unwrap_or_default()) } }
}

/// A path whose ids are shortened, and break nowhere.
pub(super) fn short_path(path: &str) -> Markup {
    html! {
        @for (place, segment) in path.split('/').enumerate() {
            @if place > 0 { "/" }
            @let shown = short(segment);
            @if shown == segment { (shown) } @else { span.keep { (shown) } }
        }
    }
}

/// An id without its middle; other texts as they are.
fn short(id: &str) -> String {
    match id.split_once('_') {
        Some((prefix, rest))
            if rest.len() > 20 && rest.bytes().all(|it| it.is_ascii_hexdigit()) =>
        {
            let tail = rest.get(rest.len().saturating_sub(6)..).unwrap_or_default();
            format!("{prefix}_…{tail}")
        }
        _ => id.to_owned(),
    }
}

/// An id, shortened where it is long; a click copies it.
pub(super) fn id(id: &str) -> Markup {
    html! { button.id type="button" data-copy=(id) title={ "Copy " (id) } { (short(id)) } }
}

/// A text with a button that copies it.
pub(super) fn copyable(text: &str) -> Markup {
    html! { span.copyable { code { (text) } button.copy type="button" data-copy=(text) aria-label={ "Copy " (text) } { "Copy" } } }
}

/// A block of code with a button that copies it.
pub(super) fn code_block(label: &str, text: &str) -> Markup {
    html! {
        div.code {
            button.copy type="button" data-copy=(text) aria-label={ "Copy: " (label) } { "Copy" }
            pre tabindex="0" aria-label=(label) { code { (text) } }
        }
    }
}

/// What a page shows where there is nothing yet.
pub(super) fn empty(title: &str, hint: &Markup) -> Markup {
    html! { div.empty { p.title { (title) } p { (hint) } } }
}

/// Which stores these pages show.
pub(super) fn stores_note() -> Markup {
    html! {
        p.note {
            "Only stores of the demo's merchant are shown, because these pages call the API as that merchant. What the store of "
            "another merchant has is seen with that merchant's token."
        }
    }
}

/// The demo's merchant cannot be signed in.
pub(super) fn no_demo() -> Markup {
    empty(
        "There is no demo to show",
        &html! {
            "Start the system without " code { "--no-demo" } " on a new data directory. If the password of the demo's merchant "
            "was changed, these pages cannot sign in."
        },
    )
}

/// A text member of a JSON object; empty if it has none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Text in which backticks mark code, as descriptions have it.
pub(super) fn described(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
