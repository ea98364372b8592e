//! Topics of members' events, which apps do not receive.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::Email;
use core_types::id::{MemberId, MerchantId, StoreId};
use core_types::sample_id;

use super::{MemberStatus, MemberView, Role};

core_types::topics! {
    MEMBER_INVITED = "member.invited", "member", None, MemberView,
        "A member was invited to a store, or invited again.";
    MEMBER_JOINED = "member.joined", "member", None, MemberView,
        "An invitation was accepted: the account is a member of the store.";
    MEMBER_UPDATED = "member.updated", "member", None, MemberView,
        "The role or the scopes of a member or an invitation changed.";
    MEMBER_REMOVED = "member.removed", "member", None, MemberView,
        "A member left a store or was removed from it, or an invitation was revoked.";
}

impl Example for MemberView {
    fn example() -> Self {
        Self {
            id: sample_id!(MemberId),
            store_id: sample_id!(StoreId),
            status: MemberStatus::Active,
            merchant_id: Some(sample_id!(MerchantId)),
            email: sample::<Email>("ann@example.com"),
            name: Some("Ann".into()),
            role: Role::Staff,
            scopes: vec!["read_products".into(), "write_orders".into()],
            invited_by: Some(sample_id!(MerchantId)),
            expires_at: None,
            joined_at: Some(EXAMPLE_TIME),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}
