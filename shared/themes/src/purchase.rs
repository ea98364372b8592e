//! Purchases: a store pays a theme's maker, and has a licence for it then.
//!
//! The money goes to a store of the maker's, through that store's own account with a payment provider:
//! the platform holds none. A purchase is a payment there which pays for no order; what is learnt of it
//! (by the merchant's return, or by the provider's webhook to that store) is applied as it is to any
//! payment, and only forward. The licence follows from it, in the same transaction:
//!
//! - all of the price was taken, and the store has no licence: it is granted;
//! - all of it went back: the licence that it had granted ends;
//! - another amount was taken, or the store had paid already: nothing is granted, and the money goes
//!   back.

use gateway::app::App;
use gateway::clock::{HOUR, Timestamp};
use gateway::item::{Item, Key, Packing};
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::table::{Condition, Write, retry};
use ground::id::{OrderId, PaymentId, RefundId, StoreId, ThemePurchaseId};
use ground::key;
use ground::money::Money;
use ground::provider::ProviderName;
use ground::resource::Resource;
use sales::payment::account::ProviderAccount;
use sales::payment::connected::Connected;
use sales::payment::provider::{Client, Provider};
use sales::payment::provider_event::ProviderEvent;
use sales::payment::{
    CaptureMethod, Observed, ObservedState, Opening, Payment, PaymentStatus, Source,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::license::{LicenseEnd, is_settled_by};
use crate::licensed::{THEME_LICENSE_ENDED, THEME_LICENSED, ThemeLicense};
use crate::manifest::Slug;
use crate::theme::Theme;

/// How long a purchase can be paid (our choice).
const PAYABLE_FOR: std::time::Duration = HOUR;

/// A purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThemePurchase {
    /// `tpu_…`; later ones sort after it.
    pub id: ThemePurchaseId,
    /// The store that buys.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// The payment to the maker's store, which is `payment.store_id`.
    pub payment: Payment,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for ThemePurchase {
    const KIND: &'static str = "theme_purchase";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::theme_purchase(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// The one purchase of a provider's reference: how a webhook finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PurchaseReference {
    /// `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Its reference.
    pub reference: String,
    /// The maker's store, whose account it is with.
    pub seller_store_id: StoreId,
    /// The store that buys.
    pub store_id: StoreId,
    /// The purchase.
    pub purchase_id: ThemePurchaseId,
    /// Always 1.
    pub version: u64,
}

impl Item for PurchaseReference {
    const KIND: &'static str = "theme_purchase_reference";
    fn key(&self) -> Key {
        key::theme_purchase_reference(self.provider.as_str(), &self.reference)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// A purchase as the merchant's browser is given it, to pay.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpenedPurchase {
    /// The id: what `purchase/verify` takes.
    id: ThemePurchaseId,
    /// The same.
    purchase_id: ThemePurchaseId,
    /// The theme's name in URLs.
    theme: Slug,
    /// The store that buys.
    store_id: StoreId,
    /// Through whom.
    provider: ProviderName,
    /// What it was opened as with the provider.
    provider_order_id: String,
    /// What is to be paid.
    amount: Money,
    /// What has become of it.
    status: PaymentStatus,
    /// What the browser pays with.
    client: Client,
    /// How long it can be paid.
    expires_at: Option<Timestamp>,
    /// When it was begun.
    created_at: Timestamp,
    /// When it was changed last.
    updated_at: Timestamp,
    /// Counts writes.
    version: u64,
}

impl OpenedPurchase {
    /// The purchase, with what its payment is paid with.
    pub fn of(purchase: &ThemePurchase, client: Client) -> Self {
        let payment = &purchase.payment;
        Self {
            id: purchase.id.clone(),
            purchase_id: purchase.id.clone(),
            theme: purchase.slug.clone(),
            store_id: purchase.store_id.clone(),
            provider: payment.provider,
            provider_order_id: payment.provider_reference.clone(),
            amount: payment.amount.clone(),
            status: payment.status,
            client,
            expires_at: payment.expires_at,
            created_at: purchase.created_at,
            updated_at: purchase.updated_at,
            version: purchase.version,
        }
    }
}

/// Who buys what, and for how much.
#[derive(Debug, Clone, Copy)]
pub struct Sale<'a> {
    /// The store that buys.
    pub buyer: &'a StoreId,
    /// The theme.
    pub theme: &'a Theme,
    /// Its price.
    pub price: &'a Money,
    /// The maker's store.
    pub seller: &'a StoreId,
}

impl ThemePurchase {
    /// Opens a purchase with the provider of the maker's store, and writes it; what it is paid with is
    /// for `answer`.
    ///
    /// # Errors
    /// `unknown_provider`, `amount_not_supported`, `provider_error`, `provider_timeout`.
    pub async fn open<R: Reply>(
        app: &App,
        sale: Sale<'_>,
        provider: ProviderName,
        answer: impl Fn(&Self, Client) -> R,
    ) -> Result<R, Problem> {
        let account_key = key::payment_provider(sale.seller, provider.as_str());
        let account: Option<ProviderAccount> = app.table.get(&account_key).await?;
        let usable =
            |account: &ProviderAccount| account.enabled && account.provider != ProviderName::Manual;
        let account = account.filter(usable).ok_or(Code::UnknownProvider)?;
        // Nobody is there to take it later: what is paid is taken at once.
        let at_once =
            ProviderAccount { capture_method: CaptureMethod::Automatic, ..account.clone() };
        let key = app.secrets.payment_key().await?;
        let connected = at_once.connect(&key)?;
        let now = app.clock.now();
        let id = ThemePurchaseId::mint(now);
        let opening = Opening {
            store_id: sale.seller.clone(),
            order_id: OrderId::derive(&["theme purchase", id.as_str()]),
            order_number: id.to_string(),
            amount: sale.price.clone(),
            expires_at: Some(now.plus(PAYABLE_FOR)),
        };
        if !sales::payment::can_take(provider, &opening.amount) {
            return Err(Code::AmountNotSupported.with("provider", provider.as_str()));
        }
        let payment_id = PaymentId::derive(&["theme purchase", id.as_str()]);
        let at_provider = connected.open(app, &payment_id, &opening).await?;
        let payment = Payment::begun(payment_id, &at_once, opening, at_provider, &key, now);
        let purchase = Self {
            id,
            store_id: sale.buyer.clone(),
            slug: sale.theme.slug.clone(),
            payment,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let client = connected.client(&purchase.payment, purchase.payment.client_secret(&key));
        app.table
            .write()
            .create(&purchase, Code::VersionConflict)
            .create(&purchase.reference(), Code::VersionConflict)
            .check(&account.key(), account.stands(), Code::VersionConflict)
            .answer(answer(&purchase, client), now)
            .await
    }

    fn reference(&self) -> PurchaseReference {
        PurchaseReference {
            provider: self.payment.provider,
            reference: self.payment.provider_reference.clone(),
            seller_store_id: self.payment.store_id.clone(),
            store_id: self.store_id.clone(),
            purchase_id: self.id.clone(),
            version: 1,
        }
    }

    /// The purchase with its payment as it is now.
    fn paid_by(&self, payment: Payment, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { payment, updated_at: now, version, ..self.clone() }
    }

    /// Whether all of the price was taken, and nothing of it has gone back.
    fn is_settled(&self) -> bool {
        let payment = &self.payment;
        payment.status == PaymentStatus::Captured
            && payment.refunded.is_zero()
            && is_settled_by(&payment.amount, &payment.captured)
    }

    /// Whether all that was taken has gone back.
    fn is_refunded(&self) -> bool {
        !self.payment.captured.is_zero() && self.payment.captured == self.payment.refunded
    }

    /// What becomes of the store's licence.
    fn licence_after(&self, before: Option<&ThemeLicense>, now: Timestamp) -> Licence {
        let active = before.filter(|license| license.term.is_active());
        match active {
            None if self.is_settled() => Licence::Granted(ThemeLicense::granted(
                before,
                &self.store_id,
                &self.slug,
                (&self.id, &self.payment.captured),
                now,
            )),
            Some(license) if license.purchase_id == self.id && self.is_refunded() => {
                Licence::Ended(license.ended(LicenseEnd::Refunded, now))
            }
            _ => Licence::Unchanged,
        }
    }

    /// Whether money was taken that grants nothing: it goes back.
    fn is_in_vain(&self, license: Option<&ThemeLicense>) -> bool {
        let is_for_this = license.is_some_and(|license| license.purchase_id == self.id);
        !self.payment.captured.is_zero() && !self.is_refunded() && !is_for_this
    }
}

/// What becomes of a licence.
enum Licence {
    Granted(ThemeLicense),
    Ended(ThemeLicense),
    Unchanged,
}

/// Something that was learnt about a purchase.
#[derive(Debug, Clone, Copy)]
pub struct PurchaseUpdate<'a> {
    /// The store that buys.
    pub store_id: &'a StoreId,
    /// The purchase.
    pub purchase_id: &'a ThemePurchaseId,
    /// What its provider says.
    pub observed: &'a Observed,
    /// How that was learnt.
    pub source: Source,
    /// The event that told it.
    pub event: Option<&'a ProviderEvent>,
}

/// A purchase, and the store's licence for its theme.
#[derive(Debug, Clone)]
pub struct PurchaseWithLicense {
    /// The purchase.
    pub purchase: ThemePurchase,
    /// The licence, whether it holds or has ended.
    pub license: Option<ThemeLicense>,
}

impl PurchaseWithLicense {
    async fn load(
        app: &App,
        update: &PurchaseUpdate<'_>,
        slug: &Slug,
    ) -> Result<(Self, bool), Problem> {
        let purchase_key = key::theme_purchase(update.store_id, update.purchase_id);
        let license_key = key::theme_license(update.store_id, slug.as_str());
        let event_key = update.event.map(Item::key);
        let keys: Vec<&Key> =
            [&purchase_key, &license_key].into_iter().chain(event_key.as_ref()).collect();
        let mut found = app.table.get_many(&keys).await?;
        let purchase = found.take(&purchase_key)?.ok_or(Code::NotFound)?;
        let license = found.take(&license_key)?;
        let event: Option<ProviderEvent> =
            event_key.as_ref().map(|key| found.take(key)).transpose()?.flatten();
        Ok((Self { purchase, license }, event.is_some()))
    }

    /// The licence that the purchase has granted and that holds.
    ///
    /// # Errors
    /// `amount_mismatch`: another amount was paid; `already_licensed`: the store had paid already;
    /// `invalid_state_transition`: it is not paid, or the money has gone back.
    pub fn granted(&self) -> Result<&ThemeLicense, Problem> {
        let payment = &self.purchase.payment;
        let active = self.license.as_ref().filter(|license| license.term.is_active());
        match active {
            Some(license) if license.purchase_id == self.purchase.id => Ok(license),
            _ if !payment.captured.is_zero()
                && !is_settled_by(&payment.amount, &payment.captured) =>
            {
                let shown = |money| serde_json::to_value(money).unwrap_or_default();
                let problem = Code::AmountMismatch.with("expected", shown(&payment.amount));
                Err(problem.with("received", shown(&payment.captured)))
            }
            Some(_) if !payment.captured.is_zero() => Err(Code::AlreadyLicensed.into()),
            _ => Err(Problem::state(payment.status.as_str(), &[])),
        }
    }
}

/// Applies what was learnt to a purchase and its licence, once; what was paid in vain is sent back.
///
/// # Errors
/// `not_found`.
pub async fn record(
    app: &App,
    connected: &Connected,
    slug: &Slug,
    update: PurchaseUpdate<'_>,
) -> Result<PurchaseWithLicense, Problem> {
    let known = retry(|| Box::pin(record_once(app, slug, update))).await?;
    if known.purchase.is_in_vain(known.license.as_ref()) {
        send_back(app, connected, &known.purchase).await;
    }
    Ok(known)
}

async fn record_once(
    app: &App,
    slug: &Slug,
    update: PurchaseUpdate<'_>,
) -> Result<PurchaseWithLicense, Problem> {
    let now = app.clock.now();
    let (known, is_handled) = PurchaseWithLicense::load(app, &update, slug).await?;
    if is_handled {
        return Ok(known);
    }
    let write = app.table.write();
    let write = write.also(update.event, |write, event| write.create(event, Code::VersionConflict));
    let observed = known.purchase.payment.observe(update.observed, update.source, now);
    let change = match observed {
        Ok(change) => change,
        // Of another currency: it says nothing about this payment.
        Err(mismatch) if update.event.is_none() => return Err(mismatch),
        Err(_) => None,
    };
    let Some(change) = change else {
        write.commit().await?;
        return Ok(known);
    };
    let purchase = known.purchase.paid_by(change.payment, now);
    let licence = purchase.licence_after(known.license.as_ref(), now);
    let write = write.replace(&purchase, Code::VersionConflict);
    let (write, license) = licence.write(write, known.license, now);
    write.commit().await?;
    Ok(PurchaseWithLicense { purchase, license })
}

impl Licence {
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
                // What was decided over it must still be so.
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

/// Sends money back that grants nothing. What fails is tried again with the next event.
async fn send_back(app: &App, connected: &Connected, purchase: &ThemePurchase) {
    let left = purchase.payment.captured.minus(&purchase.payment.refunded);
    let Some(left) = left.filter(|left| !left.is_zero()) else { return };
    let id = RefundId::derive(&["theme purchase", purchase.id.as_str()]);
    if let Err(failure) = connected.refund(app, &purchase.payment, &id, &left).await {
        tracing::warn!(cause = %failure, purchase = purchase.id.as_str(), "not sent back");
    }
}

/// What a provider says about a purchase now; what is held is taken.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn look(
    app: &App,
    connected: &Connected,
    purchase: &ThemePurchase,
) -> Result<Observed, Problem> {
    let payment = &purchase.payment;
    let observed = connected.fetch(app, payment).await?;
    let is_ours_to_take = observed.state == ObservedState::Authorized
        && observed.amount.as_ref() == Some(&payment.amount);
    if !is_ours_to_take {
        return Ok(observed);
    }
    let provider_payment = observed.provider_payment.clone();
    let carried = Payment { provider_payment, ..payment.clone() };
    Ok(connected.capture(app, &carried, &payment.amount).await?.observed)
}

/// The purchase that a provider tells of; none when it is of another store's account, or nobody's.
///
/// # Errors
/// 503.
pub async fn of_reference(
    app: &App,
    seller: &StoreId,
    provider: ProviderName,
    reference: &str,
) -> Result<Option<ThemePurchase>, Problem> {
    let key = key::theme_purchase_reference(provider.as_str(), reference);
    let found: Option<PurchaseReference> = app.table.get(&key).await?;
    let Some(known) = found.filter(|known| known.seller_store_id == *seller) else {
        return Ok(None);
    };
    app.table.get(&key::theme_purchase(&known.store_id, &known.purchase_id)).await
}
