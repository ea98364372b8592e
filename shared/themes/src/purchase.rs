//! Purchases: a store pays a theme's maker, and has a licence for it then.
//!
//! The money goes to a store of the maker's, through that store's own account with a payment provider:
//! the platform holds none. A purchase is a payment there which pays for no order. The licence follows
//! from it:
//!
//! - all of the price was taken, and the store has no licence: it is granted;
//! - all of it went back: the licence that it had granted ends;
//! - another amount was taken, or the store had paid already: nothing is granted, and the money goes
//!   back.
//!
//! - [`opening`]: it is opened with the provider of the maker's store.
//! - [`settlement`]: what is learnt of it is applied to it and to the licence. Merchants need not come
//!   back, and webhooks may be lost: while something is left to learn, a purchase is due.

pub mod opening;
pub mod settlement;

use core_types::id::{StoreId, ThemePurchaseId};
use core_types::key::{self, IndexKey};
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use table::outbox::Due;
use sales::payment::{Payment, PaymentStatus};
use serde::{Deserialize, Serialize};

use crate::license::{LicenseEnd, is_settled_by};
use crate::licensed::ThemeLicense;
use crate::manifest::Slug;

/// Tries after which a purchase that can still be paid is asked about no later than before: every eight
/// minutes (our choice).
const PATIENT: u32 = 3;

/// A purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThemePurchase {
    /// `tpu_…`; later ones sort after it.
    pub id: ThemePurchaseId,
    /// The store that buys.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// The payment to the maker's store, which is `payment.store_id`; what it is applied to is the
    /// licence.
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
    fn indexes(&self) -> Vec<IndexKey> {
        self.due_at().map(|at| Due::Purchase.mark(self.id.as_str(), at)).into_iter().collect()
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

/// What becomes of a licence.
enum Licence {
    Granted(ThemeLicense),
    Ended(ThemeLicense),
    Unchanged,
}

impl ThemePurchase {
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

    /// The purchase as its provider is asked about it: due later, should that fail.
    fn retried(&self, now: Timestamp) -> Self {
        self.paid_by(self.payment.retried(now), now)
    }

    /// Whether it can be paid, or the money be taken.
    fn is_open(&self) -> bool {
        self.payment.is_open() || self.payment.status == PaymentStatus::Authorized
    }

    /// Whether nobody is waited for any more who may pay it.
    fn is_over(&self, now: Timestamp) -> bool {
        self.is_open() && self.payment.expires_at.is_some_and(|at| at <= now)
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

    /// Whether money was taken that grants nothing, and has not gone back.
    fn is_in_vain(&self) -> bool {
        !self.payment.is_applied && !self.payment.captured.is_zero() && !self.is_refunded()
    }

    /// When its provider is asked about it: now and then while it can be paid, and when that ends;
    /// later and later while money that grants nothing has not gone back.
    pub fn due_at(&self) -> Option<Timestamp> {
        let payment = &self.payment;
        let since = payment.tried_at.unwrap_or(payment.updated_at);
        let end = payment.expires_at.filter(|end| self.is_open() && since < *end);
        match end {
            Some(end) => Some(since.plus(Due::wait(payment.tries.min(PATIENT))).min(end)),
            None if self.is_open() || self.is_in_vain() => {
                Some(since.plus(Due::wait(payment.tries)))
            }
            None => None,
        }
    }

    /// What becomes of the store's licence; and the purchase, which knows whether it has granted one.
    fn applied(self, before: Option<&ThemeLicense>, now: Timestamp) -> (Self, Licence) {
        let active = before.filter(|license| license.term.is_active());
        match active {
            None if self.is_settled() => {
                let paid = (&self.id, &self.payment.captured);
                let granted = ThemeLicense::granted(before, &self.store_id, &self.slug, paid, now);
                let payment = Payment { is_applied: true, ..self.payment };
                (Self { payment, ..self }, Licence::Granted(granted))
            }
            Some(license) if license.purchase_id == self.id && self.is_refunded() => {
                let ended = license.ended(LicenseEnd::Refunded, now);
                (self, Licence::Ended(ended))
            }
            _ => (self, Licence::Unchanged),
        }
    }
}
