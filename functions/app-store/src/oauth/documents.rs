//! The JSON Web Key Set and the metadata of the OAuth server.

use axum::extract::State;
use core_types::scope::RESOURCES;
use gateway::app::App;
use gateway::caller::Public;
use gateway::reply::{Document, DocumentOf, Json};
use http::header;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The cache policy: a rotation retains the previous key for longer than this.
const CACHEABLE: &str = "public, max-age=300";

/// Public keys (RFC 7517 §5).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "KeySet")]
pub struct JwkSet(Value);

impl Document for JwkSet {
    const MEDIA_TYPE: &'static str = "application/jwk-set+json";
}

/// The schema of a [`JwkSet`].
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct KeySet {
    /// The keys.
    keys: Vec<PublicKey>,
}

/// A P-256 key that signatures are verified with (RFC 7518 §6.2).
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct PublicKey {
    /// `EC`.
    kty: String,
    /// `P-256`.
    crv: String,
    /// The x coordinate, as base64url.
    x: String,
    /// The y coordinate, as base64url.
    y: String,
    /// `sig`.
    r#use: String,
    /// `ES256`.
    alg: String,
    /// The key's thumbprint (RFC 7638).
    kid: String,
}

/// `GET /v1/app-store/oauth/jwks` (`getJwks`): Get the public keys of tokens and receipts.
///
/// A JSON Web Key Set (RFC 7517 §5) to verify app tokens, webhook receipts and certification reports. It may
/// be cached for five minutes. Select the key by `kid`.
pub async fn jwks(_: Public, State(app): State<App>) -> Result<DocumentOf<JwkSet>, Problem> {
    let keys = app.secrets.keys().await?;
    Ok(DocumentOf::new(&JwkSet(keys.jwks.clone()), CACHEABLE))
}

/// The metadata of the OAuth server (RFC 8414 §2).
#[derive(Debug, Serialize, JsonSchema)]
pub struct Metadata {
    /// The base URL of this service, which is the `iss` of tokens.
    issuer: String,
    /// The route that authorizes an app. Replace `{app_id}` by the id of the app.
    authorization_endpoint: String,
    /// The token endpoint.
    token_endpoint: String,
    /// The revocation endpoint (RFC 7009).
    revocation_endpoint: String,
    /// The introspection endpoint (RFC 7662).
    introspection_endpoint: String,
    /// The URL of the public keys.
    jwks_uri: String,
    /// All scopes.
    scopes_supported: Vec<String>,
    response_types_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 3],
    token_endpoint_auth_methods_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 3],
    introspection_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
}

/// `GET /v1/app-store/oauth/metadata` (`getOauthMetadata`): Get the OAuth server metadata.
///
/// The metadata has the endpoints, scopes, grant types and client authentication methods of the OAuth server
/// (RFC 8414 §2). It may be cached for five minutes.
pub async fn metadata(_: Public, State(app): State<App>) -> Result<Json<Metadata>, Problem> {
    let base = &app.config.base_url;
    let at = |path: &str| format!("{base}/v1/app-store/oauth/{path}");
    let scopes = RESOURCES
        .iter()
        .flat_map(|(name, _)| [format!("read_{name}"), format!("write_{name}")])
        .collect();
    let methods = ["client_secret_basic", "client_secret_post", "none"];
    let document = Metadata {
        issuer: base.to_string(),
        authorization_endpoint: format!("{base}/v1/app-store/apps/{{app_id}}/oauth/authorize"),
        token_endpoint: at("token"),
        revocation_endpoint: at("revoke"),
        introspection_endpoint: at("introspect"),
        jwks_uri: at("jwks"),
        scopes_supported: scopes,
        response_types_supported: ["code"],
        grant_types_supported: [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ],
        token_endpoint_auth_methods_supported: methods,
        revocation_endpoint_auth_methods_supported: methods,
        introspection_endpoint_auth_methods_supported: methods,
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
    };
    Ok(Json::new(&document).header(header::CACHE_CONTROL, CACHEABLE))
}
