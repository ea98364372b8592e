//! Carts of shoppers: created, read, changed and deleted. Their lines are in [`lines`], their order in
//! [`checkout`], the cart of a signed-in customer in [`own`].
//!
//! A guest's cart is opened by its token, a customer's by their session. Whoever has neither is answered as if
//! there were no such cart.

pub(crate) mod checkout;
mod input;
pub(crate) mod lines;
pub(crate) mod own;
mod save;
mod token;

use axum::extract::State;
use callers::Shopper;
use core_types::id::CartId;
use crypto::seal;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Created, Json, NoContent, NoStore};
use gateway::request::{Body, IfMatch, Path, Raw};
use primitives::fields::Text;
use primitives::problem::{Code, Problem};
use sales::cart::Cart;
use sales::cart::owned::{self, OwnCart};
use sales::cart::view::CartView;
use schemars::JsonSchema;
use serde::Serialize;
use table::retry;

use input::CartRequest;
use save::Session;
use token::CartToken;

/// The response to the creation of a cart.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedCart {
    /// The cart.
    cart: CartView,
    /// The token with which the cart can be read, changed and ordered. Returned once; null for a customer's cart,
    /// which their session opens.
    cart_token: Option<String>,
}

/// `POST /v1/storefront/{subdomain}/carts` (`createCart`): Create a cart.
///
/// A cart stores what a shopper has chosen, and is priced with each response as its order will be. It expires 30
/// days after its last change. A signed-in customer has one open cart at a store.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `cart_exists`, with
/// `cart_id`; `too_many_attempts`; `unknown_variant`, `unknown_discount_code`, `unknown_gift_card` and limits
/// as field errors.
pub(crate) async fn create(
    caller: Shopper,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<CartRequest>,
) -> Result<NoStore<Created<CreatedCart>>, Problem> {
    let session = Session::of(&app, &caller, &inbound.client_prefix());
    let account = session.account();
    let (session, input) = (&session, &input.prepared(&session).await?);
    retry(|| async {
        let now = app.clock.now();
        let own = match account {
            Some(account) => OwnCart::load(&app, &session.store().id, &account.id).await?,
            None => OwnCart::default(),
        };
        if let Some(cart) = &own.cart {
            return Err(Code::CartExists.with("cart_id", cart.id.as_str()));
        }
        let token = account.is_none().then(seal::random_secret);
        let digest = token.as_deref().map(seal::digest);
        let customer = account.map(|account| account.id.clone());
        let empty = Cart::new(session.store(), customer, digest, now);
        let next = input.apply(session.store(), &empty)?;
        let (next, cart) = session.priced(next, now).await?;
        let write = app.table.write().create(&next, Code::VersionConflict);
        let write =
            write.when_some(account, |write, account| own.point_to(write, &next, &account.id));
        let version = next.version;
        let reply = Created::new(&CreatedCart { cart, cart_token: token }).version(version);
        write.answer(reply.no_store(), now).await
    })
    .await
}

/// `GET /v1/storefront/{subdomain}/carts/{id}` (`getCart`): Get a cart by token or as its customer.
///
/// The cart is priced now. `faults` and `missing` say what keeps it from being ordered.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// expired, another shopper's, or without the right token.
pub(crate) async fn get(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let cart = session.shown(&id, &token).await?;
    session.show(&cart).await
}

/// `PATCH /v1/storefront/{subdomain}/carts/{id}` (`updateCart`): Change a cart.
///
/// Omitted members stay, `null` clears. `lines` and `discount_codes` are whole sets; gift cards are added by
/// code, and removed by id.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// expired, another shopper's, or without the right token; `cart_converted`, with `order_id`;
/// `precondition_failed`, `version_conflict`; `too_many_attempts`; `unknown_variant`, `unknown_discount_code`,
/// `unknown_gift_card` and limits as field errors.
pub(crate) async fn update(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
    if_match: IfMatch,
    Body(input): Body<CartRequest>,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    let input = input.prepared(&session).await?;
    session.change(&id, &token, if_match, |cart| input.apply(session.store(), cart)).await
}

/// `DELETE /v1/storefront/{subdomain}/carts/{id}` (`deleteCart`): Delete a cart.
///
/// A cart that nobody deletes expires.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// expired, another shopper's, or without the right token; `cart_converted`, with `order_id`;
/// `precondition_failed`, `version_conflict`.
pub(crate) async fn delete(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let session = Session::of(&app, &caller, &token.network);
    retry(|| async {
        let cart = session.shown(&id, &token).await?;
        if_match.check(cart.version)?;
        cart.ensure_open()?;
        let write = owned::delete(app.table.write(), &cart);
        write.answer(NoContent::default(), app.clock.now()).await
    })
    .await
}
