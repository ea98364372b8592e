//! Sample data of events about gift cards.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::id::{GiftCardEntryId, GiftCardId};
use core_types::money;

use super::{
    GiftCardEntryKind, GiftCardEntryView, GiftCardMoved, GiftCardStatus, GiftCardView, LastDay,
};

impl Example for GiftCardView {
    fn example() -> Self {
        Self {
            id: GiftCardId::derive(&["example"]),
            status: GiftCardStatus::Active,
            initial_value: money::sample(100_000),
            balance: money::sample(75_000),
            last_characters: "7K3Q".into(),
            expires_on: Some(sample::<LastDay>("2027-12-31")),
            customer_id: None,
            recipient: None,
            note: None,
            disabled_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for GiftCardMoved {
    fn example() -> Self {
        Self {
            gift_card: GiftCardView::example(),
            entry: GiftCardEntryView {
                id: GiftCardEntryId::derive(&["example"]),
                kind: GiftCardEntryKind::Debited,
                amount: money::sample(25_000),
                order_id: None,
                reason: Some("Paid at the counter".into()),
                actor: None,
                created_at: EXAMPLE_TIME,
                updated_at: EXAMPLE_TIME,
                version: 1,
            },
        }
    }
}
