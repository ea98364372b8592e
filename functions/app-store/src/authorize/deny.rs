//! Denying an app its authorization.

use axum::extract::State;
use callers::Admin;
use core_types::id::AppId;
use core_types::key;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, Path};
use platform::app::CommerceApp;
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use super::{validate_app, with_query};

/// The result of a denied authorization.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DenyResponse {
    /// The URI to redirect the merchant to: the redirect URI with `error`, `iss`, and the app's `state`.
    redirect_to: String,
}

/// An authorization that the merchant has denied.
#[request]
#[derive(Debug)]
pub struct DenyRequest {
    /// A registered redirect URI of the app, character by character.
    redirect_uri: Exact<2048>,
    /// The app's state, which is returned unchanged.
    state: Option<Exact<1024>>,
}

/// `POST /v1/app-store/apps/{id}/oauth/deny` (`denyApp`): Deny an app its authorization.
///
/// The response has the URI to redirect the merchant to, with `error=access_denied` (RFC 6749 §4.1.2.1).
/// Nothing is stored, and an existing installation stays as it is.
///
/// # Errors
/// `app_not_published`, `app_suspended`, `invalid_redirect_uri`.
pub async fn deny(
    _: Admin,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(input): Body<DenyRequest>,
) -> Result<NoStore<Json<DenyResponse>>, Problem> {
    let client: Option<CommerceApp> = app.table.get(&key::app(&id)).await?;
    let client = client.ok_or(Code::AppNotPublished)?;
    validate_app(&client)?;
    if !client.allows_redirect(input.redirect_uri.as_str()) {
        return Err(Code::InvalidRedirectUri.into());
    }
    let state = input.state.as_ref().map(Exact::as_str);
    let redirect_to = denied(input.redirect_uri.as_str(), state, &app.config.base_url);
    Ok(Json::new(&DenyResponse { redirect_to }).no_store())
}

/// The URI that tells the app that it was denied.
pub(crate) fn denied(redirect_uri: &str, state: Option<&str>, iss: &str) -> String {
    let pairs = [("error", Some("access_denied")), ("state", state), ("iss", Some(iss))];
    with_query(redirect_uri, pairs)
}
