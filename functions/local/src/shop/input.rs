//! The pages' client of the storefront API, in this process and without a port.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use gateway::request::ClientIp;
use primitives::clock::Clock;
use quick_cache::sync::Cache;
use serde::Deserialize;
use serde_json::{Map, Value};
use shop_theme::{Data, File, Theme};
use tower::ServiceExt;

use crate::activity::FromShop;

/// Bytes of one response at most.
const LARGEST: usize = 8 << 20;
/// Products of a page, and of a collection.
const PAGE: usize = 50;
/// Collections that are loaded with their products.
const COLLECTIONS: usize = 12;
/// Files of themes in the cache at most.
const FILES: usize = 1_000;
/// Files of previews whose tokens are cached at most.
const PREVIEWED: usize = 10_000;

/// The problem of a request that failed.
pub(crate) struct Rejected {
    pub(crate) status: StatusCode,
    pub(crate) title: String,
    pub(crate) detail: String,
}

impl Rejected {
    pub(crate) fn internal() -> Self {
        let (status, title) = (StatusCode::INTERNAL_SERVER_ERROR, "The page was not rendered");
        Self { status, title: title.to_owned(), detail: String::new() }
    }
}

/// The response of `GET …/theme`: the live release, or the previewed draft.
#[derive(Deserialize)]
struct Release {
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    sections: Map<String, Value>,
    #[serde(default)]
    order: Vec<String>,
    #[serde(default)]
    name: String,
    files: Vec<ReleasedFile>,
}

/// A file of a release.
#[derive(Deserialize)]
struct ReleasedFile {
    path: String,
    sha256: String,
}

/// The API, with a cache of files of themes: a file with a digest never changes.
pub(crate) struct Api {
    router: Router,
    clock: Clock,
    files: Cache<String, Bytes>,
    /// The preview tokens, by the paths of the files that they permit. A page's own URLs have no token,
    /// because a theme could leak it in the URL of a picture.
    previewed: Cache<String, String>,
}

impl Api {
    pub(crate) fn new(router: Router, clock: Clock) -> Self {
        Self { router, clock, files: Cache::new(FILES), previewed: Cache::new(PREVIEWED) }
    }
}

/// The public routes of a store, for one visitor.
pub(crate) struct Storefront<'a> {
    api: &'a Api,
    base: String,
    preview_token: Option<String>,
    visitor: Option<ClientIp>,
}

impl<'a> Storefront<'a> {
    pub(crate) fn new(
        api: &'a Api,
        subdomain: &str,
        preview_token: Option<String>,
        visitor: Option<ClientIp>,
    ) -> Self {
        let base = format!("/v1/storefront/{}", segment(subdomain));
        Self { api, base, preview_token, visitor }
    }

    /// Loads the data that every page needs.
    pub(crate) async fn data(&self, root: String, page: usize) -> Result<Data, Rejected> {
        let store = self.json("").await?;
        let products = list(self.json(&format!("/products?limit={PAGE}")).await?);
        let mut collections = Vec::new();
        for page in list(self.json(&format!("/collections?limit={COLLECTIONS}")).await?) {
            let handle = page.get("handle").and_then(Value::as_str).unwrap_or_default();
            let path = format!("/products?collection={}&limit={PAGE}", segment(handle));
            let products = list(self.json(&path).await?);
            collections.push((page, products));
        }
        let mut menus = Vec::new();
        let handles = store.get("navigation").and_then(Value::as_array);
        for handle in handles.into_iter().flatten().filter_map(Value::as_str) {
            menus.push(self.json(&format!("/navigation/{}", segment(handle))).await?);
        }
        let now_ms = self.api.clock.now().millis();
        let header = "<meta name=\"robots\" content=\"noindex\">".to_owned();
        let data = Data { store, products, collections, menus, root, page, ..Data::default() };
        Ok(Data { header, now_ms, ..data })
    }

    /// Ensures that the storefront exists for this visitor.
    pub(crate) async fn find_store(&self) -> Result<(), Rejected> {
        self.json("").await.map(drop)
    }

