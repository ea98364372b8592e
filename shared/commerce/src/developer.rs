//! Developer profiles: a merchant account that publishes apps has one.

use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
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
