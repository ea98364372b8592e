//! A cart with the server's prices becomes an order: merging, pricing, allocation.

use deserr::Deserr;
use gateway::clock::Timestamp;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::{Fault, FieldErrors, Int};
use serde_json::{Value, json};

use super::item::{GiftCardUse, OrderItem, Totals};
use super::stock::StockHold;
use super::{FinancialStatus, FulfillmentStatus, MAX_LINES, MAX_QUANTITY, Order, OrderStatus};
use crate::address::PostalAddress;
use crate::fields::{Currency, Email};
use crate::gift_card::GiftCard;
use crate::id::{CustomerId, OrderId, OrderItemId, VariantId};
use crate::inventory::{self, Level};
use crate::money::Money;
use crate::product::{ProductStatus, Sellable};
use crate::store::Store;

/// A line of a cart as it is asked for.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct LineInput {
    /// The variant.
    pub variant_id: VariantId,
    /// How many.
    pub quantity: Int<1, MAX_QUANTITY>,
}

/// A line of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartLine {
    /// The variant.
    pub variant_id: VariantId,
    /// How many.
    pub quantity: u32,
    /// Where in the request it was named first.
    pub place: usize,
}

/// The lines of a cart, those of one variant as one: a transaction touches each level once
/// (traps 6).
///
/// # Errors
/// `empty_cart`, `too_many` and `out_of_range` as faults of their fields.
pub fn merge(named: impl IntoIterator<Item = LineInput>) -> Result<Vec<CartLine>, Problem> {
    let mut lines: Vec<CartLine> = Vec::new();
    let mut errors = Vec::new();
    for (place, LineInput { variant_id, quantity }) in named.into_iter().enumerate() {
        let quantity = u32::try_from(quantity.0).unwrap_or(0);
        match lines.iter_mut().find(|line| line.variant_id == variant_id) {
            Some(line) => line.quantity = line.quantity.saturating_add(quantity),
            None => lines.push(CartLine { variant_id, quantity, place }),
        }
    }
    if lines.is_empty() {
        errors.push(fault("/items", "empty_cart", "There is nothing in the cart."));
    }
    if lines.len() > MAX_LINES {
        let detail = format!("Must have at most {MAX_LINES} different variants.");
        errors.push(fault("/items", "too_many", detail));
    }
    for line in lines.iter().filter(|line| i64::from(line.quantity) > MAX_QUANTITY) {
        let pointer = format!("/items/{}/quantity", line.place);
        let detail = format!("Must be at most {MAX_QUANTITY} of one variant.");
        errors.push(fault(&pointer, "out_of_range", detail));
    }
    if errors.is_empty() { Ok(lines) } else { Err(Problem::invalid(errors)) }
}

pub(super) fn fault(
    pointer: &str,
    code: &'static str,
    detail: impl Into<std::borrow::Cow<'static, str>>,
) -> FieldError {
    FieldError { pointer: pointer.to_owned(), fault: Fault::new(code, detail) }
}

/// Who orders, and what they say about it.
#[derive(Debug, Clone, Default)]
pub struct Buyer {
    /// The customer, when they have an account.
    pub customer_id: Option<CustomerId>,
    /// Where confirmations go.
    pub email: Option<Email>,
    /// Where it goes.
    pub shipping_address: Option<PostalAddress>,
    /// Who is billed.
    pub billing_address: Option<PostalAddress>,
    /// In the shopper's or the merchant's words.
    pub note: Option<String>,
    /// Labels of the merchant's.
    pub tags: Vec<String>,
    /// Where it is made.
    pub source: String,
    /// The payment provider that the shopper chose.
    pub payment_provider: Option<String>,
}

/// A line with what the store says about it.
#[derive(Debug, Clone)]
pub struct PricedLine {
    /// What was asked for.
    pub line: CartLine,
    /// What is sold.
    pub sellable: Sellable,
    /// The price of all units.
    pub subtotal: Money,
    /// Where it is taken from; none when its stock is not counted, or not there.
    pub location: Option<crate::id::LocationId>,
    /// Whether so many can be had now.
    pub is_available: bool,
    /// Whether it is sold beyond its stock.
    pub oversells: bool,
}

