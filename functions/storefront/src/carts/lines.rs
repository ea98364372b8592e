//! The lines of a cart, one at a time. All of them at once are `lines` of [`super::update`].

use std::collections::BTreeMap;

use axum::extract::State;
use callers::Shopper;
use core_types::fields::Metadata;
use core_types::id::{CartId, CartLineId};
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, IfMatch, Path};
use primitives::fields::{AtMost, Int, Patch, Text};
use primitives::input::request;
use primitives::problem::Problem;
use sales::cart::view::CartView;
use sales::order::MAX_QUANTITY;
use sales::order::cart::LineInput;

use super::save::Session;
use super::token::CartToken;

/// Lines to add.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct AddLinesRequest {
    /// The lines. Their units are added to those of an equal line.
    lines: AtMost<LineInput, 200>,
}

/// `POST /v1/storefront/{subdomain}/carts/{id}/lines` (`createCartLines`): Add lines to a cart.
///
/// Units of a variant with equal properties are added to the line that has them. Send an `Idempotency-Key` with a
/// request that may be repeated.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// expired, another shopper's, or without the right token; `cart_converted`, with `order_id`;
/// `precondition_failed`, `version_conflict`; `unknown_variant` and limits as field errors.
pub(crate) async fn add(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
    if_match: IfMatch,
    Body(input): Body<AddLinesRequest>,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let lines = &input.lines.0;
    session.change(&id, &token, if_match, |cart| cart.clone().with_added(lines.clone())).await
}

/// A change of a line.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct UpdateLineRequest {
    /// The number of units; 0 removes the line.
    quantity: Option<Int<0, MAX_QUANTITY>>,
    /// All key-value pairs of the line.
    metadata: Patch<Metadata>,
}

/// `PATCH /v1/storefront/{subdomain}/carts/{id}/lines/{line_id}` (`updateCartLine`): Change a line of a cart.
///
/// Other properties make another line: remove this one and add that.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: a cart that is
/// unknown, expired, another shopper's, or without the right token, or a line that it does not have;
/// `cart_converted`, with `order_id`; `precondition_failed`, `version_conflict`.
pub(crate) async fn update(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id, line)): Path<(Text<0, 100>, CartId, CartLineId)>,
    token: CartToken,
    if_match: IfMatch,
    Body(input): Body<UpdateLineRequest>,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let quantity = input.quantity.map(|quantity| u32::try_from(quantity.0).unwrap_or(0));
    let metadata = match &input.metadata {
        Patch::Keep => None,
        Patch::Clear => Some(BTreeMap::default()),
        Patch::Set(metadata) => Some(metadata.0.clone()),
    };
    let (line, metadata) = (&line, &metadata);
    session
        .change(&id, &token, if_match, |cart| {
            cart.clone().with_line(line, quantity, metadata.clone())
        })
        .await
}

/// `DELETE /v1/storefront/{subdomain}/carts/{id}/lines/{line_id}` (`removeCartLine`): Remove a line from a cart.
///
/// Returns the cart without the line.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: a cart that is
/// unknown, expired, another shopper's, or without the right token, or a line that it does not have;
/// `cart_converted`, with `order_id`; `precondition_failed`, `version_conflict`.
pub(crate) async fn remove(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id, line)): Path<(Text<0, 100>, CartId, CartLineId)>,
    token: CartToken,
    if_match: IfMatch,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let line = &line;
    session.change(&id, &token, if_match, |cart| cart.clone().with_line(line, Some(0), None)).await
}
