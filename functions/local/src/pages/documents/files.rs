//! The documents and their images, as they were when this was built.

use super::super::paths::DOCUMENTS;

/// Declares documents by their names, with their files.
macro_rules! files {
    ($($name:literal: $file:literal),+ $(,)?) => {
        &[$(($name, $file, include_str!(concat!("../../../../../", $file)))),+]
    };
}

/// Declares images by their names.
macro_rules! images {
    ($($name:literal: $kind:literal),+ $(,)?) => {
        &[$(($name, $kind, include_bytes!(concat!("../../../../../docs/", $name)))),+]
    };
}

/// The name of a document in its URL, its file, and its text.
pub(super) type File = (&'static str, &'static str, &'static str);

/// The documents, by subject.
pub(super) const SUBJECTS: [(&str, &[File]); 4] = [
    (
        "Begin",
        files! {
            "readme": "README.md", "quickstart": "docs/quickstart.md", "conventions": "docs/conventions.md",
            "errors": "docs/errors.md", "ids": "docs/ids.md", "glossary": "docs/glossary.md", "clients": "clients/README.md",
            "cli": "docs/cli.md", "example-app": "clients/example-app/README.md",
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
            "shop": "docs/shop.md", "deploy": "docs/deploy.md", "runbook": "docs/runbook.md", "operations": "docs/operations.md",
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
pub(super) const IMAGES: &[(&str, &str, &[u8])] = images! {
    "checkout.svg": "image/svg+xml", "crates.svg": "image/svg+xml", "delivery.svg": "image/svg+xml",
    "list.svg": "image/svg+xml", "drill.png": "image/png", "reference.png": "image/png",
    "front-door.png": "image/png", "consent.png": "image/png",
    "consent-telephone.png": "image/png", "example-app.png": "image/png",
    "shop-home.webp": "image/webp", "shop-collection.webp": "image/webp", "shop-product.webp": "image/webp",
    "shop-checkout.webp": "image/webp", "shop-thank-you.webp": "image/webp",
};

/// All documents.
pub(super) fn all() -> impl Iterator<Item = &'static File> {
    SUBJECTS.into_iter().flat_map(|(_, files)| files)
}

/// The path of the page of a file, of an image, or of a folder's README, of the repository.
pub(super) fn page_of(file: &str) -> Option<String> {
    match file {
        "docs/openapi.json" => return Some("/v1/openapi.json".to_owned()),
        "docs/event-types.json" => return Some("/v1/operations/event-types".to_owned()),
        _ => {}
    }
    let readme = format!("{file}/README.md");
    let readme = readme.trim_start_matches('/');
    let is_it = |known: &str| known == file || known == readme;
    let document = all().find(|(_, known, _)| is_it(known)).map(|(name, ..)| *name);
    let image = file.strip_prefix("docs/").filter(|it| IMAGES.iter().any(|(name, ..)| name == it));
    document.or(image).map(|name| format!("{DOCUMENTS}{name}"))
}
