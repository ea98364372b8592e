//! Checkout: a cart becomes an order in one transaction — the order, the stock of every line, the
//! gift cards, the idempotency record and the event — or nothing happens.
//!
//! What was read decides nothing about stock and balances: the arithmetic and its condition are
//! in the write. So an eventually consistent read at the store will do, which costs half and may be a moment old. A cart
//! that would be rejected by it is priced again over what there is, and so is one whose write was
//! rejected because somebody was faster.

mod price_cart;

use catalogue::inventory::{self, StockStep};
use catalogue::product;
use core_types::id::ShippingRateId;
use core_types::key;
use core_types::mail::Notice;
use core_types::money::Money;
use core_types::resource::Resource;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::Item;
use primitives::problem::{Code, FieldError, Problem};
use gateway::reply::Reply;
use table::{ReadConsistency, Write, needs_strong_read};
use identity::settings::Settings;
use identity::store::Store;

pub use price_cart::price;
use price_cart::price_as;

use crate::discount::{DiscountCode, Shopper, uses};
use crate::gift_card::{self, GiftCardCode};
use crate::order::cart::{CartLine, PaymentInput};
use crate::order::number;
use crate::order::pricing::{Buyer, Quote, Terms, insufficient_stock};
use crate::order::{ORDER_CREATED, ORDER_PAID, Order, StockState, stock};
use crate::payment::PaymentChange;
use crate::shipping::ShippingZone;
use crate::tax::TaxLocation;

/// How often a cart is priced again after its write was rejected.
const ATTEMPTS: u32 = 12;
/// Actions that one transaction takes.
const MAX_ACTIONS: usize = 100;
/// Actions besides those of the lines: the order, three events, the idempotency record, the customer,
/// a payment, three gift cards with their entries, and two counters for each of two discounts.
const OTHER_ACTIONS: usize = 17;

/// A cart to be ordered.
#[derive(Debug, Clone, Default)]
pub struct Cart {
    /// The lines, merged.
    pub lines: Vec<CartLine>,
    /// The gift cards to pay with.
    pub gift_card_codes: Vec<GiftCardCode>,
    /// The discount codes that are named; one counts.
    pub discount_codes: Vec<DiscountCode>,
    /// The shipping rate that is chosen.
    pub shipping_rate_id: Option<ShippingRateId>,
    /// Where it goes.
    pub destination: Option<TaxLocation>,
    /// Where it is taxed when it goes nowhere; in the store's country, unless that is known.
    pub billed_at: Option<TaxLocation>,
    /// Whether its buyer pays no tax.
    pub is_exempt: bool,
    /// Who buys, as far as discounts ask.
    pub shopper: Shopper,
    /// The network of the shopper: who names codes that are no card's is held up there. None for
    /// whoever the merchant lets place orders: they may order what is not on sale yet, and leave open
    /// how it is sent.
    pub shopper_network: Option<String>,
    /// What the buyer believes it comes to.
    pub expected_total: Option<Money>,
    /// How it is to be paid, as far as that is known.
    pub payment: Option<PaymentInput>,
    /// Whether it is only asked what it would come to: no transaction validates it after that.
    pub dry_run: bool,
    /// What is wrong with it already, before anybody has asked the store.
    pub faults: Vec<FieldError>,
}

/// How a cart is ordered.
#[derive(Debug, Clone)]
pub struct Placing {
    /// Who orders.
    pub buyer: Buyer,
    /// Whether it is a draft.
    pub draft: bool,
    /// Whether it expires unless it is paid within the store's window for that way to pay.
    pub expires: bool,
    /// The digest of the token its shopper gets.
    pub order_token_digest: Option<String>,
    /// How it was paid manually already, if it was.
    pub paid: Option<Option<String>>,
}

/// A cart with what the store says about it at this moment.
#[derive(Debug, Clone)]
pub struct Priced {
    /// The store.
    pub store: Store,
    /// Its settings.
    pub settings: Settings,
    /// The lines, the cards, the totals: of what can be priced.
    pub quote: Quote,
    /// Where the store sends, and at what.
    pub zones: Vec<ShippingZone>,
    /// What is wrong with the cart.
    pub faults: Vec<FieldError>,
}

