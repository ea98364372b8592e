//! What a checkout offers for a cart.

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

use crate::address::ADDRESS;
use crate::cart::{Cart, lines};
use crate::fault::Fault;
use crate::values;
use crate::visit::Visit;

/// What a checkout offers for a cart.
pub(crate) struct Offers {
    /// The shipping rates for its address, and the lines of the address where a pickup is collected.
    pub(crate) rates: Vec<(Value, Vec<String>)>,
    /// Why nothing is shipped there.
    pub(crate) no_rates: Option<String>,
    /// The payment methods.
    pub(crate) methods: Vec<Value>,
}

/// The provider of payments that are arranged with the shop.
pub(crate) const MANUAL: &str = "manual";

/// Whether what is due depends on the payment method: cards count currencies of three decimals in steps of ten.
pub(super) fn rounds(cart: &Cart) -> bool {
    cart.json.get("currency_exponent").and_then(Value::as_u64) == Some(3)
}

impl Offers {
    /// The cart with the method that the page checks first, where the total depends on it and the shopper has not chosen yet.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(super) async fn with_first_method(
        &self,
        visit: &Visit,
        cart: &Cart,
    ) -> Result<Cart, Fault> {
        let is_chosen = cart.json.get("payment").is_some_and(|payment| !payment.is_null());
        let Some(first) = self.methods.first().filter(|_| rounds(cart) && !is_chosen) else {
            return Ok(cart.clone());
        };
        let payment = payment_of(values::text(first, "id"));
        visit.adjust_cart(cart, json!({ "payment": payment })).await
    }

    pub(super) async fn load(visit: &Visit, cart: &Cart) -> Result<Self, Fault> {
        let (rates, methods) =
            tokio::join!(rates(visit, cart), visit.get_charged("/payments/methods"));
        let methods = sorted(values::items(&methods?));
        match rates {
            Ok(rates) => {
                let places = join_all(rates.iter().map(|rate| visit.pickup_place(rate))).await;
                Ok(Self { rates: rates.into_iter().zip(places).collect(), no_rates: None, methods })
            }
            Err(fault) if is_of_shop(&fault) => Err(fault),
            Err(fault) => {
                let detail = fault.sentences().join(" ");
                Ok(Self { rates: Vec::new(), no_rates: Some(detail), methods })
            }
        }
    }
}

/// Payment methods with those of providers first: the first one is chosen for who chooses none, and the shop's own ones are
/// more work for both.
pub(crate) fn sorted(mut methods: Vec<Value>) -> Vec<Value> {
    methods.sort_by_key(|method| values::text(method, "provider") == MANUAL);
    methods
}

/// The shipping rates for the cart's address; without one, the pickups in the store's country. None if nothing is shipped.
pub(super) async fn rates(visit: &Visit, cart: &Cart) -> Result<Vec<Value>, Fault> {
    if !is_shipped(cart) {
        return Ok(Vec::new());
    }
    let address = cart.json.get("shipping_address").filter(|address| !address.is_null());
    let Some(address) = address else {
        let at_home = json!({ "country": visit.store().country });
        let rates = rates_to(visit, cart, at_home).await;
        let rates =
            rates.or_else(|fault| if is_of_shop(&fault) { Err(fault) } else { Ok(Vec::new()) });
        return Ok(rates?.into_iter().filter(is_pickup).collect());
    };
    rates_to(visit, cart, destination(address)).await
}

/// Whether a rate is collected by the shopper.
pub(super) fn is_pickup(rate: &Value) -> bool {
    values::text(rate, "kind") == "pickup"
}

/// Whether a fault says nothing about the cart.
fn is_of_shop(fault: &Fault) -> bool {
    fault.status.is_server_error() || fault.retry_after.is_some()
}

async fn rates_to(visit: &Visit, cart: &Cart, address: Value) -> Result<Vec<Value>, Fault> {
    let line = |line: &Value| {
        json!({"variant_id": line.get("variant_id"), "quantity": line.get("quantity"),
            "properties": line.get("properties")})
    };
    let items: Vec<Value> = cart.lines().iter().map(line).collect();
    // A code that does not apply is told at the code.
    let codes = cart.json.get("discount_codes").and_then(Value::as_array).into_iter().flatten();
    let applies = |place: usize| cart.fault_at(&format!("/discount_codes/{place}")).is_none();
    let codes: Vec<&Value> =
        codes.enumerate().filter(|(place, _)| applies(*place)).map(|(_, code)| code).collect();
    let body = json!({ "items": items, "shipping_address": address, "discount_codes": codes });
    let answer = visit
        .send(visit.call(Method::POST, "/shipping-rates").free().with_known_codes().body(body))
        .await?;
    Ok(values::items(&answer.json()))
}

/// A payment as requests have it, of the id of its method: `stripe`, `manual:bank-transfer`.
pub(super) fn payment_of(id: &str) -> Value {
    match id.split_once(':') {
        Some((provider, method)) => json!({"provider": provider, "method": method}),
        None => json!({ "provider": id }),
    }
}

/// An address as requests have it: without what the API has found out about it.
pub(super) fn destination(address: &Value) -> Value {
    let members = address.as_object().into_iter().flatten();
    let known =
        members.filter(|(name, value)| ADDRESS.contains(&name.as_str()) && !value.is_null());
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether anything in the cart is shipped.
pub(super) fn is_shipped(cart: &Cart) -> bool {
    lines(&cart.json).iter().any(|line| {
        line.pointer("/merchandise/requires_shipping").and_then(Value::as_bool).unwrap_or(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_chosen_before_what_is_arranged() {
        let method = |provider: &str, id: &str| json!({"provider": provider, "id": id});
        let all = [
            method("manual", "manual:a"),
            method("stripe", "stripe"),
            method("manual", "manual:b"),
        ];
        let ids: Vec<String> =
            sorted(all.to_vec()).iter().map(|it| values::text(it, "id").to_owned()).collect();
        assert_eq!(ids, ["stripe", "manual:a", "manual:b"]);
    }
}
