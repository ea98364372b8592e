//! Validates the chosen way to pay with the rest of the cart, before stock is reserved.

use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::problem::FieldError;

use super::Order;
use super::cart::{PaymentInput, violation};
use crate::payment::account::ProviderAccount;
use crate::payment::manual_method::ManualMethod;
use crate::payment::{Capabilities, can_take};

impl ProviderAccount {
    /// The account with the order's capture method, if the order chose this provider and sets one. Manual
    /// payments keep theirs, as the merchant captures them.
    #[must_use]
    pub fn for_order(self, order: &Order) -> Self {
        let is_chosen = order.payment_provider.as_deref() == Some(self.provider.as_str());
        let chosen = order.capture_method.filter(|_| is_chosen);
        match chosen.filter(|_| Capabilities::of(self.provider).is_online) {
            Some(capture_method) => Self { capture_method, ..self },
            None => self,
        }
    }
}

/// The manual method of a cart's payment, which [`validate`] accepts, and the instructions for it.
pub(crate) fn manual_method(
    accounts: &[ProviderAccount],
    chosen: Option<&PaymentInput>,
) -> (Option<ManualMethod>, Option<String>) {
    let account = |chosen: &PaymentInput| {
        accounts.iter().find(|account| account.provider == chosen.provider).cloned()
    };
    let Some((account, chosen)) = chosen.and_then(|chosen| Some((account(chosen)?, chosen))) else {
        return (None, None);
    };
    let method = account.choose_method(chosen.method.as_ref(), "").ok().flatten().cloned();
    let instructions = account.for_method(method.as_ref()).instructions;
    (method, instructions.filter(|text| !text.is_empty()))
}

/// Validates the payment of a cart. `due` is the amount after gift cards, none if the total is not known.
///
/// A shopper who has not chosen a provider must have a usable one; a merchant can always record a manual
/// payment.
pub(crate) fn validate(
    accounts: &[ProviderAccount],
    chosen: Option<&PaymentInput>,
    is_shopper: bool,
    due: Option<&Money>,
) -> Option<FieldError> {
    let account = |provider: ProviderName| {
        accounts.iter().find(|account| account.provider == provider && account.is_offered())
    };
    let is_usable = |provider: ProviderName| account(provider).is_some();
    let can_take =
        |provider: ProviderName| due.is_none_or(|due| due.is_zero() || can_take(provider, due));
    match chosen {
        Some(chosen) if !is_usable(chosen.provider) => {
            let detail = "The store does not accept payments through this provider.";
            Some(violation("/payment/provider", "payment_method_unavailable", detail))
        }
        Some(chosen) if !can_take(chosen.provider) => {
            let detail = "The provider does not support this amount of this currency.";
            Some(violation("/payment/provider", "amount_not_supported", detail))
        }
        Some(chosen) => {
            // A merchant may leave open by which method an order is paid.
            let is_open = chosen.method.is_none() && !is_shopper;
            let method = account(chosen.provider).filter(|_| !is_open);
            let choose = |account: &ProviderAccount| {
                account.choose_method(chosen.method.as_ref(), "/payment/method").err()
            };
            method.and_then(choose)
        }
        None => {
            let is_due = due.is_some_and(|due| !due.is_zero());
            let can_pay = ProviderName::ALL.iter().any(|one| is_usable(*one) && can_take(*one));
            (is_shopper && is_due && !can_pay).then(|| {
                let detail = "No payment provider of the store supports this payment now.";
                violation("/payment", "payment_method_unavailable", detail)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_types::money;

    fn account(provider: ProviderName, enabled: bool) -> ProviderAccount {
        let account = serde_json::json!({
            "store_id": core_types::id::StoreId::derive(&["s"]), "provider": provider, "mode": "test",
            "capture_method": "automatic", "enabled": enabled,
            "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z",
            "version": 1,
        });
        serde_json::from_value(account).unwrap()
    }

    #[test]
    fn a_shopper_needs_a_provider_that_accepts_the_amount_due() {
        use ProviderName::{Razorpay, Stripe};
        let through = |provider| PaymentInput { provider, method: None, capture_method: None };
        let (inr, none) = (money::sample(100), money::sample(0));
        let in_currency = |amount: i64, currency: &str| -> Money {
            serde_json::from_value(serde_json::json!({"amount": amount, "currency": currency}))
                .unwrap()
        };
        // Razorpay does not say how it counts the ariary.
        let odd = in_currency(100_000, "MGA");
        assert!(!can_take(Razorpay, &odd) && can_take(Stripe, &odd) && can_take(Stripe, &inr));
        // The dinar has three decimals, of which cards have two: the amount is rounded.
        assert!(can_take(Stripe, &in_currency(1_001, "KWD")));
        let little = money::sample(49);
        let (on, off) = ([account(Stripe, true)], [account(Stripe, false)]);
        let of_razorpay = [account(Razorpay, true)];
        let (unavailable, unsupported) =
            (Some("payment_method_unavailable"), Some("amount_not_supported"));
        for (accounts, chosen, is_shopper, due, expected) in [
            (&on, Some(Stripe), true, Some(&inr), None),
            (&on, Some(Stripe), true, None, None),
            (&off, Some(Stripe), true, Some(&inr), unavailable),
            (&on, Some(Razorpay), false, Some(&inr), unavailable),
            (&of_razorpay, Some(Razorpay), true, Some(&odd), unsupported),
            (&on, Some(Stripe), true, Some(&little), unsupported),
            (&on, Some(Stripe), true, Some(&none), None),
            (&on, None, true, Some(&inr), None),
            (&of_razorpay, None, true, Some(&odd), unavailable),
            (&off, None, true, Some(&inr), unavailable),
            (&off, None, true, Some(&none), None),
            (&off, None, true, None, None),
            (&off, None, false, Some(&inr), None),
        ] {
            let chosen = chosen.map(through);
            let violation = validate(accounts, chosen.as_ref(), is_shopper, due);
            let found = violation.map(|violation| violation.violation.code);
            assert_eq!(found, expected, "{chosen:?} of {accounts:?} for {due:?}");
        }
    }
}
