//! A cart as it is asked for: its lines, who orders, how it is to be paid. What is wrong with it is
//! collected, and named together with what the store says about the cart.

use std::collections::BTreeMap;

use core_types::fields::{Email, Metadata, Phone};
use core_types::id::VariantId;
use core_types::money::{Money, MoneyInput};
use core_types::provider::ProviderName;
use primitives::problem::FieldError;
use primitives::fields::{Fault, Int, Text};
use gateway::request::{Given, request};
use identity::store::Store;

use super::item::OrderContact;
use super::{MAX_LINES, MAX_QUANTITY};
use crate::payment::CaptureMethod;

/// A line of a cart as it is asked for.
#[request]
#[derive(Debug, Clone)]
pub struct LineInput {
    /// The id of what is sold.
    pub variant_id: VariantId,
    /// How many.
    pub quantity: Int<1, MAX_QUANTITY>,
    /// What is kept with the line. Lines of one variant become one, and cannot say different things.
    pub metadata: Option<Metadata>,
}

/// That a cart, which is an order's `items`, is empty.
pub fn broken(given: Given<'_>) -> Vec<FieldError> {
    let is_empty = given.count("items") == Some(0);
    is_empty.then(empty).into_iter().collect()
}

fn empty() -> FieldError {
    fault("/items", "empty_cart", "There is nothing in the cart.")
}

/// A line of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartLine {
    /// The id of what is sold.
    pub variant_id: VariantId,
    /// How many.
    pub quantity: u32,
    /// What is kept with it.
    pub metadata: BTreeMap<String, String>,
    /// Where in the request it was named first.
    pub position: usize,
}

/// Who orders, when it is not their account that says so.
#[request]
#[derive(Debug, Clone)]
pub struct CustomerInput {
    /// Where confirmations go.
    pub email: Email,
    /// The given name.
    pub first_name: Option<Text<1, 100>>,
    /// The family name.
    pub last_name: Option<Text<1, 100>>,
    /// The telephone number.
    pub phone: Option<Phone>,
}

/// Who orders: the e-mail address alone, or with the rest of what they say about themselves.
/// Both at once are a fault.
pub fn who(
    email: Option<Email>,
    customer: Option<CustomerInput>,
    faults: &mut Vec<FieldError>,
) -> (Option<Email>, Option<OrderContact>) {
    let Some(CustomerInput { email: theirs, first_name, last_name, phone }) = customer else {
        return (email, None);
    };
    if email.is_some() {
        let detail = "Name an e-mail address, or a customer with one, not both.";
        faults.push(fault("/customer", "mutually_exclusive", detail));
    }
    let is_bare = first_name.is_none() && last_name.is_none() && phone.is_none();
    let contact = OrderContact {
        first_name: first_name.map(String::from),
        last_name: last_name.map(String::from),
        phone,
    };
    (Some(theirs), (!is_bare).then_some(contact))
}

/// How an order is to be paid.
#[request]
#[derive(Debug, Clone)]
pub struct PaymentInput {
    /// Through whom.
    pub provider: ProviderName,
    /// When that provider is to take the money; when its account says, unless this does.
    pub capture_method: Option<CaptureMethod>,
}

impl PaymentInput {
    /// Manual payments are taken by the merchant.
    pub fn validate(&self, faults: &mut Vec<FieldError>) {
        let is_cash = self.provider == ProviderName::Manual;
        if is_cash && self.capture_method == Some(CaptureMethod::Automatic) {
            let detail = "Nobody can take this money but the merchant, by hand.";
            faults.push(fault("/payment/capture_method", "not_supported", detail));
        }
    }
}

/// The total that somebody believes in, in the store's currency.
pub fn expected(
    asked: Option<&MoneyInput>,
    store: &Store,
    faults: &mut Vec<FieldError>,
) -> Option<Money> {
    let validated = asked?.in_currency(&store.currency);
    let pointer = "/expected_total/currency".to_owned();
    validated.map_err(|fault| faults.push(FieldError { pointer, fault })).ok()
}

/// The lines of a cart, those of one variant as one: a transaction touches each level once
/// (docs/platform.md §1). Of too many lines, the first: so that what is wrong with them can be told
/// as well.
pub fn merge(
    named: impl IntoIterator<Item = LineInput>,
    errors: &mut Vec<FieldError>,
) -> Vec<CartLine> {
    let mut lines: Vec<CartLine> = Vec::new();
    for (position, LineInput { variant_id, quantity, metadata }) in named.into_iter().enumerate() {
        let quantity = u32::try_from(quantity.0).unwrap_or(0);
        let metadata = metadata.map(|metadata| metadata.0).unwrap_or_default();
        let Some(line) = lines.iter_mut().find(|line| line.variant_id == variant_id) else {
            lines.push(CartLine { variant_id, quantity, metadata, position });
            continue;
        };
        line.quantity = line.quantity.saturating_add(quantity);
        if !metadata.is_empty() && metadata != line.metadata {
            let detail = "Lines of one variant become one, and cannot say different things.";
            errors.push(fault(&format!("/items/{position}/metadata"), "metadata_conflict", detail));
        }
    }
    if lines.is_empty() {
        errors.push(empty());
    }
    if lines.len() > MAX_LINES {
        let detail = format!("Must have at most {MAX_LINES} different variants.");
        errors.push(fault("/items", "too_many", detail));
    }
    for line in lines.iter().filter(|line| i64::from(line.quantity) > MAX_QUANTITY) {
        let pointer = format!("/items/{}/quantity", line.position);
        let detail = format!("Must be at most {MAX_QUANTITY} of one variant.");
        errors.push(fault(&pointer, "out_of_range", detail));
    }
    lines.truncate(MAX_LINES);
    lines
}

/// A fault of a field.
pub fn fault(
    pointer: &str,
    code: &'static str,
    detail: impl Into<std::borrow::Cow<'static, str>>,
) -> FieldError {
    FieldError { pointer: pointer.to_owned(), fault: Fault::new(code, detail) }
}
