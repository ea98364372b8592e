//! Events about installations.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{AppId, InstallationId, StoreId};
use core_types::sample_id;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{InstallationStatus, InstallationView};

core_types::topics! {
    APP_INSTALLED = "app.installed", "installation", None, InstallationView,
        "A merchant installed an app on a store; `app.authorized` reports its scopes.";
    APP_AUTHORIZED = "app.authorized", "installation", None, InstallationView,
        "A merchant granted an app scopes on a store.";
    APP_TOKEN_ISSUED = "app.token_issued", "installation", None, TokenIssued,
        "An app received an access token for a store.";
    APP_TOKENS_REVOKED = "app.tokens_revoked", "installation", None, InstallationView,
        "Every token of an installation was revoked.";
    APP_SUSPENDED = "app.suspended", "installation", None, InstallationView,
        "A merchant suspended an app on a store.";
    APP_RESUMED = "app.resumed", "installation", None, InstallationView,
        "A merchant resumed an app on a store.";
    APP_UNINSTALLED = "app.uninstalled", "installation", None, InstallationView,
        "A merchant uninstalled an app from a store; its tokens were revoked.";
}

/// The data of an issued token, without the token.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokenIssued {
    /// The installation.
    pub installation_id: InstallationId,
    /// The app.
    pub app_id: AppId,
    /// The store.
    pub store_id: StoreId,
    /// The grant type: `authorization_code`, `refresh_token` or `token_exchange`.
    pub grant_type: String,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// When the token expires.
    pub expires_at: Timestamp,
}

impl Example for InstallationView {
    fn example() -> Self {
        Self {
            id: sample_id!(InstallationId),
            store_id: sample_id!(StoreId),
            app_id: sample_id!(AppId),
            status: InstallationStatus::Active,
            scopes: vec!["read_products".into(), "write_orders".into()],
            status_reason: None,
            installed_at: Some(EXAMPLE_TIME),
            uninstalled_at: None,
            allowed_actions: vec!["suspend", "uninstall"],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 3,
        }
    }
}

impl Example for TokenIssued {
    fn example() -> Self {
        Self {
            installation_id: sample_id!(InstallationId),
            app_id: sample_id!(AppId),
            store_id: sample_id!(StoreId),
            grant_type: "authorization_code".into(),
            scopes: vec!["read_products".into()],
            expires_at: EXAMPLE_TIME,
        }
    }
}
