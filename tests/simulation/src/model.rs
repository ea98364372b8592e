//! What a sequence has been told, and no more: what was asked for successfully, and what it must come to.

use std::collections::BTreeSet;

use local::providers::Event;
use serde_json::Value;

use crate::base::Base;
use crate::step::{Method, Pick};

/// An order.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) id: String,
    /// The shopper's token; none of an order that the merchant has made.
    pub(crate) token: Option<String>,
    pub(crate) method: Option<Method>,
}

/// A cart.
#[derive(Debug, Clone)]
pub(crate) struct Cart {
    pub(crate) id: String,
    /// The token of a guest's.
    pub(crate) token: String,
    /// The session of the customer whose it has become.
    pub(crate) session: Option<String>,
    pub(crate) shopper: u64,
    /// The order that it has become.
    pub(crate) order: Option<String>,
    /// Whether it was deleted, or became a part of another.
    pub(crate) is_gone: bool,
}

/// A payment that was opened.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) id: String,
    pub(crate) order: String,
    pub(crate) method: Method,
    /// Razorpay's order, Stripe's intent.
    pub(crate) reference: String,
    /// What the provider gave the customer's browser.
    pub(crate) handed: Option<Value>,
}

/// A gift card.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) code: String,
    /// What was put on it, less what the merchant took off: orders take it from there, and bring it back.
    pub(crate) value: i64,
}

/// What was asked for successfully so far.
pub(crate) struct Model {
    pub(crate) carts: Vec<Cart>,
    pub(crate) orders: Vec<Placed>,
    pub(crate) payments: Vec<Opened>,
    pub(crate) cards: Vec<Card>,
    /// The units of each variant: those at the beginning, and what the merchant has counted since.
    pub(crate) units: Vec<i64>,
    /// The units of each variant that the merchant has set aside by hand.
    pub(crate) held: Vec<i64>,
    /// The parcels: order and fulfillment.
    pub(crate) parcels: Vec<(String, String)>,
    pub(crate) disputes: Vec<String>,
    /// The handles of imported products.
    pub(crate) imported: BTreeSet<String>,
    /// Provider events on their way, and those that were delivered.
    pub(crate) mailbag: Vec<Event>,
    pub(crate) told: Vec<Event>,
    /// Refunds that the API has said to be made: their ids.
    pub(crate) refunds: BTreeSet<String>,
    /// How many orders were cancelled, of which each puts units back.
    pub(crate) cancelled: u64,
    /// How many orders have used a code.
    pub(crate) coded: u64,
}

impl Model {
    pub(crate) fn of(base: &Base) -> Self {
        let card = |(id, code, value): &(String, String, i64)| Card {
            id: id.clone(),
            code: code.clone(),
            value: *value,
        };
        Self {
            carts: Vec::new(),
            orders: Vec::new(),
            payments: Vec::new(),
            cards: base.cards.iter().map(card).collect(),
            units: base.variants.iter().map(|(_, units)| *units).collect(),
            held: base.variants.iter().map(|_| 0).collect(),
            parcels: Vec::new(),
            disputes: Vec::new(),
            imported: BTreeSet::new(),
            mailbag: Vec::new(),
            told: Vec::new(),
            refunds: BTreeSet::new(),
            cancelled: 0,
            coded: 0,
        }
    }
}

/// The n-th of these, counted round.
pub(crate) fn pick<T: Clone>(all: &[T], number: Pick) -> Option<T> {
    let place = number.checked_rem(u64::try_from(all.len()).ok()?)?;
    all.get(usize::try_from(place).ok()?).cloned()
}
