//! What requests cost, and how much the caller has left.

use axum::extract::State;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::budget::{self, Cost, Tier};
use gateway::caller::Caller;
use gateway::problem::Problem;
use platform::caller::Owner;
use serde_json::{Value, json};

/// `GET /v1/operations/rate-limits` — the table of costs, the buckets, and the caller's own as it
/// is now (docs/conventions.md §5).
pub(crate) async fn show(caller: Owner, State(app): State<App>) -> Result<Answer, Problem> {
    let identity = caller.identity();
    let available = budget::available(&app, &identity).await?;
    let costs: Vec<Value> =
        Cost::PUBLISHED.iter().map(|(class, cost)| cost_view(class, *cost)).collect();
    let tiers: Vec<Value> =
        [Tier::App, Tier::Merchant, Tier::Public].into_iter().map(tier_view).collect();
    let bucket = json!({
        "tier": identity.tier.name(),
        "available": available,
        "capacity": identity.tier.capacity(),
        "restore_rate": identity.tier.restore_rate(),
    });
    let shown = json!({"unit": "cost", "costs": costs, "tiers": tiers, "bucket": bucket});
    Ok(Answer::ok(&shown).no_store())
}

/// What a list costs.
const FORMULA: &str = "1 + ceil(limit / 10), refunded to what was returned, or read to find it; \
                       5 more with `q`, or a `sort` other than by `created_at`";

fn cost_view(class: &str, cost: Cost) -> Value {
    match cost {
        Cost::Fixed(points) => json!({"class": class, "points": points}),
        Cost::List => json!({
            "class": class,
            "formula": FORMULA,
            "points": Cost::list(20),
        }),
    }
}

fn tier_view(tier: Tier) -> Value {
    json!({"name": tier.name(), "capacity": tier.capacity(), "restore_rate": tier.restore_rate()})
}
