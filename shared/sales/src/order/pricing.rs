//! A cart with the server's prices becomes an order: pricing, allocation.

use catalogue::inventory::{self, Level};
use catalogue::product::{ProductStatus, Sellable};
use gateway::clock::Timestamp;
use gateway::problem::{Code, FieldError, Problem};
use ground::fields::{Currency, Email};
use ground::id::{CustomerId, OrderItemId, VariantId};
use ground::money::Money;
use identity::address::PostalAddress;
use identity::store::Store;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::cart::{CartLine, PaymentInput, fault};
use super::item::{Allocation, GiftCardUse, OrderContact, OrderItem, Totals, Units};
use super::stock::StockState;
use super::{FinancialStatus, FulfillmentStatus, MAX_ALLOCATIONS, Order, OrderStatus};
use crate::gift_card::GiftCard;

/// Who orders, and what they say about it.
#[derive(Debug, Clone, Default)]
pub struct Buyer {
    /// The customer, when they have an account.
    pub customer_id: Option<CustomerId>,
    /// Where confirmations go.
    pub email: Option<Email>,
    /// Whom it is for.
    pub contact: Option<OrderContact>,
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
    /// How it is to be paid, when that is known.
    pub payment: Option<PaymentInput>,
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
    /// Where it is taken from; nowhere when its stock is not counted, or not there.
    pub units: Vec<Units>,
    /// Whether so many can be had now.
    pub is_available: bool,
    /// Whether it is sold beyond its stock.
    pub oversells: bool,
}

/// A cart with the server's prices.
#[derive(Debug, Clone)]
pub struct Quote {
    /// At most 40; no two of one variant.
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
/// not on sale yet can be ordered too: by the merchant. What cannot be priced is left out, and is
/// a fault: `unknown_variant`, `amount_out_of_range`.
pub fn price(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<Offer>,
    cards: Vec<GiftCard>,
    everything: bool,
    errors: &mut Vec<FieldError>,
) -> Quote {
    let mut priced = Vec::new();
    for (line, offer) in lines.into_iter().zip(offers) {
        let sold = |sellable: &Sellable| {
            sellable.is_on_sale() || (everything && sellable.status != ProductStatus::Archived)
        };
        let Some(sellable) = offer.sellable.filter(sold) else {
            let pointer = format!("/items/{}/variant_id", line.position);
            errors.push(fault(&pointer, "unknown_variant", "The store sells no such variant."));
            continue;
        };
        let Some(subtotal) = sellable.price.times(line.quantity) else {
            let pointer = format!("/items/{}/quantity", line.position);
            errors.push(fault(&pointer, "amount_out_of_range", "The line's price is too large."));
            continue;
        };
        priced.push((line, sellable, subtotal, offer.levels));
    }
    let priced = allocate_all(store, priced);
    let total = total(&priced, cards, &store.currency).unwrap_or_else(|| {
        errors.push(fault("/items", "amount_out_of_range", "The order's total is too large."));
        (Vec::new(), Totals::zero(&store.currency))
    });
    let (cards, totals) = total;
    Quote { lines: priced, cards, totals }
}

/// Finds the locations that lines are taken from. All lines together take from
/// [`MAX_ALLOCATIONS`] at most: one each, and of what is left those have more that come first.
fn allocate_all(
    store: &Store,
    lines: Vec<(CartLine, Sellable, Money, Vec<Level>)>,
) -> Vec<PricedLine> {
    let mut spare = MAX_ALLOCATIONS.saturating_sub(lines.len());
    let mut priced = Vec::new();
    for (line, sellable, subtotal, levels) in lines {
        let oversells = sellable.continues_selling(store);
        let most = spare.saturating_add(1);
        let found = sellable
            .tracked
            .then(|| {
                let online = &store.online_locations;
                inventory::allocate(&levels, online, line.quantity, oversells, most)
            })
            .flatten();
        let is_available = !sellable.tracked || oversells || found.is_some();
        let unit = |(location_id, quantity)| Units { location_id, quantity };
        let units: Vec<Units> = found.into_iter().flatten().map(unit).collect();
        spare = spare.saturating_sub(units.len().saturating_sub(1));
        priced.push(PricedLine { line, sellable, subtotal, units, is_available, oversells });
    }
    priced
}

/// What the lines come to, and what the gift cards pay of it: each as much as it holds, in the
/// order they were named. Taxes and shipping have no tables yet, and are nothing. `None` when the
/// sum is out of the range of money.
fn total(
    lines: &[PricedLine],
    cards: Vec<GiftCard>,
    currency: &Currency,
) -> Option<(Vec<(GiftCard, Money)>, Totals)> {
    let parts = lines.iter().map(|line| &line.subtotal);
    let subtotal = Money::sum(parts, currency)?;
    let (shipping, tax) = (Money::zero(currency), Money::zero(currency));
    let total = subtotal.plus(&shipping).and_then(|sum| sum.plus(&tax))?;
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
    Some((used, Totals { subtotal, shipping, tax, total, gift_cards, due }))
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

    /// What a dry run says: what it comes to, and of each line whether it can be had, never how
    /// many there are.
    pub fn view(&self) -> QuoteView {
        let availability = self.lines.iter().map(LineAvailability::from).collect();
        QuoteView { totals: self.totals.clone(), availability }
    }
}

/// What a cart would come to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuoteView {
    /// What it comes to.
    pub totals: Totals,
    /// Of each line, whether it can be had.
    pub availability: Vec<LineAvailability>,
}

