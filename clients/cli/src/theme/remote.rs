//! A theme on the platform: its packages, and its draft on the store.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::files::{Change, Files, MANIFEST, next_version};
use crate::client::Client;
use crate::context::is_loopback;
use crate::failure::Failure;
use crate::request::Request;

/// A preview of the draft.
#[derive(Debug, Clone)]
pub struct Preview {
    id: String,
    token: String,
    /// The page, or without a renderer the JSON of the theme.
    pub url: String,
}

/// A theme, and its installation on the store.
#[derive(Debug)]
pub struct Remote<'c> {
    client: &'c Client<'c>,
    slug: String,
    subdomain: String,
    /// The installed version.
    installed: Option<String>,
    /// The digests of the draft's files, once they are known.
    there: Option<BTreeMap<String, String>>,
    preview: Option<Preview>,
}

impl<'c> Remote<'c> {
    pub async fn open(client: &'c Client<'c>, slug: &str) -> Result<Self, Failure> {
        let subdomain = subdomain(client).await?;
        let editor = client.json(&Request::get(format!("/v1/themes/{slug}/editor"))).await;
        let installed = match editor {
            Ok(editor) => {
                let version = editor.pointer("/installation/version").and_then(Value::as_str);
                version.map(str::to_owned)
            }
            Err(failure) if failure.is("theme_not_installed") => None,
            Err(failure) => return Err(failure),
        };
        let slug = slug.to_owned();
        Ok(Self { client, slug, subdomain, installed, there: None, preview: None })
    }

    pub fn is_installed(&self) -> bool {
        self.installed.is_some()
    }

    /// The version that the store has.
    pub fn version(&self) -> &str {
        self.installed.as_deref().unwrap_or("none")
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/themes/{}/{rest}", self.slug)
    }

    /// How files differ from those of the draft. A version alone is no difference.
    pub async fn changes(&mut self, files: &Files) -> Result<Vec<Change>, Failure> {
        if self.installed.is_none() {
            return Ok(files.changes_from(&BTreeMap::new()));
        }
        if self.there.is_none() {
            self.there = Some(self.load().await?);
        }
        let there = self.there.clone().unwrap_or_default();
        Ok(files.at_version(self.version())?.changes_from(&there))
    }

    /// The digests of the draft's files; that of its manifest as it would be written here.
    async fn load(&mut self) -> Result<BTreeMap<String, String>, Failure> {
        let theme = self.draft().await?;
        let mut there: BTreeMap<_, _> = listed(&theme).into_iter().collect();
        if let Some(sha256) = there.get(MANIFEST).cloned() {
            let manifest = (MANIFEST.to_owned(), self.file(&sha256).await?);
            let manifest: Files = [manifest].into_iter().collect();
            there.extend(manifest.at_version(self.version())?.digests());
        }
        Ok(there)
    }

    /// The draft as a storefront would show it.
    async fn draft(&mut self) -> Result<Value, Failure> {
        let preview = self.preview().await?;
        let mut request = Request::get(format!("/v1/storefront/{}/theme", self.subdomain)).public();
        request.headers.push(("x-service-preview-token".to_owned(), preview.token));
        self.client.json(&request).await
    }

    /// A file of the draft.
    async fn file(&mut self, sha256: &str) -> Result<Vec<u8>, Failure> {
        let preview = self.preview().await?;
        let path = format!("/v1/storefront/{}/theme/files/{sha256}", self.subdomain);
        let mut request = Request::get(path).public();
        request.headers.push(("x-service-preview-token".to_owned(), preview.token));
        Ok(self.client.call(&request).await?.bytes)
    }

    /// Downloads the draft's files.
    pub async fn download(&mut self) -> Result<Files, Failure> {
        if self.installed.is_none() {
            let text = format!("{} is not installed on the store {}", self.slug, self.subdomain);
            return Err(Failure::Usage(text));
        }
        let theme = self.draft().await?;
        let mut files = Vec::new();
        for (path, sha256) in listed(&theme) {
            files.push((path, self.file(&sha256).await?));
        }
        self.end_preview().await;
        Ok(files.into_iter().collect())
    }

    /// Uploads a package of these files, and moves the store's draft to it. The draft keeps its settings.
    pub async fn upload(&mut self, files: &Files) -> Result<(), Failure> {
        let own = files.manifest()?;
        let own = own.get("version").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut taken = versions(self.client, &self.slug).await?;
        let version = loop {
            let version = next_version(&own, &taken);
            let package =
                if version == own { files.clone() } else { files.at_version(&version)? };
            match send(self.client, &package, false).await {
                Ok(_) => break version,
                // It was uploaded meanwhile, or by the package of somebody else's session.
                Err(failure) if failure.is("version_exists") && !taken.contains(&version) => {
                    taken.push(version);
                }
                Err(failure) => return Err(failure),
            }
        };
        let action = if self.installed.is_some() { "upgrade" } else { "install" };
        self.client.json(&Request::post(self.path(action), &json!({"version": version}))).await?;
        self.end_preview().await;
        self.installed = Some(version);
        self.there = Some(files.at_version(self.version())?.digests());
        Ok(())
    }

