//! The mailbox of the local system: each mail as its reader sees it.
//!
//! The HTML of a mail is a document of its own, in a frame without scripts, forms, links out of the frame and
//! requests to other hosts.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Path as UrlPath, Query, State};
use axum::response::{Html, IntoResponse, Response};
use http::StatusCode;
use mailparse::{MailHeaderMap, ParsedMail};
use maud::{Markup, html};
use primitives::clock::Timestamp;
use serde::Deserialize;

use super::layout::{Page, copyable, empty, error, moment, with_headers};
use super::paths::{MAIL, REFERENCE};
use super::reference::operation_at;
use super::site::Site;

/// Mails of a page.
const PAGE: usize = 50;

/// The content security policy of a mail's HTML.
const POLICY: &str = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'; sandbox";

/// A mail.
struct Mail {
    id: String,
    from: String,
    to: String,
    subject: String,
    /// As RFC 3339 writes it.
    at: String,
    text: String,
    html: Option<String>,
}

impl Mail {
    /// Reads a mail of the mailbox; none if there is no such file.
    fn read(directory: &Path, id: &str) -> Option<Self> {
        let bytes = std::fs::read(directory.join(format!("{id}.eml"))).ok()?;
        let parsed = mailparse::parse_mail(&bytes).ok()?;
        let header = |name: &str| parsed.headers.get_first_value(name).unwrap_or_default();
        let seconds = mailparse::dateparse(&header("Date")).unwrap_or_default();
        let at = Timestamp::from_millis(seconds.saturating_mul(1_000));
        Some(Self {
            id: id.to_owned(),
            from: header("From"),
            to: header("To"),
            subject: header("Subject"),
            at: at.to_string(),
            text: part(&parsed, "text/plain").unwrap_or_default(),
            html: part(&parsed, "text/html"),
        })
    }

    /// The links in its text, without repetitions, each with its method where one is written before it.
    fn links(&self) -> Vec<(&str, &str)> {
        let is_link = |word: &str| word.starts_with("https://") || word.starts_with("http://");
        let is_end = |letter: char| letter.is_whitespace() || "<>\"".contains(letter);
        let words: Vec<_> = self.text.split(is_end).filter(|word| !word.is_empty()).collect();
        let before = std::iter::once("").chain(words.iter().copied());
        let pairs = before.zip(words.iter().copied()).filter(|(_, word)| is_link(word));
        let is_method = |word: &str| matches!(word, "POST" | "PUT" | "PATCH" | "DELETE");
        let links = pairs.map(|(method, link)| (link, if is_method(method) { method } else { "" }));
        let mut links: Vec<_> = links.collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The token that its text gives.
    fn token(&self) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix("Token: ")).map(str::trim)
    }
}

/// A link of a mail. A browser would request what is to be posted by another method: that is linked to the form
/// that sends it, with the token, or else shown as text.
fn link(url: &str, method: &str, token: Option<&str>, api: &str) -> Markup {
    if method.is_empty() {
        return html! { a href=(url) rel="noreferrer" { (url) } };
    }
    let path = url.strip_prefix(api).unwrap_or_default();
    let Some(operation) = operation_at(&method.to_lowercase(), path) else {
        return copyable(&format!("{method} {url}"));
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    if let Some(token) = token {
        query.append_pair("token", token);
    }
    html! {
        a href={ (REFERENCE) "/" (operation) "?" (query.finish()) } { (method) " " (path) }
        " " span.faint { "opens its form in the reference" @if token.is_some() { ", with the token" } }
    }
}

/// The first part of a media type.
fn part(mail: &ParsedMail<'_>, kind: &str) -> Option<String> {
    if mail.subparts.is_empty() {
        return (mail.ctype.mimetype == kind).then(|| mail.get_body().ok()).flatten();
    }
    mail.subparts.iter().find_map(|inner| part(inner, kind))
}

/// Whether this is the name of a mail's file: an id, and no path.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The ids of all mails, the newest first: ids sort by time.
fn ids(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let id = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".eml").filter(|id| is_id(id)).map(str::to_owned)
    };
    let mut ids: Vec<_> = entries.filter_map(id).collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids
}

/// The query parameters of the list.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ListQuery {
    /// The last mail of the page before.
    after: Option<String>,
}

