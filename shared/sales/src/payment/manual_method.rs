//! The manual payment methods of a store, such as a bank transfer or cash on delivery.

use std::time::Duration;

use core_types::fields::Handle;
use core_types::provider::ProviderName;
use identity::settings::Checkout;
use primitives::problem::FieldError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::ProviderAccount;

/// The most manual methods of a store (our choice).
pub const MAX_METHODS: usize = 10;

/// A manual payment method that customers can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManualMethod {
    /// The id, unique in the store: `bank-transfer`.
    pub id: Handle,
    /// The name that customers see.
    pub name: String,
    /// The instructions for customers, such as the account for a bank transfer.
    pub instructions: Option<String>,
    /// The period in which an order with this method reserves its stock, in minutes. With 0, it does so until it
    /// is paid or cancelled. With null, the store's `manual_payment_window_minutes` applies.
    pub payment_window_minutes: Option<u64>,
    /// Whether customers can choose it.
    pub enabled: bool,
}

/// The manual payment method that an order was placed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OrderPaymentMethod")]
pub struct ChosenMethod {
    /// The method's id.
    pub id: Handle,
    /// The method's name when it was chosen.
    pub name: String,
}

impl From<&ManualMethod> for ChosenMethod {
    fn from(method: &ManualMethod) -> Self {
        Self { id: method.id.clone(), name: method.name.clone() }
    }
}

/// The period in which an order can be paid; none means without a limit.
pub fn payment_window(
    checkout: &Checkout,
    provider: Option<ProviderName>,
    method: Option<&ManualMethod>,
) -> Option<Duration> {
    match method.and_then(|method| method.payment_window_minutes) {
        Some(0) => None,
        Some(minutes) => Some(Duration::from_secs(minutes.saturating_mul(60))),
        None => checkout.payment_window(provider),
    }
}

impl ProviderAccount {
    /// The methods that customers can choose now; none if the account has no methods.
    pub fn offered_methods(&self) -> impl Iterator<Item = &ManualMethod> {
        self.methods.iter().filter(|method| method.enabled)
    }

    /// Whether customers can pay with it: it is enabled, and so is one of its methods, if it has any.
    pub fn is_offered(&self) -> bool {
        self.enabled && (self.methods.is_empty() || self.offered_methods().next().is_some())
    }

    /// The method that a customer chose by its id. Without an id it is the only one; an account without methods
    /// has none.
    ///
    /// # Errors
    /// `required`, `payment_method_unavailable`, `not_applicable` as a field error at `pointer`.
    pub fn choose_method(
        &self,
        id: Option<&Handle>,
        pointer: &str,
    ) -> Result<Option<&ManualMethod>, FieldError> {
        let error = |code, detail: String| FieldError::new(pointer, code, detail);
        let offered: Vec<&ManualMethod> = self.offered_methods().collect();
        let ids = || offered.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
        match (id, &*offered) {
            (None, []) => Ok(None),
            (None, [only]) => Ok(Some(only)),
            (None, _) => {
                Err(error("required", format!("A payment method is required, one of: {}.", ids())))
            }
            (Some(_), []) if self.methods.is_empty() => {
                let detail =
                    "`method` is only allowed for `manual`, where the store has payment methods.";
                Err(error("not_applicable", detail.to_owned()))
            }
            (Some(id), _) => {
                let found = offered.iter().find(|method| method.id == *id).copied();
                let none = || format!("Must be one of the enabled payment methods: {}.", ids());
                found.map(Some).ok_or_else(|| error("payment_method_unavailable", none()))
            }
        }
    }

    /// The account with the instructions of one of its methods.
    #[must_use]
    pub fn for_method(self, method: Option<&ManualMethod>) -> Self {
        match method {
            Some(method) => Self { instructions: method.instructions.clone(), ..self },
            None => self,
        }
    }
}
