//! Rate limiting by query cost: a token bucket as GCRA, one item and one conditional write
//! (protocols §5, data-model: Rate bucket).
//!
//! The bucket holds one number, the *theoretical arrival time*: when it would be full again. A
//! request of cost `c` moves it by `c * T` and is admitted while that stays within the burst.
//! All arithmetic is in the write's condition, so no number of parallel requests admits more
//! than `capacity + restore * t`.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::json;

use crate::app::App;
use crate::caller::Identity;
use crate::clock::{DAY, Timestamp};
use crate::item::{Attributes, Key};
use crate::problem::{Code, Problem};
use crate::request::Inbound;
use crate::table;

/// What a request costs, in points. The constants are the one table of costs; routes name them,
/// and `GET /v1/operations/rate-limits` publishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// The same for every request.
    Fixed(u32),
    /// `1 + ceil(limit / 10)`, refunded down to what was returned, or read to find it;
    /// [`Cost::SEARCHING`] more, which is never refunded, when it is searched by `q` or sorted.
    List,
}

impl Cost {
    /// Nothing: health and key documents, which caches and probes read.
    pub const FREE: Self = Self::Fixed(0);
    /// One item or one screen.
    pub const READ: Self = Self::Fixed(1);
    /// A read that expands or searches.
    pub const SEARCH: Self = Self::Fixed(Self::SEARCHING.saturating_add(1));
    /// A change.
    pub const WRITE: Self = Self::Fixed(10);
    /// An OAuth token endpoint.
    pub const TOKEN: Self = Self::Fixed(10);
    /// A checkout.
    pub const CHECKOUT: Self = Self::Fixed(20);
    /// A one-time code or a reset link: it sends mail.
    pub const CODE: Self = Self::Fixed(20);
    /// Bulk, replay or report.
    pub const BULK: Self = Self::Fixed(100);

    /// What expanding or searching costs beside the read itself (protocols §5).
    pub const SEARCHING: u32 = 5;

    /// The published table: class, points.
    pub const PUBLISHED: &'static [(&'static str, Self)] = &[
        ("free", Self::FREE),
        ("read", Self::READ),
        ("list", Self::List),
        ("search", Self::SEARCH),
        ("write", Self::WRITE),
        ("token", Self::TOKEN),
        ("checkout", Self::CHECKOUT),
        ("one_time_code", Self::CODE),
        ("bulk", Self::BULK),
    ];

    /// What `inbound` is charged ahead.
    fn of(self, inbound: &Inbound) -> u32 {
        match self {
            Self::Fixed(points) => points,
            Self::List => {
                let limit = inbound.query_param("limit").and_then(|limit| limit.parse().ok());
                let items = limit.unwrap_or(20).min(100);
                Self::list(items).saturating_add(Self::searching(inbound))
            }
        }
    }

    /// What a list costs more because of its `q`, or of an order that is not that of creation:
    /// items are read that are not returned.
    pub(crate) fn searching(inbound: &Inbound) -> u32 {
        let is_searched = inbound.query_param("q").is_some_and(|words| !words.trim().is_empty());
        let is_sorted = inbound
            .query_param("sort")
            .is_some_and(|order| !matches!(order.as_str(), "" | "created_at" | "-created_at"));
        if is_searched || is_sorted { Self::SEARCHING } else { 0 }
    }

    /// The cost of a list of this many items that is not searched.
    pub fn list(items: u32) -> u32 {
        items.div_ceil(10).saturating_add(1)
    }
}

/// How large a bucket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// An app installation.
    App,
    /// A merchant on a store.
    Merchant,
    /// A network on public routes.
    Public,
}

impl Tier {
    /// The name in `RateLimit-Policy`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Merchant => "merchant",
            Self::Public => "public",
        }
    }

    /// Points the bucket holds.
    pub const fn capacity(self) -> u32 {
        match self {
            Self::App | Self::Merchant => 1_000,
            Self::Public => 300,
        }
    }

    /// Points restored each second.
    pub const fn restore_rate(self) -> u32 {
        match self {
            Self::App | Self::Merchant => 100,
            Self::Public => 30,
        }
    }

    /// The emission interval T in microseconds: rounded up, so that rounding never admits more.
    fn interval(self) -> i64 {
        i64::from(1_000_000_u32.div_ceil(self.restore_rate()))
    }
}

/// What was charged for a request.
#[derive(Debug, Clone)]
pub struct Charge {
    key: Key,
    tier: Tier,
    requested: u32,
    available: u32,
}

