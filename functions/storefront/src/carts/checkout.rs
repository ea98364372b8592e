//! The order of a cart.

use axum::extract::State;
use callers::Shopper;
use core_types::id::CartId;
use core_types::money::MoneyInput;
use crypto::seal;
use gateway::app::App;
use gateway::idempotency::{self, answering};
use gateway::reply::{Created, NoStore};
use gateway::request::{Body, IfMatch, Path};
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::Problem;
use sales::cart::content::expecting;
use sales::order::Order;
use sales::order::cart::expected;
use sales::workflows::convert_cart;
use sales::workflows::place_order::OrderPlacement;
use table::retry;

use super::save::Session;
use super::token::CartToken;
use crate::checkout::{PlacedOrder, placed};

/// The checkout of a cart.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct CartCheckoutRequest {
    /// The total that the shopper expects; another one is rejected with `price_changed`.
    expected_total: Option<MoneyInput>,
}

/// `POST /v1/storefront/{subdomain}/carts/{id}/checkout` (`placeCartOrder`): Place the order of a cart.
///
/// Places an order of what the cart has, at the prices of its responses, and converts the cart: it can not be
/// changed any more, and names its order. Of checkouts at one moment one places the order.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// expired, another shopper's, or without the right token; `cart_converted`, with `order_id`;
/// `precondition_failed`, `version_conflict`, `insufficient_stock`, `price_changed`,
/// `store_not_accepting_orders`, `account_required`; the blocking faults of the cart as field errors.
pub(crate) async fn convert(
    caller: Shopper,
    State(app): State<App>,
    _: idempotency::Required,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
    if_match: IfMatch,
    Body(input): Body<CartCheckoutRequest>,
) -> Result<NoStore<Created<PlacedOrder>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let mut errors = Vec::new();
    let expected_total = expected(input.expected_total.as_ref(), session.store(), &mut errors);
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let order_token = seal::random_secret();
    let completion = answering(|order: &Order| placed(order, &order_token));
    let (session, expected_total, completion) = (&session, &expected_total, &completion);
    let digest = &seal::digest(&order_token);
    retry(|| async {
        let cart = session.shown(&id, &token).await?;
        if_match.check(cart.version)?;
        let (content, placement) =
            cart.content(session.store(), session.account(), session.network.clone());
        let content = expecting(content, expected_total.clone());
        let placement = OrderPlacement { order_token_digest: Some(digest.clone()), ..placement };
        let terms = (&content, &placement);
        convert_cart::convert(session.app, session.store(), &cart, terms, completion).await
    })
    .await
}
