//! The costs of requests, and the remaining budget of the caller.

use axum::extract::State;
use callers::AnyMember;
use gateway::app::App;
use gateway::budget::{Cost, Tier};
use gateway::caller::Caller;
use gateway::reply::{Json, NoStore};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// The costs of requests, and the budget of the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RateLimits {
    /// Always `cost`: budgets are counted in points.
    unit: &'static str,
    /// The points of each class of request.
    costs: Vec<CostView>,
    /// The budget of each kind of caller.
    tiers: Vec<TierView>,
    /// The budget of this caller on this store.
    bucket: BucketView,
}

/// The cost of a class of requests.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RequestClassCost")]
struct CostView {
    /// The class, like `read`, `list` or `write`.
    class: &'static str,
    /// The points of one request; for a list, those of a page of 20 items; for a file, those of an empty one.
    points: u32,
    /// The formula for the points of a list or of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'static str>,
}

/// The budget of a kind of caller.
#[derive(Debug, Serialize, JsonSchema)]
struct TierView {
    /// `app`, `merchant` or `public`.
    name: &'static str,
    /// The points of a full bucket.
    capacity: u32,
    /// The points restored each second.
    restore_rate: u32,
}

/// The budget of the caller.
#[derive(Debug, Serialize, JsonSchema)]
struct BucketView {
    /// The name of its tier.
    tier: &'static str,
    /// The points that it can spend now.
    available: u32,
    /// The points of a full bucket.
    capacity: u32,
    /// The points restored each second.
    restore_rate: u32,
}

/// `GET /v1/operations/rate-limits` (`getRateLimits`): Get rate limits and their current state.
///
/// The response has the cost of each class of request, the budget of each kind of caller, and the remaining
/// budget of this caller. A member's budget is counted for each store separately. Every response has its cost
/// in its headers.
pub(crate) async fn get(
    caller: AnyMember,
    State(app): State<App>,
) -> Result<NoStore<Json<RateLimits>>, Problem> {
    let identity = caller.identity();
    let available = app.budgets.available(&identity).await?;
    let costs = Cost::PUBLISHED.iter().map(|(class, cost)| CostView::of(class, *cost));
    let response = RateLimits {
        unit: "cost",
        costs: costs.collect(),
        tiers: [Tier::App, Tier::Merchant, Tier::Public].map(TierView::from).into(),
        bucket: BucketView {
            tier: identity.tier.name(),
            available,
            capacity: identity.tier.capacity(),
            restore_rate: identity.tier.restore_rate(),
        },
    };
    Ok(Json::new(&response).no_store())
}

/// The formula for the points of a file.
const FORMULA_OF_FILE: &str =
    "points, and one for each 64 KiB of the body that are begun; never refunded";
/// The formula for the points of a list.
const FORMULA: &str = "1 + ceil(limit / 10), refunded to what was returned, or read to find it; \
                       5 more with `q`";

impl CostView {
    fn of(class: &'static str, cost: Cost) -> Self {
        match cost {
            Cost::Fixed(points) => Self { class, points, formula: None },
            Cost::List => Self { class, points: Cost::list(20), formula: Some(FORMULA) },
            Cost::File(points) => Self { class, points, formula: Some(FORMULA_OF_FILE) },
        }
    }
}

impl From<Tier> for TierView {
    fn from(tier: Tier) -> Self {
        Self { name: tier.name(), capacity: tier.capacity(), restore_rate: tier.restore_rate() }
    }
}
