//! The ledger of a gift card: each change of its balance.

use core_types::id::{GiftCardEntryId, GiftCardId, OrderId, StoreId};
use core_types::key;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::context::Context;
use serde::{Deserialize, Serialize};
use table::item::Item;

primitives::string_enum! {
    /// The kind of a change of a balance.
    GiftCardEntryKind {
        /// The card was issued.
        Issued = "issued",
        /// The merchant added to the balance.
        Credited = "credited",
        /// The merchant deducted from the balance.
        Debited = "debited",
        /// An order was paid with the card.
        Redeemed = "redeemed",
        /// An order's payment was refunded to the card.
        Returned = "returned",
    }
}

/// A change of a gift card's balance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "gift_card_entry")]
#[item(key = key::gift_card_entry(&self.store_id, &self.card_id, &self.id))]
pub struct GiftCardEntry {
    /// The id: `gte_` and 32 hexadecimal digits.
    pub id: GiftCardEntryId,
    /// The store.
    pub store_id: StoreId,
    /// The gift card.
    pub card_id: GiftCardId,
    /// The kind of the change.
    pub kind: GiftCardEntryKind,
    /// The amount added or deducted, never negative.
    pub amount: Money,
    /// The order that was paid with the card or refunded to it.
    pub order_id: Option<OrderId>,
    /// The merchant's reason.
    pub reason: Option<String>,
    /// The principal that made the change.
    pub actor: Option<String>,
    /// The time of the adjustment.
    pub created_at: Timestamp,
    /// Always 1: a ledger is only appended to.
    pub version: u64,
}

impl GiftCardEntryKind {
    /// Whether it deducts from the balance.
    pub const fn is_debit(self) -> bool {
        matches!(self, Self::Debited | Self::Redeemed)
    }
}

impl GiftCardEntry {
    /// Creates an entry of this card, by the principal of the current request.
    pub fn new(
        (store, card): (&StoreId, &GiftCardId),
        kind: GiftCardEntryKind,
        amount: &Money,
        now: Timestamp,
    ) -> Self {
        Self {
            id: GiftCardEntryId::mint(now),
            store_id: store.clone(),
            card_id: card.clone(),
            kind,
            amount: amount.clone(),
            order_id: None,
            reason: None,
            actor: Context::current().map(|context| context.principal()).filter(|p| !p.is_empty()),
            created_at: now,
            version: 1,
        }
    }

    /// Sets the order of the entry.
    pub(super) fn of_order(self, order: &OrderId) -> Self {
        Self { order_id: Some(order.clone()), ..self }
    }
}
