//! Webhooks of payment providers: signed, delivered at least once, in any order.

use std::sync::Arc;

use axum::extract::State;
use core_types::fields::Subdomain;
use core_types::id::StoreId;
use core_types::key;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::reply::Json;
use gateway::request::{Inbound, Path, Signed};
use identity::store::UniqueSubdomain;
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use sales::payment::load::connect;
use sales::payment::lookup::PaymentLookup;
use sales::payment::provider::{Provider, ProviderWebhookEvent};
use sales::payment::provider_event::ProviderEvent;
use sales::payment::{Capabilities, PaymentSource, ProviderReference};
use sales::workflows::record_payment::{self, PaymentUpdate};
use sales::workflows::{record_disputes, refund_order};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::CommitOnly;
use themes::purchase::update::{self, PurchaseUpdate};

use super::{Segment, parse_provider};

/// The maximum size of a stored body in bytes: an item holds 400 KB, and sealing adds a third.
const MAX_STORED_BODY: usize = 200 * 1024;

/// An unauthenticated caller of a webhook: the signature is validated with the body. Each storefront has a
/// budget of its own for webhooks, so that a flood for one store does not reject another's events.
#[derive(Debug, Clone)]
pub struct ProviderCall {
    store: StoreId,
    identity: Identity,
}

gateway::caller_argument!(ProviderCall);

impl Caller for ProviderCall {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let shop = Subdomain::from_text(inbound.param("subdomain").unwrap_or_default());
        let store = store_of(services, &shop.map_err(|_| Code::StorefrontNotFound)?).await?;
        let anonymous = Identity::anonymous(inbound);
        let subject = format!("{store}#PR#{}", inbound.client_prefix());
        Ok(Self { store, identity: Identity { subject, tier: Tier::Public, ..anonymous } })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// A provider's event in the provider's own format. The signature over its bytes is in
/// `Stripe-Signature` or
/// `X-Razorpay-Signature`.
#[derive(Debug)]
pub struct ProviderWebhook;

primitives::inline_schema!([] ProviderWebhook, "ProviderWebhook", |_generator| {
    schemars::json_schema!({"type": "object"})
});

/// The acknowledgement of an event.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReceivedEvent")]
pub struct Received {
    /// Always `true`: a rejected event is answered with a problem.
    received: bool,
}

/// `POST /v1/storefront/{subdomain}/payments/{provider}/webhook` (`receiveProviderEvent`):
/// Receive an event of a payment provider.
///
/// An event is acknowledged once it and its effects are stored; otherwise the provider sends it again. An
/// event that concerns neither a payment of the store nor a purchase of a theme that it sells is stored and
/// has no effect.
///
/// # Errors
/// `signature_mismatch`, `unknown_provider`; `not_found`: `manual` has no events; `storefront_not_found`,
/// `provider_not_connected`, `version_conflict`, `provider_error`, `provider_timeout`.
pub async fn receive(
    ProviderCall { store, .. }: ProviderCall,
    State(app): State<App>,
    Signed { inbound, .. }: Signed<ProviderWebhook>,
    Path((_, provider)): Path<(Segment, Segment)>,
) -> Result<Json<Received>, Problem> {
    let provider = parse_provider(&provider)?;
    if !Capabilities::of(provider).is_online {
        return Err(Code::NotFound.into());
    }
    let provider_client = connect(&app, &store, provider).await?;
    let now = app.clock.now();
    let notice = provider_client.webhook(&inbound.headers, &inbound.body, now)?;
    let lookup = match &notice.observed {
        None => None,
        Some(observed) => locate(&app, &store, provider, &observed.reference).await?,
    };
    let event = event(&app, &store, provider, &notice, lookup.as_ref(), &inbound.body).await?;
    if let (Some(lookup), Some(observed)) = (&lookup, &notice.observed) {
        if let Some(refunded) = &observed.refund {
            // Idempotent: the event may be recorded after it.
            refund_order::receive(&app, lookup, refunded, observed.provider_payment.as_deref())
                .await?;
        }
        if let Some(dispute) = &notice.dispute {
            record_disputes::receive(&app, &provider_client, lookup, dispute, &event).await?;
            return Ok(received());
        }
        let observed = &record_payment::in_full(&app, &provider_client, lookup, observed).await?;
        let (source, event) = (PaymentSource::Webhook, Some(&event));
        let update = PaymentUpdate { lookup, observed, source, event };
        record_payment::record(&app, &provider_client, update, &CommitOnly).await?;
        return Ok(received());
    }
    if let Some(observed) = &notice.observed
        && let Some(found) =
            update::of_reference(&app, &store, provider, &observed.reference).await?
    {
        let update = PurchaseUpdate {
            store_id: &found.store_id,
            purchase_id: &found.id,
            observed,
            source: PaymentSource::Webhook,
            event: Some(&event),
        };
        update::record(&app, &provider_client, &found.slug, update).await?;
        return Ok(received());
    }
    app.table.write().put(&event).commit().await?;
    Ok(received())
}

fn received() -> Json<Received> {
    Json::new(&Received { received: true })
}

/// Loads the store of a subdomain, whatever its state. A closed store may still receive payments, and a
/// provider may use the store's former name.
async fn store_of(services: &Services, shop: &Subdomain) -> Result<StoreId, Problem> {
    let claim: Option<UniqueSubdomain> =
        services.table.get(&key::unique_subdomain(shop.as_str())).await?;
    claim.map(|claim| claim.store_id).ok_or_else(|| Code::StorefrontNotFound.into())
}

/// Loads the store's payment of a reference; none if the reference is unknown or another store's.
async fn locate(
    services: &Services,
    store: &StoreId,
    provider: ProviderName,
    reference: &str,
) -> Result<Option<PaymentLookup>, Problem> {
    let key = key::provider_reference(provider.as_str(), reference);
    let found: Option<ProviderReference> = services.table.get(&key).await?;
    let ours = found.filter(|reference| reference.store_id == *store);
    Ok(ours.as_ref().map(PaymentLookup::from))
}

/// The event as stored.
async fn event(
    services: &Services,
    store: &StoreId,
    provider: ProviderName,
    notice: &ProviderWebhookEvent,
    lookup: Option<&PaymentLookup>,
    body: &[u8],
) -> Result<ProviderEvent, Problem> {
    let key = services.secrets.payment_key().await?;
    let stored = body.get(..MAX_STORED_BODY).unwrap_or(body);
    let context = format!("{store}/{provider}/{}", notice.event_id);
    Ok(ProviderEvent {
        provider,
        event_id: notice.event_id.clone(),
        store_id: store.clone(),
        payment_id: lookup.map(|lookup| lookup.payment_id.clone()),
        kind: notice.kind.clone(),
        sealed_body: key.seal(stored, context.as_bytes()),
        created_at: services.clock.now(),
        version: 1,
    })
}
