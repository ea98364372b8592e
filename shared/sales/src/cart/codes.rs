//! Looks up the codes that a shopper adds to a cart. An unknown one is rejected, and counts as an attempt, so that
//! a cart has known codes only and reading it guesses none.

use core_types::id::StoreId;
use core_types::key;
use primitives::problem::{FieldError, Problem};
use services::Services;
use table::ReadConsistency;
use table::item::Key;

use super::CartGiftCard;
use crate::discount::{self, DiscountCode, DiscountRejection, UniqueDiscountCode};
use crate::gift_card::{self, GiftCardCode};
use crate::order::cart::violation;

/// Finds the field errors of unknown discount codes, each with its index in the request. A repeated one counts
/// once.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn unknown_discounts(
    services: &Services,
    store: &StoreId,
    network: &str,
    codes: &[DiscountCode],
) -> Result<Vec<FieldError>, Problem> {
    if codes.is_empty() {
        return Ok(Vec::new());
    }
    discount::ensure_try(services, store, network, ReadConsistency::Strong).await?;
    let mut keys: Vec<(usize, Key)> = Vec::new();
    for (position, code) in codes.iter().enumerate() {
        let key = key::unique_discount_code(store, code.as_str());
        if keys.iter().all(|(_, known)| *known != key) {
            keys.push((position, key));
        }
    }
    let mut found =
        services.table.get_many(&keys.iter().map(|(_, key)| key).collect::<Vec<_>>()).await?;
    let mut errors = Vec::new();
    for (position, key) in &keys {
        if found.take::<UniqueDiscountCode>(key)?.is_none() {
            discount::count_try(services, store, network).await?;
            let unknown = DiscountRejection::Unknown;
            let pointer = format!("/discount_codes/{position}");
            errors.push(violation(&pointer, unknown.code(), unknown.detail()));
        }
    }
    Ok(errors)
}

/// Finds the gift cards of these codes, and the field errors of unknown ones.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn find_gift_cards(
    services: &Services,
    store: &StoreId,
    network: &str,
    codes: &[GiftCardCode],
) -> Result<(Vec<CartGiftCard>, Vec<FieldError>), Problem> {
    let (mut cards, mut errors) = (Vec::new(), Vec::new());
    if codes.is_empty() {
        return Ok((cards, errors));
    }
    gift_card::ensure_lookup(services, store, network).await?;
    for (position, card) in gift_card::find(services, store, codes).await?.into_iter().enumerate() {
        if let Some(card) = card {
            cards.push(CartGiftCard { id: card.id, last_characters: card.last_characters });
        } else {
            gift_card::count_lookup(services, store, network).await?;
            let pointer = format!("/add_gift_card_codes/{position}");
            let detail = "There is no such gift card.";
            errors.push(violation(&pointer, "unknown_gift_card", detail));
        }
    }
    Ok((cards, errors))
}
