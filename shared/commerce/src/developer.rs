//! Developer profiles: a merchant account that publishes apps has one.

use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Country, Email, WebUrl};
use crate::id::{DeveloperId, MerchantId};
use crate::key;

gateway::words! {
    /// Whether a developer may publish.
    DeveloperStatus {
        /// They may.
        Active = "active",
        /// An operator has stopped them.
        Suspended = "suspended",
    }
}

/// A developer profile: one per merchant, by its key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Developer {
    /// The id.
    pub id: DeveloperId,
    /// The account.
    pub merchant_id: MerchantId,
    /// The company, or the person's name.
    pub company: String,
    /// Where the platform and merchants write to.
    pub contact_email: Email,
    /// The developer's site.
    pub website: Option<WebUrl>,
    /// Where the developer is.
    pub country: Country,
    /// Whether they may publish.
    pub status: DeveloperStatus,
    /// Whether an operator has verified who they are.
    pub verified: bool,
    /// When they agreed to the terms.
    pub terms_agreed_at: Timestamp,
    /// When the profile was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Developer {
    const KIND: &'static str = "developer";
    fn key(&self) -> Key {
        key::developer(&self.merchant_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Developer {
    /// The profile at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Whether they may bring apps to the catalogue.
    ///
    /// # Errors
    /// `account_disabled`.
    pub fn may_publish(&self) -> Result<(), Problem> {
        match self.status {
            DeveloperStatus::Active => Ok(()),
            DeveloperStatus::Suspended => {
                Err(Code::AccountDisabled.detail("This developer profile is suspended."))
            }
        }
    }
}

/// A profile as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeveloperView {
    /// The id.
    pub id: DeveloperId,
    /// Whether they may publish.
    pub status: DeveloperStatus,
    /// The company, or the person's name.
    pub company: String,
    /// Where the platform and merchants write to.
    pub contact_email: Email,
    /// The developer's site.
    pub website: Option<WebUrl>,
    /// Where the developer is.
    pub country: Country,
    /// Whether an operator has verified who they are.
    pub verified: bool,
    /// When they agreed to the terms.
    pub terms_agreed_at: Timestamp,
    /// When the profile was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Developer> for DeveloperView {
    fn from(developer: &Developer) -> Self {
        Self {
            id: developer.id.clone(),
            status: developer.status,
            company: developer.company.clone(),
            contact_email: developer.contact_email.clone(),
            website: developer.website.clone(),
            country: developer.country.clone(),
            verified: developer.verified,
            terms_agreed_at: developer.terms_agreed_at,
            created_at: developer.created_at,
            updated_at: developer.updated_at,
            version: developer.version,
        }
    }
}
