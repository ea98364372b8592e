//! Actions on payments: capture, accept, void, sync.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::PaymentId;
use core_types::money::MoneyInput;
use core_types::scope::WritePayments;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use primitives::input::{NoFields, request};
use primitives::problem::{FieldError, Problem};
use replies::ResourceReply;
use sales::order;
use sales::order::aggregate::PaymentWithOrder;
use sales::payment::load::connect;
use sales::payment::lookup::PaymentLookup;
use sales::payment::provider::Provider;
use sales::payment::provider_client::ProviderClient;
use sales::payment::{Observed, ObservedState, PaymentSource, PaymentView};
use sales::workflows::record_disputes;
use sales::workflows::record_payment::{self, PaymentUpdate};
use services::Services;
use table::{CommitOnly, retry};

/// A capture to make.
#[request]
#[derive(Debug, Clone)]
pub struct CaptureRequest {
    /// The amount; by default the whole authorized amount.
    amount: Option<MoneyInput>,
}

/// `POST /v1/payments/{id}/capture` (`capturePayment`): Capture an authorized payment.
///
/// The whole authorized amount is captured, unless the request has a smaller amount. A payment with `manual`
/// is captured when the merchant has received it.
///
/// # Errors
/// `not_found`, `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`,
/// `amount_mismatch`, `amount_not_supported`, `precondition_failed`, `version_conflict`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`.
pub async fn capture(
    caller: StoreAccess<WritePayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(input): Body<CaptureRequest>,
) -> Result<Json<PaymentView>, Problem> {
    let (current, provider_client, amount) = retry(|| async {
        let (_, current, provider_client) = load(&app, &caller, &id).await?;
        if_match.check(current.payment.version)?;
        let currency = &current.payment.amount.currency;
        let wanted = input.amount.as_ref().map(|amount| amount.in_currency(currency)).transpose();
        let wanted = wanted.map_err(|violation| {
            Problem::invalid(vec![FieldError::at("/amount/currency", violation)])
        })?;
        let amount = current.order.capturable(&current.payment, wanted.as_ref())?;
        Ok((current, provider_client, amount))
    })
    .await?;
    let completion = answering(to_response);
    record_payment::capture(&app, &provider_client, &current.payment, &amount, &completion).await
}

/// `POST /v1/payments/{id}/accept` (`acceptPayment`): Accept a payment of another amount.
///
/// A payment of another amount than requested is accepted as a part of the amount due. An excess has to be
/// refunded first (`POST /v1/payments/{id}/refunds`). The same request refunds a payment that is not
/// accepted. If the order ends before the decision, the payment is refunded automatically.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `order_expired`, `order_already_paid`,
/// `amount_exceeds_outstanding`, `precondition_failed`, `version_conflict`.
pub async fn accept(
    caller: StoreAccess<WritePayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(_): Body<NoFields>,
) -> Result<Json<PaymentView>, Problem> {
    let lookup = PaymentLookup::of(&caller.store, &id);
    record_payment::accept(&app, &lookup, if_match.0, &answering(to_response)).await
}

/// `POST /v1/payments/{id}/void` (`voidPayment`): Void a payment that was not captured.
///
/// The customer's authorization is released.
///
/// # Errors
/// `invalid_state_transition`, also if the payment was captured in the meantime, or its bank processes it; `not_found`,
/// `amount_mismatch`, `precondition_failed`, `version_conflict`, `provider_not_connected`,
/// `provider_error`, `provider_timeout`.
pub async fn void(
    caller: StoreAccess<WritePayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(_): Body<NoFields>,
) -> Result<Json<PaymentView>, Problem> {
    let (lookup, current, provider_client) = load(&app, &caller, &id).await?;
    if_match.check(current.payment.version)?;
    current.payment.ensure_voidable()?;
    let observed = provider_client.void(&app, &current.payment).await?;
    let update = update(&lookup, &observed, PaymentSource::Admin);
    if !matches!(observed.state, ObservedState::Captured | ObservedState::Processing) {
        return record_payment::record(&app, &provider_client, update, &answering(to_response))
            .await;
    }
    // In the meantime it was captured, or paid by a debit. That is recorded, and the request fails.
    record_payment::record(&app, &provider_client, update, &CommitOnly).await?;
    let payment = order::load::payment(&app, &lookup).await?.payment;
    Err(Problem::state(payment.status.as_str(), &payment.allowed_actions()))
}

/// `POST /v1/payments/{id}/sync` (`syncPayment`): Synchronize a payment with its provider.
///
/// The state of the payment and its disputes is loaded from the provider.
///
/// # Errors
/// `not_found`, `amount_mismatch`, `version_conflict`, `provider_not_connected`, `provider_error`,
/// `provider_timeout`.
pub async fn sync(
    caller: StoreAccess<WritePayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    _: idempotency::Required,
    Body(_): Body<NoFields>,
) -> Result<Json<PaymentView>, Problem> {
    let (lookup, current, provider_client) = load(&app, &caller, &id).await?;
    let observed =
        record_payment::fetch_and_capture(&app, &provider_client, &current.payment).await?;
    let update = update(&lookup, &observed, PaymentSource::Sync);
    // Only a captured payment can be disputed.
    if observed.state != ObservedState::Captured {
        return record_payment::record(&app, &provider_client, update, &answering(to_response))
            .await;
    }
    record_payment::record(&app, &provider_client, update, &CommitOnly).await?;
    let current = order::load::payment(&app, &lookup).await?;
    if !record_disputes::fetch_and_record(&app, &provider_client, &current.payment).await? {
        return Ok(to_response(&current));
    }
    order::load::payment(&app, &lookup).await.map(|current| to_response(&current))
}

/// Loads the payment with its order, and connects its provider.
async fn load(
    services: &Services,
    caller: &StoreAccess<WritePayments>,
    id: &PaymentId,
) -> Result<(PaymentLookup, PaymentWithOrder, ProviderClient), Problem> {
    let lookup = PaymentLookup::of(&caller.store, id);
    let current = order::load::payment(services, &lookup).await?;
    let provider_client = connect(services, &lookup.store_id, current.payment.provider).await?;
    Ok((lookup, current, provider_client))
}

fn update<'a>(
    lookup: &'a PaymentLookup,
    observed: &'a Observed,
    source: PaymentSource,
) -> PaymentUpdate<'a> {
    PaymentUpdate { lookup, observed, source, event: None }
}

fn to_response(current: &PaymentWithOrder) -> Json<PaymentView> {
    current.payment.to_response()
}
