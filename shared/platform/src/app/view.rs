//! An app as its developer sees it, and as events about it carry it.

use gateway::clock::Timestamp;
use ground::fields::{Handle, WebUrl};
use ground::id::{AppId, SubmissionId};
use ground::rating::Rating;
use schemars::JsonSchema;
use serde::Serialize;

use super::{AppStatus, CommerceApp, Configuration, Listing, Suspension};

impl CommerceApp {
    /// What reviews say, in one line.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }
}

/// An app as its developer sees it; never a secret.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AppView {
    /// The id.
    pub id: AppId,
    /// The name.
    pub name: String,
    /// The readable name in URLs.
    pub slug: Handle,
    /// Where it runs: its own origin.
    pub app_url: WebUrl,
    /// Where merchants may be sent back to.
    pub redirect_uris: Vec<String>,
    /// What it may ask for.
    pub scopes: Vec<String>,
    /// Whether it runs inside the admin.
    pub embedded: bool,
    /// Where events about it go.
    pub webhook_url: Option<String>,
    /// The OAuth client id.
    pub client_id: String,
    /// Whether it can keep a secret.
    pub confidential: bool,
    /// Whether authorization needs PKCE.
    pub require_pkce: bool,
    /// Where it is in its life.
    pub status: AppStatus,
    /// What its developer wants it to be once that is reviewed; none when that is what it is.
    pub proposed: Option<Configuration>,
    /// Why operators have stopped it, while they have.
    pub suspension: Option<Suspension>,
    /// What the catalogue says.
    pub listing: Option<Listing>,
    /// The version that is approved.
    pub approved_version: Option<String>,
    /// The submission that operators are looking at.
    pub open_submission_id: Option<SubmissionId>,
    /// When it last entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// What reviews say.
    pub rating: Rating,
    /// Stores it is active on.
    pub active_installs: u64,
    /// What its developer can do now.
    pub allowed_actions: Vec<&'static str>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last; installs and reviews are not changes of the app.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&CommerceApp> for AppView {
    fn from(app: &CommerceApp) -> Self {
        Self {
            id: app.id.clone(),
            name: app.name.clone(),
            slug: app.slug.clone(),
            app_url: app.app_url.clone(),
            redirect_uris: app.redirect_uris.clone(),
            scopes: app.scopes.to_vec(),
            embedded: app.embedded,
            webhook_url: app.webhook_url.clone(),
            client_id: app.client_id.clone(),
            confidential: app.confidential,
            require_pkce: app.require_pkce,
            status: app.status,
            proposed: app.proposed.clone(),
            suspension: app.suspension.clone(),
            listing: app.listing.clone(),
            approved_version: app.approved_version.clone(),
            open_submission_id: app.open_submission_id.clone(),
            published_at: app.published_at,
            rating: app.rating(),
            active_installs: app.active_installs,
            allowed_actions: app.allowed_actions(),
            created_at: app.created_at,
            updated_at: app.updated_at,
            version: app.version,
        }
    }
}
