//! The documents that clients configure themselves by.

use axum::extract::State;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::problem::Problem;
use ground::scope::RESOURCES;
use http::header;
use serde_json::json;

/// Keys change by rotation, which keeps the previous one for longer than this.
const CACHEABLE: &str = "public, max-age=300";

/// `GET /v1/app-store/oauth/jwks`: the keys that app tokens verify with (RFC 7517 §5).
pub async fn jwks(_: Public, State(app): State<App>) -> Result<Answer, Problem> {
    let keys = app.secrets.keys().await?;
    Ok(Answer::ok(&keys.jwks)
        .header(header::CONTENT_TYPE, "application/jwk-set+json")
        .header(header::CACHE_CONTROL, CACHEABLE))
}

/// `GET /v1/app-store/oauth/metadata` (RFC 8414 §2).
pub async fn metadata(_: Public, State(app): State<App>) -> Result<Answer, Problem> {
    let base = &app.config.base_url;
    let at = |path: &str| format!("{base}/v1/app-store/oauth/{path}");
    let scopes: Vec<String> = RESOURCES
        .iter()
        .flat_map(|(name, _)| [format!("read_{name}"), format!("write_{name}")])
        .collect();
    let methods = ["client_secret_basic", "client_secret_post", "none"];
    let document = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/v1/app-store/apps/{{app_id}}/oauth/authorize"),
        "token_endpoint": at("token"),
        "revocation_endpoint": at("revoke"),
        "introspection_endpoint": at("introspect"),
        "jwks_uri": at("jwks"),
        "scopes_supported": scopes,
        "response_types_supported": ["code"],
        "grant_types_supported": [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:token-exchange"
        ],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "introspection_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    Ok(Answer::ok(&document).header(header::CACHE_CONTROL, CACHEABLE))
}
