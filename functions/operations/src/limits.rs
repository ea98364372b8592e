//! What requests cost, and how much the caller has left.

use axum::extract::State;
use gateway::app::App;
use gateway::budget::{self, Cost, Tier};
use gateway::caller::Caller;
use gateway::problem::Problem;
use gateway::reply::{Json, NoStore};
use platform::caller::AnyMember;
use schemars::JsonSchema;
use serde::Serialize;

/// What requests cost, and how much the caller has left.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RateLimits {
    /// `cost`: points.
    unit: &'static str,
    costs: Vec<CostView>,
    tiers: Vec<TierView>,
    bucket: BucketView,
}

/// What requests of a class cost.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RequestClassCost")]
struct CostView {
    class: &'static str,
    /// Of a list, those of one with 20 items.
    points: u32,
    /// How the points of a list are reckoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'static str>,
}

/// The bucket of every caller of a kind.
#[derive(Debug, Serialize, JsonSchema)]
struct TierView {
    name: &'static str,
    /// The most points that a bucket holds.
    capacity: u32,
    /// Points that come back each second.
    restore_rate: u32,
}

/// The caller's own bucket.
#[derive(Debug, Serialize, JsonSchema)]
struct BucketView {
    tier: &'static str,
    available: u32,
    capacity: u32,
    restore_rate: u32,
}

/// `GET /v1/operations/rate-limits` (`getRateLimits`): Get rate limits and their current state.
///
/// Shows the table of costs, the buckets, and the caller's own as it is now (docs/conventions.md §5).
pub(crate) async fn show(
    caller: AnyMember,
    State(app): State<App>,
) -> Result<NoStore<Json<RateLimits>>, Problem> {
    let identity = caller.identity();
    let available = budget::available(&app, &identity).await?;
    let costs = Cost::PUBLISHED.iter().map(|(class, cost)| CostView::of(class, *cost));
    let shown = RateLimits {
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
    Ok(Json::new(&shown).no_store())
}

/// What a list costs.
const FORMULA: &str = "1 + ceil(limit / 10), refunded to what was returned, or read to find it; \
                       5 more with `q`, or a `sort` other than by `created_at`";

impl CostView {
    fn of(class: &'static str, cost: Cost) -> Self {
        match cost {
            Cost::Fixed(points) => Self { class, points, formula: None },
            Cost::List => Self { class, points: Cost::list(20), formula: Some(FORMULA) },
        }
    }
}

impl From<Tier> for TierView {
    fn from(tier: Tier) -> Self {
        Self { name: tier.name(), capacity: tier.capacity(), restore_rate: tier.restore_rate() }
    }
}