impl Priced {
    /// # Errors
    /// `validation_failed`, with every fault of the cart.
    pub fn ensure_sound(&self) -> Result<(), Problem> {
        if self.faults.is_empty() { Ok(()) } else { Err(Problem::invalid(self.faults.clone())) }
    }

    /// Whether something is wrong with this field.
    pub fn is_at_fault(&self, pointer: &str) -> bool {
        self.faults.iter().any(|fault| fault.pointer == pointer)
    }
}

/// Orders a cart, if `validate` lets it pass: it adds its faults to those that are known, and all of
/// them are named at once.
///
/// # Errors
/// `insufficient_stock`, `price_changed`, what [`price`] finds, and what `validate` says.
pub async fn place<R: Reply>(
    app: &App,
    store: &Store,
    cart: &Cart,
    placing: &Placing,
    validate: impl Fn(&Priced) -> Result<Vec<FieldError>, Problem>,
    answer: impl Fn(&Order) -> R,
) -> Result<R, Problem> {
    let mut number = None;
    let mut attempt = 0;
    // Who names the codes of gift cards is counted by each look at them.
    let is_plain = cart.gift_card_codes.is_empty();
    let mut consistency =
        if is_plain { ReadConsistency::Eventual } else { ReadConsistency::Strong };
    loop {
        let priced = match decide(app, store, cart, &validate, consistency).await {
            // What is rejected is rejected for what there is, never for what an eventually consistent read has seen.
            Err(rejected)
                if consistency == ReadConsistency::Eventual && needs_strong_read(&rejected) =>
            {
                consistency = ReadConsistency::Strong;
                continue;
            }
            decided => decided?,
        };
        // Outside the transaction: gaps are allowed, a hot item inside it is not.
        let last = match number {
            Some(last) => last,
            None => app.table.next_number(&key::order_counter(&store.id)).await?,
        };
        number = Some(last);
        let outcome = write(app, &priced, placing, last, &answer).await;
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

/// A cart at the store's prices, if it can be ordered as it is.
async fn decide(
    app: &App,
    store: &Store,
    cart: &Cart,
    validate: &impl Fn(&Priced) -> Result<Vec<FieldError>, Problem>,
    consistency: ReadConsistency,
) -> Result<Priced, Problem> {
    let mut priced = price_as(app, store, cart, consistency).await?;
    priced.faults.extend(validate(&priced)?);
    priced.ensure_sound()?;
    priced.quote.ensure_total(cart.expected_total.as_ref())?;
    priced.quote.ensure_stock()?;
    Ok(priced)
}

/// The order of a priced cart, and the payment that paid it manually already.
fn order_of(
    priced: &Priced,
    placing: &Placing,
    last: u64,
    now: Timestamp,
) -> Result<(Order, Vec<PaymentChange>), Problem> {
    let provider = placing.buyer.payment.as_ref().map(|payment| payment.provider);
    let window = priced.settings.checkout.payment_window(provider);
    let terms = Terms {
        draft: placing.draft,
        expires_at: window.filter(|_| placing.expires).map(|window| now.plus(window)),
        order_token_digest: placing.order_token_digest.clone(),
    };
    let buyer = placing.buyer.clone();
    let placed = Order::place(&priced.store, serial(last), &priced.quote, buyer, terms, now);
    match &placing.paid {
        Some(method) if !placed.outstanding().is_zero() => {
            let change = placed.pay_manually(&[], method.clone(), now)?;
            Ok((Order { version: 1, ..change.order }, change.payments))
        }
        _ => Ok((placed, Vec::new())),
    }
}

/// The number of an order, without a prefix.
fn serial(last: u64) -> u64 {
    number::FIRST.saturating_add(last)
}

/// One attempt at the transaction.
async fn write<R: Reply>(
    app: &App,
    priced: &Priced,
    placing: &Placing,
    last: u64,
    answer: &impl Fn(&Order) -> R,
) -> Result<R, Problem> {
    let (now, quote) = (app.clock.now(), &priced.quote);
    let (order, payments) = order_of(priced, placing, last, now)?;
    let write = app.table.write().create(&order, Code::VersionConflict);
    let write = take_stock(write, &order, quote, now);
    let write = mark_ordered(app, write, quote).await?;
    let write = quote.cards.iter().fold(write, |write, (card, pays)| {
        gift_card::debit(write, card, pays, &order.id, Code::VersionConflict, now)
    });
    let write = payments.iter().fold(write, |write, payment| payment.write(write, now));
    let discounts = order.discounts.iter().zip(&quote.discounts);
    let write = discounts
        .fold(write, |write, (counted, (discount, _))| uses::take(write, discount, &counted.used));
    let write = count_customer(write, &order, quote);
    announce(write, priced, &order, now).answer(answer(&order), now).await
}

/// Whether the shopper is told by mail: where there is one, and the store wants that.
fn is_confirmed(priced: &Priced, order: &Order) -> bool {
    let is_shoppers = order.order_token_digest.is_some() && order.email.is_some();
    is_shoppers && priced.settings.notifications.order_confirmation
}

/// Takes the stock of every line: set aside, or, when the order is paid, its own.
fn take_stock(write: Write, order: &Order, quote: &Quote, now: Timestamp) -> Write {
    let is_firm = order.stock == StockState::Committed;
    let step = if is_firm { StockStep::CommitAtOnce } else { StockStep::Reserve };
    order.items.iter().zip(&quote.lines).fold(write, |write, (item, priced)| {
        priced.units.iter().fold(write, |write, units| {
            let line = stock::line(order, item, &units.location_id, units.quantity);
            if priced.oversells {
                inventory::oversell(write, step, &line, now)
            } else {
                inventory::apply(write, step, &line, insufficient_stock(&[priced]), now)
            }
        })
    })
}

/// Marks what was never ordered before as ordered: in the transaction, or, where that is full of
/// lines, before it. A mark without an order does no harm.
async fn mark_ordered(app: &App, write: Write, quote: &Quote) -> Result<Write, Problem> {
    let new = || quote.lines.iter().map(|line| &line.sellable).filter(|one| !one.was_ordered);
    let allocations =
        quote.lines.iter().map(|line| line.units.len()).fold(0, usize::saturating_add);
    let moves = allocations.saturating_mul(2);
    let needed = moves.saturating_add(new().count()).saturating_add(OTHER_ACTIONS);
    if needed > MAX_ACTIONS {
        product::note_ordered(app, &new().cloned().collect::<Vec<_>>()).await?;
        return Ok(write);
    }
    Ok(new().fold(write, |write, sellable| {
        write.update(&sellable.key(), sellable.ordered(), Code::VersionConflict)
    }))
}

/// Counts the order, and what it has brought in already, for its customer. It is their first one, where
/// a discount says so.
fn count_customer(write: Write, order: &Order, quote: &Quote) -> Write {
    let Some(customer) = &order.customer_id else { return write };
    let change = identity::customer::counted_order(order.brought_in());
    let customer = key::customer(&order.store_id, customer);
    if quote.discounts.iter().any(|(discount, _)| discount.first_order_only) {
        let first = change.only_if("orders_count = :none").value(":none", 0);
        return write.update(&customer, first, Code::VersionConflict);
    }
    write.update(&customer, change.only_if("attribute_exists(PK)"), gone())
}

/// The customer was deleted between authentication and the write.
fn gone() -> Problem {
    Problem::field("/customer_id", "unknown_customer", "There is no such customer.")
}

fn announce(write: Write, priced: &Priced, order: &Order, now: Timestamp) -> Write {
    let created = order.event(&ORDER_CREATED, now);
    let confirmed = is_confirmed(priced, order);
    let created = if confirmed { created.with_mail(Notice::OrderPlaced) } else { created };
    let write = write.emit(created);
    if order.is_firm() { write.emit(order.event(&ORDER_PAID, now)) } else { write }
}
