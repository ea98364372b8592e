//! The documentation, as it was when this was built: the Markdown files of the repository as pages.

mod files;
mod render;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use maud::{Markup, PreEscaped, html};

use super::layout::{Page, error, with_headers};
use super::paths::DOCUMENTS;
use super::site::Site;
use files::{IMAGES, SUBJECTS, all};
pub(super) use render::description;
use render::{Document, render};

/// The content security policy of an image, which may be opened by itself.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// `GET /_local/docs/`: the README, with the list of all.
pub(super) async fn index(State(site): State<Arc<Site>>) -> Response {
    document(&site, "readme", true).unwrap_or_else(missing)
}

/// `GET /_local/docs/{name}`: a document or an image.
pub(super) async fn show(State(site): State<Arc<Site>>, Path(name): Path<String>) -> Response {
    if let Some((_, kind, bytes)) = IMAGES.iter().find(|(known, ..)| *known == name) {
        let answer = ([(header::CONTENT_TYPE, *kind)], *bytes).into_response();
        return with_headers(answer, IMAGE_POLICY);
    }
    document(&site, &name, false).unwrap_or_else(missing)
}

fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "There is no such document", "")
}

/// The page of a document, with the list of all, which the first page shows at once.
fn document(site: &Site, name: &str, is_first: bool) -> Option<Response> {
    let (name, file, text) = all().find(|(known, ..)| *known == name)?;
    let Document { title, body, headings } = render(file, &site.whereabouts.in_place(text));
    let content = html! {
        div.document {
            nav.documents aria-label="Documents" { (list(name, is_first)) }
            article { (PreEscaped(body)) }
            @if headings.len() > 1 {
                nav.contents aria-label="On this page" {
                    p.heading { "On this page" }
                    ul { @for heading in &headings { li { a href={ "#" (heading.anchor) } { (heading.text) } } } }
                }
            }
        }
    };
    Some(
        Page { title: &title, current: DOCUMENTS, is_public: site.whereabouts.is_public, content }
            .answer(),
    )
}

/// The list of all documents.
fn list(current: &str, is_open: bool) -> Markup {
    let title = |name: &str| match name {
        "readme" => "Overview".to_owned(),
        "ids" => "Ids and objects".to_owned(),
        name => {
            let mut words = name.replace('-', " ");
            if let Some(first) = words.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            words
        }
    };
    html! {
        details.menu open[is_open] {
            summary { "All documents" }
            div.subjects { @for (subject, files) in SUBJECTS { div {
                p.heading { (subject) }
                ul { @for (name, ..) in files {
                    li { a href={ (DOCUMENTS) (name) } aria-current=[(*name == current).then_some("page")] { (title(name)) } }
                } }
            } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::files::page_of;
    use super::*;

    #[test]
    fn every_document_and_image_of_the_repository_is_served() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for entry in std::fs::read_dir(root.join("docs")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_data = std::path::Path::new(&name).extension().is_some_and(|it| it == "json");
            assert!(is_data || page_of(&format!("docs/{name}")).is_some(), "docs/{name}");
        }
    }

    #[test]
    fn every_link_between_documents_leads_to_a_heading() {
        let rendered: Vec<_> = all()
            .map(|(name, file, text)| (format!("{DOCUMENTS}{name}"), render(file, text)))
            .collect();
        let mut faults = Vec::new();
        for (from, document) in &rendered {
            for link in document.body.split("href=\"").skip(1) {
                let link = &link.split('"').next().unwrap().replace("%C2%B5", "µ");
                let (page, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
                let page = if page.is_empty() { from.as_str() } else { page };
                if !page.starts_with(DOCUMENTS) || anchor.is_empty() {
                    continue;
                }
                let target = rendered.iter().find(|(path, _)| path == page);
                let is_there =
                    target.is_some_and(|(_, it)| it.body.contains(&format!("id=\"{anchor}\"")));
                if !is_there {
                    faults.push(format!("{from}: {link}"));
                }
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
