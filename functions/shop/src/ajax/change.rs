//! Changes of a cart by the Ajax API.

use http::Method;
use serde_json::{Map, Value, json};

use crate::cart::{Cart, line_input, quantity_of};
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::values::{text, with};
use crate::visit::Visit;
use crate::words::Words;

use super::reply::{no_line, quantity};
use super::{Asked, stock};

/// A cart after a change.
pub(super) struct Changed {
    /// The cart; none where there was nothing to change.
    pub(super) cart: Option<Cart>,
    /// The discount codes that it does not take.
    pub(super) rejected_codes: Vec<String>,
}

impl From<Option<Cart>> for Changed {
    fn from(cart: Option<Cart>) -> Self {
        Self { cart, rejected_codes: Vec::new() }
    }
}

/// Changes one line, named by `id` (its key or its variant) or by `line`, its place from 1.
///
/// # Errors
/// A line that the cart has not, and the problem of the answer.
pub(super) async fn line(visit: &Visit, fields: &Fields) -> Result<Option<Cart>, Fault> {
    let cart = visit.load_cart().await?.ok_or_else(|| no_line(visit.words()))?;
    let place = fields.text("line").and_then(|place| place.parse().ok());
    let found = match (fields.text("id"), place) {
        (Some(id), _) => cart.line(id),
        (None, Some(place)) => cart.line_at(place),
        (None, None) => None,
    };
    let line = found.ok_or_else(|| no_line(visit.words()))?;
    let quantity = match fields.text("quantity") {
        Some(text) => quantity(text, visit.words())?,
        None => quantity_of(line),
    };
    let properties: Map<String, Value> = fields
        .within("properties")
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect();
    // Other properties make another line.
    if !properties.is_empty() || cart.has_unsold() {
        let key = text(line, "id");
        let lines = cart.sold_lines().map(|other| {
            let is_it = text(other, "id") == key;
            let input = line_input(other, if is_it { quantity } else { quantity_of(other) });
            let is_other = is_it && !properties.is_empty();
            if is_other {
                with(input, "properties", Value::Object(properties.clone()))
            } else {
                input
            }
        });
        let lines: Vec<Value> =
            lines.filter(|line| line.get("quantity").is_some_and(|count| *count != 0)).collect();
        let changed = visit.patch_cart(&cart, json!({ "lines": lines })).await?;
        return stock::ensure_in_stock(visit, changed, cart.sold_inputs()).await.map(Some);
    }
    let path = format!("/lines/{}", segment(text(line, "id")));
    let body = json!({ "quantity": quantity });
    let changed = visit.cart_call(Method::PATCH, &cart.opened, &path, Some(body)).await?;
    stock::ensure_in_stock(visit, changed, cart.sold_inputs()).await.map(Some)
}

/// Changes quantities, the note, attributes and discount codes at once. Without a cart there is nothing to change. A script
/// is told which codes are none, as of those that do not apply; a form that names one changes nothing.
///
/// # Errors
/// A line that the cart has not, and the problem of the answer.
pub(super) async fn all(visit: &Visit, fields: &Fields, asked: Asked) -> Result<Changed, Fault> {
    let Some(cart) = visit.load_cart().await? else { return Ok(Changed::from(None)) };
    let mut body = body_of(&cart, fields, visit.words())?;
    if body.is_empty() {
        return Ok(Changed::from(Some(cart)));
    }
    let codes = fields.get("discount").map(codes).unwrap_or_default();
    let mut rejected = Vec::new();
    let patched = match visit.patch_cart(&cart, Value::Object(body.clone())).await {
        Err(fault) if asked == Asked::ByScript => {
            rejected = rejected_codes(&fault, &codes).ok_or(fault)?;
            let accepted: Vec<&&str> =
                codes.iter().filter(|code| !rejected.contains(code)).collect();
            body.insert("discount_codes".to_owned(), json!(accepted));
            visit.patch_cart(&cart, Value::Object(body)).await?
        }
        patched => patched?,
    };
    let cart = stock::ensure_in_stock(visit, patched, cart.sold_inputs()).await?;
    let rejected_codes = rejected.into_iter().map(str::to_owned).collect();
    Ok(Changed { cart: Some(cart), rejected_codes })
}

/// The codes that a rejection is about; none if it is about anything else.
fn rejected_codes<'c>(fault: &Fault, codes: &[&'c str]) -> Option<Vec<&'c str>> {
    let code = |(pointer, _): &(String, String)| {
        let place: usize = pointer.strip_prefix("/discount_codes/")?.parse().ok()?;
        codes.get(place).copied()
    };
    let rejected: Option<Vec<&str>> = fault.fields.iter().map(code).collect();
    rejected.filter(|rejected| !rejected.is_empty())
}

/// The change of a cart that a request asks for.
fn body_of(cart: &Cart, fields: &Fields, words: &Words) -> Result<Map<String, Value>, Fault> {
    let mut body = Map::new();
    if let Some(lines) = quantities(cart, fields, words)? {
        body.insert("lines".to_owned(), Value::Array(lines));
    }
    if let Some(note) = fields.get("note") {
        body.insert("note".to_owned(), Value::from(note));
    }
    let mut attributes = fields.within("attributes").peekable();
    if attributes.peek().is_some() {
        let mut all =
            cart.json.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, value) in attributes {
            if value.is_empty() {
                all.remove(name);
            } else {
                all.insert(name.to_owned(), Value::from(value));
            }
        }
        body.insert("metadata".to_owned(), Value::Object(all));
    }
    if let Some(codes) = fields.get("discount") {
        body.insert("discount_codes".to_owned(), json!(self::codes(codes)));
    }
    Ok(body)
}

/// The discount codes of a text, between commas.
pub(super) fn codes(sent: &str) -> Vec<&str> {
    sent.split(',').map(str::trim).filter(|code| !code.is_empty()).collect()
}

/// All lines with the quantities of `updates`: by key or variant, or one a line in the cart's order.
fn quantities(cart: &Cart, fields: &Fields, words: &Words) -> Result<Option<Vec<Value>>, Fault> {
    let mut wanted: Vec<u64> = cart.sold_lines().map(quantity_of).collect();
    let mut is_changed = cart.has_unsold();
    for (place, (name, value)) in fields.within("updates").enumerate() {
        let quantity = quantity(value, words)?;
        let at = if name.is_empty() {
            Some(place)
        } else {
            let id = cart.line(name).map(|line| text(line, "id")).ok_or_else(|| no_line(words))?;
            cart.sold_lines().position(|line| text(line, "id") == id)
        };
        if let Some(count) = at.and_then(|at| wanted.get_mut(at)) {
            *count = quantity;
            is_changed = true;
        }
    }
    let lines = cart.sold_lines().zip(wanted).filter(|(_, quantity)| *quantity > 0);
    let lines = lines.map(|(line, quantity)| line_input(line, quantity)).collect();
    Ok(is_changed.then_some(lines))
}

/// Removes all lines.
///
/// # Errors
/// The problem of the answer.
pub(super) async fn clear(visit: &Visit) -> Result<Option<Cart>, Fault> {
    let Some(cart) = visit.load_cart().await? else { return Ok(None) };
    visit.patch_cart(&cart, json!({ "lines": [] })).await.map(Some)
}
