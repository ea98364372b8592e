//! Finding gift cards by their codes, and how often a client may try: five times in any minute.
//!
//! Asking for a balance counts before the code is looked at, right or wrong. Paying with a code
//! counts when it is wrong; but whoever has used their tries up is rejected before any code is
//! looked at, or else the rejection would tell the wrong codes from the right ones.

use std::collections::HashMap;

use core_types::id::StoreId;
use core_types::key;
use crypto::seal;
use identity::throttle::Ceiling;
use primitives::clock::MINUTE;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

use super::{GiftCard, GiftCardCode, UniqueGiftCardCode};

/// Look-ups of a client at a store.
const LOOKUPS: Ceiling = Ceiling { of: "gift_card", most: 5, window: MINUTE };

/// Demands that whoever is in the network `client_prefix` may look up another code, and counts
/// nothing.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn ensure_lookup(
    services: &Services,
    store: &StoreId,
    client_prefix: &str,
) -> Result<(), Problem> {
    LOOKUPS.ensure(services, &digest_of(store, client_prefix)).await
}

fn digest_of(store: &StoreId, client_prefix: &str) -> String {
    seal::digest(&format!("{store}\n{client_prefix}"))
}

/// Counts a look-up by whoever is in the network `client_prefix`.
///
/// # Errors
/// `too_many_attempts`; 503 when it cannot be counted: codes are money.
pub async fn count_lookup(
    services: &Services,
    store: &StoreId,
    client_prefix: &str,
) -> Result<(), Problem> {
    LOOKUPS.take(services, &digest_of(store, client_prefix), |write| write).await
}

/// The card of each of these codes, in their order; two round trips for all of them. None for a
/// code that is no card's. Two writings of one code are one card: whoever debits looks at ids.
///
/// # Errors
/// 503.
pub async fn find(
    services: &Services,
    store: &StoreId,
    codes: &[GiftCardCode],
) -> Result<Vec<Option<GiftCard>>, Problem> {
    if codes.is_empty() {
        return Ok(Vec::new());
    }
    let mac = services.secrets.gift_card_key().await?;
    let holder = |code: &GiftCardCode| {
        key::unique_gift_card_code(store, &GiftCard::code_hmac(&mac, store, code))
    };
    let holders: Vec<Key> = codes.iter().map(holder).collect();
    let mut batch = services.table.get_many(&holders.iter().collect::<Vec<_>>()).await?;
    let mut cards: HashMap<&Key, Key> = HashMap::new();
    for holder in &holders {
        // Taken once: the second writing of a code finds nothing more, and the card known.
        if let Some(known) = batch.take::<UniqueGiftCardCode>(holder)? {
            cards.insert(holder, key::gift_card(store, &known.card_id));
        }
    }
    let mut batch = services.table.get_many(&cards.values().collect::<Vec<_>>()).await?;
    let mut found: HashMap<&Key, GiftCard> = HashMap::new();
    for (holder, card) in &cards {
        found.extend(batch.take(card)?.map(|card| (*holder, card)));
    }
    Ok(holders.iter().map(|holder| found.get(holder).cloned()).collect())
}
