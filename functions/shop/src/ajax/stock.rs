//! Requests for more than a store has of a variant that is not sold beyond its stock: the API's cart keeps them with a
//! fault, and themes expect that they are rejected.

use http::StatusCode;
use serde_json::Value;

use crate::cart::{Cart, line_input, quantity_of, title_of};
use crate::fault::Fault;
use crate::values::text;
use crate::visit::Visit;
use crate::words::{Words, fill};

/// The most attempts to take a change back while other requests change the same cart.
const ATTEMPTS: usize = 10;

/// Ensures that a cart does not have more units of a line than before and than there are. Otherwise it gets the lines
/// again that it had before; where another request has changed it meanwhile, it loses what this one has added.
///
/// # Errors
/// `insufficient_stock`; the problem of the answer.
pub(super) async fn ensure_in_stock(
    visit: &Visit,
    cart: Cart,
    before: Vec<Value>,
) -> Result<Cart, Fault> {
    let short = cart.lines().iter().enumerate().find_map(|(place, line)| {
        let known = before.iter().find(|known| is_same(known, line)).map_or(0, quantity_of);
        let is_more = quantity_of(line) > known;
        (is_more && is_short(&cart, place)).then(|| rejection(line, known, visit.words()))
    });
    let Some(fault) = short else { return Ok(cart) };
    let added = added(&cart, &before);
    let (mut cart, mut lines) = (cart, before);
    for _ in 0..ATTEMPTS {
        match visit.replace_lines(&cart, lines).await {
            Err(changed) if changed.is("precondition_failed") => {
                cart = visit.reload_cart(&cart).await?;
                lines = lines_without(&cart, &added);
            }
            done => return done.and(Err(fault)),
        }
    }
    Err(fault)
}

/// The units that a cart has more than before, by line.
fn added(cart: &Cart, before: &[Value]) -> Vec<Value> {
    let more = cart.sold_lines().map(|line| {
        let known = before.iter().find(|known| is_same(known, line)).map_or(0, quantity_of);
        line_input(line, quantity_of(line).saturating_sub(known))
    });
    more.filter(|line| quantity_of(line) > 0).collect()
}

/// The lines of a cart before these were added.
pub(super) fn lines_without(cart: &Cart, added: &[Value]) -> Vec<Value> {
    let left = cart.sold_lines().map(|line| {
        let units = added.iter().filter(|other| is_same(other, line)).map(quantity_of);
        line_input(line, quantity_of(line).saturating_sub(units.fold(0, u64::saturating_add)))
    });
    left.filter(|line| quantity_of(line) > 0).collect()
}

/// Whether two lines are one in a cart.
fn is_same(one: &Value, other: &Value) -> bool {
    let properties = |line: &Value| {
        let own = line.get("properties").and_then(Value::as_object).cloned();
        own.unwrap_or_default()
    };
    one.get("variant_id") == other.get("variant_id") && properties(one) == properties(other)
}

fn is_short(cart: &Cart, place: usize) -> bool {
    let pointer = format!("/lines/{place}/quantity");
    cart.fault_at(&pointer).is_some_and(|fault| text(fault, "code") == "insufficient_stock")
}

/// What Shopify's themes are told; how many there are, shoppers are not told.
fn rejection(line: &Value, before: u64, words: &Words) -> Fault {
    let title = title_of(line);
    let text = match (before, quantity_of(line)) {
        (0, 1) => words.title_sold_out,
        (0, _) => words.title_too_few,
        _ => words.title_no_more,
    };
    let detail = fill(text, &[("title", &title)]);
    Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "insufficient_stock", &detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_its_variant_with_its_properties() {
        let line = |properties: Value| json!({"variant_id": "var_1", "properties": properties});
        assert!(is_same(&line(json!({})), &line(Value::Null)));
        assert!(!is_same(&line(json!({"a": "b"})), &line(json!({}))));
        assert!(!is_same(&line(json!({})), &json!({"variant_id": "var_2"})));
    }
}
