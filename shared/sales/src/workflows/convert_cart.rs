//! Turns a saved cart into its order. The conversion is in the transaction of the order, on condition of the cart's
//! version: of checkouts at one moment, one makes an order and the others find it.

use core_types::event::Event;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::{Completion, Write};

use super::place_order::{self, Cart as OrderContent, OrderPlacement};
use crate::cart::view::CartSummary;
use crate::cart::{CART_CONVERTED, Cart};
use crate::order::Order;
use identity::store::Store;

/// Converts the cart in the transaction that its completion commits.
struct Converting<'a, C> {
    cart: &'a Cart,
    completion: &'a C,
}

impl<C: Completion<Order>> Completion<Order> for Converting<'_, C> {
    type Output = C::Output;

    async fn commit(
        &self,
        write: Write,
        order: &Order,
        now: Timestamp,
    ) -> Result<Self::Output, Problem> {
        let converted = self.cart.converted(&order.id, now);
        let summary = CartSummary::of(&converted, &self.cart.lines);
        let event = Event::new(&CART_CONVERTED, converted.event_subject(), &summary, now);
        let write = write.replace(&converted, Code::CartConverted).emit(event);
        self.completion.commit(write, order, now).await
    }

    fn unchanged(&self, order: &Order) -> Self::Output {
        self.completion.unchanged(order)
    }
}

/// Orders the content of a cart.
///
/// # Errors
/// `cart_converted`, with the order, also when another checkout was faster; `version_conflict` if the cart was
/// changed meanwhile; `not_found` if it was deleted; those of [`place_order::place`].
pub async fn convert<C: Completion<Order>>(
    services: &Services,
    store: &Store,
    cart: &Cart,
    (content, placement): (&OrderContent, &OrderPlacement),
    completion: &C,
) -> Result<C::Output, Problem> {
    cart.ensure_open()?;
    let converting = Converting { cart, completion };
    let placed = place_order::place(services, store, content, placement, &converting);
    let rejected = match Box::pin(placed).await {
        Err(rejected) if rejected.code.status() < 500 => rejected,
        outcome => return outcome,
    };
    // Whoever was faster may have taken what this one lacks.
    let now: Option<Cart> = services.table.get(&cart.key()).await?;
    now.ok_or(Code::NotFound)?.ensure_open()?;
    match rejected.code {
        Code::CartConverted => Err(Code::VersionConflict.into()),
        _ => Err(rejected),
    }
}
