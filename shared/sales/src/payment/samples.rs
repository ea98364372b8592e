//! A sample payment, for the catalogue of events.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{OrderId, PaymentId, StoreId};
use core_types::money::{self, Money};
use core_types::provider::ProviderName;

use super::{
    Action, CaptureMethod, Mode, Payment, PaymentAttempt, PaymentSource, PaymentStatus,
    PaymentView, Receipt,
};

impl Payment {
    /// A captured payment.
    pub(crate) fn sample() -> Self {
        let amount = money::sample(129_900);
        let zero = Money::zero(&amount.currency);
        let reference = "order_DaZlswtdcn9UNV".to_owned();
        let paid = "pay_DaZmKBl7HCyU9T".to_owned();
        Self {
            id: PaymentId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            order_id: OrderId::derive(&["example"]),
            order_number: "BB-1001".into(),
            provider: ProviderName::Razorpay,
            mode: Mode::Live,
            key_id: Some("rzp_live_ILgsfZCZoFIKMb".into()),
            provider_reference: reference,
            provider_payment: Some(paid.clone()),
            authorized: amount.clone(),
            captured: amount.clone(),
            refunded: zero,
            status: PaymentStatus::Captured,
            capture_method: CaptureMethod::Automatic,
            is_applied: true,
            attention: None,
            method: Some("upi".into()),
            sealed_client_secret: None,
            attempts: vec![PaymentAttempt {
                action: Action::Capture,
                succeeded: true,
                amount: amount.clone(),
                provider_payment: Some(paid.clone()),
                failure_code: None,
                source: PaymentSource::Webhook,
                at: EXAMPLE_TIME,
            }],
            receipts: vec![Receipt {
                action: Action::Capture,
                amount: amount.clone(),
                provider_reference: paid,
                at: EXAMPLE_TIME,
            }],
            refunds: Vec::new(),
            disputes: Vec::new(),
            disputes_fetched_at: None,
            tries: 0,
            tried_at: None,
            amount,
            expires_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for PaymentView {
    fn example() -> Self {
        Self::from(&Payment::sample())
    }
}
