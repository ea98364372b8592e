//! The response for an app, which is also the data of events about it.

use core_types::event::EventSubject;
use core_types::fields::{Slug, WebUrl};
use core_types::id::{AppId, SubmissionId};
use core_types::rating::Rating;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use table::Write;

use super::{AppStatus, CommerceApp, Configuration, Listing, Suspension};

impl Resource for CommerceApp {
    type View = AppView;
    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: None,
            app: Some(&self.id),
            entity: self.id.as_str(),
            version: self.version,
        }
    }
    fn replace(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        self.save(write, rejected)
    }
}

impl CommerceApp {
    /// The average rating and the number of reviews.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }
}

core_types::view! {
    /// An app, without its client secret.
    AppView of app: CommerceApp {
        /// The id.
        id: AppId,
        /// The name.
        name: String,
        /// The readable name in URLs.
        slug: Slug,
        /// The URL at which the app runs.
        app_url: WebUrl,
        /// The redirect URIs of authorizations.
        redirect_uris: Vec<String>,
        /// The scopes that the app may request.
        scopes: Vec<String> = app.scopes.to_vec(),
        /// Whether the app runs inside the admin.
        embedded: bool,
        /// The URL that `app.*` events about the app are posted to.
        webhook_url: Option<String>,
        /// The OAuth client id.
        client_id: String,
        /// Whether the app can keep a client secret.
        confidential: bool,
        /// Whether authorizations must use PKCE.
        require_pkce: bool,
        /// The status.
        status: AppStatus,
        /// The configuration that the next submission proposes; `null` if it is the one in force.
        proposed: Option<Configuration>,
        /// The suspension by an operator; `null` if the app is not suspended.
        suspension: Option<Suspension>,
        /// The listing of the catalogue; `null` before the first approval.
        listing: Option<Listing>,
        /// The version that was approved last.
        approved_version: Option<String>,
        /// The submission that waits for a decision.
        open_submission_id: Option<SubmissionId>,
        /// When it last entered the catalogue.
        published_at: Option<Timestamp>,
        /// The average rating and the number of reviews.
        rating: Rating = app.rating(),
        /// The number of stores that it is active on.
        active_installs: u64,
        /// The developer's actions that its status allows.
        allowed_actions: Vec<&'static str> = app.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed. Installations and reviews do not change the app.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}
