//! Verifies a payment after the provider's redirect.

use axum::extract::State;
use callers::Shopper;
use core_types::fields::Subdomain;
use core_types::id::{OrderId, PaymentId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::reply::Json;
use gateway::request::{Body, Path, RequestRules, Ruled, Validation};
use identity::store::Store;
use primitives::fields::{Exact, FromText};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::order::aggregate::PaymentWithOrder;
use sales::order::{FinancialStatus, OrderStatus};
use sales::payment::lookup::PaymentLookup;
use sales::payment::provider::{Provider, RedirectParameters};
use sales::payment::{Payment, PaymentSource, PaymentStatus, load};
use sales::workflows::record_payment::{self, PaymentUpdate};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Segment, parse_provider};

/// The parameters of the provider's redirect.
#[request]
#[derive(Debug, Clone)]
pub struct VerifyRequest {
    /// The order that is paid.
    order_id: OrderId,
    /// Razorpay's order.
    razorpay_order_id: Option<Exact<128>>,
    /// Razorpay's payment.
    razorpay_payment_id: Option<Exact<128>>,
    /// Razorpay's signature over both.
    razorpay_signature: Option<Exact<256>>,
    /// Stripe's payment intent.
    payment_intent: Option<Exact<128>>,
}

impl VerifyRequest {
    /// The provider's parameters.
    fn returned(&self) -> RedirectParameters {
        let text = |field: &Option<Exact<128>>| field.as_ref().map(|text| text.as_str().to_owned());
        RedirectParameters {
            razorpay_order_id: text(&self.razorpay_order_id),
            razorpay_payment_id: text(&self.razorpay_payment_id),
            razorpay_signature: self.razorpay_signature.as_ref().map(|t| t.as_str().to_owned()),
            payment_intent: text(&self.payment_intent),
        }
    }
}

/// The required fields of a provider's redirect.
fn fields_of(provider: &str) -> &'static [&'static str] {
    match ProviderName::from_text(provider) {
        Ok(ProviderName::Razorpay) => {
            &["razorpay_order_id", "razorpay_payment_id", "razorpay_signature"]
        }
        Ok(ProviderName::Stripe) => &["payment_intent"],
        Ok(ProviderName::Manual) | Err(_) => &[],
    }
}

impl RequestRules for VerifyRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let provider = validation.inbound.param("provider").unwrap_or_default();
        let missing = fields_of(provider).iter().filter(|name| !given.has(name));
        let detail = "This field is required.";
        missing.map(|name| FieldError::new(format!("/{name}"), "required", detail)).collect()
    }
}

/// The state of a payment and its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedPayment {
    /// The payment.
    payment: ShopperPayment,
    /// The order that it pays.
    order: VerifiedOrder,
}

/// A payment, as its customer sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShopperPayment {
    /// `pay_` and 32 hexadecimal digits.
    id: PaymentId,
    /// The payment provider.
    provider: ProviderName,
    /// The state of the payment.
    status: PaymentStatus,
    /// The requested amount.
    amount: Money,
    /// The captured amount.
    captured: Money,
}

/// The order of a payment, as its shopper sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedOrder {
    /// `ord_` and 32 hexadecimal digits.
    id: OrderId,
    /// The order number.
    number: String,
    /// The state of the order.
    status: OrderStatus,
    /// The financial state of the order.
    financial_status: FinancialStatus,
}

fn to_response(current: &PaymentWithOrder) -> Json<VerifiedPayment> {
    let PaymentWithOrder { payment, order } = current.clone();
    Json::new(&VerifiedPayment {
        payment: ShopperPayment {
            id: payment.id,
            provider: payment.provider,
            status: payment.status,
            amount: payment.amount,
            captured: payment.captured,
        },
        order: VerifiedOrder {
            id: order.id,
            number: order.number,
            status: order.status,
            financial_status: order.financial_status,
        },
    })
}

/// `POST /v1/storefront/{subdomain}/payments/{provider}/verify` (`verifyPayment`):
/// Verify a payment after the redirect.
///
/// The redirect proves no payment: the state is fetched from the provider.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `signature_mismatch`, also for another
/// order's payment; `storefront_not_found`, `unknown_provider`, `not_found`, `amount_mismatch`,
/// `version_conflict`, `provider_not_connected`, `provider_error`, `provider_timeout`; `required` as a
/// field error.
pub async fn verify(
    caller: Shopper,
    State(app): State<App>,
    Path((_, provider)): Path<(Subdomain, Segment)>,
    Ruled(Body(input)): Ruled<Body<VerifyRequest>>,
) -> Result<Json<VerifiedPayment>, Problem> {
    let provider = parse_provider(&provider)?;
    let returned = input.returned();
    let store = caller.store();
    let all = load::payments_of(&app, &store.id, &input.order_id).await?;
    let of_provider: Vec<&Payment> =
        all.iter().filter(|payment| payment.provider == provider).collect();
    let newest = of_provider.iter().max_by_key(|payment| payment.created_at);
    let newest = newest.ok_or(Code::NotFound)?;
    let reference = returned.razorpay_order_id.as_ref().or(returned.payment_intent.as_ref());
    let matching =
        of_provider.iter().find(|current| Some(&current.provider_reference) == reference);
    // A reference of no payment of this order is rejected by `verify_return`, whichever payment it is given.
    let payment = matching.unwrap_or(newest);
    let provider_client = load::connect(&app, &store.id, provider).await?;
    provider_client.verify_return(payment, &returned)?;
    let (lookup, source) = (PaymentLookup::from(*payment), PaymentSource::Verify);
    let observed = &record_payment::fetch_and_capture(&app, &provider_client, payment).await?;
    let update = PaymentUpdate { lookup: &lookup, observed, source, event: None };
    record_payment::record(&app, &provider_client, update, &answering(to_response)).await
}

/// Asks the provider about an order's open payments, for a page that shows the order. Returns whether it was asked: then
/// the order may have changed.
///
/// # Errors
/// As [`verify`].
pub async fn ask_provider(app: &App, store: &Store, order_id: &str) -> Result<bool, Problem> {
    let id = OrderId::from_text(order_id).map_err(|_| Code::NotFound)?;
    sales::workflows::ask_provider::ask(app, &store.id, &id).await
}
