//! Routes of refunds of an order: calculate, create, list, get.

use axum::extract::State;
use callers::StoreAccess;
use core_types::fields::Currency;
use core_types::id::{LocationId, OrderId, OrderItemId, PaymentId, RefundId, StoreId};
use core_types::money::{Money, MoneyInput};
use core_types::scope::{ReadOrders, WriteRefunds};
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Either, Json, Page};
use gateway::request::{Body, IfMatch, Inbound, Path, Raw, Ruled};
use primitives::fields::{AtMost, Flag, Int};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use replies::ResourceReply;
use sales::order::refund::{
    PlanView, Refund, RefundNote, RefundReason, RefundView, RestockType, UnusableGiftCards,
    WantedLine, WantedRefund, WantedShipping,
};
use sales::order::{
    FinancialStatus, FulfillmentStatus, MAX_LINES, MAX_QUANTITY, Order, OrderStatus, load,
};
use sales::workflows::explain_rejection::explained;
use sales::workflows::refund_order::{self, RefundOrder, Refunded};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

/// Units of a line to refund.
#[request]
#[derive(Debug, Clone)]
pub struct RefundedLine {
    /// The line: the id of one of the order's `items`.
    order_item_id: OrderItemId,
    /// The number of units.
    quantity: Int<1, MAX_QUANTITY>,
    /// The restock type; by default `no_restock`.
    restock_type: Option<RestockType>,
    /// The location that they are returned to; by default the one that they came from.
    location_id: Option<LocationId>,
}

/// The refund of shipping: an amount or all of it.
#[request]
#[derive(Debug, Clone)]
pub struct ShippingRequest {
    /// The amount.
    amount: Option<MoneyInput>,
    /// Whether all shipping that was not refunded yet is refunded.
    full: Flag,
}

/// A refund to create: of an amount, or of lines and shipping. If none of them is named, all that is left is
/// refunded, with the lines and the shipping that were not refunded yet.
#[request]
#[derive(Debug, Clone)]
pub struct RefundRequest {
    /// The amount.
    amount: Option<MoneyInput>,
    /// The lines.
    items: Option<AtMost<RefundedLine, MAX_LINES>>,
    /// The shipping.
    shipping: Option<ShippingRequest>,
    /// The amount that the merchant retains of the lines and the shipping.
    restocking_fee: Option<MoneyInput>,
    /// The destination of the refund of disabled or expired gift cards. Without it, it goes to the captured
    /// payments, which have to suffice.
    unusable_gift_cards: Option<UnusableGiftCards>,
    /// The reason.
    reason: Option<RefundReason>,
    /// The merchant's note.
    note: Option<RefundNote>,
    /// The only payment to refund through; by default any.
    payment_id: Option<PaymentId>,
    /// Whether to return only the calculation, without refunding.
    dry_run: Flag,
}

impl Rules for RefundRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        if given.is::<Self>() {
            return Vec::new();
        }
        let shipping = given.get::<ShippingRequest>("shipping");
        RefundShape {
            no_lines: given.count("items") == Some(0),
            has_amount: given.has("amount"),
            has_parts: given.has("items") || given.has("shipping"),
            has_fee: given.has("restocking_fee"),
            ambiguous_shipping: shipping.is_some_and(|shipping| shipping.is_ambiguous()),
        }
        .errors()
    }
}

impl ShippingRequest {
    /// Whether it has both an amount and `full`, or neither.
    fn is_ambiguous(&self) -> bool {
        self.full.0 == self.amount.is_some()
    }
}

/// The parts that a request for a refund has, for rules that do not need their values.
#[expect(clippy::struct_excessive_bools, reason = "each is one question")]
struct RefundShape {
    no_lines: bool,
    has_amount: bool,
    has_parts: bool,
    has_fee: bool,
    ambiguous_shipping: bool,
}

impl RefundShape {
    fn errors(&self) -> Vec<FieldError> {
        let too_few = "Must have at least one line; omit `items` to refund all that is left.";
        let exclusive = "Send `amount`, or `items` and `shipping`, not both.";
        let without = "Needs `items` or `shipping`: the fee is deducted from them.";
        let errors = [
            (self.no_lines, "/items", "too_few", too_few),
            (self.has_amount && self.has_parts, "/amount", "mutually_exclusive", exclusive),
            (self.has_fee && !self.has_parts, "/restocking_fee", "not_applicable", without),
            (
                self.ambiguous_shipping,
                "/shipping",
                "mutually_exclusive",
                "Send an amount or `full`, not both.",
            ),
        ];
        let failed = errors.into_iter().filter(|(is_violated, ..)| *is_violated);
        failed.map(|(_, pointer, code, detail)| FieldError::new(pointer, code, detail)).collect()
    }
}

