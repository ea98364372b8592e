//! The fields of the checkout's form, and the changes of the cart that they are.

use serde_json::{Map, Value, json};

use super::offers::payment_of;
use crate::address::{ADDRESS, Needs, is_blank};
use crate::form::Fields;
use crate::values::text;

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
    /// Deliver to a saved address, by its id.
    Use(String),
    /// Place the order.
    Place,
}

impl Act {
    pub(super) fn of(sent: &Fields) -> Self {
        let act = sent.text("act").unwrap_or_default();
        match act.split_once(':') {
            Some(("code", code)) => Self::RemoveCode(code.to_owned()),
            Some(("use", id)) => Self::Use(id.to_owned()),
            Some(("card", id)) => Self::RemoveCard(id.to_owned()),
            _ if act == "place" => Self::Place,
            // Scripts alone send these, perhaps while a code is half typed.
            Some(("to", step @ ("rates" | "payment"))) => Self::Continue(step.to_owned()),
            // Enter in the field of the code sends the form by its first button, and who continues wants the code too.
            step => match (sent.text("code"), step) {
                (Some(code), _) => Self::Apply(code.to_owned()),
                (None, Some(("to", step))) if step.bytes().all(|b| b.is_ascii_lowercase()) => {
                    Self::Continue(step.to_owned())
                }
                _ => Self::Continue("delivery".to_owned()),
            },
        }
    }

    /// Whether the addresses may be half written: nobody has said yet that they are complete. Only the button below
    /// them says so; what a script sends as something is chosen does not.
    pub(super) fn is_within_addresses(&self) -> bool {
        match self {
            Self::Continue(step) => step != "shipping",
            Self::Place => false,
            Self::Apply(_) | Self::RemoveCode(_) | Self::RemoveCard(_) | Self::Use(_) => true,
        }
    }

    /// Where the page is shown afterwards.
    pub(super) fn anchor(&self) -> &str {
        match self {
            Self::Continue(step) => step,
            Self::Apply(_) | Self::RemoveCode(_) | Self::RemoveCard(_) => "codes",
            Self::Use(_) => "delivery",
            Self::Place => "review",
        }
    }
}

/// The address of a form, if anything of it but the country is filled in.
fn address(sent: &Fields, name: &str) -> Option<Value> {
    let mut address = Map::new();
    for (member, value) in sent.within(name) {
        let value = value.trim();
        if ADDRESS.contains(&member) && !is_blank(value) {
            address.insert(member.to_owned(), Value::from(value));
        }
    }
    let is_begun = address.keys().any(|member| member != "country" && member != "region");
    is_begun.then_some(Value::Object(address))
}

/// Whether a form has something of an address that the cart does not store: it is half written, or only its country is
/// chosen.
pub(super) fn is_half_written(sent: &Fields, cart: &Value, country: &str) -> bool {
    let is_stored = |name: &str, member: &str| {
        let stored = cart.get(member).unwrap_or(&Value::Null);
        let known = if stored.is_null() { country } else { text(stored, "country") };
        let is_known =
            sent.text(&format!("{name}[country]")).is_none_or(|country| country == known);
        is_known && (address(sent, name).is_none() || !stored.is_null())
    };
    let has_own_billing = sent.get("bill_choice") == Some("other");
    let is_begun = || address(sent, "bill").is_some();
    !is_stored("ship", "shipping_address")
        || (has_own_billing && !(is_begun() && is_stored("bill", "billing_address")))
}

/// A field that an order needs and the form has not: the pointer of its address or its own, and the member of the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) pointer: String,
    /// The country of the address whose region lacks.
    pub(super) region_of: Option<String>,
}

/// The fields that lack of a form whose addresses are said to be complete. What the form does not have at all is the
/// cart's.
pub(super) fn missing(
    sent: &Fields,
    cart: &Value,
    (needs, country): (Needs, &str),
    is_order: bool,
) -> Vec<Missing> {
    // Something of an address that nothing needs is half of one.
    let needs =
        if address(sent, "ship").is_some() { Needs { place: true, ..needs } } else { needs };
    let mut all = lacks(sent, cart, ("ship", "shipping_address"), (needs, country));
    if sent.get("bill_choice") == Some("other") {
        let billing = ("bill", "billing_address");
        all.extend(lacks(sent, cart, billing, (Needs::RECIPIENT, country)));
    }
    let email = sent.get("email").unwrap_or_else(|| text(cart, "email"));
    if is_blank(email) && (is_order || !all.is_empty()) {
        all.insert(0, Missing { pointer: "/email".to_owned(), region_of: None });
    }
    all
}

fn lacks(
    sent: &Fields,
    cart: &Value,
    (name, member): (&str, &str),
    (needs, country): (Needs, &str),
) -> Vec<Missing> {
    let stored = cart.get(member).unwrap_or(&Value::Null);
    let value = |field: &str| {
        let sent = sent.get(&format!("{name}[{field}]"));
        sent.unwrap_or_else(|| text(stored, field))
    };
    let country = match value("country") {
        "" => country,
        chosen => chosen,
    };
    let fields = needs.members(country).into_iter().filter(|field| is_blank(value(field)));
    let missing = fields.map(|field| Missing {
        pointer: format!("/{member}/{field}"),
        region_of: (field == "region").then(|| country.to_owned()),
    });
    missing.collect()
}

