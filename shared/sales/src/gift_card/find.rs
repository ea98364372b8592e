//! Looks up gift cards by their codes, with a limit of five attempts of a client in any minute.
//!
//! A request for a balance counts before the code is looked up, right or wrong. At checkout, only wrong codes
//! count. But a client with no attempts left is rejected before any code is looked up; otherwise the
//! rejection would reveal which codes are wrong.

use std::collections::HashMap;

use core_types::id::{GiftCardId, StoreId};
use core_types::key;
use crypto::seal;
use identity::throttle::Ceiling;
use primitives::clock::MINUTE;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

use super::{GiftCard, GiftCardCode, UniqueGiftCardCode};

/// The most look-ups of one client at one store.
const LOOKUPS: Ceiling = Ceiling { of: "gift_card", max: 5, window: MINUTE };

/// Ensures that a client in the network `client_prefix` may look up another code. It counts nothing.
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

/// Counts a look-up by a client in the network `client_prefix`.
///
/// # Errors
/// `too_many_attempts`; 503 if it cannot be counted, because a code is worth money.
pub async fn count_lookup(
    services: &Services,
    store: &StoreId,
    client_prefix: &str,
) -> Result<(), Problem> {
    LOOKUPS.count_attempt(services, &digest_of(store, client_prefix), |write| write).await
}

/// Finds the card of each code, in the order of the codes, in two round trips; none for an unknown code. Two
/// spellings of one code find the same card, so a caller that debits cards has to compare their ids.
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
    let code_key = |code: &GiftCardCode| {
        key::unique_gift_card_code(store, &GiftCard::code_hmac(&mac, store, code))
    };
    let code_keys: Vec<Key> = codes.iter().map(code_key).collect();
    let mut batch = services.table.get_many(&code_keys.iter().collect::<Vec<_>>()).await?;
    let mut cards: HashMap<&Key, Key> = HashMap::new();
    for code_key in &code_keys {
        // A key can be taken once. For a second spelling of a code the card is in `cards` already.
        if let Some(known) = batch.take::<UniqueGiftCardCode>(code_key)? {
            cards.insert(code_key, key::gift_card(store, &known.card_id));
        }
    }
    let mut batch = services.table.get_many(&cards.values().collect::<Vec<_>>()).await?;
    let mut found: HashMap<&Key, GiftCard> = HashMap::new();
    for (code_key, card) in &cards {
        found.extend(batch.take(card)?.map(|card| (*code_key, card)));
    }
    Ok(code_keys.iter().map(|code_key| found.get(code_key).cloned()).collect())
}

/// Loads gift cards by id, in one round trip.
///
/// # Errors
/// 503.
pub async fn load(
    services: &Services,
    store: &StoreId,
    ids: &[GiftCardId],
) -> Result<Vec<Option<GiftCard>>, Problem> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let keys: Vec<Key> = ids.iter().map(|id| key::gift_card(store, id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    keys.iter().map(|key| batch.take(key)).collect()
}
