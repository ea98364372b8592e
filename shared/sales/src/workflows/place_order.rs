//! Checkout: turns a cart into an order in one transaction of the order, the stock of every line, the gift
//! cards, the idempotency record and the event.
//!
//! The write itself checks and changes stock and balances, so an eventually consistent read of the store
//! suffices, at half the cost. If such a read would reject the cart, or the write loses a race, the cart is
//! priced again over a strongly consistent read.

mod acceptance;
mod input;
mod price_cart;

use std::collections::HashSet;

use catalogue::inventory::{StockStep, StockSteps};
use catalogue::product::{self, Sellable};
use core_types::key;
use core_types::mail::Notice;
use core_types::resource::Resource;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::{Completion, ReadConsistency, Write, needs_strong_read};

pub use input::{Cart, OrderPlacement, PlacedBy, PricedCart};
pub use price_cart::pickup::load_stock as load_pickup_stock;
pub use price_cart::price;
use price_cart::price_as;

use crate::discount::uses;
use crate::gift_card;
use crate::guest;
use crate::order::cart::violation;
use crate::order::number;
use crate::order::pricing::{OrderTerms, Quote, insufficient_stock};
use crate::order::{ORDER_CREATED, ORDER_PAID, Order, OrderStock};
use crate::payment::PaymentChange;
use crate::payment::manual_method::{ChosenMethod, payment_window};

/// The number of times that a cart is priced again after its write lost a race.
const ATTEMPTS: u32 = 12;
/// The most actions of one transaction.
const MAX_ACTIONS: usize = 100;
/// The most actions besides those of the lines: the order, its cart, three events, the idempotency record, the
/// customer or guest, a payment, three gift cards with their entries, and three counters for each of two discounts.
const OTHER_ACTIONS: usize = 20;

/// Orders a cart. All field errors are reported together.
///
/// # Errors
/// `insufficient_stock`, `price_changed`, `store_not_accepting_orders`, `account_required`;
/// `validation_failed` with the field errors of [`price`], and `required` for what the store asks of shoppers.
pub async fn place<C: Completion<Order>>(
    services: &Services,
    store: &Store,
    cart: &Cart,
    placement: &OrderPlacement,
    completion: &C,
) -> Result<C::Output, Problem> {
    let mut number = None;
    let mut attempt = 0;
    // Each lookup of unknown gift card codes counts towards a limit, so the first one is strongly
    // consistent.
    let is_plain = cart.gift_card_codes.is_empty();
    let mut consistency =
        if is_plain { ReadConsistency::Eventual } else { ReadConsistency::Strong };
    loop {
        let priced = match decide(services, store, cart, placement, consistency).await {
            // Only a strongly consistent read may reject.
            Err(rejected)
                if consistency == ReadConsistency::Eventual && needs_strong_read(&rejected) =>
            {
                consistency = ReadConsistency::Strong;
                continue;
            }
            decided => decided?,
        };
        // Outside the transaction: order numbers may have gaps, and the counter is a hot item.
        let last = match number {
            Some(last) => last,
            None => services.table.next_number(&key::order_counter(&store.id)).await?,
        };
        number = Some(last);
        let outcome = write(services, &priced, placement, last, completion).await;
        let again = |problem: &Problem| {
            matches!(problem.code, Code::InsufficientStock | Code::VersionConflict)
        };
        match outcome {
            Err(problem) if again(&problem) && attempt < ATTEMPTS => {
                attempt = attempt.saturating_add(1);
                consistency = ReadConsistency::Strong;
            }
            outcome => return outcome,
        }
    }
}

/// Prices a saved cart, over an eventually consistent read, and finds everything for which its order would be
/// rejected: as field errors, those of the whole cart at the empty pointer.
///
/// # Errors
/// 503.
pub async fn inspect(
    services: &Services,
    store: &Store,
    cart: &Cart,
    placement: &OrderPlacement,
) -> Result<PricedCart, Problem> {
    let cart = Cart { dry_run: true, ..cart.clone() };
    let mut priced = price_as(services, store, &cart, ReadConsistency::Eventual).await?;
    match priced.ensure_accepted(placement) {
        Ok(missing) => priced.field_errors.extend(missing),
        Err(rejected) => {
            let code = rejected.code;
            priced.field_errors.push(violation("", code.as_str(), code.title()));
        }
    }
    Ok(priced)
}

/// Prices and validates a cart.
async fn decide(
    services: &Services,
    store: &Store,
    cart: &Cart,
    placement: &OrderPlacement,
    consistency: ReadConsistency,
) -> Result<PricedCart, Problem> {
    let mut priced = price_as(services, store, cart, consistency).await?;
    priced.field_errors.extend(priced.ensure_accepted(placement)?);
    priced.ensure_sound()?;
    priced.quote.ensure_total(cart.expected_total.as_ref())?;
    priced.quote.ensure_stock()?;
    Ok(priced)
}