    /// A preview of the draft as it is; a store whose draft was discarded gets one with the theme's defaults.
    pub async fn preview(&mut self) -> Result<Preview, Failure> {
        if let Some(preview) = &self.preview {
            return Ok(preview.clone());
        }
        let request = Request::post(self.path("preview-session"), &json!({"expires_in": 86_400}));
        let begun = match self.client.json(&request).await {
            Err(failure) if failure.is("no_draft") => {
                let put = Request::new(Method::PUT, self.path("editor/draft")).json(&json!({}));
                self.client.json(&put).await?;
                let request = Request { key: crate::secret::random_hex::<16>(), ..request };
                self.client.json(&request).await?
            }
            begun => begun?,
        };
        let text =
            |name: &str| begun.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let token = text("preview_token");
        let url = match self.page().await {
            Some(page) => format!("{page}?preview_token={token}"),
            None => text("preview_url"),
        };
        let preview = Preview { id: text("id"), token, url };
        self.preview = Some(preview.clone());
        Ok(preview)
    }

    /// The page of a local system's renderer.
    async fn page(&self) -> Option<String> {
        let path = format!("/_local/shop/{}", self.subdomain);
        if !is_loopback(&self.client.api) {
            return None;
        }
        let answer = self.client.send(&Request::get(&path).public()).await.ok()?;
        (answer.status != 404)
            .then(|| format!("{}{}", self.client.api, path.trim_start_matches('/')))
    }

    /// Ends the preview of an earlier draft. One that cannot be ended ends by itself.
    pub async fn end_preview(&mut self) {
        if let Some(preview) = self.preview.take() {
            let path = self.path(&format!("preview-session/{}", preview.id));
            let _ = self.client.send(&Request::new(Method::DELETE, path)).await;
        }
    }
}

/// Validates a package, and stores nothing. The version is no matter: one that is taken is replaced by the next.
pub async fn check(client: &Client<'_>, files: &Files) -> Result<Value, Failure> {
    match send(client, files, true).await {
        Err(failure) if failure.is("version_exists") => {
            let own = files.manifest()?;
            let own = own.get("version").and_then(Value::as_str).unwrap_or_default();
            let version = next_version(own, &versions(client, files.slug()?).await?);
            send(client, &files.at_version(&version)?, true).await
        }
        answer => answer,
    }
}

async fn send(client: &Client<'_>, files: &Files, dry_run: bool) -> Result<Value, Failure> {
    let request = Request::new(Method::POST, "/v1/themes/packages/upload");
    let request = request.body("application/zip", files.zip()?);
    let request = if dry_run { request.query("dry_run", "true") } else { request };
    client.json(&request).await
}

/// The versions that are taken.
async fn versions(client: &Client<'_>, slug: &str) -> Result<Vec<String>, Failure> {
    let list = Request::get("/v1/themes/packages").query("slug", slug).query("limit", "100");
    let packages = client.list(&list).await?;
    let versions = packages.iter().filter_map(|package| package.get("version")?.as_str());
    Ok(versions.map(str::to_owned).collect())
}

/// Path and digest of a theme's files.
fn listed(theme: &Value) -> Vec<(String, String)> {
    let files = theme.get("files").and_then(Value::as_array).into_iter().flatten();
    let pair = |file: &Value| {
        let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
        Some((text("path")?, text("sha256")?))
    };
    files.filter_map(pair).collect()
}

/// The files of what is published on the store.
pub async fn live(client: &Client<'_>) -> Result<Files, Failure> {
    let subdomain = subdomain(client).await?;
    let root = format!("/v1/storefront/{subdomain}/theme");
    let theme = client.json(&Request::get(&root).public()).await?;
    let mut files = Vec::new();
    for (path, sha256) in listed(&theme) {
        let file = client.call(&Request::get(format!("{root}/files/{sha256}")).public()).await?;
        files.push((path, file.bytes));
    }
    Ok(files.into_iter().collect())
}

/// The subdomain of the store that commands act on.
async fn subdomain(client: &Client<'_>) -> Result<String, Failure> {
    let session = client.json(&Request::get("/v1/auth/custom/session")).await?;
    let stores = session.get("stores").and_then(Value::as_array).cloned().unwrap_or_default();
    let found = match client.store() {
        Some(id) => stores.iter().find(|store| store.get("id").is_some_and(|it| it == id)),
        None => stores.first().filter(|_| stores.len() == 1),
    };
    let subdomain = found.and_then(|store| store.get("subdomain")).and_then(Value::as_str);
    let none = || Failure::Usage("Choose a store: commerce stores use, or --store".into());
    subdomain.map(str::to_owned).ok_or_else(none)
}