/// Whether a line can be had, and at which price.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineAvailability {
    /// The id of what is sold.
    pub variant_id: VariantId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: String,
    /// Units asked for.
    pub quantity: u32,
    /// Whether so many can be had now.
    pub available: bool,
    /// The price of one.
    pub price: Money,
    /// Price times quantity.
    pub subtotal: Money,
}

impl From<&PricedLine> for LineAvailability {
    fn from(line: &PricedLine) -> Self {
        Self {
            variant_id: line.sellable.variant_id.clone(),
            title: line.sellable.product_title.clone(),
            variant_title: line.sellable.variant_title.clone(),
            quantity: line.line.quantity,
            available: line.is_available,
            price: line.sellable.price.clone(),
            subtotal: line.subtotal.clone(),
        }
    }
}

/// `insufficient_stock`, naming these lines by position, variant and quantity.
pub fn insufficient_stock(lines: &[&PricedLine]) -> Problem {
    let items: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({
                "pointer": format!("/items/{}", line.line.position),
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
        let payment = buyer.payment.as_ref();
        let mut order = Self {
            id: store.order_id(number),
            store_id: store.id.clone(),
            number: format!("{}{number}", store.order_prefix),
            customer_id: buyer.customer_id,
            email: buyer.email,
            contact: buyer.contact,
            status: if terms.draft { OrderStatus::Draft } else { OrderStatus::Open },
            on_hold: false,
            financial_status: FinancialStatus::Pending,
            fulfillment_status: FulfillmentStatus::Unfulfilled,
            stock: if is_paid { StockState::Committed } else { StockState::Reserved },
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
            payment_provider: payment.map(|payment| payment.provider.to_string()),
            capture_method: payment.and_then(|payment| payment.capture_method),
            order_token_digest: terms.order_token_digest,
            expires_at: terms.expires_at.filter(|_| !is_paid && !terms.draft),
            payment_window: terms.expires_at.map(|at| now.until(at).as_secs()),
            confirmed: false,
            attend_at: None,
            attend_tries: 0,
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
            owed_cancelled: 0,
            owed_returned: 0,
            waived: 0,
            discarded: 0,
            refunded_amount: Money::zero(currency),
            location_id: priced.units.first().map(|units| units.location_id.clone()),
            allocations: priced.units.iter().cloned().map(Allocation::from).collect(),
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
