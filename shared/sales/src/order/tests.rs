//! Tests of orders: pricing, every transition of the three statuses, and invariants over sequences of them.

mod carts;
mod charges;
mod money;
mod payable;
mod refunds;
mod sequences;
mod transitions;

use std::time::Duration;

use catalogue::inventory::Level;
use catalogue::product::{ProductStatus, Sellable};
use core_types::id::{GiftCardId, LocationId, MerchantId, ProductId, VariantId};
use identity::store::{NewStore, Store};
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Int};
use primitives::problem::Problem;

use super::cart::{CartLine, LineInput};
use super::pricing::{Buyer, OfferedVariant, OrderTerms, Quote, Rules};
use super::*;
use crate::gift_card::{GiftCard, GiftCardStatus};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
const WINDOW: Duration = Duration::from_mins(30);

fn text<T: FromText>(text: &str) -> T {
    T::from_text(text).unwrap()
}

fn store(currency: &str) -> Store {
    let new_store = NewStore { currency: text(currency), ..NewStore::sample() };
    let store = Store::create(&MerchantId::mint(NOW), new_store, NOW);
    Store { online_locations: vec![LocationId::derive(&["warehouse"])], ..store }
}

fn offer(store: &Store, name: &str, amount: i64, available: i64) -> OfferedVariant {
    let variant_id = VariantId::derive(&[name]);
    let location = store.online_locations.first().unwrap();
    OfferedVariant {
        sellable: Some(Sellable {
            store_id: store.id.clone(),
            variant_id: variant_id.clone(),
            product_id: ProductId::derive(&[name]),
            product_title: name.into(),
            variant_title: "Default".into(),
            sku: None,
            image_url: None,
            price: Money::new(amount, &store.currency).unwrap(),
            status: ProductStatus::Active,
            discontinued: false,
            tracked: true,
            policy: None,
            requires_shipping: true,
            taxable: true,
            weight_grams: None,
            tax_class: None,
            was_ordered: false,
            version: 1,
        }),
        levels: vec![Level::open(&store.id, &variant_id, location, available, NOW)],
    }
}

/// The merged lines of a cart, or their field errors.
fn merge(named: impl IntoIterator<Item = LineInput>) -> Result<Vec<CartLine>, Problem> {
    let mut field_errors = Vec::new();
    let lines = super::cart::merge(named, &mut field_errors);
    if field_errors.is_empty() { Ok(lines) } else { Err(Problem::invalid(field_errors)) }
}

/// The quote of a cart, or its field errors.
fn price(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<OfferedVariant>,
    cards: Vec<GiftCard>,
    everything: bool,
) -> Result<Quote, Problem> {
    price_by(store, lines, offers, cards, (&Rules::default(), everything))
}

/// The quote of a cart by these rules, or its field errors.
fn price_by(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<OfferedVariant>,
    cards: Vec<GiftCard>,
    by: (&Rules, bool),
) -> Result<Quote, Problem> {
    let mut field_errors = Vec::new();
    let quote = super::pricing::price(store, lines, offers, cards, by, &mut field_errors);
    if field_errors.is_empty() { Ok(quote) } else { Err(Problem::invalid(field_errors)) }
}

fn line(name: &str, quantity: i64) -> LineInput {
    let variant_id = VariantId::derive(&[name]);
    LineInput { variant_id, quantity: Int(quantity), properties: None, metadata: None }
}

fn card(store: &Store, name: &str, balance: i64) -> GiftCard {
    let balance = Money::new(balance, &store.currency).unwrap();
    GiftCard {
        id: GiftCardId::derive(&[name]),
        store_id: store.id.clone(),
        initial_value: balance.clone(),
        balance,
        status: GiftCardStatus::Active,
        code_hmac: String::new(),
        last_characters: "WXYZ".into(),
        expires_on: None,
        expires_at: None,
        customer_id: None,
        recipient: None,
        note: None,
        disabled_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

/// The quote of lines `a`, `b`, … (price, quantity), at a store with 100 units of each.
fn quote_of(store: &Store, lines: &[(i64, i64)], cards: Vec<GiftCard>) -> Quote {
    let names = ["a", "b", "c", "d"];
    let inputs = names.iter().zip(lines).map(|(name, (_, quantity))| line(name, *quantity));
    let offers =
        names.iter().zip(lines).map(|(name, (amount, _))| offer(store, name, *amount, 100));
    price(store, merge(inputs).unwrap(), offers.collect(), cards, false).unwrap()
}

/// An order of lines (price, quantity), paid by gift cards up to their balances.
pub(crate) fn order_of(currency: &str, lines: &[(i64, i64)], cards: &[i64]) -> Order {
    let store = store(currency);
    let cards = cards.iter().enumerate();
    let cards = cards.map(|(n, balance)| card(&store, &n.to_string(), *balance)).collect();
    let terms = OrderTerms { expires_at: Some(NOW.plus(WINDOW)), ..OrderTerms::default() };
    Order::place(&store, 1001, &quote_of(&store, lines, cards), Buyer::default(), terms, NOW)
}

/// Two units of `a` at 100.00 and one of `b` at 50.00.
pub(crate) fn order() -> Order {
    order_of("INR", &[(10_000, 2), (5_000, 1)], &[])
}

/// The order, paid in full.
pub(crate) fn paid(order: &Order) -> Order {
    let id = PaymentId::derive(&[order.id.as_str(), "payment"]);
    let amount = order.outstanding();
    let receipt = IncomingPayment { payment_id: &id, provider: "razorpay", amount: &amount };
    order.apply_payment(receipt, NOW).unwrap().unwrap().order
}
