//! A client of the API in this process, for what the demo creates as any merchant would.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use core_types::id::StoreId;
use emulators::AnyError;
use gateway::budget::Unmetered;
use http::StatusCode;
use identity::merchant::Merchant;
use serde_json::{Value, json};
use services::Services;
use tower::ServiceExt;

use super::accounts;
use crate::progress::Progress;

/// A client of the API that is signed in as a merchant.
#[derive(Clone)]
pub(crate) struct Api {
    router: Router,
    token: String,
    /// The store, for a merchant who has several.
    store: Option<StoreId>,
    /// The progress line to advance.
    progress: Option<Arc<Progress>>,
}

impl Api {
    /// Begins a session of a merchant, whose requests go to this router.
    pub(super) async fn sign_in(
        services: &Services,
        router: Router,
        merchant: &Merchant,
    ) -> Result<Self, AnyError> {
        let token = accounts::begin_session(services, merchant).await?;
        Ok(Self { router, token, store: None, progress: None })
    }

    /// Loads the object at a path, if it exists.
    pub(super) async fn find(&self, path: &str) -> Result<Option<Value>, AnyError> {
        match self.call("GET", path, None).await {
            Ok(found) => Ok(Some(found)),
            Err(cause) if cause.to_string().contains(&StatusCode::NOT_FOUND.to_string()) => {
                Ok(None)
            }
            Err(cause) => Err(cause),
        }
    }

    /// The client with this store selected.
    pub(super) fn at(self, store: &StoreId) -> Self {
        Self { store: Some(store.clone()), ..self }
    }

    /// The client with a progress line, which each request advances.
    pub(super) fn showing(self, progress: &Arc<Progress>) -> Self {
        Self { progress: Some(Arc::clone(progress)), ..self }
    }

    /// Ends the session.
    pub(super) async fn sign_out(self) -> Result<(), AnyError> {
        self.call("POST", "/v1/auth/signout", Some(json!({}))).await.map(drop)
    }

    /// Sets the text of the progress line.
    pub(super) fn about(&self, what: &str) {
        if let Some(progress) = &self.progress {
            progress.about(what);
        }
    }

    /// Sends a request with a JSON body, or with none.
    pub(super) async fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, AnyError> {
        let body = body.map_or_else(Vec::new, |json| json.to_string().into_bytes());
        self.send(method, path, "application/json", body).await
    }

    /// Sends a request.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<Value, AnyError> {
        if let Some(progress) = &self.progress {
            progress.step();
        }
        let mut request =
            Request::builder().method(method).uri(path).header("content-type", media_type);
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        if let Some(store) = &self.store {
            request = request.header("x-service-store-id", store.as_str());
        }
        // The demo's merchant has all of their budget for the first minute.
        let request = request.extension(Unmetered).body(Body::from(body))?;
        let answer: Response = self.router.clone().oneshot(request).await?;
        let status = answer.status();
        let bytes = axum::body::to_bytes(answer.into_body(), 1 << 20).await?;
        if !status.is_success() {
            let text = String::from_utf8_lossy(&bytes);
            return Err(format!("{method} {path} answered {status}: {text}").into());
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// The text at a JSON pointer.
pub(super) fn text(value: &Value, pointer: &str) -> Result<String, AnyError> {
    let found = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("no text at {pointer} in {value}").into())
}
