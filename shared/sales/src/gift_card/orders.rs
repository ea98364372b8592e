//! Payments of orders with gift cards, and refunds to them.

use core_types::id::{GiftCardId, OrderId, StoreId};
use core_types::key;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::{Change, Write};

use super::{GiftCard, GiftCardEntry, GiftCardEntryKind, GiftCardStatus};

/// Pays an order with a card: deducts `amount`, on condition that the balance suffices and the card can be
/// spent. It adds two actions to the transaction, and can be used once per card.
pub fn debit(
    write: Write,
    card: &GiftCard,
    amount: &Money,
    order: &OrderId,
    rejected: impl Into<Problem>,
    now: Timestamp,
) -> Write {
    let change = Change::new(
        "SET #balance.#amount = #balance.#amount - :amount, #updated_at = :now, \
         #version = #version + :one",
    )
    .only_if(
        "#balance.#amount >= :amount AND #balance.#currency = :currency AND #status = :active \
         AND (attribute_not_exists(#expires_at) OR #expires_at > :now)",
    )
    .name("#status", "status")
    .name("#expires_at", "expires_at")
    .value(":active", GiftCardStatus::Active);
    let owner = (&card.store_id, &card.id);
    let entry = GiftCardEntry::new(owner, GiftCardEntryKind::Redeemed, amount, now);
    change_balance(write, change, &entry.of_order(order), rejected, now)
}

/// Refunds an order to a card: adds `amount`, even if the card is disabled or expired, because the money
/// belongs to its owner. It adds two actions to the transaction, and can be used once per card.
pub fn credit(
    write: Write,
    card: &GiftCardId,
    amount: &Money,
    (store, order): (&StoreId, &OrderId),
    rejected: impl Into<Problem>,
    now: Timestamp,
) -> Write {
    let change = Change::new(
        "SET #balance.#amount = #balance.#amount + :amount, #updated_at = :now, \
         #version = #version + :one",
    )
    .only_if("#balance.#currency = :currency");
    let entry = GiftCardEntry::new((store, card), GiftCardEntryKind::Returned, amount, now);
    change_balance(write, change, &entry.of_order(order), rejected, now)
}

fn change_balance(
    write: Write,
    change: Change,
    entry: &GiftCardEntry,
    rejected: impl Into<Problem>,
    now: Timestamp,
) -> Write {
    let change = change
        .name("#balance", "balance")
        .name("#amount", "amount")
        .name("#currency", "currency")
        .name("#updated_at", "updated_at")
        .name("#version", "version")
        .value(":amount", entry.amount.amount)
        .value(":currency", &entry.amount.currency)
        .value(":now", now)
        .value(":one", 1);
    let card = key::gift_card(&entry.store_id, &entry.card_id);
    write.update(&card, change, rejected).create(entry, Code::VersionConflict)
}
