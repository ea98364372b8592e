//! What orders do with gift cards: looking them up by code, paying with them, giving money back.

use std::collections::HashMap;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::table::{Change, Write};
use ground::id::{GiftCardId, OrderId, StoreId};
use ground::key;
use ground::money::Money;

use super::{
    GiftCard, GiftCardCode, GiftCardEntry, GiftCardEntryKind, GiftCardStatus, UniqueGiftCardCode,
};

/// The card of each of these codes, in their order; two round trips for all of them. None for a
/// code that is no card's. Two writings of one code are one card: whoever debits looks at ids.
///
/// # Errors
/// 503.
pub async fn find(
    app: &App,
    store: &StoreId,
    codes: &[GiftCardCode],
) -> Result<Vec<Option<GiftCard>>, Problem> {
    if codes.is_empty() {
        return Ok(Vec::new());
    }
    let mac = app.secrets.gift_card_key().await?;
    let place = |code: &GiftCardCode| {
        key::unique_gift_card_code(store, &GiftCard::code_hmac(&mac, store, code))
    };
    let places: Vec<Key> = codes.iter().map(place).collect();
    let mut batch = app.table.get_many(&places.iter().collect::<Vec<_>>()).await?;
    let mut cards: HashMap<&Key, Key> = HashMap::new();
    for place in &places {
        // Taken once: the second writing of a code finds nothing more, and the card known.
        if let Some(holder) = batch.take::<UniqueGiftCardCode>(place)? {
            cards.insert(place, key::gift_card(store, &holder.card_id));
        }
    }
    let mut batch = app.table.get_many(&cards.values().collect::<Vec<_>>()).await?;
    let mut found: HashMap<&Key, GiftCard> = HashMap::new();
    for (place, card) in &cards {
        found.extend(batch.take(card)?.map(|card| (*place, card)));
    }
    Ok(places.iter().map(|place| found.get(place).cloned()).collect())
}

/// An order is paid with a card: balance −`amount`, if there is so much and the card can be
/// spent. Two actions of the transaction; one use per card.
pub fn debit(
    write: Write,
    card: &GiftCard,
    amount: &Money,
    order: &OrderId,
    refused: impl Into<Problem>,
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
    let place = (&card.store_id, &card.id);
    let entry = GiftCardEntry::new(place, GiftCardEntryKind::Redeemed, amount, now);
    change_balance(write, change, &entry.of_order(order), refused, now)
}

/// An order gives a card its money back: balance +`amount`, even if the card was disabled or has
/// expired, because the money is its holder's. Two actions of the transaction; one use per card.
pub fn credit(
    write: Write,
    card: &GiftCardId,
    amount: &Money,
    (store, order): (&StoreId, &OrderId),
    refused: impl Into<Problem>,
    now: Timestamp,
) -> Write {
    let change = Change::new(
        "SET #balance.#amount = #balance.#amount + :amount, #updated_at = :now, \
         #version = #version + :one",
    )
    .only_if("#balance.#currency = :currency");
    let entry = GiftCardEntry::new((store, card), GiftCardEntryKind::Returned, amount, now);
    change_balance(write, change, &entry.of_order(order), refused, now)
}

fn change_balance(
    write: Write,
    change: Change,
    entry: &GiftCardEntry,
    refused: impl Into<Problem>,
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
    write.update(&card, change, refused).create(entry, Code::VersionConflict)
}
