//! Rate limiting by query cost: a token bucket as GCRA, one item and one conditional write
//! ([`bucket`]). Whoever is refused before it is known whose bucket pays costs the network they come
//! from: a refusal is no cheaper for us than an answer.

mod admission;
mod bucket;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::{Value, json};

use crate::app::App;
use crate::caller::Identity;
use crate::context::Context;
use crate::problem::{Code, Problem};
use crate::request::Inbound;

pub use admission::Admissions;
use bucket::{Bucket, Taken, micros};

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

    /// What a caller who is not admitted costs the network they come from: what was read to
    /// find it out. The same for every route, for nothing of it was done.
    pub const REFUSED: Self = Self::Fixed(Self::REFUSAL);
    const REFUSAL: u32 = 2;

    /// What expanding or searching costs beside the read itself (docs/conventions.md §5).
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
        ("refused", Self::REFUSED),
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

/// What a request really cost, where that is less than what was charged ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActualCost(pub(crate) u32);

/// Says what the request under way really cost, when that is less than what was charged ahead.
pub fn settle(actual: u32) {
    if let Some(context) = Context::current() {
        context.keep(ActualCost(actual));
    }
}

/// What was charged for a request, and where that leaves the bucket.
#[derive(Debug, Clone)]
pub(crate) struct Charge {
    bucket: Bucket,
    requested: u32,
    /// What of it was taken.
    taken: u32,
    available: u32,
}

impl Charge {
    /// Nothing was taken out of the bucket; what is in it is what this process last knew.
    fn nothing(app: &App, identity: &Identity, requested: u32) -> Self {
        let bucket = Bucket::of(identity);
        let available = bucket.last_known(app);
        Self { bucket, requested, taken: 0, available }
    }

