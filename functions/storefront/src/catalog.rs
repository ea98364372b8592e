//! The catalogue as shoppers see it: products, categories and collections.

mod ask;
mod groups;
mod page;
mod source;
mod stock;
mod view;

use axum::extract::State;
use catalogue::product::Product;
use gateway::app::App;
use gateway::budget::has_read_enough;
use gateway::page::Paging;
use gateway::problem::Problem;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query, Ruled};
use gateway::table::Scanned;
use ground::fields::{Handle, Subdomain};
use identity::storefront::{FRESH, Shopfront};

use ask::ListQuery;
use page::ProductPage;
use source::Source;
use stock::Stock;
use view::{ProductCard, ProductDetail};

pub use groups::{categories, category, collection, collections};

/// Rounds in which a page is filled with products in stock, or out of it.
const ROUNDS: u32 = 5;

/// `GET /v1/storefront/{subdomain}/products`: the products that shoppers see. One query for the
/// page and at most three batches, side by side, for its stock; a page whose filter lets little
/// through may be shorter than asked for, with more to come.
///
/// # Errors
/// `store_not_found`; `not_found` for an unknown category or collection; `validation_failed`;
/// `invalid_cursor`.
pub async fn list(
    caller: Shopfront,
    State(app): State<App>,
    Ruled(Query(ask)): Ruled<Query<ListQuery>>,
    paging: Paging,
) -> Result<Page<ProductCard>, Problem> {
    let store = caller.store();
    let source = Source::open(&app, store, &ask).await?;
    let wanted = ask.in_stock.map(|flag| flag.0.0);
    let rounds = if wanted.is_some() { ROUNDS } else { 1 };
    let mut cards = Scanned::at(paging.start());
    for _ in 0..rounds {
        let missing = paging.limit().saturating_sub(cards.items.len());
        let found = source.page(&app, missing, cards.next.take()).await?;
        let products: Vec<&Product> = found.items.iter().collect();
        let stock = Stock::of(&app, store, &products).await?;
        let shown = |product: &Product| wanted.is_none_or(|w| stock.has(product, store) == w);
        let card = |product| shown(&product).then(|| ProductCard::of(&product, &stock, store));
        cards.extend(found.filter_map(card));
        let is_full = cards.items.len() >= paging.limit();
        if cards.next.is_none() || is_full || has_read_enough() {
            break;
        }
    }
    let answer = paging.finish(&app, cards, |card| card).await?;
    Ok(answer.cached(FRESH))
}

/// `GET /v1/storefront/{subdomain}/products/{handle}`: a product with its variants, and some
/// others a shopper may like.
///
/// # Errors
/// `store_not_found`; `not_found`, also for a product that is not for sale.
pub async fn show(
    caller: Shopfront,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<Json<ProductDetail>, Problem> {
    let store = caller.store();
    let page = ProductPage::load(&app, store, &handle).await?;
    Ok(Json::new(&ProductDetail::of(&page, store)).cached(FRESH))
}
