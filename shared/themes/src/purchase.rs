//! Purchases: a store pays the owner of a theme, and is granted a licence.
//!
//! The money goes to a store of the theme's owner, through that store's own account with a payment
//! provider: the platform holds none. A purchase is a payment there without an order. The licence follows:
//!
//! - the full price is captured, and the store has no active licence: one is granted;
//! - the full amount is refunded: the licence that it had granted ends;
//! - another amount is captured, or the store has an active licence: nothing is granted, and the money is
//!   refunded.
//!
//! - [`create`]: creates a purchase with the provider of the seller's store.
//! - [`update`]: applies updates to a purchase and its licence. A merchant may never return, and a
//!   webhook may be lost: an open purchase stays due, and the sweep fetches its state.

pub mod create;
pub mod update;

use core_types::id::{StoreId, ThemePurchaseId};
use core_types::key;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use sales::payment::{Payment, PaymentStatus};
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::outbox::DueKind;

use crate::entitlement::{LicenseEnd, is_paid_in_full};
use crate::manifest::Slug;
use crate::theme_license::ThemeLicense;

/// The number of tries from which on the interval between checks of a payable purchase stays at eight
/// minutes (our choice).
const MAX_BACKOFF_TRIES: u32 = 3;

/// A store's purchase of a licence for a theme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "theme_purchase", key = key::theme_purchase(&self.store_id, &self.id), packed)]
#[item(indexes = self.due_at().map(|at| DueKind::Purchase.mark(self.id.as_str(), at)).into_iter().collect())]
pub struct ThemePurchase {
    /// `tpu_…`; later ones sort after it.
    pub id: ThemePurchaseId,
    /// The store that buys.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// The payment to the seller's store, which is `payment.store_id`. It is applied to the licence.
    pub payment: Payment,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// A lookup item: the purchase of a provider's reference, for webhooks.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "theme_purchase_reference")]
#[item(key = key::theme_purchase_reference(self.provider.as_str(), &self.reference))]
pub struct PurchaseReference {
    /// `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// The provider's reference.
    pub reference: String,
    /// The seller's store, whose provider account it is with.
    pub seller_store_id: StoreId,
    /// The store that buys.
    pub store_id: StoreId,
    /// The purchase.
    pub purchase_id: ThemePurchaseId,
    /// Always 1.
    pub version: u64,
}

/// The effect of a purchase on the store's licence.
enum LicenseChange {
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

    /// Returns the purchase with an updated payment.
    fn paid_by(&self, payment: Payment, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { payment, updated_at: now, version, ..self.clone() }
    }

    /// Returns the purchase with one more try counted: if the request to the provider fails, it is due
    /// later.
    fn retried(&self, now: Timestamp) -> Self {
        self.paid_by(self.payment.retried(now), now)
    }

    /// Whether it can still be paid or captured.
    fn is_open(&self) -> bool {
        self.payment.may_yet_be_captured()
    }

    /// Whether it is open, but past its deadline for payment.
    fn is_over(&self, now: Timestamp) -> bool {
        self.is_open()
            && self.payment.status != PaymentStatus::Processing
            && self.payment.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether the full price was captured and nothing was refunded.
    fn is_paid_in_full(&self) -> bool {
        let payment = &self.payment;
        payment.status == PaymentStatus::Captured
            && payment.refunded.is_zero()
            && is_paid_in_full(&payment.amount, &payment.captured)
    }

    /// Whether the full captured amount was refunded.
    fn is_refunded(&self) -> bool {
        !self.payment.captured.is_zero() && self.payment.captured == self.payment.refunded
    }

    /// Whether money was captured that grants no licence, and is not fully refunded.
    fn needs_refund(&self) -> bool {
        !self.payment.is_applied && !self.payment.captured.is_zero() && !self.is_refunded()
    }

    /// When its state is next fetched from the provider. While the provider processes the payment: once a day.
    /// While it can be paid: at intervals of up to eight minutes, and at the deadline. After the deadline, or
    /// while a refund is outstanding: with exponential backoff.
    pub fn due_at(&self) -> Option<Timestamp> {
        let payment = &self.payment;
        let since = payment.tried_at.unwrap_or(payment.updated_at);
        if let Some(at) = payment.checks_processing_at() {
            return Some(at);
        }
        let end = payment.expires_at.filter(|end| self.is_open() && since < *end);
        match end {
            Some(end) => {
                Some(since.plus(DueKind::wait(payment.tries.min(MAX_BACKOFF_TRIES))).min(end))
            }
            None if self.is_open() || self.needs_refund() => {
                Some(since.plus(DueKind::wait(payment.tries)))
            }
            None => None,
        }
    }

    /// Decides the effect on the store's licence, and marks the payment as applied if it grants one.
    fn applied(self, before: Option<&ThemeLicense>, now: Timestamp) -> (Self, LicenseChange) {
        let active = before.filter(|license| license.term.is_active());
        match active {
            None if self.is_paid_in_full() => {
                let paid = (&self.id, &self.payment.captured);
                let granted = ThemeLicense::granted(before, &self.store_id, &self.slug, paid, now);
                let payment = Payment { is_applied: true, ..self.payment };
                (Self { payment, ..self }, LicenseChange::Granted(granted))
            }
            Some(license) if license.purchase_id == self.id && self.is_refunded() => {
                let ended = license.ended(LicenseEnd::Refunded, now);
                (self, LicenseChange::Ended(ended))
            }
            _ => (self, LicenseChange::Unchanged),
        }
    }
}
