//! A cart in a request: its lines, the shopper and the payment. Its field errors are collected, and reported
//! together with those found over the store's data.

use std::collections::BTreeMap;

use core_types::fields::{Country, Email, Handle, Metadata, Phone};
use core_types::id::VariantId;
use core_types::money::{Money, MoneyInput};
use core_types::provider::ProviderName;
use identity::phone;
use identity::store::Store;
use primitives::fields::{Int, Text};
use primitives::input::{Given, request};
use primitives::problem::FieldError;

use super::item::OrderContact;
use super::{MAX_LINES, MAX_QUANTITY};
use crate::payment::{Capabilities, CaptureMethod};

/// The most bytes of the properties and metadata of all lines (our choice): an order, and the events about it,
/// are items of at most 400 KB.
pub(crate) const MAX_TEXT: usize = 150_000;

/// A line of a cart in a request.
#[request]
#[derive(Debug, Clone)]
pub struct LineInput {
    /// The variant.
    pub variant_id: VariantId,
    /// The number of units.
    pub quantity: Int<1, MAX_QUANTITY>,
    /// Properties by which these units differ from others of the variant, such as the text of an engraving.
    /// Lines of one variant with equal properties are merged; with different ones they stay apart.
    pub properties: Option<Metadata>,
    /// Key-value pairs of the line. Lines that are merged must not have different ones.
    pub metadata: Option<Metadata>,
}

/// Finds an empty cart in an order's `items`.
pub fn empty_cart_errors(given: Given<'_>) -> Vec<FieldError> {
    let is_empty = given.count("items") == Some(0);
    is_empty.then(empty).into_iter().collect()
}

fn empty() -> FieldError {
    violation("/items", "empty_cart", "The cart must have at least one line.")
}

/// A line of a cart, merged by variant and properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartLine {
    /// The variant.
    pub variant_id: VariantId,
    /// The number of units.
    pub quantity: u32,
    /// Properties by which these units differ from others of the variant.
    pub properties: BTreeMap<String, String>,
    /// Key-value pairs of the line.
    pub metadata: BTreeMap<String, String>,
    /// The index of its first appearance in the request.
    pub position: usize,
}

/// The contact details of a shopper without an account.
#[request]
#[derive(Debug, Clone)]
pub struct CustomerInput {
    /// The address that confirmations are sent to.
    pub email: Email,
    /// The given name.
    pub first_name: Option<Text<1, 100>>,
    /// The family name.
    pub last_name: Option<Text<1, 100>>,
    /// The telephone number.
    pub phone: Option<Phone>,
}

/// Returns the shopper's address and contact details: from an e-mail address alone, or from a customer
/// object. Both at once are a field error. A telephone number without a country code is one of `country`.
pub fn contact_details(
    email: Option<Email>,
    customer: Option<CustomerInput>,
    country: &Country,
    field_errors: &mut Vec<FieldError>,
) -> (Option<Email>, Option<OrderContact>) {
    let Some(CustomerInput { email: theirs, first_name, last_name, phone }) = customer else {
        return (email, None);
    };
    if email.is_some() {
        let detail = "Send `email`, or a `customer` with an e-mail address, not both.";
        field_errors.push(violation("/customer", "mutually_exclusive", detail));
    }
    let is_bare = first_name.is_none() && last_name.is_none() && phone.is_none();
    let contact = OrderContact {
        first_name: first_name.map(String::from),
        last_name: last_name.map(String::from),
        phone_e164: phone::e164_of(phone.as_ref(), country),
        phone,
    };
    (Some(theirs), (!is_bare).then_some(contact))
}

/// The chosen payment provider and capture method.
#[request]
#[derive(Debug, Clone)]
pub struct PaymentInput {
    /// The payment provider.
    pub provider: ProviderName,
    /// The manual payment method. It is required of shoppers if the store offers several.
    pub method: Option<Handle>,
    /// The capture method; by default that of the store's account with the provider.
    pub capture_method: Option<CaptureMethod>,
}

