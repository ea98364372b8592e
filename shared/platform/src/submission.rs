//! Submissions: a developer proposes a version of an app, automatic checks inspect it, and an operator
//! decides.

use core_types::event::EventSubject;
use core_types::fields::WebUrl;
use core_types::id::{AppId, MerchantId, SubmissionId};
use core_types::key;
use core_types::lookup_item::LookupItem;
use core_types::resource::{Resource, load};
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Violation};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;

use crate::app::{CommerceApp, Configuration, Listing};

pub use checks::{MIN_DESCRIPTION, SubmissionCheck, Surroundings, Verdict, run_checks};
pub use topics::*;

mod checks;
mod topics;

primitives::string_enum! {
    /// The status of a submission.
    SubmissionStatus {
        /// It waits for an operator's decision.
        Submitted = "submitted",
        /// An operator approved it.
        Approved = "approved",
        /// An operator rejected it.
        Rejected = "rejected",
        /// An operator requested changes, to be submitted as a new submission.
        ChangesRequested = "changes_requested",
        /// Its developer withdrew it.
        Withdrawn = "withdrawn",
    }
}

/// The regular expression of Semantic Versioning, without build metadata.
const VERSION: &str = "^(0|[1-9][0-9]{0,17})([.](0|[1-9][0-9]{0,17})){2}\
    (-(0|[1-9][0-9]{0,17}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)([.](0|[1-9][0-9]{0,17}|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?$";

/// A version of an app (Semantic Versioning 2.0.0) without build metadata, at most 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = VERSION, "maxLength" = 64))]
#[schemars(rename = "AppVersionNumber")]
pub struct Release(String);

impl Release {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this version is greater than `other`; always, if `other` is no version.
    pub fn is_after(&self, other: &str) -> bool {
        match (Version::parse(&self.0), Version::parse(other)) {
            (Ok(this), Ok(other)) => this > other,
            (this, _) => this.is_ok(),
        }
    }
}

impl FromText for Release {
    const EXPECTS: &'static str = "a semantic version";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let version = Version::parse(text).ok().filter(|version| version.build.is_empty());
        if version.is_some() && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(Violation::new("invalid_version", "Must be a semantic version like `1.2.0`."))
        }
    }
}

primitives::text_field!(Release);

/// The version of an app that a developer proposes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// The proposed version of the app. `version` is the version of the submission.
    pub app_version: Release,
    /// The proposed listing.
    pub listing: Listing,
    /// The changes of this version, for merchants.
    pub changelog: String,
    /// The instructions with which an operator tests the app.
    pub test_instructions: String,
    /// The URL of a video that shows the app at work.
    pub screencast_url: Option<WebUrl>,
}

/// A submission.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "submission", key = key::submission(&self.app_id, &self.id))]
#[item(indexes = vec![ key::submissions_by_status(self.status.as_str(), self.created_at, &self.id), key::submission_by_id(&self.id), ])]
pub struct Submission {
    /// `sub_…`; later ones sort after it.
    pub id: SubmissionId,
    /// The app whose version is proposed.
    pub app_id: AppId,
    /// The app's name when it was submitted.
    pub app_name: String,
    /// The proposed version.
    pub proposal: Proposal,
    /// The proposed configuration of the app, by value: an operator approves exactly what they reviewed.
    pub configuration: Configuration,
    /// The results of the automatic checks.
    pub checks: Vec<SubmissionCheck>,
    /// The status.
    pub status: SubmissionStatus,
    /// The operator's notes for the developer.
    pub notes: Vec<String>,
    /// The operator who decided; not returned to developers.
    pub decided_by: Option<MerchantId>,
    /// When it was decided or withdrawn.
    pub decided_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

impl Submission {
    /// A new submission of `app`.
    ///
    /// # Errors
    /// `submission_open`, `invalid_state_transition`; `checks_failed` with every check.
    pub fn open(
        app: &CommerceApp,
        proposal: Proposal,
        checks: Vec<SubmissionCheck>,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        app.ensure_may_submit()?;
        if checks.iter().any(|check| check.verdict == Verdict::Fail) {
            let checks = serde_json::to_value(&checks).unwrap_or_default();
            return Err(Code::ChecksFailed.with("checks", checks));
        }
        Ok(Self {
            id: SubmissionId::mint(now),
            app_id: app.id.clone(),
            app_name: app.name.clone(),
            proposal,
            configuration: app.wanted(),
            checks,
            status: SubmissionStatus::Submitted,
            notes: Vec::new(),
            decided_by: None,
            decided_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        })
    }

