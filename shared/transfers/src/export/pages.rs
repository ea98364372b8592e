//! Pages of an export, by kind: each reads a bounded number of objects, and adds them to the output.

use catalogue::category::Tree;
use catalogue::inventory::{Level, Movement, MovementView};
use catalogue::location::Location;
use catalogue::product::{Product, Variant};
use core_types::key;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use identity::address::{Address, MAX_ADDRESSES};
use identity::customer::Customer;
use primitives::problem::Problem;
use sales::order::{Order, OrderView};
use services::Services;
use table::item::{Item, Key};
use table::{Query, WalkPosition};

use super::step::ExportOutput;
use super::{Export, ExportKind, customers, movements, orders, person, products, stock};
use crate::FileFormat;

/// The number of items in one page.
const PAGE: usize = 100;
/// The number of movements in one page.
const MOVEMENTS: usize = 500;
/// The most locations of one store that are loaded.
const MAX_LOCATIONS: usize = 1_000;
/// The number of customers or variants whose further items are read at once.
const AT_ONCE: usize = 8;

/// Reads one page, and advances the export's place. Returns whether it was the last page.
pub(super) async fn page(
    services: &Services,
    export: &mut Export,
    output: &mut ExportOutput,
) -> Result<bool, Problem> {
    match export.kind {
        ExportKind::Products => products_page(services, export, output).await,
        ExportKind::Orders => {
            let all = Query::list(key::list::orders_of_store(&export.store_id));
            let requested = export.clone();
            let wanted = move |order: &Order| requested.is_requested(order.created_at);
            let (found, place) = walk(services, export, all, wanted).await?;
            for order in &found {
                output.add(export.format, || orders::rows(order), &OrderView::from(order));
            }
            Ok(place)
        }
        ExportKind::Customers => {
            let all = Query::list(key::list::customers_of_store(&export.store_id));
            let requested = export.clone();
            let wanted = move |customer: &Customer| requested.is_requested(customer.created_at);
            let (found, place) = walk(services, export, all, wanted).await?;
            let addresses = each(&found, |customer| addresses_of(services, customer)).await?;
            for (customer, addresses) in found.iter().zip(&addresses) {
                let line = customers::CustomerLine::of(customer, addresses);
                output.add(export.format, || customers::rows(customer, addresses), &line);
            }
            Ok(place)
        }
        ExportKind::Inventory => stock_page(services, export, output).await,
        ExportKind::Movements => movements_page(services, export, output).await,
        ExportKind::Customer => person::page(services, export, output).await,
    }
}

