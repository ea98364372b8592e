//! Applies updates to a purchase and its licence in one transaction; states only move forward. Updates
//! come from the merchant's return, the provider's webhooks, and requests to the provider.

use core_types::id::{RefundId, StoreId, ThemePurchaseId};
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use sales::payment::load::connect;
use sales::payment::provider::Provider;
use sales::payment::provider_client::ProviderClient;
use sales::payment::provider_event::ProviderEvent;
use sales::payment::{Observed, ObservedState, Payment, PaymentSource, ProviderDeadline};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Write, retry};

use super::{LicenseChange, PurchaseReference, ThemePurchase};
use crate::entitlement::is_paid_in_full;
use crate::manifest::Slug;
use crate::theme_license::{THEME_LICENSE_ENDED, THEME_LICENSED, ThemeLicense};

/// An observed state of a purchase.
#[derive(Debug, Clone, Copy)]
pub struct PurchaseUpdate<'a> {
    /// The store that buys.
    pub store_id: &'a StoreId,
    /// The purchase.
    pub purchase_id: &'a ThemePurchaseId,
    /// The state at the provider.
    pub observed: &'a Observed,
    /// The source of the observation.
    pub source: PaymentSource,
    /// The provider's event, if a webhook brought it.
    pub event: Option<&'a ProviderEvent>,
}

/// A purchase and the store's licence for its theme.
#[derive(Debug, Clone)]
pub struct PurchaseWithLicense {
    /// The purchase.
    pub purchase: ThemePurchase,
    /// The licence, active or ended.
    pub license: Option<ThemeLicense>,
}

impl PurchaseWithLicense {
    async fn load(
        services: &Services,
        update: &PurchaseUpdate<'_>,
        slug: &Slug,
    ) -> Result<(Self, bool), Problem> {
        let purchase_key = key::theme_purchase(update.store_id, update.purchase_id);
        let license_key = key::theme_license(update.store_id, slug.as_str());
        let event_key = update.event.map(Item::key);
        let keys: Vec<&Key> =
            [&purchase_key, &license_key].into_iter().chain(event_key.as_ref()).collect();
        let mut found = services.table.get_many(&keys).await?;
        let purchase = found.take(&purchase_key)?.ok_or(Code::NotFound)?;
        let license = found.take(&license_key)?;
        let event: Option<ProviderEvent> =
            event_key.as_ref().map(|key| found.take(key)).transpose()?.flatten();
        Ok((Self { purchase, license }, event.is_some()))
    }

    /// Returns the active licence that the purchase has granted.
    ///
    /// # Errors
    /// `amount_mismatch`: another amount was captured; `already_licensed`: another purchase has granted the
    /// active licence; `invalid_state_transition`: it is not paid, or was refunded.
    pub fn granted(&self) -> Result<&ThemeLicense, Problem> {
        let payment = &self.purchase.payment;
        let active = self.license.as_ref().filter(|license| license.term.is_active());
        match active {
            Some(license) if license.purchase_id == self.purchase.id => Ok(license),
            _ if !payment.captured.is_zero()
                && !is_paid_in_full(&payment.amount, &payment.captured) =>
            {
                let json = |money| serde_json::to_value(money).unwrap_or_default();
                let problem = Code::AmountMismatch.with("expected", json(&payment.amount));
                Err(problem.with("received", json(&payment.captured)))
            }
            Some(_) if !payment.captured.is_zero() => Err(Code::AlreadyLicensed.into()),
            _ => Err(Problem::state(payment.status.as_str(), &[])),
        }
    }
}

/// Applies an update to a purchase and its licence. A webhook's event is applied once. A payment that
/// grants no licence is refunded.
///
/// # Errors
/// `not_found`.
pub async fn record(
    services: &Services,
    provider_client: &ProviderClient,
    slug: &Slug,
    update: PurchaseUpdate<'_>,
) -> Result<PurchaseWithLicense, Problem> {
    let known = retry(|| Box::pin(record_once(services, slug, update))).await?;
    if known.purchase.needs_refund() {
        refund_unapplied(services, provider_client, &known.purchase).await;
    }
    Ok(known)
}

async fn record_once(
    services: &Services,
    slug: &Slug,
    update: PurchaseUpdate<'_>,
) -> Result<PurchaseWithLicense, Problem> {
    let now = services.clock.now();
    let (known, is_handled) = PurchaseWithLicense::load(services, &update, slug).await?;
    if is_handled {
        return Ok(known);
    }
    let write = services.table.write();
    let write =
        write.when_some(update.event, |write, event| write.create(event, Code::VersionConflict));
    let observed = known.purchase.payment.observe(update.observed, update.source, now);
    let transition = match observed {
        Ok(transition) => transition,
        // An event in another currency says nothing about this payment: it is marked as handled.
        Err(mismatch) if update.event.is_none() => return Err(mismatch),
        Err(_) => None,
    };
    let Some(transition) = transition else {
        write.commit().await?;
        if known.purchase.payment.captured.is_zero() || known.granted().is_ok() {
            return Ok(known);
        }
        // A batch is read item by item: the licence was perhaps granted, with the capture, after it had been read.
        let license_key = key::theme_license(update.store_id, slug.as_str());
        let license = services.table.get(&license_key).await?;
        return Ok(PurchaseWithLicense { license, ..known });
    };
    let purchase = known.purchase.paid_by(transition.payment, now);
    let (purchase, change) = purchase.applied(known.license.as_ref(), now);
    let write = write.replace(&purchase, Code::VersionConflict);
    let (write, license) = change.write(write, known.license, now);
    write.commit().await?;
    Ok(PurchaseWithLicense { purchase, license })
}

