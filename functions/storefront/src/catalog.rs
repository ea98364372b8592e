//! The catalogue as shoppers see it: products, categories and collections.

mod ask;
mod groups;
mod source;
mod stock;
mod view;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use commerce::fields::{Handle, Subdomain};
use commerce::id::StoreId;
use commerce::product::{self, Product};
use commerce::storefront::{FRESH, Shopfront};
use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::MINUTE;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::request::{Path, Query};
use gateway::table::Scanned;

use ask::ListQuery;
use source::Source;
use stock::Stock;
use view::{Card, Detail};

pub use groups::{categories, category, collection, collections};

/// Products shown beside a product.
const MAX_RELATED: usize = 4;
/// The newest products of a store, from which those beside a product are chosen.
const SHELF: usize = 60;
/// How long a process chooses from the same ones (our choice).
const SHELF_LIFE: Duration = MINUTE;
/// Rounds in which a page is filled with products in stock, or out of it.
const ROUNDS: u32 = 5;

/// `GET /v1/storefront/{subdomain}/products`: the products that shoppers see. One query for the
/// page and one batch for its stock; a page whose filter lets little through may be shorter than
/// asked for, with more to come.
///
/// # Errors
/// `store_not_found`; `not_found` for an unknown category or collection; `validation_failed`;
/// `invalid_cursor`.
pub async fn list(
    caller: Shopfront,
    State(app): State<App>,
    Query(ask): Query<ListQuery>,
    paging: Paging,
) -> Result<Answer, Problem> {
    ask.check()?;
    let store = caller.store();
    let source = Source::open(&app, store, &ask).await?;
    let wanted = ask.in_stock.map(|flag| flag.0);
    let rounds = if wanted.is_some() { ROUNDS } else { 1 };
    let mut cards = Scanned { items: Vec::new(), next: paging.start() };
    for _ in 0..rounds {
        let missing = paging.limit().saturating_sub(cards.items.len());
        let found = source.page(&app, missing, cards.next.take()).await?;
        let products: Vec<&Product> = found.items.iter().collect();
        let stock = Stock::of(&app, store, &products).await?;
        let shown = products.into_iter().filter(|p| wanted.is_none_or(|w| stock.has(p) == w));
        cards.items.extend(shown.map(|product| Card::of(product, &stock)));
        cards.next = found.next;
        if cards.next.is_none() || cards.items.len() >= paging.limit() {
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
) -> Result<Answer, Problem> {
    let store = caller.store();
    let id = product::find(&app, &store.id, &handle).await?.ok_or(Code::NotFound)?;
    let (found, variants) = product::load(&app, &store.id, &id).await?.ok_or(Code::NotFound)?;
    if !found.is_visible() {
        return Err(Code::NotFound.into());
    }
    let shelf = shelf(&app, &store.id).await?;
    let related = related(&found, &shelf.0);
    let beside = related.iter().filter(|other| !other.sells_without_stock);
    let ids = variants.iter().map(|variant| &variant.id);
    let ids = ids.chain(beside.flat_map(|other| &other.variant_ids));
    let stock = Stock::read(&app, store, ids).await?;
    let detail = Detail::of(&found, &variants, &related, &stock, store);
    Ok(Answer::ok(&detail).cached(FRESH))
}

/// The newest products of a store, as they were a moment ago.
struct Shelf(Vec<Product>);

async fn shelf(app: &App, store: &StoreId) -> Result<Arc<Shelf>, Problem> {
    let now = app.clock.now();
    if let Some(kept) = app.cache.get::<Shelf>(store.as_str(), now) {
        return Ok(kept);
    }
    let query = source::visible(store).newest_first();
    let shelf = Arc::new(Shelf(app.table.all(&query, SHELF).await?));
    app.cache.keep(store.as_str(), Arc::clone(&shelf), now, SHELF_LIFE);
    Ok(shelf)
}

/// Those of `others` that have most in common with the product: its category, its type, its maker,
/// its tags. The newer of equal ones comes first; what has nothing in common comes last.
fn related<'a>(product: &Product, others: &'a [Product]) -> Vec<&'a Product> {
    let same = |own: &Option<String>, other: &Option<String>| own.is_some() && own == other;
    let likeness = |other: &&Product| {
        let tags = other.tags.iter().filter(|tag| product.tags.contains(tag)).count();
        let category = product.category_id.is_some() && product.category_id == other.category_id;
        let points = [
            (category, 8),
            (same(&product.product_type, &other.product_type), 4),
            (same(&product.vendor, &other.vendor), 2),
        ];
        let points = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points);
        tags.saturating_add(points.sum::<usize>())
    };
    let mut others: Vec<&Product> = others.iter().filter(|o| o.id != product.id).collect();
    others.sort_by_key(|other| std::cmp::Reverse(likeness(other)));
    others.truncate(MAX_RELATED);
    others
}
