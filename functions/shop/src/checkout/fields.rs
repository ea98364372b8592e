//! The fields of the checkout's form, and the changes of the cart that they are.

use serde_json::{Map, Value, json};

use crate::address::ADDRESS;
use crate::form::Fields;
use crate::values::{text, with};

/// What a button of the form means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Store the form, and show what follows from it.
    Continue(String),
    /// Apply the code in the field.
    Apply(String),
    /// Remove a discount code.
    RemoveCode(String),
    /// Remove a gift card, by its id.
    RemoveCard(String),
    /// Place the order.
    Place,
}

impl Act {
    pub(super) fn of(sent: &Fields) -> Self {
        let act = sent.text("act").unwrap_or_default();
        match act.split_once(':') {
            Some(("code", code)) => Self::RemoveCode(code.to_owned()),
            Some(("card", id)) => Self::RemoveCard(id.to_owned()),
            Some(("to", step)) if step.bytes().all(|b| b.is_ascii_lowercase()) => {
                Self::Continue(step.to_owned())
            }
            _ if act == "place" => Self::Place,
            // Enter in the field of the code sends the form by its first button.
            _ => match sent.text("code") {
                Some(code) => Self::Apply(code.to_owned()),
                None => Self::Continue("delivery".to_owned()),
            },
        }
    }

    /// Where the page is shown afterwards.
    pub(super) fn anchor(&self) -> &str {
        match self {
            Self::Continue(step) => step,
            Self::Apply(_) | Self::RemoveCode(_) | Self::RemoveCard(_) => "codes",
            Self::Place => "review",
        }
    }
}

/// The address of a form, if anything of it but the country is filled in.
fn address(sent: &Fields, name: &str) -> Option<Value> {
    let mut address = Map::new();
    for (member, value) in sent.within(name) {
        let value = value.trim();
        if ADDRESS.contains(&member) && !value.is_empty() {
            address.insert(member.to_owned(), Value::from(value));
        }
    }
    let is_begun = address.keys().any(|member| member != "country" && member != "region");
    is_begun.then_some(Value::Object(address))
}

/// The change of the cart that a form is. What the form has not, stays.
pub(super) fn body(sent: &Fields, cart: &Value) -> Value {
    let mut body = Map::new();
    if let Some(email) = sent.get("email") {
        body.insert("email".to_owned(), or_null(email));
        body.insert("accepts_marketing".to_owned(), json!(sent.has("accepts_marketing")));
    }
    let shipping = address(sent, "ship");
    if let Some(address) = &shipping {
        body.insert("shipping_address".to_owned(), address.clone());
        body.insert("contact".to_owned(), contact(address));
    }
    if sent.has("bill_choice") {
        let own = sent.get("bill_choice") == Some("other");
        let billing = own.then(|| address(sent, "bill")).flatten();
        body.insert("billing_address".to_owned(), billing.or(shipping).unwrap_or_default());
    }
    if let Some(rate) = sent.text("rate") {
        body.insert("shipping_rate_id".to_owned(), Value::from(rate));
    }
    if let Some(method) = sent.text("payment") {
        let (provider, method) = match method.split_once(':') {
            Some((provider, method)) => (provider, Some(method)),
            None => (method, None),
        };
        let payment = json!({ "provider": provider });
        let payment = match method {
            Some(method) => with(payment, "method", method),
            None => payment,
        };
        body.insert("payment".to_owned(), payment);
    }
    if let Some(note) = sent.get("note").filter(|note| *note != text(cart, "note")) {
        body.insert("note".to_owned(), or_null(note));
    }
    Value::Object(body)
}

fn or_null(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() { Value::Null } else { Value::from(text) }
}

/// The contact of an order is whoever it is delivered to.
fn contact(address: &Value) -> Value {
    let members = ["first_name", "last_name", "phone"];
    let named = members.into_iter().filter_map(|member| {
        let value = address.get(member)?;
        Some((member.to_owned(), value.clone()))
    });
    Value::Object(named.collect())
}

/// The changes to try in turn for a button about a code, until one is accepted.
pub(super) fn codes(act: &Act, cart: &Value) -> Option<Vec<Value>> {
    let known = cart.get("discount_codes").and_then(Value::as_array).cloned().unwrap_or_default();
    match act {
        Act::Apply(code) => {
            let mut codes = known;
            codes.push(Value::from(code.as_str()));
            Some(vec![json!({ "discount_codes": codes }), json!({ "add_gift_card_codes": [code] })])
        }
        Act::RemoveCode(code) => {
            let left: Vec<Value> =
                known.into_iter().filter(|other| other.as_str() != Some(code)).collect();
            Some(vec![json!({ "discount_codes": left })])
        }
        Act::RemoveCard(id) => Some(vec![json!({ "remove_gift_card_ids": [id] })]),
        Act::Continue(_) | Act::Place => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Fields {
        Fields::of_query(text.as_bytes())
    }

    #[test]
    fn a_button_says_what_to_do() {
        assert_eq!(Act::of(&form("act=place")), Act::Place);
        assert_eq!(Act::of(&form("act=code:A:B")), Act::RemoveCode("A:B".to_owned()));
        assert_eq!(Act::of(&form("act=to:payment")).anchor(), "payment");
        assert_eq!(Act::of(&form("act=to:%22%3E")).anchor(), "delivery");
        assert_eq!(Act::of(&form("act=apply&code=SAVE")), Act::Apply("SAVE".to_owned()));
        assert_eq!(Act::of(&form("code=+")).anchor(), "delivery");
    }

    #[test]
    fn a_form_changes_what_it_has() {
        let cart = json!({"note": "Ring twice"});
        let sent = form(
            "email=a@b.example&ship[line1]=Main+1&ship[country]=DE&ship[first_name]=Ada&ship[x]=y\
             &bill_choice=same&payment=manual:bank&note=Ring+twice&rate=",
        );
        let address = json!({"line1": "Main 1", "country": "DE", "first_name": "Ada"});
        assert_eq!(
            body(&sent, &cart),
            json!({
                "email": "a@b.example", "accepts_marketing": false,
                "shipping_address": address, "billing_address": address,
                "contact": {"first_name": "Ada"},
                "payment": {"provider": "manual", "method": "bank"},
            })
        );
        // A country alone is no address yet.
        assert_eq!(body(&form("ship[country]=DE&ship[line1]=+"), &cart), json!({}));
    }

    #[test]
    fn a_code_is_a_discount_or_a_gift_card() {
        let cart = json!({"discount_codes": ["A"]});
        let tried = codes(&Act::Apply("B".to_owned()), &cart).unwrap();
        assert_eq!(
            tried,
            [json!({"discount_codes": ["A", "B"]}), json!({"add_gift_card_codes": ["B"]})]
        );
        let left = codes(&Act::RemoveCode("A".to_owned()), &cart).unwrap();
        assert_eq!(left, [json!({"discount_codes": []})]);
    }
}
