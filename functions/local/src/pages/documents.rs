//! The documentation, as it was when this was built: the Markdown files of the repository as pages.

mod render;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use maud::{Markup, PreEscaped, html};

use super::layout::{Page, error, with_headers};
pub(super) use render::description;
use render::{Document, render};

/// The path of the list; a document is below it.
pub(super) const PATH: &str = "/_local/docs/";

/// Declares documents by their names, with their files.
macro_rules! files {
    ($($name:literal: $file:literal),+ $(,)?) => {
        &[$(($name, $file, include_str!(concat!("../../../../", $file)))),+]
    };
}

/// Declares images by their names.
macro_rules! images {
    ($($name:literal: $kind:literal),+ $(,)?) => {
        &[$(($name, $kind, include_bytes!(concat!("../../../../docs/", $name)))),+]
    };
}

/// The name of a document in its URL, its file, and its text.
type File = (&'static str, &'static str, &'static str);

/// The documents, by subject.
const DOCUMENTS: [(&str, &[File]); 4] = [
    (
        "Begin",
        files! {
            "readme": "README.md", "quickstart": "docs/quickstart.md", "conventions": "docs/conventions.md",
            "errors": "docs/errors.md", "ids": "docs/ids.md", "glossary": "docs/glossary.md", "clients": "clients/README.md",
        },
    ),
    (
        "Use",
        files! {
            "commerce": "docs/commerce.md", "customers": "docs/customers.md", "files": "docs/files.md",
            "webhooks": "docs/webhooks.md", "reliability": "docs/reliability.md",
        },
    ),
    (
        "Run",
        files! {
            "deploy": "docs/deploy.md", "runbook": "docs/runbook.md", "operations": "docs/operations.md",
            "benchmarks": "docs/benchmarks.md", "costs": "docs/costs.md", "security": "SECURITY.md",
        },
    ),
    (
        "Change",
        files! {
            "contributing": "CONTRIBUTING.md", "architecture": "docs/architecture.md", "data-model": "docs/data-model.md",
            "add-an-endpoint": "docs/add-an-endpoint.md", "add-a-provider": "docs/add-a-provider.md",
            "platform": "docs/platform.md", "decisions": "docs/decisions.md", "changelog": "CHANGELOG.md",
        },
    ),
];

/// The images of the documents: name, media type, bytes.
const IMAGES: &[(&str, &str, &[u8])] = images! {
    "checkout.svg": "image/svg+xml", "crates.svg": "image/svg+xml", "delivery.svg": "image/svg+xml",
    "list.svg": "image/svg+xml", "drill.png": "image/png", "reference.png": "image/png",
    "front-door.png": "image/png",
};

/// The content security policy of an image, which may be opened by itself.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

fn all() -> impl Iterator<Item = &'static File> {
    DOCUMENTS.into_iter().flat_map(|(_, files)| files)
}

/// `GET /_local/docs/`: the README, with the list of all.
pub(super) async fn index() -> Response {
    document("readme", true).unwrap_or_else(missing)
}

/// `GET /_local/docs/{name}`: a document or an image.
pub(super) async fn show(Path(name): Path<String>) -> Response {
    if let Some((_, kind, bytes)) = IMAGES.iter().find(|(known, ..)| *known == name) {
        let answer = ([(header::CONTENT_TYPE, *kind)], *bytes).into_response();
        return with_headers(answer, IMAGE_POLICY);
    }
    document(&name, false).unwrap_or_else(missing)
}

fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "There is no such document", "")
}

/// The page of a document, with the list of all, which the first page shows at once.
fn document(name: &str, is_first: bool) -> Option<Response> {
    let (name, file, text) = all().find(|(known, ..)| *known == name)?;
    let Document { title, body, headings } = render(file, text);
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
    Some(Page { title: &title, current: PATH, is_public: false, content }.answer())
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
            div.subjects { @for (subject, files) in DOCUMENTS { div {
                p.heading { (subject) }
                ul { @for (name, ..) in files {
                    li { a href={ (PATH) (name) } aria-current=[(*name == current).then_some("page")] { (title(name)) } }
                } }
            } } }
        }
    }
}

/// The path of the page of a file, or of an image, of the repository.
fn page_of(file: &str) -> Option<String> {
    let document = all().find(|(_, known, _)| *known == file).map(|(name, ..)| *name);
    let image = file.strip_prefix("docs/").filter(|it| IMAGES.iter().any(|(name, ..)| name == it));
    document.or(image).map(|name| format!("{PATH}{name}"))
}

#[cfg(test)]
mod tests {
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
        let rendered: Vec<_> =
            all().map(|(name, file, text)| (format!("{PATH}{name}"), render(file, text))).collect();
        let mut faults = Vec::new();
        for (from, document) in &rendered {
            for link in document.body.split("href=\"").skip(1) {
                let link = &link.split('"').next().unwrap().replace("%C2%B5", "µ");
                let (page, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
                let page = if page.is_empty() { from.as_str() } else { page };
                if !page.starts_with(PATH) || anchor.is_empty() {
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
