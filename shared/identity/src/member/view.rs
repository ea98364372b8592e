//! Responses about members and invitations.

use core_types::fields::Email;
use core_types::id::{MemberId, MerchantId, StoreId};
use primitives::clock::Timestamp;

use super::{Member, Role};
use crate::merchant::Merchant;

primitives::string_enum! {
    /// The status of a member or an invitation.
    MemberStatus {
        /// They are a member.
        Active = "active",
        /// They are invited and can accept.
        Invited = "invited",
        /// They did not accept the invitation in time.
        Expired = "expired",
    }
}

core_types::view! {
    /// A member of a store, or an invitation of one.
    MemberView of (member: Member, store_id: &StoreId, account: Option<&Merchant>, now: Timestamp) {
        /// `mem_` and 32 hexadecimal digits; the same before and after the invitation is accepted.
        id: MemberId,
        /// The store.
        store_id: StoreId = store_id.clone(),
        /// The status.
        status: MemberStatus = member.status(now),
        /// The account of a member.
        merchant_id: Option<MerchantId> = member.merchant_id().cloned(),
        /// The account's current address; for an invitation, the invited one.
        email: Email = account.map_or_else(|| member.email.clone(), |account| account.email.clone()),
        /// The person's name, if their account has one.
        name: Option<String> = account.and_then(|account| account.name.clone()),
        /// The role on the store.
        role: Role = member.grant.role,
        /// The scopes, for `staff`.
        scopes: Vec<String> = member.grant.scopes.to_vec(),
        /// The merchant who last invited them; null for the merchant who created the store.
        invited_by: Option<MerchantId>,
        /// When the invitation expires.
        expires_at: Option<Timestamp> = member.expires_at(),
        /// When they became a member.
        joined_at: Option<Timestamp> = member.joined_at(),
        /// When they were first invited.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}
