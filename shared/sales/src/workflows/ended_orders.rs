//! Whether all orders of a variant have ended, so that it can be deleted.

use catalogue::product::Variant;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Query;

use crate::order::Order;

/// The most orders of a store since the variant was created that are searched (our choice). A store with more of
/// them discontinues the variant.
const MAX_SEARCHED: usize = 2_000;

/// Requires that no order of these variants of one store is open or closed: all were cancelled or have expired.
/// The search is eventually consistent: an order of the last moment is found by what it holds of the stock, which
/// no deletion passes over.
///
/// # Errors
/// `product_has_orders`.
pub async fn ensure(services: &Services, variants: Vec<Variant>) -> Result<(), Problem> {
    let Some(store) = variants.first().map(|variant| &variant.store_id) else { return Ok(()) };
    let created = variants.iter().map(|variant| variant.created_at).min();
    let created = created.unwrap_or(Timestamp::from_millis(0));
    // The sort keys begin with the time: one after any of the same moment ends with a tilde.
    let (low, high) = (format!("{created}#"), format!("{}#~", services.clock.now()));
    let all = Query::list(key::list::orders_of_store(store));
    let query = all.between(low, high).newest_first().without_read_limit();
    let limit = MAX_SEARCHED.saturating_add(1);
    let orders: Vec<Order> = services.table.all(&query, limit).await?;
    let has = |order: &Order| {
        let mut items = order.items.iter();
        items.any(|item| variants.iter().any(|variant| variant.id == item.variant_id))
    };
    let in_use = orders.iter().any(|order| !order.is_over() && has(order));
    if in_use || orders.len() > MAX_SEARCHED { Err(Code::ProductHasOrders.into()) } else { Ok(()) }
}
