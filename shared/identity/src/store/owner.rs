//! Whether the owner's address is proven, which the store's mails to others need.

use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;

use super::Store;
use crate::merchant::Merchant;

impl Store {
    /// Whether the owner has proven to receive mail at their address. Otherwise the store may not send
    /// mail to people who have not proven theirs.
    ///
    /// # Errors
    /// 503.
    pub async fn is_owner_proven(&self, services: &Services) -> Result<bool, Problem> {
        let owner: Option<Merchant> = services.table.get(&key::merchant(&self.owner_id)).await?;
        Ok(owner.is_some_and(|owner| owner.email_verified))
    }

    /// Ensures that the store may send mail to people who have not proven their address.
    ///
    /// # Errors
    /// `owner_unverified`; 503.
    pub async fn ensure_owner_proven(&self, services: &Services) -> Result<(), Problem> {
        let is_proven = self.is_owner_proven(services).await?;
        if is_proven { Ok(()) } else { Err(Code::OwnerUnverified.into()) }
    }
}
