//! The people of a store as they are shown.

use core_types::fields::Email;
use core_types::id::{MemberId, MerchantId, StoreId};
use primitives::clock::Timestamp;

use super::{Member, Role};
use crate::merchant::Merchant;

primitives::string_enum! {
    /// Whether somebody is one of a store's people.
    MemberStatus {
        /// They are.
        Active = "active",
        /// They were asked, and may still accept.
        Invited = "invited",
        /// They were asked, and did not accept in time.
        Expired = "expired",
    }
}

core_types::view! {
    /// A member of a store, or somebody who is invited to be one.
    MemberView of (member: Member, store_id: &StoreId, account: Option<&Merchant>, now: Timestamp) {
        /// `mem_` and 32 hexadecimal digits; the same before and after the invitation is accepted.
        id: MemberId,
        /// The store.
        store_id: StoreId = store_id.clone(),
        /// Whether they are a member yet.
        status: MemberStatus = member.status(now),
        /// The account, once there is one.
        merchant_id: Option<MerchantId> = member.merchant_id().cloned(),
        /// The account's present address; of an invitation, the invited one.
        email: Email = account.map_or_else(|| member.email.clone(), |account| account.email.clone()),
        /// The person's name, where they have said it.
        name: Option<String> = account.and_then(|account| account.name.clone()),
        /// What they are to the store.
        role: Role = member.grant.role,
        /// What they may do, of `staff`.
        scopes: Vec<String> = member.grant.scopes.to_vec(),
        /// Who invited them; nobody, where they opened the store.
        invited_by: Option<MerchantId>,
        /// Until when they may accept, of an invitation.
        expires_at: Option<Timestamp> = member.expires_at(),
        /// When they became a member.
        joined_at: Option<Timestamp> = member.joined_at(),
        /// When they were invited first.
        created_at: Timestamp,
        /// When something of it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