impl LicenseChange {
    fn write(
        self,
        write: Write,
        before: Option<ThemeLicense>,
        now: Timestamp,
    ) -> (Write, Option<ThemeLicense>) {
        let (license, topic) = match self {
            Self::Granted(license) => (license, &THEME_LICENSED),
            Self::Ended(license) => (license, &THEME_LICENSE_ENDED),
            Self::Unchanged => {
                // The decision was based on this version of the licence.
                let write = match &before {
                    Some(license) => write.check(
                        &license.key(),
                        Condition::is_at(license.version),
                        Code::VersionConflict,
                    ),
                    None => write,
                };
                return (write, before);
            }
        };
        let write = write.create_or_replace(&license, Code::VersionConflict);
        (write.emit(license.event(topic, now)), Some(license))
    }
}

/// Refunds a payment that grants no licence. If that fails, the purchase stays due.
async fn refund_unapplied(
    services: &Services,
    provider_client: &ProviderClient,
    purchase: &ThemePurchase,
) {
    let left = purchase.payment.captured.minus(&purchase.payment.refunded);
    let Some(left) = left.filter(|left| !left.is_zero()) else { return };
    let id = RefundId::derive(&["theme purchase", purchase.id.as_str()]);
    if let Err(failure) = provider_client.refund(services, &purchase.payment, &id, &left).await {
        tracing::warn!(
            cause = %failure, purchase = purchase.id.as_str(),
            "refund of an unapplied theme purchase failed"
        );
    }
}

/// Fetches the state of a purchase from its provider, and captures an authorized payment of the full price.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn fetch_payment(
    services: &Services,
    provider_client: &ProviderClient,
    purchase: &ThemePurchase,
) -> Result<Observed, Problem> {
    let payment = &purchase.payment;
    let observed = provider_client.fetch(services, payment).await?;
    let can_capture = observed.state == ObservedState::Authorized
        && observed.amount.as_ref() == Some(&payment.amount);
    if !can_capture {
        return Ok(observed);
    }
    let provider_payment = observed.provider_payment.clone();
    let authorized = Payment { provider_payment, ..payment.clone() };
    Ok(provider_client.capture(services, &authorized, &payment.amount).await?.observed)
}

/// Loads the purchase of a provider's reference; none if the reference is unknown, or belongs to another
/// seller's account.
///
/// # Errors
/// 503.
pub async fn of_reference(
    services: &Services,
    seller: &StoreId,
    provider: ProviderName,
    reference: &str,
) -> Result<Option<ThemePurchase>, Problem> {
    let key = key::theme_purchase_reference(provider.as_str(), reference);
    let found: Option<PurchaseReference> = services.table.get(&key).await?;
    let Some(known) = found.filter(|known| known.seller_store_id == *seller) else {
        return Ok(None);
    };
    services.table.get(&key::theme_purchase(&known.store_id, &known.purchase_id)).await
}

/// Processes a due purchase: fetches its state from the provider and applies it. A purchase that was not
/// paid by its deadline is voided. Returns whether the provider was queried. Of two concurrent sweeps one
/// proceeds, because the due mark is moved first.
///
/// # Errors
/// Those of the provider: the purchase is due again later. `version_conflict`: another process has
/// changed it.
pub async fn process(
    services: &Services,
    purchase: &ThemePurchase,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let (now, provider) = (services.clock.now(), purchase.payment.provider);
    if purchase.due_at().is_none_or(|at| now < at) || deadline.has_passed(provider, now) {
        return Ok(false);
    }
    let retried = purchase.retried(now);
    services.table.write().replace(&retried, Code::VersionConflict).commit().await?;
    let synced = sync_with_provider(services, &retried, now).await;
    synced.inspect_err(|problem| deadline.note(provider, problem)).map(|()| true)
}

/// Fetches the state of a purchase, voids it after its deadline, and records the result.
async fn sync_with_provider(
    services: &Services,
    purchase: &ThemePurchase,
    now: Timestamp,
) -> Result<(), Problem> {
    let payment = &purchase.payment;
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    let mut observed = fetch_payment(services, &provider_client, purchase).await?;
    let is_paid = matches!(observed.state, ObservedState::Captured | ObservedState::Processing);
    if purchase.is_over(now) && !is_paid {
        // If it is paid at this moment, the provider's answer says so.
        observed = provider_client.void(services, payment).await?;
    }
    let update = PurchaseUpdate {
        store_id: &purchase.store_id,
        purchase_id: &purchase.id,
        observed: &observed,
        source: PaymentSource::Sync,
        event: None,
    };
    record(services, &provider_client, &purchase.slug, update).await.map(drop)
}
