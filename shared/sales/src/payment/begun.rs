//! The creation of a payment.

use core_types::id::PaymentId;
use core_types::money::Money;
use crypto::seal::SealKey;
use primitives::clock::Timestamp;

use super::account::ProviderAccount;
use super::provider::CreatedPayment;
use super::{NewPayment, Payment, PaymentStatus};

impl Payment {
    /// Creates a payment that has been created with the account's provider.
    pub fn begun(
        id: PaymentId,
        account: &ProviderAccount,
        input: NewPayment,
        at_provider: CreatedPayment,
        key: &SealKey,
        now: Timestamp,
    ) -> Self {
        let secret = at_provider.client_secret;
        let zero = Money::zero(&input.amount.currency);
        Self {
            sealed_client_secret: secret
                .map(|text| key.seal(text.as_bytes(), id.as_str().as_bytes())),
            id,
            store_id: input.store_id,
            order_id: input.order_id,
            order_number: input.order_number,
            provider: account.provider,
            mode: account.mode,
            key_id: account.key_id.clone(),
            provider_reference: at_provider.reference,
            provider_payment: None,
            amount: input.amount,
            authorized: zero.clone(),
            captured: zero.clone(),
            refunded: zero,
            status: PaymentStatus::Created,
            capture_method: account.capture_method,
            is_applied: false,
            attention: None,
            method: None,
            attempts: Vec::new(),
            receipts: Vec::new(),
            refunds: Vec::new(),
            disputes: Vec::new(),
            disputes_fetched_at: None,
            tries: 0,
            tried_at: None,
            expires_at: input.expires_at,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// Opens the client secret, which the customer's browser needs to pay; none if there is none.
    pub fn client_secret(&self, key: &SealKey) -> Option<String> {
        let sealed = self.sealed_client_secret.as_deref()?;
        let opened = key.open(sealed, self.id.as_str().as_bytes()).ok()?;
        String::from_utf8(opened).ok()
    }
}