/// The change of the cart that delivers to a saved address, with what else the form says.
pub(super) fn body_with(sent: &Fields, cart: &Value, address: Value) -> Value {
    let mut body = without_addresses(body(sent, cart));
    if let Some(members) = body.as_object_mut() {
        members.insert("contact".to_owned(), contact(&address));
        if sent.get("bill_choice") != Some("other") {
            members.insert("billing_address".to_owned(), address.clone());
        }
        members.insert("shipping_address".to_owned(), address);
    }
    body
}

/// What a change of the cart says of addresses.
const OF_ADDRESSES: [&str; 3] = ["shipping_address", "billing_address", "contact"];

/// Whether a pointer is into an address.
pub(super) fn is_of_address(pointer: &str) -> bool {
    pointer.split('/').nth(1).is_some_and(|member| OF_ADDRESSES.contains(&member))
}

/// A change of the cart without its addresses.
pub(super) fn without_addresses(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !OF_ADDRESSES.contains(&name.as_str()));
    }
    body
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
        let is_own = sent.get("bill_choice") == Some("other");
        let billing =
            if is_own { address(sent, "bill") } else { Some(shipping.unwrap_or_default()) };
        // An own one of which nothing is written yet is not the delivery's.
        if let Some(billing) = billing {
            body.insert("billing_address".to_owned(), billing);
        }
    }
    if let Some(rate) = sent.text("rate") {
        body.insert("shipping_rate_id".to_owned(), Value::from(rate));
    }
    if let Some(method) = sent.text("payment") {
        body.insert("payment".to_owned(), payment_of(method));
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
        Act::Continue(_) | Act::Use(_) | Act::Place => None,
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
        for act in ["to:delivery", "to:shipping", ""] {
            let sent = form(&format!("act={act}&code=SAVE"));
            assert_eq!(Act::of(&sent), Act::Apply("SAVE".to_owned()), "{act}");
        }
    }

    #[test]
    fn an_address_is_half_written_until_the_cart_has_it() {
        let empty = json!({"shipping_address": null, "billing_address": null});
        let stored = json!({"shipping_address": {"country": "GB", "line1": "Main 1"}});
        for (sent, cart, is_half) in [
            ("ship[country]=DE", &empty, false),
            ("ship[country]=GB", &empty, true),
            ("ship[country]=DE&ship[city]=Bonn", &empty, true),
            ("ship[country]=GB&ship[line1]=Main+1", &stored, false),
            ("ship[country]=DE&ship[line1]=Main+1", &stored, true),
            ("ship[country]=DE&bill_choice=other&bill[country]=DE", &empty, true),
            ("code=SAVE", &empty, false),
        ] {
            assert_eq!(is_half_written(&form(sent), cart, "DE"), is_half, "{sent}");
        }
    }

    #[test]
    fn every_field_that_lacks_is_named_at_once() {
        let cart = json!({"shipping_address": null, "billing_address": null, "email": null});
        let of = |sent: &str, needs: Needs, is_order: bool| {
            let all = missing(&form(sent), &cart, (needs, "US"), is_order);
            all.into_iter().map(|it| it.pointer).collect::<Vec<_>>()
        };
        let at = |member: &str, fields: &[&str]| {
            fields.iter().map(|field| format!("/{member}/{field}")).collect::<Vec<_>>()
        };
        let mut all = vec!["/email".to_owned()];
        all.extend(at(
            "shipping_address",
            &["last_name", "line1", "postal_code", "city", "region"],
        ));
        let empty = "email=&ship[country]=US&ship[last_name]=%E2%80%8B&bill_choice=same";
        assert_eq!(of(empty, Needs::RECIPIENT, true), all);
        assert_eq!(of(empty, Needs::RECIPIENT, false), all, "an e-mail address in the same round");
        let whole = "ship[country]=DE&ship[last_name]=King&ship[line1]=Weg+1&ship[city]=Bonn\
                     &ship[postal_code]=53111&bill_choice=same";
        assert!(of(whole, Needs::RECIPIENT, false).is_empty());
        assert_eq!(of(whole, Needs::RECIPIENT, true), ["/email"]);
        let billing = format!("{whole}&email=a@b.example").replace("=same", "=other");
        let billing = of(&billing, Needs::RECIPIENT, true);
        let needed = ["last_name", "line1", "postal_code", "city", "region"];
        assert_eq!(billing, at("billing_address", &needed));
        // Nothing needs an address where nothing is shipped, but half of one is none.
        assert!(of("ship[country]=DE", Needs::default(), false).is_empty());
        let half = of("email=a@b.example&ship[country]=DE&ship[city]=Bonn", Needs::default(), true);
        assert_eq!(half, at("shipping_address", &["line1", "postal_code"]));
    }

    #[test]
    fn what_the_form_does_not_have_is_the_carts() {
        let address =
            json!({"country": "IE", "last_name": "King", "line1": "1 Main", "city": "Cork"});
        let cart = json!({"shipping_address": address, "email": "a@b.example"});
        assert!(missing(&form("act=place"), &cart, (Needs::RECIPIENT, "US"), true).is_empty());
    }

    #[test]
    fn an_own_billing_address_without_anything_in_it_is_not_the_deliverys() {
        let sent = form("ship[line1]=Main+1&ship[country]=DE&bill_choice=other&bill[country]=DE");
        let body = body(&sent, &json!({}));
        assert!(body.get("billing_address").is_none(), "{body}");
    }

    #[test]
    fn only_the_button_below_the_addresses_says_that_they_are_complete() {
        for (act, is_within) in [
            ("to:shipping", false),
            ("place", false),
            ("to:delivery", true),
            ("to:rates", true),
            ("to:payment", true),
        ] {
            assert_eq!(Act::of(&form(&format!("act={act}"))).is_within_addresses(), is_within);
        }
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
