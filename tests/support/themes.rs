//! Themes: archives as their makers make them, and a store that tries them.

use std::io::Write as _;

use rawzip::path::EntryPath;
use serde_json::{Value, json};
use themes::file::Digest;
use themes::settings::Content;

use crate::{Client, Developer, Gateway, Merchant, Operator, Reply, Store, is_troubled, unique};

/// An archive of these files, whatever their names are, stored as they are.
pub fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in files {
        let path = EntryPath::verbatim(name.as_bytes());
        let (mut entry, config) = archive.new_file(path).start().expect("an entry");
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes).expect("it is written to memory");
        let (_, descriptor) = writer.finish().expect("an entry");
        entry.finish(descriptor).expect("an entry");
    }
    archive.finish().expect("an archive")
}

/// What a theme is made of; change it at will.
#[derive(Debug, Clone)]
pub struct ThemeSource {
    pub manifest: Value,
    pub schema: Value,
    pub css: String,
}

impl ThemeSource {
    pub fn new(slug: &str) -> Self {
        Self {
            manifest: json!({
                "slug": slug, "name": "Plain Linen", "version": "1.0.0", "author": "Linen Works",
                "description": "For shops that sell one thing well.", "category": "fashion",
            }),
            schema: json!([
                {"name": "theme_info", "theme_name": "Plain Linen", "theme_version": "1.0.0",
                 "theme_author": "Linen Works"},
                {"name": "Look", "settings": [
                    {"type": "color", "id": "color", "label": "Color", "default": "#112233"},
                    {"type": "text", "id": "heading", "label": "Heading", "default": "Hello"},
                    {"type": "url", "id": "link", "label": "Link"},
                    {"type": "checkbox", "id": "wide", "label": "Wide", "default": false},
                ]},
            ]),
            css: "body { margin: 0 }".into(),
        }
    }

    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.manifest["version"] = json!(version);
        self
    }

    /// A theme that costs so much.
    #[must_use]
    pub fn price(mut self, amount: i64) -> Self {
        self.manifest["price"] = json!({"amount": amount, "currency": "INR"});
        self
    }

    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let section = "<h1>{{ section.settings.title }}</h1>\n{% schema %}\n{\"name\": \"Hero\", \
             \"settings\": [{\"type\": \"text\", \"id\": \"title\", \"label\": \"Title\", \
             \"default\": \"Welcome\"}], \"presets\": [{\"name\": \"Hero\"}]}\n{% endschema %}\n";
        let index = json!({"sections": {"hero": {"type": "hero"}}, "order": ["hero"]});
        let layout = "<!doctype html><html><body>{{ content_for_layout }}</body></html>";
        [
            ("theme.json", self.manifest.to_string()),
            ("layout/theme.liquid", layout.to_owned()),
            ("templates/index.json", index.to_string()),
            ("config/settings_schema.json", self.schema.to_string()),
            ("sections/hero.liquid", section.to_owned()),
            ("assets/theme.css", self.css.clone()),
            ("locales/en.default.json", json!({"hello": "Hello"}).to_string()),
        ]
        .map(|(path, text)| (path.to_owned(), text.into_bytes()))
        .into()
    }

    pub fn zip(&self) -> Vec<u8> {
        zip(&self.files())
    }
}

/// A store that tries a theme of its own merchant's.
pub struct ThemeShop {
    pub gateway: Gateway,
    pub merchant: Merchant,
    pub store: Store,
    /// The merchant at the store.
    pub owner: Client,
    pub slug: String,
}

/// The digest of a release's content, as anybody computes it of its files and its settings.
pub fn content_sha256(files: &[Value], content: &Value) -> String {
    let content: Content = serde_json::from_value(content.clone()).expect("a release's content");
    let digest = |file: &Value| -> (String, Digest) {
        let text = |name: &str| file[name].as_str().expect("a file").to_owned();
        (text("path"), text("sha256").parse().expect("a digest"))
    };
    let files: Vec<_> = files.iter().map(digest).collect();
    let files = files.iter().map(|(path, digest)| (path.as_str(), digest));
    themes::release::content_sha256(files, &content).to_string()
}

impl ThemeShop {
    /// A store, open, with a theme uploaded and installed.
    pub async fn open() -> Self {
        let shop = Self::with_upload().await;
        shop.post("install", json!({})).await.expect(201);
        shop
    }

    /// A store, open, with a theme uploaded.
    pub async fn with_upload() -> Self {
        let gateway = Gateway::start_with(|options| options.shop_port = Some(0)).await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        let slug = unique("linen");
        let shop = Self { gateway, merchant, store, owner, slug };
        shop.upload(&ThemeSource::new(&shop.slug)).await.expect(201);
        shop
    }

    pub async fn upload(&self, source: &ThemeSource) -> Reply {
        upload(&self.merchant, source.zip()).await
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/v1/themes/{}/{rest}", self.slug)
    }

    pub async fn post(&self, rest: &str, input: Value) -> Reply {
        self.owner.post(&self.path(rest)).json(input).await
    }

    pub async fn get(&self, rest: &str) -> Reply {
        self.owner.get(&self.path(rest)).await
    }

    /// Saves a draft with this heading; its version.
    pub async fn draft(&self, heading: &str) -> i64 {
        let input = json!({"settings": {"heading": heading}});
        let saved = self.owner.put(&self.path("editor/draft")).json(input).await.expect(200);
        saved.int("/draft/version")
    }

    /// Publishes a draft with this heading; the release.
    pub async fn publish(&self, heading: &str) -> Reply {
        let version = self.draft(heading).await;
        self.post("publish", json!({"draft_version": version})).await.expect(201)
    }

    /// What the storefront shows to anybody, a moment later.
    pub async fn storefront_theme(&self) -> Reply {
        self.gateway.advance(identity::storefront::CACHE_TIME);
        self.gateway.client().get(&self.front("theme")).await
    }

    pub fn front(&self, rest: &str) -> String {
        format!("/v1/storefront/{}/{rest}", self.store.subdomain)
    }
}

/// The files of a theme of the demo, as one of this slug.
pub fn demo_theme(name: &str, slug: &str) -> Vec<(String, Vec<u8>)> {
    let folder = local::demo::themes::FOLDERS.iter().find(|folder| folder.slug == name);
    let files = folder.expect("a theme of the demo").files.iter();
    let renamed = |(path, text): &(&str, &str)| {
        let text = if *path == "theme.json" {
            text.replace(&format!("\"slug\": \"{name}\""), &format!("\"slug\": \"{slug}\""))
        } else {
            (*text).to_owned()
        };
        ((*path).to_owned(), text.into_bytes())
    };
    files.map(renamed).collect()
}

/// Uploads an archive.
pub async fn upload(client: &Client, zip: Vec<u8>) -> Reply {
    let input = client.post("/v1/themes/packages/upload").header("content-type", "application/zip");
    // What can be repeated costs more, which some tests count.
    let input = if is_troubled() { input.key(&unique("upload")) } else { input };
    input.body(zip).await
}

/// Submits a package that was uploaded, and has it accepted.
pub async fn accept(developer: &Developer, operator: &Operator, package: &str, listing: Value) {
    let path = |action: &str| format!("/v1/themes/packages/{package}/{action}");
    developer.post(&path("submit")).json(listing).await.expect(202);
    operator.post(&path("approve")).json(json!({})).await.expect(200);
}