/// A cart with the server's prices.
#[derive(Debug, Clone)]
pub struct Quote {
    /// The lines.
    pub lines: Vec<PricedLine>,
    /// The gift cards, with what each pays.
    pub cards: Vec<(GiftCard, Money)>,
    /// What it comes to.
    pub totals: Totals,
}

/// What the store says about a variant: none when it sells no such thing.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// What is sold.
    pub sellable: Option<Sellable>,
    /// Its stock.
    pub levels: Vec<Level>,
}

/// Prices a cart. The offers are in the order of the lines. With `everything`, products that are
/// not on sale yet can be ordered too: by the merchant.
///
/// # Errors
/// `unknown_variant` and `amount_out_of_range` as faults of their fields.
pub fn price(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<Offer>,
    cards: Vec<GiftCard>,
    everything: bool,
) -> Result<Quote, Problem> {
    let (mut priced, mut errors) = (Vec::new(), Vec::new());
    for (line, offer) in lines.into_iter().zip(offers) {
        let sold = |sellable: &Sellable| {
            sellable.is_on_sale() || (everything && sellable.status != ProductStatus::Archived)
        };
        let Some(sellable) = offer.sellable.filter(sold) else {
            let pointer = format!("/items/{}/variant_id", line.place);
            errors.push(fault(&pointer, "unknown_variant", "The store sells no such variant."));
            continue;
        };
        let Some(subtotal) = sellable.price.times(line.quantity) else {
            let pointer = format!("/items/{}/quantity", line.place);
            errors.push(fault(&pointer, "amount_out_of_range", "The line's price is too large."));
            continue;
        };
        priced.push(allocate(store, line, sellable, subtotal, &offer.levels));
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let (cards, totals) = total(&priced, cards, &store.currency)?;
    Ok(Quote { lines: priced, cards, totals })
}

/// Finds the location that a line is taken from.
fn allocate(
    store: &Store,
    line: CartLine,
    sellable: Sellable,
    subtotal: Money,
    levels: &[Level],
) -> PricedLine {
    let oversells = sellable.continues_selling(store);
    let location = sellable
        .tracked
        .then(|| inventory::choose(levels, &store.online_locations, line.quantity, oversells))
        .flatten();
    let is_available = !sellable.tracked || oversells || location.is_some();
    PricedLine { line, sellable, subtotal, location, is_available, oversells }
}

/// What the lines come to, and what the gift cards pay of it: each as much as it holds, in the
/// order they were named. Taxes and shipping have no tables yet, and are nothing.
fn total(
    lines: &[PricedLine],
    cards: Vec<GiftCard>,
    currency: &Currency,
) -> Result<(Vec<(GiftCard, Money)>, Totals), Problem> {
    let too_large = || {
        Problem::invalid(vec![fault(
            "/items",
            "amount_out_of_range",
            "The order's total is too large.",
        )])
    };
    let parts = lines.iter().map(|line| &line.subtotal);
    let subtotal = Money::sum(parts, currency).ok_or_else(too_large)?;
    let (shipping, tax) = (Money::zero(currency), Money::zero(currency));
    let total = subtotal.plus(&shipping).and_then(|sum| sum.plus(&tax)).ok_or_else(too_large)?;
    let mut due = total.clone();
    let mut used = Vec::new();
    for card in cards {
        let pays = card.balance.min(&due);
        due = due.minus(&pays).unwrap_or(due);
        if !pays.is_zero() {
            used.push((card, pays));
        }
    }
    let gift_cards = total.minus(&due).unwrap_or_else(|| Money::zero(currency));
    Ok((used, Totals { subtotal, shipping, tax, total, gift_cards, due }))
}

impl Quote {
    /// # Errors
    /// `insufficient_stock`, naming the lines.
    pub fn demand_stock(&self) -> Result<(), Problem> {
        let short: Vec<&PricedLine> = self.lines.iter().filter(|line| !line.is_available).collect();
        if short.is_empty() { Ok(()) } else { Err(insufficient_stock(&short)) }
    }

    /// # Errors
    /// `price_changed`, with the totals as they are.
    pub fn demand_total(&self, expected: Option<&Money>) -> Result<(), Problem> {
        match expected {
            Some(expected) if *expected != self.totals.total => {
                let totals = serde_json::to_value(&self.totals).unwrap_or_default();
                Err(Code::PriceChanged.with("totals", totals))
            }
            _ => Ok(()),
        }
    }

    /// Whether anything of it has to be sent.
    pub fn requires_shipping(&self) -> bool {
        self.lines.iter().any(|line| line.sellable.requires_shipping)
    }

    /// What a dry run says about each line: whether it can be had, never how many there are.
    pub fn availability(&self) -> Vec<Value> {
        let of_line = |line: &PricedLine| {
            json!({
                "variant_id": line.sellable.variant_id,
                "title": line.sellable.product_title,
                "variant_title": line.sellable.variant_title,
                "quantity": line.line.quantity,
                "available": line.is_available,
                "price": line.sellable.price,
                "subtotal": line.subtotal,
            })
        };
        self.lines.iter().map(of_line).collect()
    }
}

/// `insufficient_stock`, naming these lines by place, variant and quantity.
pub fn insufficient_stock(lines: &[&PricedLine]) -> Problem {
    let items: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({
                "pointer": format!("/items/{}", line.line.place),
                "variant_id": line.sellable.variant_id,
                "requested": line.line.quantity,
            })
        })
        .collect();
    Code::InsufficientStock.with("items", items)
}