/// Builds the order of a priced cart, and its manual payment, if it was paid before.
fn order_of(
    priced: &PricedCart,
    placement: &OrderPlacement,
    last: u64,
    now: Timestamp,
) -> Result<(Order, Vec<PaymentChange>), Problem> {
    let provider = placement.buyer.payment.as_ref().map(|payment| payment.provider);
    let (checkout, method) = (&priced.settings.checkout, priced.method.as_ref());
    let window = payment_window(checkout, provider, method);
    let terms = OrderTerms {
        draft: placement.draft,
        expires_at: window.filter(|_| placement.expires).map(|window| now.plus(window)),
        payment_method: method.map(ChosenMethod::from),
        payment_instructions: priced.instructions.clone(),
        stock_held_until: priced.settings.checkout.draft_hold().map(|hold| now.plus(hold)),
        order_token_digest: placement.order_token_digest.clone(),
    };
    let buyer = placement.buyer.clone();
    let placed = Order::place(&priced.store, serial(last), &priced.quote, buyer, terms, now);
    match &placement.paid {
        Some(method) if !placed.outstanding().is_zero() => {
            let change = placed.pay_manually(&[], method.clone(), now)?;
            Ok((Order { version: 1, ..change.order }, change.payments))
        }
        _ => Ok((placed, Vec::new())),
    }
}

/// The number of an order, without the store's prefix.
fn serial(last: u64) -> u64 {
    number::FIRST.saturating_add(last)
}

/// Attempts the transaction once.
async fn write<C: Completion<Order>>(
    services: &Services,
    priced: &PricedCart,
    placement: &OrderPlacement,
    last: u64,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (now, quote) = (services.clock.now(), &priced.quote);
    let (order, payments) = order_of(priced, placement, last, now)?;
    let write = services.table.write().create(&order, Code::VersionConflict);
    let write = reserve_stock(write, &order, quote, now);
    let write = mark_ordered(services, write, quote).await?;
    let write = quote.cards.iter().fold(write, |write, (card, pays)| {
        gift_card::debit(write, card, pays, &order.id, Code::VersionConflict, now)
    });
    let write = payments.iter().fold(write, |write, payment| payment.write(write, now));
    let discounts = order.discounts.iter().zip(&quote.discounts);
    let write = discounts.fold(write, |write, (counted, (discount, _))| {
        uses::record(write, discount, &counted.used)
    });
    let write = guest::assign_placed(count_customer(write, &order, quote), &order);
    completion.commit(announce(write, priced, &order, now), &order, now).await
}

/// Whether mails follow, to the shopper or the owner: only of a storefront order with an address, if the store has one
/// enabled. Of an order that is to be paid through a provider they come with the payment.
fn is_confirmed(priced: &PricedCart, order: &Order) -> bool {
    let is_shoppers = order.order_token_digest.is_some() && order.email.is_some();
    let wanted = &priced.settings.notifications;
    let is_wanted = wanted.order_confirmation || wanted.owner_alerts;
    is_shoppers && !order.awaits_provider() && is_wanted
}

/// Reserves the stock of every line; commits it if the order is firm already.
fn reserve_stock(write: Write, order: &Order, quote: &Quote, now: Timestamp) -> Write {
    let is_firm = order.stock == OrderStock::Committed;
    let step = if is_firm { StockStep::CommitAtOnce } else { StockStep::Reserve };
    let mut steps = StockSteps::new(&order.store_id, &order.id);
    for (item, priced) in order.items.iter().zip(&quote.lines) {
        for units in &priced.units {
            let at = (&item.variant_id, &units.location_id);
            if priced.oversells {
                steps.add_beyond_stock(step, at, units.quantity);
            } else {
                steps.add(step, at, units.quantity, insufficient_stock(&[priced]));
            }
        }
    }
    steps.write(write, now)
}

/// Marks variants that were never ordered before as ordered. That happens in the transaction, or before it
/// if it has no room left; a mark without an order does no harm.
async fn mark_ordered(services: &Services, write: Write, quote: &Quote) -> Result<Write, Problem> {
    let mut seen = HashSet::new();
    let variants = quote.lines.iter().map(|line| &line.sellable);
    let new: Vec<&Sellable> =
        variants.filter(|one| !one.was_ordered && seen.insert(&one.variant_id)).collect();
    let allocations =
        quote.lines.iter().map(|line| line.units.len()).fold(0, usize::saturating_add);
    let moves = allocations.saturating_mul(2);
    let needed = moves.saturating_add(new.len()).saturating_add(OTHER_ACTIONS);
    if needed > MAX_ACTIONS {
        product::note_ordered(services, &new).await?;
        return Ok(write);
    }
    Ok(new.into_iter().fold(write, |write, sellable| {
        write.update(&sellable.key(), sellable.mark_ordered(), Code::VersionConflict)
    }))
}

/// Counts the order and its revenue for its customer. A discount for first orders requires that there was
/// none before.
fn count_customer(write: Write, order: &Order, quote: &Quote) -> Write {
    let Some(customer) = &order.customer_id else { return write };
    let change = identity::customer::count_order(order.net_revenue());
    let customer = key::customer(&order.store_id, customer);
    if quote.discounts.iter().any(|(discount, _)| discount.first_order_only) {
        let first = change.only_if("orders_count = :none").value(":none", 0);
        return write.update(&customer, first, Code::VersionConflict);
    }
    write.update(&customer, change.only_if("attribute_exists(PK)"), unknown_customer())
}

/// The error for a customer that was deleted between authentication and the write.
fn unknown_customer() -> Problem {
    Problem::field("/customer_id", "unknown_customer", "There is no such customer.")
}

fn announce(write: Write, priced: &PricedCart, order: &Order, now: Timestamp) -> Write {
    let created = order.event(&ORDER_CREATED, now);
    let confirmed = is_confirmed(priced, order);
    let created = if confirmed { created.with_mail(Notice::OrderPlaced) } else { created };
    let write = write.emit(created);
    if order.is_firm() { write.emit(order.event(&ORDER_PAID, now)) } else { write }
}
