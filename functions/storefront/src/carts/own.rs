//! The cart of a signed-in customer.

use axum::extract::State;
use core_types::id::CartId;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use gateway::request::{Path, Raw};
use primitives::fields::Text;
use primitives::problem::{Code, Problem};
use sales::cart::Cart;
use sales::cart::owned::{self, OwnCart};
use sales::cart::view::CartView;
use table::{Write, retry};

use super::save::{Session, to_response};
use super::token::CartToken;

/// `GET /v1/storefront/customer/cart` (`getOwnCart`): Get the customer's own cart.
///
/// A customer has one open cart at a store. It is changed at the storefront's `carts/{id}`, without a token.
///
/// # Errors
/// `not_found`: they have none.
pub(crate) async fn get(
    caller: callers::Customer,
    State(app): State<App>,
    Raw(inbound): Raw,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let own = OwnCart::load(&app, &caller.store.id, &caller.account.id).await?;
    let cart = own.cart.ok_or(Code::NotFound)?;
    Session::of_customer(&app, &caller, &inbound.client_prefix()).show(&cart).await
}

/// `POST /v1/storefront/{subdomain}/carts/{id}/merge` (`mergeCart`): Merge a guest's cart into the customer's.
///
/// For after a sign-in: the path names the guest's cart, and the header has its token. It becomes the customer's
/// cart. If they have one, its content is added to that, up to the limits, and it is deleted: quantities of equal
/// lines are added up, codes and gift cards united, and of the buyer the customer's own cart wins. The token
/// ends.
///
/// # Errors
/// `storefront_not_found`; `not_found`: unknown, expired, another customer's, or without the right token;
/// `cart_converted`, with `order_id`; `version_conflict`.
pub(crate) async fn merge(
    caller: callers::Customer,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, CartId)>,
    token: CartToken,
) -> Result<NoStore<Json<CartView>>, Problem> {
    let session = Session::of_customer(&app, &caller, &token.network);
    let account = &caller.account;
    retry(|| async {
        let guests = session.shown(&id, &token).await?;
        guests.ensure_open()?;
        if let Some(owner) = &guests.customer_id {
            let is_theirs = *owner == account.id;
            return if is_theirs {
                session.show(&guests).await
            } else {
                Err(Code::NotFound.into())
            };
        }
        let own = OwnCart::load(&app, &caller.store.id, &account.id).await?;
        let now = app.clock.now();
        let next = match &own.cart {
            Some(cart) => cart.merged(&guests, now),
            None => guests.adopted(account, now),
        };
        let (next, view) = session.priced(next, now).await?;
        let write = app.table.write().replace(&next, Code::VersionConflict);
        joined(write, (&own, &guests, &next)).answer(to_response(&view), now).await
    })
    .await
}

/// Adds what becomes of a guest's cart: it is the customer's, or deleted.
fn joined(write: Write, (own, guests, next): (&OwnCart, &Cart, &Cart)) -> Write {
    match (&own.cart, &next.customer_id) {
        (None, Some(customer)) => own.point_to(write, next, customer),
        _ => owned::delete(write, guests),
    }
}