impl RefundRequest {
    /// Validates the request against the order's currency.
    fn wanted(&self, currency: &Currency) -> Result<WantedRefund, Problem> {
        let mut errors = Vec::new();
        let mut money = |input: Option<&MoneyInput>, pointer: &str| -> Option<Money> {
            let validated = input?.in_currency(currency);
            let pointer = format!("{pointer}/currency");
            validated.map_err(|violation| errors.push(FieldError::at(pointer, violation))).ok()
        };
        let amount = money(self.amount.as_ref(), "/amount");
        let restocking_fee = money(self.restocking_fee.as_ref(), "/restocking_fee");
        let shipping_amount =
            money(self.shipping.as_ref().and_then(|s| s.amount.as_ref()), "/shipping/amount");
        let shape = RefundShape {
            no_lines: self.items.as_ref().is_some_and(|items| items.0.is_empty()),
            has_amount: self.amount.is_some(),
            has_parts: self.items.is_some() || self.shipping.is_some(),
            has_fee: self.restocking_fee.is_some(),
            ambiguous_shipping: self.shipping.as_ref().is_some_and(ShippingRequest::is_ambiguous),
        };
        errors.extend(shape.errors());
        if !errors.is_empty() {
            return Err(Problem::invalid(errors));
        }
        let line = |line: &RefundedLine| WantedLine {
            order_item_id: line.order_item_id.clone(),
            quantity: u32::try_from(line.quantity.0).unwrap_or(0),
            restock_type: line.restock_type.unwrap_or(RestockType::NoRestock),
            location_id: line.location_id.clone(),
        };
        let shipping = self.shipping.as_ref();
        Ok(WantedRefund {
            amount,
            items: self.items.iter().flat_map(|items| &items.0).map(line).collect(),
            shipping: shipping
                .map(|_| shipping_amount.map_or(WantedShipping::Full, WantedShipping::Amount)),
            restocking_fee,
            payment_id: self.payment_id.clone(),
            unusable_gift_cards: self.unusable_gift_cards,
        })
    }
}

/// The seed of a refund's id: the principal, the route and the idempotency key.
pub(crate) fn seed(inbound: &Inbound) -> String {
    let principal = primitives::context::Context::current().map(|context| context.principal());
    let key = inbound.header("idempotency-key").unwrap_or_default();
    format!("{}\n{}\n{key}", principal.unwrap_or_default(), inbound.row.path)
}

/// A refund with the changed data of its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefundAnswer {
    /// The refund.
    refund: RefundView,
    /// The order.
    order: RefundedOrder,
}

/// The data of an order that a refund changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefundedOrder {
    /// The id: `ord_` and 32 hexadecimal digits.
    id: OrderId,
    /// The order number that people use.
    number: String,
    /// The status.
    status: OrderStatus,
    /// The payment status.
    financial_status: FinancialStatus,
    /// The fulfilment status.
    fulfillment_status: FulfillmentStatus,
    /// The amount captured so far, from gift cards and payments.
    captured_total: Money,
    /// The amount refunded so far, pending refunds included.
    refunded_total: Money,
    /// The amount that can still be refunded.
    refundable: Money,
    /// The actions that its status allows now.
    allowed_actions: Vec<&'static str>,
    /// The version for `If-Match`.
    version: u64,
}

impl RefundAnswer {
    fn of(order: &Order, refund: &Refund) -> Self {
        let order = RefundedOrder {
            id: order.id.clone(),
            number: order.number.clone(),
            status: order.status,
            financial_status: order.financial_status,
            fulfillment_status: order.fulfillment_status,
            captured_total: order.captured.clone(),
            refunded_total: order.refunded.clone(),
            refundable: order.refundable(),
            allowed_actions: order.allowed_actions(),
            version: order.version,
        };
        Self { refund: RefundView::from(refund), order }
    }
}

