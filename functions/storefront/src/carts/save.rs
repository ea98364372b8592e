//! What requests about a cart have in common: who may see it, its price, and how a change is written.

use callers::Shopper;
use core_types::id::CartId;
use core_types::key;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use gateway::request::IfMatch;
use identity::customer::Customer;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, FieldError, Problem};
use sales::cart::Cart;
use sales::cart::view::CartView;
use sales::workflows::place_order::{self, PricedCart};
use table::retry;

use super::token::CartToken;

/// A request about a cart: the store, and the shopper as prices and discounts depend on them.
pub(super) struct Session<'a> {
    pub(super) app: &'a App,
    store: &'a Store,
    account: Option<&'a Customer>,
    pub(super) network: String,
}

/// The response about a cart.
pub(super) fn to_response(view: &CartView) -> NoStore<Json<CartView>> {
    Json::new(view).version(view.version).no_store()
}

impl<'a> Session<'a> {
    pub(super) fn of(app: &'a App, caller: &'a Shopper, network: &str) -> Self {
        let account = caller.customer.as_ref().map(|customer| &customer.account);
        Self { app, store: caller.store(), account, network: network.to_owned() }
    }

    pub(super) fn of_customer(app: &'a App, caller: &'a callers::Customer, network: &str) -> Self {
        let network = network.to_owned();
        Self { app, store: &caller.store, account: Some(&caller.account), network }
    }

    pub(super) fn store(&self) -> &'a Store {
        self.store
    }

    pub(super) fn account(&self) -> Option<&'a Customer> {
        self.account
    }

    /// Loads a cart that this request may see.
    ///
    /// # Errors
    /// `not_found`.
    pub(super) async fn shown(&self, id: &CartId, token: &CartToken) -> Result<Cart, Problem> {
        let found: Option<Cart> = self.app.table.get(&key::cart(&self.store.id, id)).await?;
        let cart = found.ok_or(Code::NotFound)?;
        let token = token.presented(self.app).await?;
        let customer = self.account.map(|account| &account.id);
        cart.ensure_shown_to(customer, token.as_ref(), self.app.clock.now())?;
        Ok(cart)
    }

    /// Prices a cart; none if it is empty or has become an order.
    async fn price(&self, cart: &Cart) -> Result<Option<PricedCart>, Problem> {
        if cart.lines.is_empty() || cart.order_id.is_some() {
            return Ok(None);
        }
        let (content, placement) = cart.content(self.store, self.account, self.network.clone());
        let priced = place_order::inspect(self.app, self.store, &content, &placement);
        Box::pin(priced).await.map(Some)
    }

    /// The response about a cart as it is.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn show(&self, cart: &Cart) -> Result<NoStore<Json<CartView>>, Problem> {
        let priced = self.price(cart).await?;
        Ok(to_response(&CartView::of(cart, priced.as_ref())))
    }

    /// Prices a changed cart. Returns it as it is stored, with the prices that the response shows, and the response.
    ///
    /// # Errors
    /// `validation_failed` for new lines that the store does not sell.
    pub(super) async fn priced(
        &self,
        next: Cart,
        now: Timestamp,
    ) -> Result<(Cart, CartView), Problem> {
        let next = next.in_currency_of(self.store);
        let priced = self.price(&next).await?;
        ensure_sold(&next, priced.as_ref())?;
        let view = CartView::of(&next, priced.as_ref());
        let lines = priced.iter().flat_map(|priced| &priced.quote.lines);
        let prices = lines.map(|line| (line.line.position, &line.sellable.price));
        Ok((next.with_prices(prices).stored(self.store, now), view))
    }

    /// Changes a cart to what `change` returns. An unchanged cart is not written.
    ///
    /// # Errors
    /// `not_found`, `cart_converted`, `precondition_failed`, `version_conflict`; those of `change`.
    pub(super) async fn change(
        &self,
        id: &CartId,
        token: &CartToken,
        if_match: IfMatch,
        change: impl Fn(&Cart) -> Result<Cart, Problem>,
    ) -> Result<NoStore<Json<CartView>>, Problem> {
        retry(|| async {
            let cart = self.shown(id, token).await?;
            if_match.check(cart.version)?;
            cart.ensure_open()?;
            let next = change(&cart)?;
            if next == cart {
                return self.show(&cart).await;
            }
            let now = self.app.clock.now();
            let (next, view) = self.priced(next.changed(now), now).await?;
            let write = self.app.table.write().replace(&next, Code::VersionConflict);
            write.answer(to_response(&view), now).await
        })
        .await
    }
}

/// Ensures that the store sells the lines that a request has named and that were never priced.
fn ensure_sold(cart: &Cart, priced: Option<&PricedCart>) -> Result<(), Problem> {
    let Some(priced) = priced else { return Ok(()) };
    let mut errors = Vec::new();
    for (position, line) in cart.lines.iter().enumerate() {
        let Some(given) = line.given.filter(|_| line.price.is_none()) else { continue };
        for member in ["variant_id", "quantity"] {
            let pointer = format!("/items/{position}/{member}");
            let found = priced.field_errors.iter().filter(|error| error.pointer == pointer);
            errors.extend(found.map(|error| FieldError {
                pointer: format!("/lines/{given}/{member}"),
                ..error.clone()
            }));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}