    /// Writes the cost headers; `spent` says what the request really cost, where that is less than
    /// what was taken.
    pub(crate) fn write_headers(&self, spent: Option<ActualCost>, headers: &mut HeaderMap) {
        let tier = self.bucket.tier;
        let actual = spent.map_or(self.taken, |spent| spent.0).min(self.taken);
        let refund = self.taken.saturating_sub(actual);
        let available = self.available.saturating_add(refund).min(tier.capacity());
        let (name, capacity, rate) = (tier.name(), tier.capacity(), tier.restore_rate());
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

    /// What the request cost: what it was asked for, where it turned out to be no less.
    pub(crate) fn spent(&self, actual: Option<ActualCost>) -> u32 {
        actual.map_or(self.requested, |actual| actual.0)
    }

    /// What the request costs at most.
    pub(crate) fn requested(&self) -> u32 {
        self.requested
    }

    /// The `cost` member of a 429.
    pub(crate) fn as_json(&self) -> Value {
        let tier = self.bucket.tier;
        json!({
            "requested": self.requested,
            "available": self.available,
            "restore_rate": tier.restore_rate(),
            "maximum": tier.capacity(),
        })
    }

    /// Makes this the charge of the request under way.
    fn stands(self) {
        if let Some(context) = Context::current() {
            context.keep(self);
        }
    }
}

/// Where the budget of a network stands for which nothing is done: what every answer says that
/// costs nothing.
pub(crate) fn untouched(app: &App, network: &str) -> Charge {
    Charge::nothing(app, &Identity::of_network(network), 0)
}

/// Charges a request to the identity's bucket.
///
/// # Errors
/// `429 rate_limited`, `400 cost_too_high`; 503 when the table cannot be reached and the route
/// signs somebody in: reads fail open, authentication fails closed.
pub(crate) async fn charge(
    app: &App,
    identity: &Identity,
    inbound: &Inbound,
) -> Result<(), Problem> {
    let requested = inbound.row.cost.of(inbound);
    let none = Charge::nothing(app, identity, requested);
    none.clone().stands();
    if requested == 0 {
        return Ok(());
    }
    if requested > identity.tier.capacity() {
        let maximum = identity.tier.capacity();
        let cost = json!({"requested": requested, "maximum": maximum});
        return Err(Code::CostTooHigh.with("cost", cost));
    }
    match take(app, none).await {
        Err(problem) if problem.code != Code::RateLimited && !inbound.row.fails_closed => {
            tracing::warn!(cause = %problem, "rate limit not enforced");
            Ok(())
        }
        outcome => outcome,
    }
}

/// Takes what a charge asks for, and has it stand.
///
/// # Errors
/// `rate_limited`; 503.
async fn take(app: &App, asked: Charge) -> Result<(), Problem> {
    match asked.bucket.take(app, asked.requested).await? {
        Taken::Admitted(available) => {
            Charge { taken: asked.requested, available, ..asked }.stands();
            Ok(())
        }
        Taken::Refused { available, wait } => {
            Charge { available, ..asked }.stands();
            Err(limited(wait))
        }
    }
}

/// Refuses, before anything is read for it, a request from a network that used up what refusals
/// cost; but not to whom this process let in a moment ago.
///
/// # Errors
/// `rate_limited`.
pub(crate) fn check_network(app: &App, network: &str, inbound: &Inbound) -> Result<(), Problem> {
    let now = micros(app.clock.now());
    let shown = admission::shown(inbound);
    let Some(wait) = app.admissions.wait(network, shown.as_deref(), now) else { return Ok(()) };
    Charge::nothing(app, &Identity::of_network(network), Cost::REFUSAL).stands();
    Err(limited(wait))
}

/// Remembers who was let in.
pub(crate) fn admitted(app: &App, inbound: &Inbound) {
    if let Some(shown) = admission::shown(inbound) {
        app.admissions.know(&shown, micros(app.clock.now()));
    }
}

/// Charges a network for somebody who is refused before it is known whose bucket pays; when it has
/// nothing left, that is what they are told instead.
pub(crate) async fn refused(
    app: &App,
    network: &str,
    inbound: Option<&Inbound>,
    problem: Problem,
) -> Problem {
    if let Some(shown) = inbound.and_then(admission::shown) {
        app.admissions.forget(&shown);
    }
    // Already refused for it, or not the caller's fault.
    if problem.code == Code::RateLimited || !(400..500).contains(&problem.code.status()) {
        return problem;
    }
    let refusal = Charge::nothing(app, &Identity::of_network(network), Cost::REFUSAL);
    let bucket = refusal.bucket.clone();
    match bucket.take(app, Cost::REFUSAL).await {
        Ok(Taken::Admitted(available)) => {
            Charge { taken: Cost::REFUSAL, available, ..refusal }.stands();
            problem
        }
        Ok(Taken::Refused { available, wait }) => {
            Charge { available, ..refusal }.stands();
            let now = micros(app.clock.now());
            app.admissions.close(network, now.saturating_add(wait), now);
            limited(wait)
        }
        Err(unreachable) => {
            tracing::warn!(cause = %unreachable, "refusal not charged");
            problem
        }
    }
}

/// Gives back what a request did not use.
pub(crate) async fn refund(app: &App, charge: &Charge, actual: u32) {
    let unused = charge.taken.saturating_sub(actual);
    if unused > 0 {
        charge.bucket.refund(app, unused).await;
    }
}

/// The points available in an identity's bucket right now.
pub async fn available(app: &App, identity: &Identity) -> Result<u32, Problem> {
    Bucket::of(identity).read(app).await
}

/// `429`; what it says of the cost is the charge's, as with every 429.
fn limited(wait_micros: i64) -> Problem {
    let seconds = wait_micros.max(1).saturating_add(999_999).div_euclid(1_000_000);
    Problem::from(Code::RateLimited).header(header::RETRY_AFTER, &seconds.to_string())
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

    fn asks(method: &str, uri: &str, cost: Cost) -> std::sync::Arc<Inbound> {
        let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (parts, ()) = request.into_parts();
        let access = crate::caller::Access::Public;
        let row = crate::routes::Row::example(parts.method.clone(), "/v1/things", access);
        let row = crate::routes::Row { cost, ..row };
        Inbound::new(&parts, bytes::Bytes::new(), Vec::new(), row)
    }

    #[test]
    fn a_tier_is_as_large_and_as_fast_as_published() {
        for (tier, name, capacity, rate, interval) in [
            (Tier::App, "app", 1_000, 100, 10_000),
            (Tier::Merchant, "merchant", 1_000, 100, 10_000),
            (Tier::Public, "public", 300, 30, 33_334),
        ] {
            let found = (tier.name(), tier.capacity(), tier.restore_rate(), tier.interval());
            assert_eq!(found, (name, capacity, rate, interval));
        }
    }

    #[test]
    fn a_request_costs_what_its_row_says_and_a_list_what_it_asks_for() {
        assert_eq!(Cost::WRITE.of(&asks("POST", "/v1/things?limit=100", Cost::WRITE)), 10);
        for (query, points) in [
            ("", 3),
            ("limit=10", 2),
            ("limit=100", 11),
            ("limit=1000", 11),
            ("limit=x", 3),
            ("q=mug", 8),
            ("q=", 3),
            ("q=%20", 3),
            ("sort=created_at", 3),
            ("sort=-created_at", 3),
            ("sort=", 3),
            ("sort=title", 8),
            ("q=mug&sort=title&limit=100", 16),
        ] {
            let list = asks("GET", &format!("/v1/things?{query}"), Cost::List);
            assert_eq!(Cost::List.of(&list), points, "{query}");
        }
    }

    #[test]
    fn the_wait_is_told_in_whole_seconds_and_never_as_none() {
        for (micros, seconds) in
            [(-1, "1"), (0, "1"), (1, "1"), (1_000_000, "1"), (1_000_001, "2"), (9_000_001, "10")]
        {
            let problem = limited(micros);
            assert_eq!(problem.code, Code::RateLimited);
            let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
            assert_eq!(wait.unwrap().1, seconds, "{micros}");
        }
    }

    #[test]
    fn a_charge_says_what_was_asked_and_what_there_is() {
        let bucket = Bucket::of(&Identity::of_network("net"));
        let charge = Charge { bucket, requested: 7, taken: 0, available: 5 };
        assert_eq!(charge.requested(), 7);
        let expected = json!({"requested": 7, "available": 5, "restore_rate": 30, "maximum": 300});
        assert_eq!(charge.as_json(), expected);
        let told = |charge: &Charge, spent: Option<u32>| {
            let mut headers = HeaderMap::new();
            charge.write_headers(spent.map(ActualCost), &mut headers);
            let number = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            let names = ["requested", "actual", "available"];
            names.map(|name| number(&format!("x-service-cost-{name}")).unwrap().to_owned())
        };
        assert_eq!(told(&charge, None), ["7", "0", "5"]);
        let taken = Charge { taken: 7, ..charge };
        assert_eq!(told(&taken, None), ["7", "7", "5"]);
        assert_eq!(told(&taken, Some(3)), ["7", "3", "9"], "what was not used is back");
        assert_eq!(told(&taken, Some(9)), ["7", "7", "5"], "no more than was taken");
    }
}
