//! A change of a cart by its shopper.

use core_types::fields::{Email, Locale, TaxNumber};
use core_types::id::{GiftCardId, ShippingRateId};
use identity::address::PostalAddress;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::Patch;
use primitives::problem::Problem;
use std::collections::BTreeMap;

use super::{Cart, CartGiftCard, CartPayment};
use crate::discount::DiscountCode;
use crate::order::cart::{LineInput, violation};
use crate::order::{MAX_GIFT_CARDS, OrderContact};

/// The new values of a cart; what is omitted stays.
#[derive(Debug, Clone, Default)]
pub struct CartChange {
    /// All lines.
    pub lines: Option<Vec<LineInput>>,
    /// All discount codes.
    pub discount_codes: Option<Vec<DiscountCode>>,
    /// Further gift cards, found by their codes.
    pub added_gift_cards: Vec<CartGiftCard>,
    /// Gift cards that it is not paid with any more.
    pub removed_gift_cards: Vec<GiftCardId>,
    /// The address that confirmations are sent to.
    pub email: Patch<Email>,
    /// The name and telephone number.
    pub contact: Patch<OrderContact>,
    /// Whether the buyer accepts marketing.
    pub accepts_marketing: Patch<bool>,
    /// The language of mails.
    pub locale: Patch<Locale>,
    /// The shipping address.
    pub shipping_address: Patch<PostalAddress>,
    /// The billing address.
    pub billing_address: Patch<PostalAddress>,
    /// The shipping rate.
    pub shipping_rate_id: Patch<ShippingRateId>,
    /// The payment.
    pub payment: Patch<CartPayment>,
    /// The tax registration number.
    pub tax_number: Patch<TaxNumber>,
    /// The note.
    pub note: Patch<String>,
    /// All metadata.
    pub metadata: Patch<BTreeMap<String, String>>,
}

impl Cart {
    /// The cart with a change, at its next version; none if it changes nothing.
    ///
    /// # Errors
    /// `validation_failed`.
    pub fn with(&self, change: CartChange, now: Timestamp) -> Result<Option<Self>, Problem> {
        let next = self.applied(change)?;
        Ok((next != *self).then(|| next.changed(now)))
    }

    /// The cart with a change, at this version.
    ///
    /// # Errors
    /// `validation_failed`.
    pub fn applied(&self, change: CartChange) -> Result<Self, Problem> {
        let mut next = self.clone();
        if let Some(lines) = change.lines {
            next = next.with_lines(lines)?;
        }
        if let Some(codes) = change.discount_codes {
            next.discount_codes = unique(codes);
        }
        next.gift_cards.retain(|card| !change.removed_gift_cards.contains(&card.id));
        for card in change.added_gift_cards {
            if next.gift_cards.iter().all(|known| known.id != card.id) {
                next.gift_cards.push(card);
            }
        }
        if next.gift_cards.len() > MAX_GIFT_CARDS {
            let detail = format!("A cart is paid with at most {MAX_GIFT_CARDS} gift cards.");
            let error = violation("/add_gift_card_codes", "too_many", detail);
            return Err(Problem::invalid(vec![error]));
        }
        let buyer = &mut next.buyer;
        change.email.apply(&mut buyer.email);
        change.contact.apply(&mut buyer.contact);
        change.accepts_marketing.apply(&mut buyer.accepts_marketing);
        change.locale.apply(&mut buyer.locale);
        change.shipping_address.apply(&mut buyer.shipping_address);
        change.billing_address.apply(&mut buyer.billing_address);
        change.shipping_rate_id.apply(&mut buyer.shipping_rate_id);
        change.payment.apply(&mut buyer.payment);
        change.tax_number.apply(&mut buyer.tax_number);
        change.note.apply(&mut buyer.note);
        buyer.note = buyer.note.take().filter(|note| !note.is_empty());
        match change.metadata {
            Patch::Keep => {}
            Patch::Clear => buyer.metadata.clear(),
            Patch::Set(metadata) => buyer.metadata = metadata,
        }
        Ok(next)
    }

    /// The cart in the store's currency, in which its lines are priced from now on.
    #[must_use]
    pub fn in_currency_of(mut self, store: &Store) -> Self {
        if self.currency != store.currency {
            self.lines.iter_mut().for_each(|line| line.price = None);
            self.currency = store.currency.clone();
        }
        self
    }
}

/// The codes without repetitions.
pub(super) fn unique(codes: Vec<DiscountCode>) -> Vec<DiscountCode> {
    let mut all: Vec<DiscountCode> = Vec::new();
    for code in codes {
        if !all.contains(&code) {
            all.push(code);
        }
    }
    all
}
