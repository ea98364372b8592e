//! The JSON Web Key Set and the metadata of the OAuth server.

use axum::extract::State;
use core_types::scope::RESOURCES;
use gateway::app::App;
use gateway::caller::Public;
use gateway::reply::{Document, DocumentOf, Json};
use gateway::request::Path;
use http::header;
use primitives::fields::Text;
use primitives::problem::{Code, Problem};
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
    /// The consent page, to which clients send a merchant's browser.
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
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
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
    Ok(document(&app.config.base_url))
}

/// `GET /.well-known/oauth-authorization-server` (`getAuthorizationServerMetadata`):
/// Get the metadata at its well-known location.
///
/// This is where OAuth clients look for the metadata of an issuer (RFC 8414 §3). It is the document of
/// `GET /v1/app-store/oauth/metadata`.
pub async fn well_known(_: Public, State(app): State<App>) -> Result<Json<Metadata>, Problem> {
    Ok(document(&app.config.base_url))
}

/// `GET /.well-known/oauth-authorization-server/{issuer_path}` (`getIssuerMetadata`):
/// Get the metadata of an issuer with a path.
///
/// If the base URL has a path, as `https://example.com/api` has, this is where OAuth clients look for the
/// metadata (RFC 8414 §3.1): at `/.well-known/oauth-authorization-server/api`.
///
/// # Errors
/// `not_found` for any other path.
pub async fn well_known_below(
    _: Public,
    State(app): State<App>,
    Path(path): Path<Text<1, 200>>,
) -> Result<Json<Metadata>, Problem> {
    let base = &app.config.base_url;
    let is_own = issuer_path(base).is_some_and(|own| own == path.as_str());
    if is_own { Ok(document(base)) } else { Err(Code::NotFound.into()) }
}

/// The path of an issuer without its slashes, if it has one.
fn issuer_path(base: &str) -> Option<&str> {
    let (_, path) = base.split_once("://")?.1.split_once('/')?;
    Some(path).filter(|path| !path.is_empty())
}

fn document(base: &str) -> Json<Metadata> {
    let at = |path: &str| format!("{base}/v1/app-store/oauth/{path}");
    let scopes = RESOURCES
        .iter()
        .flat_map(|(name, _)| [format!("read_{name}"), format!("write_{name}")])
        .collect();
    let methods = ["client_secret_basic", "client_secret_post", "none"];
    let document = Metadata {
        issuer: base.to_owned(),
        authorization_endpoint: at("authorize"),
        token_endpoint: at("token"),
        revocation_endpoint: at("revoke"),
        introspection_endpoint: at("introspect"),
        jwks_uri: at("jwks"),
        scopes_supported: scopes,
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        // Token exchange has an endpoint of its own, behind the session of a merchant.
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: methods,
        revocation_endpoint_auth_methods_supported: methods,
        introspection_endpoint_auth_methods_supported: methods,
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
    };
    Json::new(&document).header(header::CACHE_CONTROL, CACHEABLE)
}

#[cfg(test)]
mod tests {
    use super::issuer_path;

    #[test]
    fn an_issuer_has_the_path_of_the_base_url() {
        for (base, path) in [
            ("https://api.example.com", None),
            ("https://api.example.com/", None),
            ("https://example.com/api", Some("api")),
            ("http://127.0.0.1:3000/a/b", Some("a/b")),
        ] {
            assert_eq!(issuer_path(base), path, "{base}");
        }
    }
}
