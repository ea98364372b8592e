//! The representations of gift cards in responses and events. Only the response to the issue has the code.

use core_types::id::{CustomerId, GiftCardEntryId, GiftCardId, OrderId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{GiftCard, GiftCardEntry, GiftCardEntryKind, GiftCardStatus, LastDay, Recipient};

/// A gift card, for the merchant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardView {
    /// The id: `gft_` and 32 hexadecimal digits.
    pub id: GiftCardId,
    /// The status.
    pub status: GiftCardStatus,
    /// The balance at issue.
    pub initial_value: Money,
    /// The balance left.
    pub balance: Money,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day on which it can be spent, in the store's time zone.
    pub expires_on: Option<LastDay>,
    /// The customer who owns it.
    pub customer_id: Option<CustomerId>,
    /// The recipient that it is sent to.
    pub recipient: Option<Recipient>,
    /// The merchant's note.
    pub note: Option<String>,
    /// When it was disabled; null if it is not.
    pub disabled_at: Option<Timestamp>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version, for `If-Match`.
    pub version: u64,
}

impl GiftCardView {
    /// The card with its status at `now`.
    pub fn of(card: &GiftCard, now: Timestamp) -> Self {
        Self {
            id: card.id.clone(),
            status: card.status_at(now),
            initial_value: card.initial_value.clone(),
            balance: card.balance.clone(),
            last_characters: card.last_characters.clone(),
            expires_on: card.expires_on.clone(),
            customer_id: card.customer_id.clone(),
            recipient: card.recipient.clone(),
            note: card.note.clone(),
            disabled_at: card.disabled_at,
            created_at: card.created_at,
            updated_at: card.updated_at,
            version: card.version,
        }
    }
}

/// A gift card with the merchant's change of its balance.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardMoved {
    /// The card after the change.
    pub gift_card: GiftCardView,
    /// The change.
    pub entry: GiftCardEntryView,
}

/// A gift card that was just issued, with its code. The code is not returned again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssuedGiftCardView {
    /// The card.
    #[serde(flatten)]
    pub card: GiftCardView,
    /// Its code.
    pub code: String,
}

/// The balance of a gift card, returned to anybody who has its code.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardBalance {
    /// The balance left.
    pub balance: Money,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day on which it can be spent, in the store's time zone.
    pub expires_on: Option<LastDay>,
    /// The status.
    pub status: GiftCardStatus,
}

impl GiftCardBalance {
    /// The card with its status at `now`.
    pub fn of(card: &GiftCard, now: Timestamp) -> Self {
        Self {
            balance: card.balance.clone(),
            last_characters: card.last_characters.clone(),
            expires_on: card.expires_on.clone(),
            status: card.status_at(now),
        }
    }
}

core_types::view! {
    /// A change of a gift card's balance.
    GiftCardEntryView of entry: GiftCardEntry {
        /// The id: `gte_` and 32 hexadecimal digits.
        id: GiftCardEntryId,
        /// The kind of the change; `debited` and `redeemed` deducted from the balance.
        kind: GiftCardEntryKind,
        /// The amount added or deducted, never negative.
        amount: Money,
        /// The order that was paid with the card or refunded to it.
        order_id: Option<OrderId>,
        /// The merchant's reason.
        reason: Option<String>,
        /// The principal that made the change.
        actor: Option<String>,
        /// The time of the adjustment.
        created_at: Timestamp,
        /// The time of the entry, which never changes.
        updated_at: Timestamp = entry.created_at,
        /// Always 1.
        version: u64,
    }
}