/// Reads something of each item, several at once. Returns the results in their order.
async fn each<'a, T, R, F>(items: &'a [T], read: impl Fn(&'a T) -> F) -> Result<Vec<R>, Problem>
where
    F: Future<Output = Result<R, Problem>>,
{
    let reads: Vec<F> = items.iter().map(read).collect();
    stream::iter(reads).buffered(AT_ONCE).try_collect().await
}

/// Loads the addresses of a customer, the default one first.
async fn addresses_of(services: &Services, customer: &Customer) -> Result<Vec<Address>, Problem> {
    if customer.addresses_count == 0 {
        return Ok(Vec::new());
    }
    let query = Query::partition(customer.key().pk).begins_with(key::ADDRESSES);
    let limit = usize::try_from(MAX_ADDRESSES).unwrap_or(usize::MAX);
    let mut addresses: Vec<Address> = services.table.all(&query, limit).await?;
    addresses.sort_by_key(|address| customer.default_address_id.as_ref() != Some(&address.id));
    Ok(addresses)
}

/// Reads the next page of a list. Returns its items, and whether it was the last page.
async fn walk<T: Item>(
    services: &Services,
    export: &mut Export,
    query: Query,
    wanted: impl Fn(&T) -> bool,
) -> Result<(Vec<T>, bool), Problem> {
    let (found, place): (Vec<T>, Option<WalkPosition>) =
        services.table.walk(&[query], PAGE, export.place.as_ref(), wanted).await?;
    export.place = place;
    Ok((found, export.place.is_none()))
}

fn all_products(export: &Export) -> Query {
    Query::list(key::list::products_of_store(&export.store_id))
}

/// Loads the next products that the export asks for, with their variants, and says whether they are the last.
async fn requested_products(
    services: &Services,
    export: &mut Export,
) -> Result<(Vec<(Product, Vec<Variant>)>, bool), Problem> {
    let requested = export.clone();
    let wanted = move |product: &Product| requested.is_requested(product.created_at);
    let (found, is_last) = walk(services, export, all_products(export), wanted).await?;
    Ok((with_variants(services, found).await?, is_last))
}

async fn products_page(
    services: &Services,
    export: &mut Export,
    output: &mut ExportOutput,
) -> Result<bool, Problem> {
    let (found, is_last) = requested_products(services, export).await?;
    let has_category = found.iter().any(|(product, _)| product.category_id.is_some());
    let tree = if has_category && export.format == FileFormat::Jsonl {
        Tree::get_eventually(services, &export.store_id).await?
    } else {
        Tree::default()
    };
    for (product, variants) in &found {
        let line = products::ProductLine::of(product, variants, &tree);
        output.add(export.format, || products::rows(product, variants), &line);
    }
    Ok(is_last)
}

/// Reads the stock of a page of products, at all locations.
async fn stock_page(
    services: &Services,
    export: &mut Export,
    output: &mut ExportOutput,
) -> Result<bool, Problem> {
    let (found, is_last) = requested_products(services, export).await?;
    let all = Query::partition(key::store(&export.store_id).pk).begins_with(key::LOCATIONS);
    let locations: Vec<Location> = services.table.all(&all, MAX_LOCATIONS).await?;
    for (product, mut variants) in found {
        variants.retain(|variant| variant.tracked);
        let levels = each(&variants, |variant| levels_of(services, variant)).await?;
        for (variant, levels) in variants.iter().zip(&levels) {
            for level in levels {
                let location = locations.iter().find(|one| one.id == level.location_id);
                let item = (&product, variant);
                let line = stock::LevelLine::of(item, level, location);
                output.add(export.format, || vec![stock::row(item, level, location)], &line);
            }
        }
    }
    Ok(is_last)
}

async fn levels_of(services: &Services, variant: &Variant) -> Result<Vec<Level>, Problem> {
    let partition = key::sellable(&variant.store_id, &variant.id).pk;
    let query = Query::partition(partition).begins_with(key::LEVELS);
    services.table.all(&query, MAX_LOCATIONS).await
}

/// Loads the variants of products, a hundred in one round trip.
async fn with_variants(
    services: &Services,
    found: Vec<Product>,
) -> Result<Vec<(Product, Vec<Variant>)>, Problem> {
    let of = |product: &Product| -> Vec<Key> {
        let ids = product.variant_ids.iter();
        ids.map(|id| key::variant(&product.store_id, &product.id, id)).collect()
    };
    let keys: Vec<Key> = found.iter().flat_map(of).collect();
    let mut variants = std::collections::HashMap::new();
    for keys in keys.chunks(100) {
        let mut batch =
            services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        for key in keys {
            variants.extend(batch.take::<Variant>(key)?.map(|one| (key.clone(), one)));
        }
    }
    let whole = found.into_iter().map(|product| {
        let own = of(&product).iter().filter_map(|key| variants.remove(key)).collect();
        let own = product.arranged(own);
        (product, own)
    });
    Ok(whole.collect())
}

/// Reads a page of movements of the current product, or proceeds to the next product.
async fn movements_page(
    services: &Services,
    export: &mut Export,
    output: &mut ExportOutput,
) -> Result<bool, Problem> {
    let Some((id, place)) = export.within.take() else {
        let mut found: Vec<Product> = Vec::new();
        let at = export.place.as_ref();
        let (products, place) =
            services.table.walk(&[all_products(export)], 1, at, |_| true).await?;
        found.extend(products);
        let is_last = place.is_none();
        export.place = place;
        export.within = found.pop().map(|product| (product.id, None));
        // After the last product, its own page reports the end.
        return Ok(is_last && export.within.is_none());
    };
    let is_last = export.place.is_none();
    let Some((product, variants)) =
        catalogue::product::get_eventually(services, &export.store_id, &id).await?
    else {
        return Ok(is_last);
    };
    let of =
        |variant: &Variant| Query::partition(key::movements_of(&variant.store_id, &variant.id));
    let queries: Vec<Query> = variants.iter().map(of).collect();
    let requested = export.clone();
    let wanted = move |movement: &Movement| requested.is_requested(movement.created_at);
    let (found, place) = services.table.walk(&queries, MOVEMENTS, place.as_ref(), wanted).await?;
    for movement in &found {
        let variant = variants.iter().find(|variant| variant.id == movement.variant_id);
        let row = || vec![movements::row(movement, &product, variant)];
        output.add(export.format, row, &MovementView::from(movement));
    }
    match place {
        Some(place) => {
            export.within = Some((id, Some(place)));
            Ok(false)
        }
        None => Ok(is_last),
    }
}
