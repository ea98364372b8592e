//! Gift cards as they are shown: never their codes, except once.

use core_types::id::{CustomerId, GiftCardEntryId, GiftCardId, OrderId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{GiftCard, GiftCardEntry, GiftCardEntryKind, GiftCardStatus, LastDay, Recipient};

/// A gift card as the merchant sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardView {
    /// `gft_` and 32 hexadecimal digits.
    pub id: GiftCardId,
    /// Whether it can be spent.
    pub status: GiftCardStatus,
    /// What it was issued with.
    pub initial_value: Money,
    /// What is left.
    pub balance: Money,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day it can be spent.
    pub expires_on: Option<LastDay>,
    /// The customer it belongs to.
    pub customer_id: Option<CustomerId>,
    /// Who it was sent to.
    pub recipient: Option<Recipient>,
    /// The merchant's note.
    pub note: Option<String>,
    /// When it was disabled.
    pub disabled_at: Option<Timestamp>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl GiftCardView {
    /// The card as it is now.
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

/// What is told of money that came onto a card or left it by the merchant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardMoved {
    /// The card afterwards.
    pub gift_card: GiftCardView,
    /// The movement.
    pub entry: GiftCardEntryView,
}

/// A gift card when it is issued: the only time its code is shown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IssuedGiftCardView {
    /// The card.
    #[serde(flatten)]
    pub card: GiftCardView,
    /// Its code.
    pub code: String,
}

/// What whoever has a card's code may know of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardBalance {
    /// What is left.
    pub balance: Money,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day it can be spent.
    pub expires_on: Option<LastDay>,
    /// Whether it can be spent.
    pub status: GiftCardStatus,
}

impl GiftCardBalance {
    /// The card as it is now.
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
    /// A movement of a card's balance.
    GiftCardEntryView of entry: GiftCardEntry {
        /// `gte_` and 32 hexadecimal digits.
        id: GiftCardEntryId,
        /// What changed the balance; `debited` and `redeemed` took money from the card.
        kind: GiftCardEntryKind,
        /// How much.
        amount: Money,
        /// The order it is part of.
        order_id: Option<OrderId>,
        /// Why, in the merchant's words.
        reason: Option<String>,
        /// Who did it.
        actor: Option<String>,
        /// When.
        created_at: Timestamp,
        /// When.
        updated_at: Timestamp = entry.created_at,
        /// Always 1.
        version: u64,
    }
}