    /// The actions that its status allows: `withdraw` by the developer, the others by an operator.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            SubmissionStatus::Submitted => vec!["withdraw", "approve", "reject", "request_changes"],
            _ => vec![],
        }
    }

    fn ended(&self, status: SubmissionStatus, now: Timestamp) -> Result<Self, Problem> {
        if self.status != SubmissionStatus::Submitted {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(Self {
            status,
            decided_at: Some(now),
            updated_at: now,
            version: self.version.saturating_add(1),
            ..self.clone()
        })
    }

    /// The submission withdrawn by its developer.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn withdraw(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ended(SubmissionStatus::Withdrawn, now)
    }

    /// The submission decided by an operator.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn decide(
        &self,
        status: SubmissionStatus,
        notes: Vec<String>,
        operator: &MerchantId,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        Ok(Self { notes, decided_by: Some(operator.clone()), ..self.ended(status, now)? })
    }

    /// The app after this submission was decided or withdrawn. An approved configuration and listing are
    /// in force at once (our choice).
    #[must_use]
    pub fn applied_to(&self, app: &CommerceApp, now: Timestamp) -> CommerceApp {
        let mut next = app.changed(now);
        if next.open_submission_id.as_ref() == Some(&self.id) {
            next.open_submission_id = None;
        }
        if self.status == SubmissionStatus::Approved {
            next = next.approved(self.configuration.clone());
            next.listing = Some(self.proposal.listing.clone());
            next.approved_version = Some(self.proposal.app_version.as_str().to_owned());
        }
        next
    }

    /// The pointer from its id to its key; created with it.
    pub fn pointer(&self) -> LookupItem {
        LookupItem::new(key::submission_pointer(&self.id), self.key())
    }

    /// Loads the submission with this id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn find(services: &Services, id: &SubmissionId) -> Result<Self, Problem> {
        let (pointer, listed) = (key::submission_pointer(id), key::submission_by_id(id));
        load(services, &LookupItem::follow(services, &pointer, listed).await?).await
    }
}

impl Resource for Submission {
    type View = SubmissionView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (app, entity) = (Some(&self.app_id), self.id.as_str());
        EventSubject { store: None, app, entity, version: self.version }
    }
}

core_types::view! {
    /// A submission.
    SubmissionView of submission: Submission {
        /// The id.
        id: SubmissionId,
        /// The app.
        app_id: AppId,
        /// The app's name when it was submitted.
        app_name: String,
        /// The proposed version.
        #[serde(flatten)]
        proposal: Proposal,
        /// The configuration of the app that is proposed with it.
        configuration: Configuration,
        /// The results of the automatic checks.
        checks: Vec<SubmissionCheck>,
        /// The status.
        status: SubmissionStatus,
        /// The operator's notes for the developer.
        notes: Vec<String>,
        /// When it was decided or withdrawn.
        decided_at: Option<Timestamp>,
        /// The actions that its status allows: `withdraw` for the developer, the others for operators.
        allowed_actions: Vec<&'static str> = submission.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_semver_orders_them() {
        let release = |text| Release::from_text(text).unwrap();
        assert!(release("1.10.0").is_after("1.9.9") && !release("1.0.0").is_after("1.0.0"));
        assert!(release("1.0.0").is_after("1.0.0-rc.1"));
        for bad in ["", "1", "1.0", "v1.0.0", "1.0.0+build", "01.0.0"] {
            assert!(Release::from_text(bad).is_err(), "{bad}");
        }
    }
}
