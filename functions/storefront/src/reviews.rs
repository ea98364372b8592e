//! Reviews of products: read by everybody, written by customers.

use axum::extract::State;
use catalogue::product::{self, Product, ProductSummary, UniqueProductHandle};
use catalogue::review::{self, Opinion, PublicReview, REVIEW_CREATED, Review, ReviewStatus};
use core_types::fields::{Handle, Subdomain};
use core_types::id::{OrderId, OrderItemId, ProductId, ReviewId};
use core_types::key;
use core_types::rating::Rating;
use core_types::resource::Resource;
use gateway::app::App;
use table::item::Item;
use gateway::page::Paging;
use primitives::problem::{Code, Problem};
use gateway::reply::{Created, Page};
use gateway::request::{Body, Path, request};
use primitives::fields::{Int, Text};
use table::{Query, retry};
use identity::customer::Customer;
use identity::settings::Settings;
use identity::store::Store;
use platform::caller;
use sales::order::{Order, OrderStatus};
use schemars::JsonSchema;
use serde::Serialize;

use crate::viewer::Viewer;

/// Orders of a customer among which a purchase is looked for, newest first (our choice).
const ORDERS: usize = 200;

/// The product of the path's handle, if shoppers see it, and the store's settings.
async fn named_with_settings(
    app: &App,
    store: &Store,
    handle: &Handle,
) -> Result<(Product, Settings), Problem> {
    let id = product::find(app, &store.id, handle).await?.ok_or(Code::NotFound)?;
    let (key, untouched) = (key::product(&store.id, &id), Settings::of(store));
    let mut batch = app.table.get_many(&[&key, &untouched.key()]).await?;
    let product: Option<Product> = batch.take(&key)?;
    let product = product.filter(Product::is_visible).ok_or(Code::NotFound)?;
    Ok((product, batch.take(&untouched.key())?.unwrap_or(untouched)))
}

/// What a product's reviews come to together.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewSummary {
    /// Of the approved reviews.
    rating: Rating,
}

/// `GET /v1/storefront/{subdomain}/products/{handle}/reviews` (`listStorefrontReviews`):
/// List approved reviews of a product.
///
/// Reviews come newest first, with the average rating.
///
/// # Errors
/// `store_not_found`, `not_found`.
pub(crate) async fn list(
    shop: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
    paging: Paging,
) -> Result<Page<PublicReview, ReviewSummary>, Problem> {
    let store = &shop.store().id;
    let claim: Option<UniqueProductHandle> =
        app.table.peek(&key::unique_product_handle(store, handle.as_str())).await?;
    let UniqueProductHandle { product_id, created_at, .. } = claim.ok_or(Code::NotFound)?;
    let any = ReviewId::derive(&["any"]);
    let entry = key::approved_reviews_of_product(store, &product_id, created_at, &any);
    let query = Query::partition_of(entry).newest_first();
    let card_key = key::summary(store, &product_id);
    let (summary, found) = tokio::try_join!(
        app.table.peek::<ProductSummary>(&card_key),
        paging.read(&app, &query, |_: &Review| true),
    )?;
    // A card says what its product does of being for sale, and of what reviews add up to.
    let summary = summary.filter(ProductSummary::is_visible).ok_or(Code::NotFound)?;
    let paging = paging.with(ReviewSummary { rating: summary.rating() });
    paging.finish(&app, found, |review| PublicReview::from(&review)).await
}

/// A review to write.
#[request]
#[derive(Debug)]
pub(crate) struct WriteRequest {
    /// One star to five.
    rating: Int<1, 5>,
    /// The headline.
    title: Text<1, 120>,
    /// What the customer says.
    body: Text<1, 5000>,
    /// The line of an order by which they bought it.
    order_item_id: Option<OrderItemId>,
}

/// A review as its author sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnReview {
    #[serde(flatten)]
    public: PublicReview,
    product_id: ProductId,
    order_item_id: Option<OrderItemId>,
    /// Whether it is shown.
    status: ReviewStatus,
}

impl From<&Review> for OwnReview {
    fn from(review: &Review) -> Self {
        Self {
            public: review.into(),
            product_id: review.product_id.clone(),
            order_item_id: review.order_item_id.clone(),
            status: review.status,
        }
    }
}

/// `POST /v1/storefront/{subdomain}/products/{handle}/reviews` (`createReview`): Create a review of a product.
///
/// The store approves it, unless its settings publish reviews at once. There is one for each purchase, and
/// one without.
///
/// # Errors
/// `already_reviewed`, `not_found`; `purchase_required` where the store takes reviews of purchases
/// alone, otherwise a fault of `order_item_id`, when the customer did not buy the product by it.
pub(crate) async fn write(
    caller: caller::Customer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
    Body(input): Body<WriteRequest>,
) -> Result<Created<OwnReview>, Problem> {
    let (product, settings) = named_with_settings(&app, &caller.store, &handle).await?;
    let is_bought = match &input.order_item_id {
        Some(line) => bought(&app, &caller.account, &product.id, line).await?,
        None => false,
    };
    match &input.order_item_id {
        _ if is_bought => {}
        _ if settings.reviews.purchase_required => return Err(Code::PurchaseRequired.into()),
        Some(_) => {
            let detail = "Must be a line of one of your paid orders, with this product.";
            return Err(Problem::field("/order_item_id", "unknown_order_item", detail));
        }
        None => {}
    }
    let opinion = Opinion {
        order_item_id: input.order_item_id,
        rating: u8::try_from(input.rating.0).map_err(Problem::internal)?,
        title: input.title.into(),
        body: input.body.into(),
    };
    let now = app.clock.now();
    let review =
        Review::write(&product.id, &caller.account, opinion, settings.reviews.auto_publish, now);
    retry(|| async {
        let again = Code::AlreadyReviewed.detail("You have already reviewed this product.");
        let write = app.table.write().create(&review, again).put(&review.pointer());
        review::count(&app, write, None, &review)
            .await?
            .emit(review.event(&REVIEW_CREATED, now))
            .answer(Created::new(&OwnReview::from(&review)).version(review.version), now)
            .await
    })
    .await
}

/// Whether a line with the product is in one of the customer's orders that stand and are paid,
/// or which the store honours as if they were.
async fn bought(
    app: &App,
    customer: &Customer,
    product: &ProductId,
    line: &OrderItemId,
) -> Result<bool, Problem> {
    let any = OrderId::derive(&["any"]);
    let query = Query::partition_of(key::orders_of_customer(
        &customer.store_id,
        &customer.id,
        customer.created_at,
        &any,
    ))
    .newest_first();
    let orders: Vec<Order> = app.table.all(&query, ORDERS).await?;
    let stands = |order: &&Order| matches!(order.status, OrderStatus::Open | OrderStatus::Closed);
    let paid = orders.iter().filter(stands).filter(|order| order.is_firm());
    let mut lines = paid.flat_map(|order| &order.items);
    Ok(lines.any(|item| item.id == *line && item.product_id == *product))
}