    /// Loads a file of a theme that this visitor has just loaded, from the cache or the API.
    async fn file(&self, digest: &str) -> Result<Bytes, Rejected> {
        if let Some(known) = self.api.files.get(digest) {
            return Ok(known);
        }
        let read = self.bytes(&format!("/theme/files/{digest}")).await?;
        self.api.files.insert(digest.to_owned(), read.clone());
        Ok(read)
    }

    /// Loads the live theme, or the draft of the preview token.
    pub(crate) async fn theme(&self, root: &str, locale: String) -> Result<Theme, Rejected> {
        let bytes = self.bytes("/theme").await?;
        let release: Release = serde_json::from_slice(&bytes).map_err(|_| Rejected::internal())?;
        let (mut files, mut assets) = (BTreeMap::new(), BTreeMap::new());
        for ReleasedFile { path, sha256 } in release.files {
            if let Some(name) = path.strip_prefix("assets/") {
                assets.insert(name.to_owned(), self.address(root, &sha256));
            }
            if Theme::reads(&path) {
                let bytes = self.file(&sha256).await?;
                files.insert(path, File { sha256: sha256.into(), bytes });
            }
        }
        Ok(Theme {
            files: Arc::new(files),
            assets: Arc::new(assets),
            settings: release.settings,
            sections: release.sections,
            order: Some(release.order),
            locale,
            name: release.name,
        })
    }

    /// Loads the object at this path, if there is one.
    pub(crate) async fn find(&self, path: &str) -> Result<Option<Value>, Rejected> {
        match self.json(path).await {
            Ok(found) => Ok(Some(found)),
            Err(rejected) if rejected.status.is_client_error() => Ok(None),
            Err(rejected) => Err(rejected),
        }
    }

    async fn json(&self, path: &str) -> Result<Value, Rejected> {
        let bytes = self.bytes(path).await?;
        serde_json::from_slice(&bytes).map_err(|_| Rejected::internal())
    }

    fn request(&self, path: &str, token: Option<&str>) -> Result<Request, Rejected> {
        let mut request = Request::get(format!("{}{path}", self.base)).extension(FromShop);
        if let Some(token) = token {
            request = request.header("x-service-preview-token", token);
        }
        let mut request = request.body(Body::empty()).map_err(|_| Rejected::internal())?;
        if let Some(visitor) = self.visitor {
            request.extensions_mut().insert(visitor);
        }
        Ok(request)
    }

    /// Sends a request with the preview token, if there is one.
    async fn bytes(&self, path: &str) -> Result<Bytes, Rejected> {
        let request = self.request(path, self.preview_token.as_deref())?;
        let Ok(answer) = self.api.router.clone().oneshot(request).await;
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), LARGEST).await;
        let body = body.map_err(|_| Rejected::internal())?;
        if status.is_success() {
            return Ok(body);
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
        Err(Rejected { status, title: text("title").to_owned(), detail: text("detail").to_owned() })
    }

    /// The URL of a theme's file for a browser. A file of a preview is served below the page itself, which
    /// requests it with the token.
    fn address(&self, root: &str, digest: &str) -> String {
        let path = format!("{}/theme/files/{digest}", self.base);
        let Some(token) = &self.preview_token else { return path };
        self.api.previewed.insert(path, token.clone());
        format!("{root}/files/{digest}")
    }

    /// Responds with a file of a theme. A file of a preview needs only its digest, no cookie.
    pub(crate) async fn asset(&self, digest: &str) -> Response {
        let path = format!("/theme/files/{}", segment(digest));
        let token = self.api.previewed.get(&format!("{}{path}", self.base));
        match self.request(&path, token.as_deref()) {
            Ok(request) => {
                let Ok(answer) = self.api.router.clone().oneshot(request).await;
                answer
            }
            Err(rejected) => rejected.status.into_response(),
        }
    }
}

/// The items of a list.
fn list(page: Value) -> Vec<Value> {
    match page {
        Value::Object(mut page) => match page.remove("data") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A segment of a path.
pub(crate) fn segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
