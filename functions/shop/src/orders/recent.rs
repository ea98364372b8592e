//! The orders that a browser has placed or opened of late, and may show again without a session.

use axum::response::Response;
use http::Method;
use maud::{Markup, html};
use serde_json::Value;

use super::shown::ShownOrder;
use crate::fault::Fault;
use crate::paths::segment;
use crate::values::text;
use crate::visit::{ORDER, Opened, Visit};
use crate::words::fill;

/// The most orders of a cookie.
const MOST: usize = 5;
/// Stands between the orders of a cookie: in no id and no token.
const BETWEEN: char = '~';

/// The orders of a cookie, the latest first.
fn parse(cookie: &str) -> impl Iterator<Item = Opened> {
    cookie.split(BETWEEN).filter(|one| !one.is_empty()).map(Opened::parse).take(MOST)
}

/// The cookie with one more order.
fn with(cookie: &str, opened: &Opened) -> String {
    let others = parse(cookie).filter(|other| other.id != opened.id);
    let all: Vec<String> =
        std::iter::once(opened.clone()).chain(others).take(MOST).map(|it| it.written()).collect();
    all.join(&BETWEEN.to_string())
}

impl Visit {
    /// The orders that this browser has a token for, the latest first.
    fn recent_orders(&self) -> Vec<Opened> {
        self.cookie(ORDER).map(|cookie| parse(cookie).collect()).unwrap_or_default()
    }

    /// The token that this browser has for an order.
    pub(crate) fn order_token(&self, id: &str) -> Option<String> {
        self.recent_orders().into_iter().find(|order| order.id == id)?.token
    }

    /// A response after which this browser has the token of an order, too.
    pub(crate) fn with_order(&self, response: Response, opened: &Opened) -> Response {
        let value = with(self.cookie(ORDER).unwrap_or_default(), opened);
        self.with_cookie(response, ORDER, &value)
    }

    /// Whether a token opens its order, whoever has it.
    ///
    /// # Errors
    /// 429, 503.
    pub(super) async fn is_opened(&self, opened: &Opened) -> Result<bool, Fault> {
        let call = self.public(&format!("/orders/{}", segment(&opened.id)));
        match self.send(call.header("x-service-order-token", opened.token.clone())).await {
            Ok(_) => Ok(true),
            Err(fault) if fault.status.is_server_error() || fault.retry_after.is_some() => {
                Err(fault)
            }
            Err(_) => Ok(false),
        }
    }

    /// The latest order of this browser that is left to pay.
    async fn unpaid_order(&self) -> Option<ShownOrder> {
        for Opened { id, .. } in self.recent_orders() {
            let call = self.order_call(Method::GET, &id, &format!("/orders/{}", segment(&id)));
            let Ok(answer) = self.send(call.free()).await else { continue };
            let json = answer.json();
            let actions = json.get("allowed_actions").and_then(Value::as_array);
            if actions.is_some_and(|all| all.iter().any(|action| action == "pay")) {
                return Some(ShownOrder { id, json });
            }
        }
        None
    }

    /// Where the cart is empty: what leads back to an order that is left to pay.
    pub(crate) async fn unpaid_notice(&self) -> Option<Markup> {
        let order = self.unpaid_order().await?;
        let words = self.words();
        let number = [("number", text(&order.json, "number"))];
        Some(html! {
            div.notice role="status" {
                p {
                    (fill(words.not_paid_yet, &number)) " "
                    a href={ "/orders/" (order.id) } { (words.pay_or_look) }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(id: &str) -> Opened {
        Opened { id: id.to_owned(), token: Some(format!("token-of-{id}")) }
    }

    #[test]
    fn a_browser_keeps_its_last_orders() {
        let mut cookie = String::new();
        for number in 0..8 {
            cookie = with(&cookie, &opened(&format!("ord_{number}")));
        }
        let ids: Vec<String> = parse(&cookie).map(|order| order.id).collect();
        assert_eq!(ids, ["ord_7", "ord_6", "ord_5", "ord_4", "ord_3"]);
        let again = with(&cookie, &opened("ord_4"));
        let ids: Vec<String> = parse(&again).map(|order| order.id).collect();
        assert_eq!(ids, ["ord_4", "ord_7", "ord_6", "ord_5", "ord_3"]);
        assert_eq!(parse(&again).next(), Some(opened("ord_4")));
        assert_eq!(parse("").count(), 0);
    }
}
