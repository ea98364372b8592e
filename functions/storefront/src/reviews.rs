//! Reviews of products: public, written by customers.

use axum::extract::State;
use catalogue::product::{self, Product, ProductSummary, UniqueProductHandle};
use catalogue::review::{self, PublicReview, REVIEW_CREATED, Review, ReviewContent, ReviewStatus};
use core_types::fields::{Handle, Subdomain};
use core_types::id::{OrderItemId, ProductId};
use core_types::key;
use core_types::rating::Rating;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, NoContent, Page};
use gateway::request::{Body, Path};
use identity::customer::Customer;
use identity::settings::Settings;
use identity::store::Store;
use primitives::fields::{Int, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::order::{Order, OrderStatus};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Query, retry};

use crate::viewer::Viewer;

/// The maximum number of a customer's orders that are searched for a purchase, newest first (our choice).
const ORDERS: usize = 200;

/// Loads the visible product of a handle, and the store's settings.
async fn load_product(
    services: &Services,
    store: &Store,
    handle: &Handle,
) -> Result<(Product, Settings), Problem> {
    let id = product::find(services, &store.id, handle).await?.ok_or(Code::NotFound)?;
    let (key, default) = (key::product(&store.id, &id), Settings::of(store));
    let mut batch = services.table.get_many(&[&key, &default.key()]).await?;
    let product: Option<Product> = batch.take(&key)?;
    let product = product.filter(Product::is_visible).ok_or(Code::NotFound)?;
    Ok((product, batch.take(&default.key())?.unwrap_or(default)))
}

/// Loads a product that a customer may review: the subject of a review.
///
/// # Errors
/// `not_found`.
pub(crate) async fn ensure_exists(
    caller: callers::Customer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<NoContent, Problem> {
    load_product(&app, &caller.store, &handle).await.map(|_| NoContent::default())
}

/// The summary of a product's reviews.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewSummary {
    /// The average rating of the approved reviews, and their number.
    rating: Rating,
}

/// `GET /v1/storefront/{subdomain}/products/{handle}/reviews` (`listStorefrontReviews`):
/// List approved reviews of a product.
///
/// Reviews come newest first, with the average rating.
///
/// # Errors
/// `storefront_not_found`, `not_found`.
pub(crate) async fn list(
    shop: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
    paging: Paging,
) -> Result<Page<PublicReview, ReviewSummary>, Problem> {
    let store = &shop.store().id;
    let claim: Option<UniqueProductHandle> =
        app.table.peek(&key::unique_product_handle(store, handle.as_str())).await?;
    let UniqueProductHandle { product_id, .. } = claim.ok_or(Code::NotFound)?;
    let approved = key::list::approved_reviews_of_product(store, &product_id);
    let query = Query::list(approved).newest_first();
    let summary_key = key::summary(store, &product_id);
    let (summary, found) = tokio::try_join!(
        app.table.peek::<ProductSummary>(&summary_key),
        paging.read(&app, &query, |_: &Review| true),
    )?;
    // The product summary has the product's visibility and rating.
    let summary = summary.filter(ProductSummary::is_visible).ok_or(Code::NotFound)?;
    let paging = paging.with_extras(ReviewSummary { rating: summary.rating() });
    paging.finish(&app, found, |review| PublicReview::from(&review)).await
}

/// A review to write.
#[request]
#[derive(Debug)]
pub(crate) struct WriteRequest {
    /// The rating: 1 to 5 stars.
    rating: Int<1, 5>,
    /// The headline.
    title: Text<1, 120>,
    /// The text.
    body: Text<1, 5000>,
    /// The order line of the purchase.
    order_item_id: Option<OrderItemId>,
}

/// A review, as its author sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnReview {
    #[serde(flatten)]
    public: PublicReview,
    product_id: ProductId,
    order_item_id: Option<OrderItemId>,
    /// Whether it is approved, and so public.
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
/// The store approves the review, unless its settings publish reviews at once. A customer can write one for
/// each purchase of the product, and one without a purchase.
///
/// # Errors
/// `already_reviewed`, `not_found`; `purchase_required` without a purchase by `order_item_id`, where the
/// store accepts reviews of purchases alone; elsewhere a field error of a wrong `order_item_id`.
pub(crate) async fn create(
    caller: callers::Customer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
    Body(input): Body<WriteRequest>,
) -> Result<Created<OwnReview>, Problem> {
    let (product, settings) = load_product(&app, &caller.store, &handle).await?;
    let is_bought = match &input.order_item_id {
        Some(line) => bought(&app, &caller.account, &product.id, line).await?,
        None => false,
    };
    match &input.order_item_id {
        _ if is_bought => {}
        _ if settings.reviews.purchase_required => return Err(Code::PurchaseRequired.into()),
        Some(_) => {
            let detail = "Must be an order line of yours that is paid and has this product.";
            return Err(Problem::field("/order_item_id", "unknown_order_item", detail));
        }
        None => {}
    }
    let content = ReviewContent {
        order_item_id: input.order_item_id,
        rating: u8::try_from(input.rating.0).map_err(Problem::internal)?,
        title: input.title.into(),
        body: input.body.into(),
    };
    let now = app.clock.now();
    let review =
        Review::new(&product.id, &caller.account, content, settings.reviews.auto_publish, now);
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

/// Whether the line is in a paid or otherwise confirmed order of the customer, which is not cancelled, and
/// has the product.
async fn bought(
    services: &Services,
    customer: &Customer,
    product: &ProductId,
    line: &OrderItemId,
) -> Result<bool, Problem> {
    let all = key::list::orders_of_customer(&customer.store_id, &customer.id);
    let query = Query::list(all).newest_first();
    let orders: Vec<Order> = services.table.all(&query, ORDERS).await?;
    let is_valid = |order: &&Order| matches!(order.status, OrderStatus::Open | OrderStatus::Closed);
    let paid = orders.iter().filter(is_valid).filter(|order| order.is_firm());
    let mut lines = paid.flat_map(|order| &order.items);
    Ok(lines.any(|item| item.id == *line && item.product_id == *product))
}
