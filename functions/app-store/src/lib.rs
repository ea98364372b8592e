//! `/v1/app-store` — the app platform: the catalogue and its reviews, installations, OAuth and the bridge;
//! developers, their apps and submissions; the partner dashboard.

mod apps;
mod authorize;
mod bridge;
mod consent;
mod developer_apps;
mod developers;
mod install;
mod installations;
mod oauth;
mod partners;
mod platform;
mod reviews;
mod submissions;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    catalogue().merge(oauth_routes()).merge(installation_routes()).merge(developer_routes())
}

fn catalogue() -> Routes {
    Routes::default()
        .open_to_any_origin(::callers::cross_origin::is_open)
        .get("/v1/app-store/apps", Cost::List, apps::list)
        .get("/v1/app-store/apps/{id}", Cost::READ, apps::get)
        .get("/v1/app-store/apps/{id}/reviews", Cost::List, reviews::list)
        .post("/v1/app-store/apps/{id}/reviews", Cost::WRITE, reviews::create)
        .patch("/v1/app-store/apps/{id}/reviews/{rid}", Cost::WRITE, reviews::update)
        .delete("/v1/app-store/apps/{id}/reviews/{rid}", Cost::WRITE, reviews::delete)
        .post("/v1/app-store/apps/{id}/reviews/{rid}/reply", Cost::WRITE, reviews::reply)
        .existence_check("/v1/app-store/apps/{id}/reviews/{rid}", reviews::ensure_exists)
        .existence_check(
            "/v1/app-store/apps/{id}/reviews/{rid}/reply",
            reviews::ensure_reply_exists,
        )
        .post("/v1/app-store/apps/{id}/install", Cost::WRITE, install::install)
        .post("/v1/app-store/apps/{id}/suspend", Cost::WRITE, platform::suspend)
        .post("/v1/app-store/apps/{id}/resume", Cost::WRITE, platform::resume)
}

fn oauth_routes() -> Routes {
    Routes::default()
        .post("/v1/app-store/apps/{id}/oauth/authorize", Cost::WRITE, authorize::authorize)
        .post("/v1/app-store/apps/{id}/oauth/deny", Cost::READ, authorize::deny)
        .get("/v1/app-store/oauth/authorize", Cost::READ, consent::page)
        .post("/v1/app-store/oauth/token", Cost::TOKEN, oauth::token)
        .post("/v1/app-store/oauth/token-exchange", Cost::TOKEN, oauth::exchange)
        .post("/v1/app-store/oauth/revoke", Cost::TOKEN, oauth::revoke)
        .post("/v1/app-store/oauth/introspect", Cost::TOKEN, oauth::introspect)
        .get("/v1/app-store/oauth/jwks", Cost::FREE, oauth::jwks)
        .get("/v1/app-store/oauth/metadata", Cost::FREE, oauth::metadata)
        .get("/.well-known/oauth-authorization-server", Cost::FREE, oauth::well_known)
        .get(
            "/.well-known/oauth-authorization-server/{issuer_path}",
            Cost::FREE,
            oauth::well_known_below,
        )
        .post("/v1/app-store/bridge/fetch", Cost::READ, bridge::fetch)
}

fn installation_routes() -> Routes {
    Routes::default()
        .get("/v1/app-store/installations", Cost::List, install::list)
        .get("/v1/app-store/installations/{id}", Cost::READ, install::get)
        .post("/v1/app-store/installations/{id}/uninstall", Cost::WRITE, installations::uninstall)
        .post("/v1/app-store/installations/{id}/suspend", Cost::WRITE, installations::suspend)
        .post("/v1/app-store/installations/{id}/resume", Cost::WRITE, installations::resume)
        .post(
            "/v1/app-store/installations/{id}/tokens/revoke",
            Cost::WRITE,
            installations::revoke_tokens,
        )
        .get("/v1/app-store/installations/{id}/access-log", Cost::List, install::access_log)
        .get("/v1/app-store/installations/{id}/scopes", Cost::READ, install::scopes)
}

fn developer_routes() -> Routes {
    let own = Routes::default()
        .get("/v1/app-store/developers/register", Cost::READ, developers::get)
        .post("/v1/app-store/developers/register", Cost::WRITE, developers::register)
        .patch("/v1/app-store/developers/me", Cost::WRITE, developers::update)
        .get("/v1/app-store/developers/apps", Cost::List, developer_apps::list)
        .post("/v1/app-store/developers/apps", Cost::WRITE, developer_apps::create)
        .get("/v1/app-store/developers/apps/{id}", Cost::READ, developer_apps::get)
        .patch("/v1/app-store/developers/apps/{id}", Cost::WRITE, developer_apps::update)
        .delete("/v1/app-store/developers/apps/{id}", Cost::WRITE, developer_apps::delete)
        .post(
            "/v1/app-store/developers/apps/{id}/secret/rotate",
            Cost::WRITE,
            developer_apps::rotate_secret,
        );
    let submitted = Routes::default()
        .get("/v1/app-store/developers/apps/{id}/submissions", Cost::List, submissions::list)
        .post("/v1/app-store/developers/apps/{id}/submissions", Cost::WRITE, submissions::submit)
        .get("/v1/app-store/developers/apps/{id}/submissions/{sid}", Cost::READ, submissions::get)
        .post(
            "/v1/app-store/developers/apps/{id}/submissions/{sid}/withdraw",
            Cost::WRITE,
            submissions::withdraw,
        )
        .get("/v1/app-store/submissions", Cost::List, submissions::list_all)
        .post("/v1/app-store/submissions/{sid}/approve", Cost::WRITE, submissions::approve)
        .post("/v1/app-store/submissions/{sid}/reject", Cost::WRITE, submissions::reject)
        .post(
            "/v1/app-store/submissions/{sid}/request-changes",
            Cost::WRITE,
            submissions::request_changes,
        )
        .post("/v1/app-store/developers/apps/{id}/publish", Cost::WRITE, developer_apps::publish)
        .post(
            "/v1/app-store/developers/apps/{id}/unpublish",
            Cost::WRITE,
            developer_apps::unpublish,
        )
        .get("/v1/app-store/partners/dashboard", Cost::BULK, partners::dashboard);
    own.merge(submitted)
}