impl PaymentInput {
    /// Rejects automatic capture of a manual payment, which only the merchant can capture.
    pub fn validate(&self, field_errors: &mut Vec<FieldError>) {
        let is_by_hand = !Capabilities::of(self.provider).is_online;
        if is_by_hand && self.capture_method == Some(CaptureMethod::Automatic) {
            let detail = "Not supported for `manual`: the merchant records the payment.";
            field_errors.push(violation("/payment/capture_method", "not_supported", detail));
        }
    }
}

/// The total that the caller expects, which must be in the store's currency.
pub fn expected(
    requested: Option<&MoneyInput>,
    store: &Store,
    field_errors: &mut Vec<FieldError>,
) -> Option<Money> {
    let validated = requested?.in_currency(&store.currency);
    let pointer = "/expected_total/currency".to_owned();
    validated.map_err(|violation| field_errors.push(FieldError::at(pointer, violation))).ok()
}

/// Merges lines of one variant with equal properties. Of too many lines it returns the first ones, so that
/// errors in those are reported too.
pub fn merge(
    named: impl IntoIterator<Item = LineInput>,
    errors: &mut Vec<FieldError>,
) -> Vec<CartLine> {
    let mut lines: Vec<CartLine> = Vec::new();
    for (position, line) in named.into_iter().enumerate() {
        let LineInput { variant_id, quantity, properties, metadata } = line;
        let quantity = u32::try_from(quantity.0).unwrap_or(0);
        let properties = properties.map(|properties| properties.0).unwrap_or_default();
        let metadata = metadata.map(|metadata| metadata.0).unwrap_or_default();
        let same =
            |line: &&mut CartLine| line.variant_id == variant_id && line.properties == properties;
        let Some(line) = lines.iter_mut().find(same) else {
            lines.push(CartLine { variant_id, quantity, properties, metadata, position });
            continue;
        };
        line.quantity = line.quantity.saturating_add(quantity);
        if !metadata.is_empty() && metadata != line.metadata {
            let detail = "Lines of one variant with equal properties are merged, and must not differ in \
                          `metadata`. Use `properties` to keep them apart.";
            errors.push(violation(
                &format!("/items/{position}/metadata"),
                "metadata_conflict",
                detail,
            ));
        }
    }
    if lines.is_empty() {
        errors.push(empty());
    }
    errors.extend(limit_errors("/items", &lines.iter().map(LineSize::of).collect::<Vec<_>>()));
    lines.truncate(MAX_LINES);
    lines
}

/// What the limits of an order count of a line, and its index in the request.
pub(crate) struct LineSize<'a> {
    pub(crate) position: usize,
    pub(crate) quantity: u32,
    pub(crate) properties: &'a BTreeMap<String, String>,
    pub(crate) metadata: &'a BTreeMap<String, String>,
}

impl<'a> LineSize<'a> {
    fn of(line: &'a CartLine) -> Self {
        let CartLine { position, quantity, properties, metadata, .. } = line;
        Self { position: *position, quantity: *quantity, properties, metadata }
    }
}

/// The field errors of merged lines beyond the limits of an order; `pointer` is the request's list of lines.
pub(crate) fn limit_errors(pointer: &str, lines: &[LineSize<'_>]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if lines.len() > MAX_LINES {
        let detail = format!("Must have at most {MAX_LINES} lines after merging.");
        errors.push(violation(pointer, "too_many", detail));
    }
    for line in lines.iter().filter(|line| i64::from(line.quantity) > MAX_QUANTITY) {
        let pointer = format!("{pointer}/{}/quantity", line.position);
        let detail = format!("The quantity of a line must be at most {MAX_QUANTITY}.");
        errors.push(violation(&pointer, "out_of_range", detail));
    }
    let texts = lines.iter().flat_map(|line| line.properties.iter().chain(line.metadata));
    let bytes = texts.map(|(name, text)| name.len().saturating_add(text.len()));
    if bytes.fold(0, usize::saturating_add) > MAX_TEXT {
        let detail = format!(
            "The properties and metadata of all lines must have at most {MAX_TEXT} bytes together."
        );
        errors.push(violation(pointer, "too_large", detail));
    }
    errors
}

/// A field error.
pub fn violation(
    pointer: &str,
    code: &'static str,
    detail: impl Into<std::borrow::Cow<'static, str>>,
) -> FieldError {
    FieldError::new(pointer, code, detail)
}