/// `GET /_local/mail`.
pub(super) async fn list(
    State(site): State<Arc<Site>>,
    Query(query): Query<ListQuery>,
) -> Response {
    let directory = site.whereabouts.mails.clone();
    let content = match directory {
        None => empty(
            "Mails are sent",
            &html! { "This system hands them to a mail server, and stores none." },
        ),
        Some(directory) => {
            let read =
                tokio::task::spawn_blocking(move || page(&directory, query.after.as_deref()));
            match read.await {
                Ok((mails, total, next)) => table(&mails, total, next.as_deref()),
                Err(_) => empty("The mails cannot be read", &html! {}),
            }
        }
    };
    let content = html! {
        h1 { "Mail" }
        p.lede { "What the system would send, to its merchants and to the customers of their stores." }
        section #mails data-refresh="3000" { (content) }
    };
    Page { title: "Mail", current: MAIL, is_public: false, content }.answer()
}

/// A page of mails, the number of all, and where the next page begins, if there is one.
fn page(directory: &Path, after: Option<&str>) -> (Vec<Mail>, usize, Option<String>) {
    let ids = ids(directory);
    let older = ids.iter().filter(|id| after.is_none_or(|after| id.as_str() < after));
    let mut wanted: Vec<&String> = older.take(PAGE.saturating_add(1)).collect();
    let has_more = wanted.len() > PAGE;
    wanted.truncate(PAGE);
    let next = wanted.last().filter(|_| has_more).map(|id| (*id).clone());
    (wanted.into_iter().filter_map(|id| Mail::read(directory, id)).collect(), ids.len(), next)
}

fn table(mails: &[Mail], total: usize, next: Option<&str>) -> Markup {
    if mails.is_empty() {
        let hint = html! { "Sign a merchant up, or place an order: codes, links and confirmations arrive here." };
        return empty("No mail yet", &hint);
    }
    html! {
        table {
            thead { tr { @for name in ["Subject", "To", "Time"] { th scope="col" { (name) } } } }
            tbody { @for mail in mails { tr {
                td data-label="Subject" { a href={ (MAIL) "/" (mail.id) } { (mail.subject) } }
                td data-label="To" { (mail.to) }
                td data-label="Time" { (moment(&mail.at)) }
            } } }
        }
        p.foot {
            span.faint { (total) @if total == 1 { " mail" } @else { " mails" } }
            @if let Some(next) = next { a href={ (MAIL) "?after=" (next) } { "Older mails" } }
        }
    }
}

/// Reads one mail.
async fn load(site: &Site, id: String) -> Option<Mail> {
    let directory = site.whereabouts.mails.clone()?;
    let read = move || is_id(&id).then(|| Mail::read(&directory, &id)).flatten();
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "There is no such mail", "")
}

/// `GET /_local/mail/{id}`.
pub(super) async fn show(State(site): State<Arc<Site>>, UrlPath(id): UrlPath<String>) -> Response {
    let Some(mail) = load(&site, id).await else { return missing() };
    let links = mail.links();
    let content = html! {
        p.eyebrow { a href=(MAIL) { "Mail" } }
        h1 { (mail.subject) }
        dl.facts {
            div { dt { "From" } dd { (mail.from) } }
            div { dt { "To" } dd { (mail.to) } }
            div { dt { "Time" } dd { (moment(&mail.at)) } }
        }
        @if !links.is_empty() {
            section {
                h2 { "Links" }
                ul.links { @for (url, method) in &links { li { (link(url, method, mail.token(), &site.whereabouts.url)) } } }
            }
        }
        div.mail.both[mail.html.is_some()] {
            @if mail.html.is_some() {
                section {
                    h2 { "As HTML" }
                    iframe sandbox="" src={ (MAIL) "/" (mail.id) "/html" } title="The mail as HTML" {}
                }
            }
            section {
                h2 { "As text" }
                pre.letter tabindex="0" aria-label="The mail as text" { (mail.text) }
            }
        }
    };
    Page { title: &mail.subject, current: MAIL, is_public: false, content }.answer()
}

/// `GET /_local/mail/{id}/html`: the HTML of a mail, for the frame.
pub(super) async fn html(State(site): State<Arc<Site>>, UrlPath(id): UrlPath<String>) -> Response {
    match load(&site, id).await.and_then(|mail| mail.html) {
        Some(body) => with_headers(Html(body).into_response(), POLICY),
        None => missing(),
    }
}