/// What kind of order is placed.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Whether it is a draft.
    pub draft: bool,
    /// When it expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// The digest of the token its shopper gets.
    pub order_token_digest: Option<String>,
}

impl Order {
    /// The order of a priced cart. When gift cards, or nothing, cover it, it is paid at once.
    pub fn place(
        store: &Store,
        number: u64,
        quote: &Quote,
        buyer: Buyer,
        terms: Terms,
        now: Timestamp,
    ) -> Self {
        let currency = &store.currency;
        let is_paid = quote.totals.due.is_zero() && !terms.draft;
        let mut order = Self {
            id: OrderId::mint(now),
            store_id: store.id.clone(),
            number: format!("{}{number}", store.order_prefix),
            customer_id: buyer.customer_id,
            email: buyer.email,
            status: if terms.draft { OrderStatus::Draft } else { OrderStatus::Open },
            on_hold: false,
            financial_status: FinancialStatus::Pending,
            fulfillment_status: FulfillmentStatus::Unfulfilled,
            stock: if is_paid { StockHold::Committed } else { StockHold::Reserved },
            items: quote.lines.iter().map(|line| OrderItem::of(line, currency, now)).collect(),
            totals: quote.totals.clone(),
            gift_cards: quote.cards.iter().map(GiftCardUse::of).collect(),
            payments: Vec::new(),
            captured: quote.totals.gift_cards.clone(),
            refunded: Money::zero(currency),
            shipping_refunded: Money::zero(currency),
            payment_failed: false,
            currency: currency.clone(),
            shipping_address: buyer.shipping_address,
            billing_address: buyer.billing_address,
            note: buyer.note,
            tags: buyer.tags,
            source: buyer.source,
            payment_provider: buyer.payment_provider,
            order_token_digest: terms.order_token_digest,
            expires_at: terms.expires_at.filter(|_| !is_paid && !terms.draft),
            cancel_reason: None,
            cancelled_at: None,
            closed_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        order.derive();
        order
    }
}

impl OrderItem {
    fn of(priced: &PricedLine, currency: &Currency, now: Timestamp) -> Self {
        let sellable = &priced.sellable;
        Self {
            id: OrderItemId::mint(now),
            variant_id: sellable.variant_id.clone(),
            product_id: sellable.product_id.clone(),
            title: sellable.product_title.clone(),
            variant_title: Some(sellable.variant_title.clone()),
            sku: sellable.sku.clone(),
            image_url: sellable.image_url.clone(),
            quantity: priced.line.quantity,
            price: sellable.price.clone(),
            subtotal: priced.subtotal.clone(),
            discount: Money::zero(currency),
            tax: Money::zero(currency),
            total: priced.subtotal.clone(),
            fulfilled: 0,
            refunded: 0,
            cancelled: 0,
            returned: 0,
            refunded_amount: Money::zero(currency),
            location_id: priced.location.clone(),
            tracked: sellable.tracked,
            requires_shipping: sellable.requires_shipping,
        }
    }
}

impl GiftCardUse {
    fn of((card, pays): &(GiftCard, Money)) -> Self {
        Self {
            card_id: card.id.clone(),
            last_characters: card.last_characters.clone(),
            amount: pays.clone(),
            refunded: Money::zero(&pays.currency),
        }
    }
}