/// `POST /v1/orders/{id}/refund` (`refundOrder`): Refund an order.
///
/// Gift cards are refunded first. The money of those that are disabled or have expired goes to the order's payments;
/// for what these have not taken, and to credit the gift cards nevertheless, there is `unusable_gift_cards`. A
/// `restocking_fee` is retained of lines and
/// shipping.
///
/// # Errors
/// `gift_card_unusable`: without `unusable_gift_cards`; its `choices` are the values to choose from.
/// `not_found`, `payment_not_captured`, `nothing_to_refund`, `payment_disputed`,
/// `refund_exceeds_captured`,
/// `quantity_exceeds_remaining`, `amount_not_supported`, `invalid_state_transition`,
/// `precondition_failed`, `version_conflict`, `storefront_not_found`, `location_inactive`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`; `too_few`, `mutually_exclusive`,
/// `not_applicable`, `out_of_range`, `unknown_order_item`, `unknown_payment` and `unknown_location` as field errors.
pub async fn create(
    caller: StoreAccess<WriteRefunds>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Raw(inbound): Raw,
    _: idempotency::Required,
    Ruled(Body(input)): Ruled<Body<RefundRequest>>,
) -> Result<Either<Json<PlanView>, Created<RefundAnswer>>, Problem> {
    let wanted = input.wanted(&caller.store.currency)?;
    if input.dry_run.0 {
        return plan(&app, &caller.store.id, &id, &wanted).await.map(Either::Left);
    }
    let input = RefundOrder {
        wanted,
        reason: input.reason.unwrap_or(RefundReason::Other),
        note: input.note.map(String::from).filter(|note| !note.is_empty()),
        seed: seed(&inbound),
        expected_version: if_match.0,
    };
    let to_response = |done: &Refunded| Created::new(&RefundAnswer::of(&done.order, &done.refund));
    let completion = answering(to_response);
    let refunded = refund_order::refund(&app, &caller.store.id, &id, &input, &completion);
    Box::pin(explained(&app, refunded)).await.map(Either::Right)
}

/// `POST /v1/orders/{id}/refund/calculate` (`calculateRefund`): Calculate a refund.
///
/// The response has the amounts that would be refunded, and the payments and gift cards that they would be
/// refunded to.
///
/// # Errors
/// `gift_card_unusable`, as of a refund.
/// `not_found`, `payment_not_captured`, `nothing_to_refund`, `payment_disputed`,
/// `refund_exceeds_captured`, `amount_not_supported`,
/// `quantity_exceeds_remaining`, `invalid_state_transition`, `storefront_not_found`,
/// `location_inactive`; `too_few`, `mutually_exclusive`, `unknown_order_item`, `unknown_payment`
/// and `unknown_location` as field errors.
pub async fn calculate(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    Ruled(Body(input)): Ruled<Body<RefundRequest>>,
) -> Result<Json<PlanView>, Problem> {
    let wanted = input.wanted(&caller.store.currency)?;
    plan(&app, &caller.store.id, &id, &wanted).await
}

async fn plan(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    wanted: &WantedRefund,
) -> Result<Json<PlanView>, Problem> {
    let order = load::order(services, store, id).await?;
    let now = services.clock.now();
    let unusable = load::unusable_gift_cards(services, &order, wanted, now).await?;
    let plan = order.plan_refund_without(wanted, &unusable)?;
    let locations = plan.restock_locations().with_requested(wanted.locations());
    let _ = load::ensure_restock_locations(services, store, &locations).await?;
    Ok(Json::new(&PlanView::of(&order, &plan)))
}

/// `GET /v1/orders/{id}/refunds` (`listOrderRefunds`): List refunds of an order.
///
/// Refunds come oldest first, with those of payments that the order did not accept, because they came late or
/// twice.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    paging: Paging,
) -> Result<Page<RefundView>, Problem> {
    let aggregate = load::aggregate(&app, &caller.store.id, &id).await?;
    let views: Vec<_> = aggregate.all_refunds().iter().map(RefundView::from).collect();
    paging.slice(&app, views, |view| view.id.to_string()).await
}

/// `GET /v1/orders/{id}/refunds/{refund_id}` (`getOrderRefund`): Get a refund of an order.
///
/// The response has its lines, and the amounts refunded to each payment and gift card.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path((id, refund_id)): Path<(OrderId, RefundId)>,
) -> Result<Json<RefundView>, Problem> {
    let aggregate = load::aggregate(&app, &caller.store.id, &id).await?;
    let refunds = aggregate.all_refunds();
    let refund = refunds.iter().find(|refund| refund.id == refund_id);
    Ok(refund.ok_or(Code::NotFound)?.to_response())
}
