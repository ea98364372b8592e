//! A customer's wishlist.

use axum::extract::{FromRequestParts, State};
use catalogue::product::{Product, Variant};
use catalogue::wishlist::{self, Wish, WishView};
use core_types::id::{ProductId, VariantId};
use core_types::key;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Either, Json, NoContent, Page};
use gateway::request::{Argument, Body, Inbound, Raw, Reads, Validation};
use http::request::Parts;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use serde_json::Value;
use services::Services;
use table::item::{Item, Key};
use table::{Query, retry};

/// The maximum number of wishes for a product: one for each variant, and one for the product itself.
const PER_PRODUCT: usize = 101;
/// The maximum number of wishes removed in one transaction.
const TOGETHER: usize = 90;

/// `GET /v1/storefront/customer/wishlist` (`listWishes`): List the customer's wishlist.
///
/// Each wish has its product's present state. Wishes for the newest products come first.
pub(crate) async fn list(
    caller: callers::Customer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<WishView>, Problem> {
    let account = &caller.account;
    let query = Query::partition(account.key().pk).begins_with(key::WISHES).newest_first();
    let found = paging.read(&app, &query, |_: &Wish| true).await?;
    let keys: Vec<Key> = found.items.iter().map(product_key).collect();
    let mut batch = app.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let mut products: Vec<Product> = Vec::new();
    for key in &keys {
        products.extend(batch.take::<Product>(key)?);
    }
    let product = |wish: &Wish| products.iter().find(|product| product.id == wish.product_id);
    paging.finish(&app, found, |wish| wish.view(product(&wish))).await
}

fn product_key(wish: &Wish) -> Key {
    key::product(&wish.store_id, &wish.product_id)
}

/// A product to add.
#[request]
#[derive(Debug)]
pub(crate) struct AddRequest {
    /// The product.
    product_id: ProductId,
    /// The variant, if a particular one is wanted.
    variant_id: Option<VariantId>,
}

/// `POST /v1/storefront/customer/wishlist` (`createWish`): Add a product to the wishlist.
///
/// If it is on the wishlist already, the response is 200 and nothing is written.
///
/// # Errors
/// `not_found` for a product that is not visible, or a variant that it does not have;
/// `wishlist_limit`.
pub(crate) async fn create(
    caller: callers::Customer,
    State(app): State<App>,
    Body(input): Body<AddRequest>,
) -> Result<Either<Json<WishView>, Created<WishView>>, Problem> {
    let account = &caller.account;
    let store = &account.store_id;
    let product_key = key::product(store, &input.product_id);
    let variant_key =
        input.variant_id.as_ref().map(|id| key::variant(store, &input.product_id, id));
    retry(|| async {
        let now = app.clock.now();
        let wish = Wish::new(account, input.product_id.clone(), input.variant_id.clone(), now);
        let wish_key = wish.key();
        let keys: Vec<&Key> =
            [&product_key, &wish_key].into_iter().chain(variant_key.as_ref()).collect();
        let mut batch = app.table.get_many(&keys).await?;
        let product = batch.take::<Product>(&product_key)?.filter(Product::is_visible);
        let product = product.ok_or(Code::NotFound)?;
        if let Some(variant_key) = &variant_key {
            batch.take::<Variant>(variant_key)?.ok_or(Code::NotFound)?;
        }
        if let Some(wish) = batch.take::<Wish>(&wish_key)? {
            return Ok(Either::Left(Json::new(&wish.view(Some(&product)))));
        }
        let created = Created::new(&wish.view(Some(&product)));
        wishlist::add(app.table.write(), account, &wish).answer(Either::Right(created), now).await
    })
    .await
}

/// The requested product, from the path, the body or the query, and the variant, if named.
pub(crate) struct Wished((ProductId, Option<VariantId>));

/// The variant, if the path names the product.
#[request]
#[derive(Debug)]
struct OfProduct {
    /// The variant.
    #[expect(dead_code, reason = "it has been read")]
    variant_id: Option<Text<0, 100>>,
}

/// The product's and the variant's ids.
#[request]
#[derive(Debug)]
struct WishedFields {
    /// The product.
    #[expect(dead_code, reason = "it has been read")]
    product_id: Option<Text<0, 100>>,
    /// The variant.
    #[expect(dead_code, reason = "it has been read")]
    variant_id: Option<Text<0, 100>>,
}

impl Argument for Wished {
    const READS: Reads = Reads::BODY.and(Reads::QUERY);

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        validation.insert(Some(Self(requested_ids(validation.inbound)?)));
        let body = (validation.inbound.method != http::Method::GET)
            .then(|| validation.body())
            .transpose()?;
        for fields in [Some(validation.query()), body].into_iter().flatten() {
            if validation.inbound.param("product_id").is_some() {
                validation.read::<OfProduct>(fields);
            } else {
                validation.read::<WishedFields>(fields);
            }
        }
        Ok(())
    }

    gateway::describes! { |operation| {
        if operation.path.is_empty() {
            operation.takes_query::<WishedFields>();
            operation.takes_body::<WishedFields>("application/json");
        } else {
            operation.takes_in_path::<ProductId>(0);
            operation.takes_query::<OfProduct>();
        }
        operation.rejects(&[Code::NotFound, Code::ValidationFailed]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Wished {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// Reads the ids of the requested product and variant.
///
/// # Errors
/// `id_required`; `not_found` for a malformed id.
fn requested_ids(inbound: &Inbound) -> Result<(ProductId, Option<VariantId>), Problem> {
    let body = inbound.json()?;
    let text = |name: &str| match body.get(name) {
        Some(Value::String(id)) => Some(id.clone()),
        _ => inbound.query_param(name),
    };
    let product = inbound.param("product_id").map(str::to_owned).or_else(|| text("product_id"));
    let detail = "`product_id` is required, in the path, the body or the query.";
    let product = product.ok_or_else(|| Code::IdRequired.detail(detail))?;
    let product = ProductId::parse(&product).ok_or(Code::NotFound)?;
    let variant = text("variant_id").map(|id| VariantId::parse(&id).ok_or(Code::NotFound));
    Ok((product, variant.transpose()?))
}

/// Loads the customer's wishes for a product, or for one variant of it.
///
/// # Errors
/// `not_found`: there is none.
async fn wishes(
    services: &Services,
    caller: &callers::Customer,
    (product, variant): &(ProductId, Option<VariantId>),
) -> Result<Vec<Wish>, Problem> {
    let partition = Query::partition(caller.account.key().pk);
    let query = partition.begins_with(Wish::prefix_of(product));
    let mut wishes: Vec<Wish> = services.table.all(&query, PER_PRODUCT).await?;
    wishes.retain(|wish| variant.is_none() || wish.variant_id == *variant);
    if wishes.is_empty() { Err(Code::NotFound.into()) } else { Ok(wishes) }
}

/// `GET /v1/storefront/customer/wishlist/{product_id}` (`getWish`): Check whether a product is on the wishlist.
///
/// Returns the first wish for the product; with `variant_id`, the one for that variant.
///
/// # Errors
/// `not_found`: it is not on the wishlist.
pub(crate) async fn get(
    caller: callers::Customer,
    State(app): State<App>,
    Wished(named): Wished,
) -> Result<Json<WishView>, Problem> {
    let wishes = wishes(&app, &caller, &named).await?;
    let first = wishes.first().ok_or(Code::NotFound)?;
    let product: Option<Product> = app.table.get(&product_key(first)).await?;
    Ok(Json::new(&first.view(product.as_ref())))
}

/// `DELETE /v1/storefront/customer/wishlist` (`removeNamedWish`):
/// Remove a product named by body or query from the wishlist.
///
/// Removes every wish for the product that the body or the query names; with `variant_id`, the one for that
/// variant.
///
/// # Errors
/// `id_required`, `not_found`.
pub(crate) async fn delete(
    caller: callers::Customer,
    State(app): State<App>,
    Wished(named): Wished,
) -> Result<NoContent, Problem> {
    remove_all(&app, &caller, &named).await
}

/// `DELETE /v1/storefront/customer/wishlist/{product_id}` (`removeWish`): Remove a product from the wishlist.
///
/// Removes every wish for a product; with `variant_id`, the one for that variant.
///
/// # Errors
/// `not_found`.
pub(crate) async fn remove_product(
    caller: callers::Customer,
    State(app): State<App>,
    Wished(named): Wished,
) -> Result<NoContent, Problem> {
    remove_all(&app, &caller, &named).await
}

async fn remove_all(
    services: &Services,
    caller: &callers::Customer,
    named: &(ProductId, Option<VariantId>),
) -> Result<NoContent, Problem> {
    retry(|| async {
        let wishes = wishes(services, caller, named).await?;
        let mut together: Vec<&[Wish]> = wishes.chunks(TOGETHER).collect();
        let last = together.pop().unwrap_or_default();
        for some in together {
            wishlist::remove(services.table.write(), &caller.account, some).commit().await?;
        }
        wishlist::remove(services.table.write(), &caller.account, last)
            .answer(NoContent::default(), services.clock.now())
            .await
    })
    .await
}
