//! The principal that acts on a store: a member or an app.

use core_types::id::{AppId, InstallationId, MerchantId};
use core_types::scope::Scopes;
use http::header;
use identity::member::RoleGrant;
use primitives::problem::{Code, Problem};

/// The actor on a store.
#[derive(Debug, Clone)]
pub enum StoreActor {
    /// A member.
    Merchant(MerchantId, RoleGrant),
    /// An installed app.
    App(AppActor),
}

/// An app as actor on a store.
#[derive(Debug, Clone)]
pub struct AppActor {
    /// The app that the token was issued to.
    pub app_id: AppId,
    /// Its installation.
    pub installation_id: InstallationId,
    /// The generation of the installation and of the token.
    pub generation: u64,
    /// The scopes of its token.
    pub scopes: Scopes,
    /// The scopes that the store grants the app now, independent of the token.
    pub granted: Scopes,
    /// The merchant who uses it, for an embedded token.
    pub merchant_id: Option<MerchantId>,
}

impl StoreActor {
    /// The app, if an app acts.
    pub fn app(&self) -> Option<&AppActor> {
        match self {
            Self::Merchant(..) => None,
            Self::App(app) => Some(app),
        }
    }

    /// Whether the actor has this scope.
    pub fn may(&self, scope: &str) -> bool {
        match self {
            Self::Merchant(_, grant) => grant.covers(scope),
            Self::App(app) => app.scopes.cover(scope),
        }
    }

    /// Whether the actor may do everything, with and without a scope: a store's owners and admins.
    pub fn is_unlimited(&self) -> bool {
        matches!(self, Self::Merchant(_, grant) if grant.is_unlimited())
    }

    /// The actor's id, as in `created_by`: `mer_…` or `app_…`.
    pub fn id(&self) -> &str {
        match self {
            Self::Merchant(id, _) => id.as_str(),
            Self::App(app) => app.app_id.as_str(),
        }
    }
}

/// 403 with the scope that is missing, in the body and in the challenge (RFC 6750 §3.1).
pub fn insufficient_scope(scope: &str) -> Problem {
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    Code::InsufficientScope
        .with("required_scope", scope)
        .header(header::WWW_AUTHENTICATE, &challenge)
}
