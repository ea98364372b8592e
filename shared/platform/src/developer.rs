//! Developer profiles of merchant accounts that publish apps.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::fields::{Country, Email, WebUrl};
use core_types::id::{AppId, DeveloperId, MerchantId};
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::{Change, Condition, Query, Write};

use crate::app::{CommerceApp, MAX_APPS};

core_types::topics! {
    DEVELOPER_REGISTERED = "developer.registered", "developer", None, DeveloperView,
        "A developer profile was registered.";
    DEVELOPER_UPDATED = "developer.updated", "developer", None, DeveloperView,
        "A developer profile changed.";
}

primitives::string_enum! {
    /// The status of a developer.
    DeveloperStatus {
        /// The developer may create, submit and publish apps.
        Active = "active",
        /// The developer is suspended and may not.
        Suspended = "suspended",
    }
}

/// A developer profile: one per merchant, by its key.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "developer", key = key::developer(&self.merchant_id))]
pub struct Developer {
    /// `dev_…`; later ones sort after it.
    pub id: DeveloperId,
    /// The merchant account; it has one profile.
    pub merchant_id: MerchantId,
    /// The company, or the person's name.
    pub company: String,
    /// The e-mail address for the platform and for merchants.
    pub contact_email: Email,
    /// The developer's website.
    pub website: Option<WebUrl>,
    /// The developer's country.
    pub country: Country,
    /// Whether the developer may publish.
    pub status: DeveloperStatus,
    /// Whether an operator has verified the developer's identity.
    pub verified: bool,
    /// When the developer agreed to the terms.
    pub terms_agreed_at: Timestamp,
    /// The number of their apps, without deleted ones: see [`Developer::COUNTED`].
    #[serde(default)]
    pub apps: u64,
    /// When the profile was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write except those of counters.
    pub version: u64,
}

impl Developer {
    /// The profile at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Ensures that the developer may publish.
    ///
    /// # Errors
    /// `account_disabled`.
    pub fn ensure_may_publish(&self) -> Result<(), Problem> {
        match self.status {
            DeveloperStatus::Active => Ok(()),
            DeveloperStatus::Suspended => {
                Err(Code::AccountDisabled.detail("This developer profile is suspended."))
            }
        }
    }
}

/// The writes of a profile, and the counter of its apps.
impl Developer {
    /// The counter. It is changed in place with each app that is created or deleted, in the same
    /// transaction, and so never written by [`Resource::replace`]. It does not change the version.
    pub const COUNTED: &'static [&'static str] = &["apps"];

    /// Counts a new app; rejected with `app_limit` when the developer has [`MAX_APPS`].
    pub fn one_app_more(write: Write, id: &MerchantId) -> Write {
        let change = Change::new("SET apps = if_not_exists(apps, :none) + :one")
            .only_if("attribute_exists(PK) AND (attribute_not_exists(apps) OR apps < :most)")
            .value(":none", 0_u64)
            .value(":one", 1_u64)
            .value(":most", MAX_APPS);
        write.update(&key::developer(id), change, Code::AppLimit.with("maximum", MAX_APPS))
    }

    /// Counts a deleted app, if it was counted: apps created before the counter existed were not.
    pub fn one_app_less(&self, write: Write) -> Write {
        if self.apps == 0 {
            return write;
        }
        let change =
            Change::new("SET apps = apps - :one").only_if("apps >= :one").value(":one", 1_u64);
        write.update(&self.key(), change, Code::VersionConflict)
    }

    /// Adds the condition that the account has no apps: for an account that is closed.
    pub fn require_no_apps(write: Write, id: &MerchantId, rejected: impl Into<Problem>) -> Write {
        let none = Condition::new("attribute_not_exists(apps) OR apps = :none");
        write.check(&key::developer(id), none.value(":none", 0_u64), rejected)
    }
}

impl Resource for Developer {
    type View = DeveloperView;
    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject { store: None, app: None, entity: self.id.as_str(), version: self.version }
    }
    fn replace(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace_except(self, Self::COUNTED, Condition::default(), rejected)
    }
}

/// The query for the account's apps without deleted ones, the oldest first. The index may lag; the
/// profile's counter is authoritative.
pub fn apps_of(id: &MerchantId) -> Query {
    Query::list(key::list::apps_of(id))
}

/// Ensures that an account to be closed has no apps: stores that installed one would be left with an app
/// without a developer.
///
/// # Errors
/// `owns_apps`, with the apps found.
pub async fn owns_no_apps(services: &services::Services, id: &MerchantId) -> Result<(), Problem> {
    let profile_key = key::developer(id);
    let query = apps_of(id);
    let (profile, apps) = tokio::try_join!(
        services.table.get::<Developer>(&profile_key),
        services.table.all::<CommerceApp>(&query, MAX_APPS),
    )?;
    if profile.is_none_or(|profile| profile.apps == 0) && apps.is_empty() {
        return Ok(());
    }
    let ids: Vec<&AppId> = apps.iter().map(|app| &app.id).collect();
    let ids = serde_json::to_value(&ids).unwrap_or_default();
    Err(Code::OwnsApps.with("app_ids", ids))
}

core_types::view! {
    /// A developer profile.
    DeveloperView of developer: Developer {
        /// The id.
        id: DeveloperId,
        /// Whether the developer may publish.
        status: DeveloperStatus,
        /// The name of the company or the person.
        company: String,
        /// The e-mail address for the platform and for merchants.
        contact_email: Email,
        /// The developer's website.
        website: Option<WebUrl>,
        /// The developer's country.
        country: Country,
        /// Whether the platform has verified the developer.
        verified: bool,
        /// When the developer agreed to the terms.
        terms_agreed_at: Timestamp,
        /// When the profile was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

impl Example for DeveloperView {
    fn example() -> Self {
        Self {
            id: DeveloperId::derive(&["example"]),
            status: DeveloperStatus::Active,
            company: "Example Software".into(),
            contact_email: sample::<Email>("dev@example.com"),
            website: Some(sample::<WebUrl>("https://example.com")),
            country: sample::<Country>("IN"),
            verified: true,
            terms_agreed_at: EXAMPLE_TIME,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
