//! The cart of a visitor: found by its cookie or by the customer's session, created with its first line.

use crypto::seal;
use http::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Call};
use crate::fault::Fault;
use crate::paths::segment;
use crate::values::{text, with};
use crate::visit::{Opened, Visit};

/// A cart, and how this visitor opens it.
#[derive(Debug, Clone)]
pub(crate) struct Cart {
    pub(crate) opened: Opened,
    /// The API's response about it.
    pub(crate) json: Value,
}

impl Cart {
    /// The version that it has, as `If-Match` takes it.
    pub(crate) fn version(&self) -> Option<String> {
        self.json.get("version").and_then(Value::as_u64).map(|version| version.to_string())
    }

    /// The lines.
    pub(crate) fn lines(&self) -> &[Value] {
        lines(&self.json)
    }

    /// Whether it has no lines.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines().is_empty()
    }

    /// Whether something is missing or wrong at this place of the cart.
    pub(crate) fn names(&self, pointer: &str) -> bool {
        let all =
            |member: &str| self.json.get(member).and_then(Value::as_array).into_iter().flatten();
        all("missing").any(|missing| missing == pointer) || self.fault_at(pointer).is_some()
    }

    /// What is wrong at this place of the cart.
    pub(crate) fn fault_at(&self, pointer: &str) -> Option<&Value> {
        let mut all = self.json.get("faults").and_then(Value::as_array).into_iter().flatten();
        all.find(|fault| text(fault, "pointer") == pointer)
    }

    /// What a pointer into the cart is about: the title of a line, or a code.
    pub(crate) fn named_at(&self, pointer: &str) -> Option<String> {
        let mut parts = pointer.split('/').skip(1);
        let (member, place) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        match member {
            "discount_codes" => {
                let codes = self.json.get(member).and_then(Value::as_array);
                codes?.get(place)?.as_str().map(str::to_owned)
            }
            "lines" | "items" => self.lines().get(place).map(title_of).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// The lines that are sold, as a request sends them.
    pub(crate) fn sold_inputs(&self) -> Vec<Value> {
        self.sold_lines().map(|line| line_input(line, quantity_of(line))).collect()
    }

    /// The id of the line that a theme names by its key, by its variant, or by its place from 1.
    pub(crate) fn line(&self, named: &str) -> Option<&Value> {
        let has = |line: &&Value, member: &str| text(line, member) == named;
        let by = |member: &str| self.lines().iter().find(|line| has(line, member));
        by("id").or_else(|| by("variant_id"))
    }

    /// A digest of what a page shows of it besides its total: which cart it is, and its lines.
    pub(crate) fn digest(&self) -> String {
        let lines: Vec<Value> =
            self.lines().iter().map(|line| line_input(line, quantity_of(line))).collect();
        seal::digest(&json!([self.opened.id, lines]).to_string())
    }

    /// The lines that are shown: what is not sold any more has no name and no price, and the next change removes it.
    pub(crate) fn sold_lines(&self) -> impl Iterator<Item = &Value> {
        self.lines().iter().filter(|line| is_sold(line))
    }

    /// Whether it has lines that the next change removes.
    pub(crate) fn has_unsold(&self) -> bool {
        !self.lines().iter().all(is_sold)
    }

    /// The line that is shown at a place, from 1.
    pub(crate) fn line_at(&self, place: usize) -> Option<&Value> {
        self.sold_lines().nth(place.checked_sub(1)?)
    }
}

/// The lines of a cart, those included whose variants are not sold any more.
pub(crate) fn lines(cart: &Value) -> &[Value] {
    cart.get("lines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The title of a line, with its variant's where that says more.
pub(crate) fn title_of(line: &Value) -> String {
    let goods = line.get("merchandise").unwrap_or(&Value::Null);
    match text(goods, "variant_title") {
        "" | "Default" | "Default Title" => text(goods, "title").to_owned(),
        variant => format!("{} - {variant}", text(goods, "title")),
    }
}

/// Whether the store sells what a line names.
fn is_sold(line: &Value) -> bool {
    line.get("merchandise").is_some_and(Value::is_object)
}

fn path(opened: &Opened, below: &str) -> String {
    format!("/carts/{}{below}", segment(&opened.id))
}

impl Visit {
    /// The visitor's open cart, if there is one, as a part of a page.
    ///
    /// # Errors
    /// 503.
    pub(crate) async fn load_cart(&self) -> Result<Option<Cart>, Fault> {
        let found = match (self.cart(), self.has_session()) {
            (Some(opened), _) => {
                let call = self.call_of_cart(Method::GET, &opened, "").free();
                self.send(call).await.map(|answer| self.cart_of(&opened, &answer))
            }
            (None, true) => {
                let call = self.call_at(Method::GET, "/v1/storefront/customer/cart".to_owned());
                self.send(call.free()).await.map(|answer| {
                    let json = self.own_urls(&answer);
                    Cart { opened: Opened { id: text(&json, "id").to_owned(), token: None }, json }
                })
            }
            (None, false) => return Ok(None),
        };
        match found {
            // A cart that became an order is over; so is one that has expired.
            Ok(cart) if cart.json.get("order_id").is_some_and(|id| !id.is_null()) => Ok(None),
            Ok(cart) => Ok(Some(cart)),
            // That of a session that is over is not this guest's.
            Err(fault) if fault.is("not_found") || fault.is("unauthenticated") => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Sends a request about a cart, and returns the cart that the response shows.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn cart_call(
        &self,
        method: Method,
        opened: &Opened,
        below: &str,
        body: Option<Value>,
    ) -> Result<Cart, Fault> {
        let call = self.call_of_cart(method, opened, below);
        let call = match body {
            Some(body) => call.body(body),
            None => call,
        };
        let answer = self.send(call).await?;
        Ok(self.cart_of(opened, &answer))
    }

    fn call_of_cart(&self, method: Method, opened: &Opened, below: &str) -> Call {
        let call = self.call(method, &path(opened, below));
        call.header("x-service-cart-token", opened.token.clone())
    }

    fn cart_of(&self, opened: &Opened, answer: &Answer) -> Cart {
        Cart { opened: opened.clone(), json: self.own_urls(answer) }
    }

    /// Adds lines, to a new cart if the visitor has none.
    ///
    /// # Errors
    /// The problem of the answer: `unknown_variant` and limits as field errors.
    pub(crate) async fn add_lines(&self, lines: Vec<Value>) -> Result<Cart, Fault> {
        self.in_cart((Method::POST, "/lines"), json!({ "lines": lines })).await
    }

    /// Gives the cart these lines alone, and these discount codes if there are any. A code that is none is left out.
    ///
    /// # Errors
    /// As [`Visit::add_lines`].
    pub(crate) async fn fill_cart(&self, lines: Vec<Value>, codes: &[&str]) -> Result<Cart, Fault> {
        let body = json!({ "lines": lines });
        let change = (Method::PATCH, "");
        if codes.is_empty() {
            return self.in_cart(change, body).await;
        }
        let with_codes = with(body.clone(), "discount_codes", json!(codes));
        match self.in_cart(change.clone(), with_codes).await {
            Err(fault) if fault.fields.iter().any(|(at, _)| at.starts_with("/discount_codes")) => {
                self.in_cart(change, body).await
            }
            done => done,
        }
    }

    /// Sends lines to the visitor's cart, or to a new one.
    async fn in_cart(&self, (method, below): (Method, &str), body: Value) -> Result<Cart, Fault> {
        if let Some(opened) = self.cart() {
            match self.cart_call(method.clone(), &opened, below, Some(body.clone())).await {
                Err(fault) if fault.is("not_found") || fault.is("cart_converted") => {}
                done => return done,
            }
        }
        match self.send(self.call(Method::POST, "/carts").body(body.clone())).await {
            Ok(answer) => {
                let json = self.own_urls(&answer);
                let cart = json.get("cart").cloned().unwrap_or_default();
                let token = json.get("cart_token").and_then(Value::as_str).map(str::to_owned);
                let opened = Opened { id: text(&cart, "id").to_owned(), token };
                Ok(Cart { opened, json: cart })
            }
            // A customer has one cart, begun on another device.
            Err(fault) if fault.is("cart_exists") => {
                let id = text(&fault.problem, "cart_id").to_owned();
                let opened = Opened { id, token: None };
                self.cart_call(method, &opened, below, Some(body)).await
            }
            Err(fault) => Err(fault),
        }
    }

    /// Gives a cart these lines, unless it has changed since it was read.
    ///
    /// # Errors
    /// `precondition_failed`, and the problem of the answer.
    pub(crate) async fn replace_lines(
        &self,
        cart: &Cart,
        lines: Vec<Value>,
    ) -> Result<Cart, Fault> {
        let call = self.call_of_cart(Method::PATCH, &cart.opened, "").free();
        let call = call.header("if-match", cart.version()).body(json!({ "lines": lines }));
        let answer = self.send(call).await?;
        Ok(self.cart_of(&cart.opened, &answer))
    }

    /// Reads a cart again.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn reload_cart(&self, cart: &Cart) -> Result<Cart, Fault> {
        let call = self.call_of_cart(Method::GET, &cart.opened, "").free();
        let answer = self.send(call).await?;
        Ok(self.cart_of(&cart.opened, &answer))
    }

    /// Changes members of a cart, as a consequence of a change that was charged.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn adjust_cart(&self, cart: &Cart, body: Value) -> Result<Cart, Fault> {
        let call = self.call_of_cart(Method::PATCH, &cart.opened, "").free().body(body);
        let answer = self.send(call).await?;
        Ok(self.cart_of(&cart.opened, &answer))
    }

    /// Changes members of a cart.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn patch_cart(&self, cart: &Cart, body: Value) -> Result<Cart, Fault> {
        self.cart_call(Method::PATCH, &cart.opened, "", Some(body)).await
    }
}

/// The number of units of a line, of a cart or an order.
pub(crate) fn quantity_of(line: &Value) -> u64 {
    line.get("quantity").and_then(Value::as_u64).unwrap_or_default()
}

/// The properties of a line of a cart or an order that are shown: not those whose names begin with `_`, which are for the merchant.
pub(crate) fn properties(line: &Value) -> impl Iterator<Item = (&String, &str)> {
    let all = line.get("properties").and_then(Value::as_object).into_iter().flatten();
    all.filter(|(name, _)| !name.starts_with('_'))
        .map(|(name, value)| (name, value.as_str().unwrap_or_default()))
}

/// A line of a cart as a request sends it.
pub(crate) fn line_input(line: &Value, quantity: u64) -> Value {
    json!({
        "variant_id": line.get("variant_id"), "quantity": quantity,
        "properties": line.get("properties"), "metadata": line.get("metadata"),
    })
}
