//! An app as its developer sees it, and as events about it carry it.

use gateway::clock::Timestamp;
use gateway::problem::Problem;
use gateway::table::Write;
use ground::event::About;
use ground::fields::{Handle, WebUrl};
use ground::id::{AppId, SubmissionId};
use ground::rating::Rating;
use ground::resource::Resource;

use super::{AppStatus, CommerceApp, Configuration, Listing, Suspension};

impl Resource for CommerceApp {
    type View = AppView;
    fn about(&self) -> About<'_> {
        About { store: None, app: Some(&self.id), entity: self.id.as_str(), version: self.version }
    }
    fn replace(&self, write: Write, refused: impl Into<Problem>) -> Write {
        self.save(write, refused)
    }
}

impl CommerceApp {
    /// What reviews say, in one line.
    pub fn rating(&self) -> Rating {
        Rating::of(self.rating_sum, self.rating_count)
    }
}

ground::view! {
    /// An app as its developer sees it; never a secret.
    AppView of app: CommerceApp {
        /// The id.
        id: AppId,
        /// The name.
        name: String,
        /// The readable name in URLs.
        slug: Handle,
        /// Where it runs: its own origin.
        app_url: WebUrl,
        /// Where merchants may be sent back to.
        redirect_uris: Vec<String>,
        /// What it may ask for.
        scopes: Vec<String> = app.scopes.to_vec(),
        /// Whether it runs inside the admin.
        embedded: bool,
        /// Where events about it go.
        webhook_url: Option<String>,
        /// The OAuth client id.
        client_id: String,
        /// Whether it can keep a secret.
        confidential: bool,
        /// Whether authorization needs PKCE.
        require_pkce: bool,
        /// Where it is in its life.
        status: AppStatus,
        /// What its developer wants it to be once that is reviewed; none when that is what it is.
        proposed: Option<Configuration>,
        /// Why operators have stopped it, while they have.
        suspension: Option<Suspension>,
        /// What the catalogue says.
        listing: Option<Listing>,
        /// The version that is approved.
        approved_version: Option<String>,
        /// The submission that operators are looking at.
        open_submission_id: Option<SubmissionId>,
        /// When it last entered the catalogue.
        published_at: Option<Timestamp>,
        /// What reviews say.
        rating: Rating = app.rating(),
        /// Stores it is active on.
        active_installs: u64,
        /// What its developer can do now.
        allowed_actions: Vec<&'static str> = app.allowed_actions(),
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last; installs and reviews are not changes of the app.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
