//! Whether an order can be paid in the way that its shopper has chosen: judged with the rest of the
//! cart, before anything is held.

use gateway::problem::FieldError;
use ground::money::Money;
use ground::provider::ProviderName;

use super::cart::{PaymentInput, fault};
use crate::payment::account::Account;
use crate::payment::can_count;

/// What is wrong with how a cart is to be paid; `due` is what is left when gift cards have paid, and
/// none while a cart's total is not known. Whoever chooses nothing must have something to choose,
/// if they are a shopper: a merchant can always say that an order was paid.
pub(super) fn judge(
    accounts: &[Account],
    chosen: Option<&PaymentInput>,
    is_shopper: bool,
    due: Option<&Money>,
) -> Option<FieldError> {
    let is_usable = |provider: ProviderName| {
        accounts.iter().any(|account| account.provider == provider && account.enabled)
    };
    let can_count = |provider: ProviderName| due.is_none_or(|due| can_count(provider, due));
    match chosen {
        Some(chosen) if !is_usable(chosen.provider) => {
            let detail = "The store takes no payments through this provider.";
            Some(fault("/payment/provider", "payment_method_unavailable", detail))
        }
        Some(chosen) if !can_count(chosen.provider) => {
            let detail = "The provider does not take this amount of this currency.";
            Some(fault("/payment/provider", "amount_not_supported", detail))
        }
        Some(_) => None,
        None => {
            let is_due = due.is_some_and(|due| !due.is_zero());
            let can_pay = ProviderName::ALL.iter().any(|one| is_usable(*one) && can_count(*one));
            (is_shopper && is_due && !can_pay).then(|| {
                let detail = "The store has no way to take this payment now.";
                fault("/payment", "payment_method_unavailable", detail)
            })
        }
    }
}