impl Charge {
    /// Writes the cost headers, with `actual` points spent.
    pub(crate) fn write_headers(&self, actual: u32, headers: &mut HeaderMap) {
        let refund = self.requested.saturating_sub(actual);
        let available = self.available.saturating_add(refund).min(self.tier.capacity());
        let (name, capacity) = (self.tier.name(), self.tier.capacity());
        let rate = self.tier.restore_rate();
        let full_in = capacity.saturating_sub(available).div_ceil(rate);
        let window = capacity.div_ceil(rate);
        let pairs = [
            ("x-service-cost-requested", self.requested.to_string()),
            ("x-service-cost-actual", actual.to_string()),
            ("x-service-cost-available", available.to_string()),
            ("x-service-cost-restore-rate", rate.to_string()),
            (
                "ratelimit-policy",
                format!("\"{name}\";q={capacity};w={window};service-unit=\"cost\""),
            ),
            ("ratelimit", format!("\"{name}\";r={available};t={full_in}")),
        ];
        for (name, value) in pairs {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }

    /// What was charged ahead.
    pub(crate) fn requested(&self) -> u32 {
        self.requested
    }
}

/// Charges a request to the identity's bucket.
///
/// # Errors
/// `429 rate_limited`, `400 cost_too_high`; 503 when the table cannot be reached and the route
/// signs somebody in: reads fail open, authentication fails closed (protocols §5).
pub(crate) async fn charge(
    app: &App,
    identity: &Identity,
    inbound: &Inbound,
) -> Result<Option<Charge>, Problem> {
    let requested = inbound.row.cost.of(inbound);
    if requested == 0 {
        return Ok(None);
    }
    let tier = identity.tier;
    if requested > tier.capacity() {
        let problem = Code::CostTooHigh
            .with("cost", json!({"requested": requested, "maximum": tier.capacity()}));
        return Err(problem);
    }
    let key = Key::new(format!("RLB#{}#{}", tier.name(), identity.subject), "A");
    match admit(app, &key, tier, requested).await {
        Ok(available) => Ok(Some(Charge { key, tier, requested, available })),
        Err(problem) if problem.code == Code::RateLimited => Err(problem),
        Err(problem) if signs_in(inbound.row.path) => Err(problem),
        Err(problem) => {
            tracing::warn!(cause = %problem, "rate limit not enforced");
            Ok(None)
        }
    }
}

/// Whether a route signs somebody in, or sends mail to whoever is named.
fn signs_in(path: &str) -> bool {
    const CUSTOMERS: [&str; 3] = ["login", "register", "password"];
    let customers = path.strip_prefix("/v1/storefront/customer/");
    path.starts_with("/v1/auth/")
        || customers.is_some_and(|rest| CUSTOMERS.iter().any(|start| rest.starts_with(start)))
}

/// Gives back what a request did not use. Sent once and never again: a repeated refund would
/// admit too much, a lost one only a little less.
pub(crate) async fn refund(app: &App, charge: &Charge, actual: u32) {
    let unused = i64::from(charge.requested.saturating_sub(actual));
    if unused == 0 {
        return;
    }
    let back = unused.saturating_mul(charge.tier.interval());
    let now = micros(app.clock.now());
    let once = aws_sdk_dynamodb::config::Builder::new().retry_config(RetryConfig::disabled());
    let sent = app
        .table
        .client()
        .update_item()
        .table_name(app.table.name())
        .set_key(Some(charge.key.attributes()))
        .update_expression("SET tat = tat - :back")
        .condition_expression("tat > :floor")
        .expression_attribute_values(":back", number(back))
        .expression_attribute_values(":floor", number(now.saturating_add(back)))
        .customize()
        .config_override(once)
        .send()
        .await;
    if let Err(error) = sent
        && !is_refusal(&error)
    {
        tracing::debug!(cause = %table::unavailable(&error), "refund lost");
    }
}

/// The points available in an identity's bucket right now.
pub async fn available(app: &App, identity: &Identity) -> Result<u32, Problem> {
    let key = Key::new(format!("RLB#{}#{}", identity.tier.name(), identity.subject), "A");
    let answer = app
        .table
        .client()
        .get_item()
        .table_name(app.table.name())
        .set_key(Some(key.attributes()))
        .consistent_read(true)
        .send()
        .await
        .map_err(|error| table::unavailable(&error))?;
    let tat = answer.item.as_ref().and_then(tat_of).unwrap_or(0);
    Ok(room(identity.tier, micros(app.clock.now()), tat))
}

/// Turns before a contended bucket refuses.
const TURNS: i64 = 12;
/// How much further each turn reaches over a bucket that has just been woken.
const OVERLAP_MICROS: i64 = 50_000;

/// Admits `cost` or refuses; answers with the points left.
async fn admit(app: &App, key: &Key, tier: Tier, cost: u32) -> Result<u32, Problem> {
    let attempt = crate::id::mint("", app.clock.now());
    let increment = i64::from(cost).saturating_mul(tier.interval());
    let burst = i64::from(tier.capacity()).saturating_mul(tier.interval());
    let mut idle = false;
    // (a) and (b) of the data model by turns: a lost race for one makes the other right. With each
    // turn the two overlap a little more, at the caller's cost and never beyond the burst, so that
    // a bucket which many wake at once, slowly, does not send them from one to the other.
    for turn in 0..TURNS {
        let overlap = OVERLAP_MICROS.saturating_mul(turn.saturating_sub(1));
        let now = micros(app.clock.now()).saturating_add(if idle { overlap } else { 0 });
        let outcome = step(app, key, now, increment, burst, idle, &attempt).await;
        let old = match outcome {
            Step::Admitted(tat) => return Ok(room(tier, now, tat)),
            Step::Failed(problem) => return Err(problem),
            Step::Refused(old) => old,
        };
        let tat = tat_of(&old).unwrap_or(0);
        if old.get("attempt").and_then(|id| id.as_s().ok()) == Some(&attempt) {
            // The reply to our own success was lost, and the SDK asked again (traps 2).
            return Ok(room(tier, now, tat));
        }
        if tat > now && tat.saturating_add(increment) > now.saturating_add(burst) {
            let wait = tat.saturating_add(increment).saturating_sub(burst).saturating_sub(now);
            return Err(limited(tier, cost, room(tier, now, tat), wait));
        }
        idle = tat <= now;
    }
    Err(limited(tier, cost, 0, 1_000_000))
}

enum Step {
    Admitted(i64),
    Refused(Attributes),
    Failed(Problem),
}

async fn step(
    app: &App,
    key: &Key,
    now: i64,
    increment: i64,
    burst: i64,
    idle: bool,
    attempt: &str,
) -> Step {
    let base = app
        .table
        .client()
        .update_item()
        .table_name(app.table.name())
        .set_key(Some(key.attributes()))
        .expression_attribute_values(":now", number(now))
        .expression_attribute_values(":id", AttributeValue::S(attempt.to_owned()))
        .expression_attribute_values(":kind", AttributeValue::S("rate_bucket".to_owned()))
        .expression_attribute_values(":ttl", number(app.clock.now().plus(DAY).seconds()))
        .expression_attribute_names("#ttl", "ttl")
        .return_values(aws_sdk_dynamodb::types::ReturnValue::AllNew)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let request = if idle {
        base.update_expression("SET tat = :new, attempt = :id, entity = :kind, #ttl = :ttl")
            .condition_expression("attribute_not_exists(tat) OR tat <= :now")
            .expression_attribute_values(":new", number(now.saturating_add(increment)))
    } else {
        let ceiling = now.saturating_add(burst).saturating_sub(increment);
        base.update_expression("SET tat = tat + :inc, attempt = :id, entity = :kind, #ttl = :ttl")
            .condition_expression("tat > :now AND tat <= :ceiling AND attempt <> :id")
            .expression_attribute_values(":inc", number(increment))
            .expression_attribute_values(":ceiling", number(ceiling))
    };
    match request.send().await {
        Ok(answer) => Step::Admitted(answer.attributes.as_ref().and_then(tat_of).unwrap_or(now)),
        Err(error) => match refused_item(&error) {
            Some(old) => Step::Refused(old),
            None => Step::Failed(table::unavailable(&error)),
        },
    }
}

fn is_refusal<R>(error: &SdkError<UpdateItemError, R>) -> bool {
    matches!(error.as_service_error(), Some(UpdateItemError::ConditionalCheckFailedException(_)))
}

/// The item that refused a condition; empty when there is none.
fn refused_item<R>(error: &SdkError<UpdateItemError, R>) -> Option<Attributes> {
    match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(refused)) => {
            Some(refused.item.clone().unwrap_or_default())
        }
        _ => None,
    }
}

fn limited(tier: Tier, cost: u32, available: u32, wait_micros: i64) -> Problem {
    let seconds = wait_micros.max(1).saturating_add(999_999).div_euclid(1_000_000);
    Code::RateLimited
        .with(
            "cost",
            json!({
                "requested": cost,
                "available": available,
                "restore_rate": tier.restore_rate(),
                "maximum": tier.capacity(),
            }),
        )
        .header(header::RETRY_AFTER, &seconds.to_string())
}

/// Whole points of room under the burst.
fn room(tier: Tier, now: i64, tat: i64) -> u32 {
    let burst = i64::from(tier.capacity()).saturating_mul(tier.interval());
    let left = burst.saturating_sub(tat.saturating_sub(now).max(0)).max(0);
    let points = left.checked_div(tier.interval()).unwrap_or(0);
    u32::try_from(points).unwrap_or(0).min(tier.capacity())
}

fn micros(time: Timestamp) -> i64 {
    time.millis().saturating_mul(1_000)
}

fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn tat_of(attributes: &Attributes) -> Option<i64> {
    attributes.get("tat")?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_costs_one_and_a_tenth_of_its_length() {
        assert_eq!([0, 1, 10, 11, 20, 100].map(Cost::list), [1, 2, 2, 3, 3, 11]);
    }

    #[test]
    fn rounding_never_restores_faster_than_published() {
        for tier in [Tier::App, Tier::Merchant, Tier::Public] {
            let in_a_second = 1_000_000 / tier.interval();
            assert!(in_a_second <= i64::from(tier.restore_rate()));
        }
    }
}
