//! Rate limiting by query cost: a token bucket as GCRA, with one item and one conditional write ([`bucket`]).
//! A process leases a few more points than a request needs ([`lease`]). A request that is rejected before its
//! caller is known is charged to its network, because a rejection costs us no less than an answer.

mod admission;
mod ahead;
mod bucket;
mod cost;
mod lease;
mod leases;
mod reading;

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::json;

use crate::caller::Identity;
use crate::request::Inbound;
use primitives::context::Context;
use primitives::problem::{Code, Problem, RateLimitCost};
use services::Services;

use admission::Admissions;
use bucket::{Bucket, Paid, Taken, micros};
pub use cost::{Cost, Tier};
use leases::Leases;
pub use reading::points_read;
pub(crate) use reading::{begin, count_read};

/// The budgets of all callers, with this process's memory of them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Budgets {
    services: Services,
    /// Recent decisions about callers.
    admissions: Arc<Admissions>,
    /// Points leased from budgets.
    leases: Arc<Leases>,
}

/// Marks a request that no budget is charged for: one that a local system sends to itself. It is an extension of
/// the request, which no client can send.
#[derive(Debug, Clone, Copy)]
pub struct Unmetered;

/// Marks a request that its budget is charged for, and that is answered with nothing else: a page of a shop is charged once
/// for all that it is made of. It is an extension of the request, which no client can send.
#[derive(Debug, Clone, Copy)]
pub struct ChargeOnly;

/// The actual cost of a request, where it differs from the charge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActualCost(pub(crate) u32);

/// Sets the actual cost of the current request, where it is less than the charge.
pub fn record_actual_cost(actual: u32) {
    if let Some(context) = Context::current() {
        context.insert(ActualCost(actual));
    }
}

/// The charge for a request, and the points left in the bucket.
#[derive(Debug, Clone)]
pub(crate) struct Charge {
    bucket: Bucket,
    requested: u32,
    /// The source of the points, if any were taken.
    paid: Option<Paid>,
    available: u32,
}

impl Charge {
    /// A charge of zero points; the points left are those that this process last read.
    fn nothing(budgets: &Budgets, identity: &Identity, requested: u32) -> Self {
        let bucket = Bucket::of(identity);
        let available = bucket.last_known(budgets);
        Self { bucket, requested, paid: None, available }
    }

    /// Writes the cost headers. `spent` is the actual cost, where it differs from the points taken.
    pub(crate) fn write_headers(&self, spent: Option<ActualCost>, headers: &mut HeaderMap) {
        let tier = self.bucket.tier;
        let taken = self.taken();
        // If no points could be taken, none are owed.
        let actual = spent.filter(|_| taken > 0).map_or(taken, |spent| spent.0);
        let refund = taken.saturating_sub(actual);
        let owed = actual.saturating_sub(taken);
        let available = self.available.saturating_add(refund).min(tier.capacity());
        let available = available.saturating_sub(owed);
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

    /// The points taken.
    fn taken(&self) -> u32 {
        if self.paid.is_some() { self.requested } else { 0 }
    }

    /// The points spent: the requested ones, unless the actual cost is recorded.
    pub(crate) fn spent(&self, actual: Option<ActualCost>) -> u32 {
        actual.map_or(self.requested, |actual| actual.0)
    }

    /// The most that the request can cost.
    pub(crate) fn requested(&self) -> u32 {
        self.requested
    }

    /// The `cost` member of a 429.
    fn rate_limit_cost(&self) -> RateLimitCost {
        let tier = self.bucket.tier;
        RateLimitCost {
            requested: self.requested,
            available: self.available,
            restore_rate: tier.restore_rate(),
            maximum: tier.capacity(),
        }
    }

    /// Applies the bucket's decision, and makes this the charge of the current request.
    ///
    /// # Errors
    /// `rate_limited`.
    fn apply(self, taken: Taken) -> Result<(), Problem> {
        match taken {
            Taken::Admitted { available, paid } => {
                Self { paid: Some(paid), available, ..self }.make_current();
                Ok(())
            }
            Taken::Rejected { available, wait } => {
                Self { available, ..self }.make_current();
                Err(limited(wait))
            }
        }
    }

    /// Makes this the charge of the current request.
    fn make_current(self) {
        if let Some(context) = Context::current() {
            context.insert(self.rate_limit_cost());
            context.insert(self);
        }
    }
}

/// A charge that needs the table's decision.
#[derive(Debug)]
pub(crate) struct PendingCharge {
    charge: Charge,
    fails_closed: bool,
}

/// The points above which a safe request is charged before its handler runs, not concurrently.
const ALONGSIDE: u32 = 20;

impl PendingCharge {
    /// Whether the request may be handled while the table decides: only a cheap read, so that little work is
    /// lost when its result is discarded.
    pub(crate) fn can_wait(&self, method: &Method) -> bool {
        *method == Method::GET && !self.fails_closed && self.charge.requested <= ALONGSIDE
    }

    /// Lets the table decide.
    ///
    /// # Errors
    /// `429 rate_limited`; 503 when the table cannot be reached and the route signs somebody in:
    /// reads fail open, authentication fails closed.
    pub(crate) async fn pay(self, budgets: &Budgets) -> Result<(), Problem> {
        let Self { charge, fails_closed } = self;
        match charge.bucket.take(budgets, charge.requested).await {
            Ok(taken) => charge.apply(taken),
            Err(problem) if fails_closed => Err(problem),
            Err(problem) => {
                tracing::warn!(cause = %problem, "budget unreachable: rate limit not enforced");
                Ok(())
            }
        }
    }
}

impl Budgets {
    pub(crate) fn new(services: Services) -> Self {
        Self { services, admissions: Arc::default(), leases: Arc::default() }
    }

    /// A charge of zero points on a network's bucket, for the headers of answers without a caller.
    pub(crate) fn untouched(&self, network: &str) -> Charge {
        Charge::nothing(self, &Identity::of_network(network), 0)
    }

    /// Charges a request to the identity's bucket, as far as possible without the table.
    ///
    /// # Errors
    /// `429 rate_limited`, `400 cost_too_high`.
    pub(crate) fn charge(
        &self,
        identity: &Identity,
        inbound: &Inbound,
    ) -> Result<Option<PendingCharge>, Problem> {
        let requested = inbound.row.cost.of(inbound);
        let none = Charge::nothing(self, identity, requested);
        none.clone().make_current();
        if requested == 0 {
            return Ok(None);
        }
        if requested > identity.tier.capacity() {
            let maximum = identity.tier.capacity();
            let cost = json!({"requested": requested, "maximum": maximum});
            return Err(Code::CostTooHigh.with("cost", cost));
        }
        match none.bucket.take_held(self, requested) {
            Some(taken) => none.apply(taken).map(|()| None),
            None => {
                Ok(Some(PendingCharge { charge: none, fails_closed: inbound.row.fails_closed }))
            }
        }
    }

    /// Rejects a request, before any read, if its network has used up the points for rejections. A caller that
    /// this process admitted a moment ago is not affected.
    ///
    /// # Errors
    /// `rate_limited`.
    pub(crate) fn check_network(&self, network: &str, inbound: &Inbound) -> Result<(), Problem> {
        let now = micros(self.services.clock.now());
        let credential = admission::presented_credential(inbound);
        let Some(wait) = self.admissions.wait(network, credential.as_deref(), now) else {
            return Ok(());
        };
        Charge::nothing(self, &Identity::of_network(network), Cost::REJECTION).make_current();
        Err(limited(wait))
    }

    /// Remembers that this caller was admitted.
    pub(crate) fn admitted(&self, inbound: &Inbound) {
        if let Some(credential) = admission::presented_credential(inbound) {
            self.admissions.remember_caller(&credential, micros(self.services.clock.now()));
        }
    }

    /// Charges a network for a request that is rejected before its caller is known. If the network has no points
    /// left, the rejection becomes `rate_limited`.
    pub(crate) async fn rejected(
        &self,
        network: &str,
        inbound: Option<&Inbound>,
        problem: Problem,
    ) -> Problem {
        if let Some(credential) = inbound.and_then(admission::presented_credential) {
            self.admissions.forget(&credential);
        }
        // Already rejected by the rate limit, or no error of the caller.
        if problem.code == Code::RateLimited || !(400..500).contains(&problem.code.status()) {
            return problem;
        }
        let rejection = Charge::nothing(self, &Identity::of_network(network), Cost::REJECTION);
        let bucket = rejection.bucket.clone();
        match bucket.take(self, Cost::REJECTION).await {
            Ok(taken) => {
                if let Taken::Rejected { wait, .. } = &taken {
                    let now = micros(self.services.clock.now());
                    self.admissions.close(network, now.saturating_add(*wait), now);
                }
                rejection.apply(taken).err().unwrap_or(problem)
            }
            Err(unreachable) => {
                tracing::warn!(cause = %unreachable, "cost of a rejection not charged");
                problem
            }
        }
    }

    /// Refunds unused points, or charges the points used beyond the charge.
    pub(crate) async fn apply_actual_cost(&self, charge: &Charge, actual: u32) {
        let Some(paid) = &charge.paid else { return };
        let unused = charge.requested.saturating_sub(actual);
        let owed = actual.saturating_sub(charge.requested);
        if unused > 0 {
            paid.refund(self, unused);
        } else if owed > 0 {
            charge.bucket.owe(self, owed).await;
        }
    }

    /// The points available in an identity's bucket right now.
    pub async fn available(&self, identity: &Identity) -> Result<u32, Problem> {
        Bucket::of(identity).read(self).await
    }
}

/// `429`; its `cost` member comes from the charge, as with every 429.
fn limited(wait_micros: i64) -> Problem {
    let seconds = wait_micros.max(1).saturating_add(999_999).div_euclid(1_000_000);
    Problem::from(Code::RateLimited).header(header::RETRY_AFTER, &seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_in_whole_seconds_and_at_least_one() {
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
    fn a_charge_reports_requested_and_available_points() {
        let bucket = Bucket::of(&Identity::of_network("net"));
        let paid = Some(Paid::example(&bucket));
        let charge = Charge { bucket, requested: 7, paid: None, available: 5 };
        assert_eq!(charge.requested(), 7);
        let cost = charge.rate_limit_cost();
        assert_eq!((cost.requested, cost.available), (7, 5));
        assert_eq!((cost.restore_rate, cost.maximum), (30, 300));
        let told = |charge: &Charge, spent: Option<u32>| {
            let mut headers = HeaderMap::new();
            charge.write_headers(spent.map(ActualCost), &mut headers);
            let number = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            let names = ["requested", "actual", "available"];
            names.map(|name| number(&format!("x-service-cost-{name}")).unwrap().to_owned())
        };
        assert_eq!(told(&charge, None), ["7", "0", "5"]);
        let taken = Charge { paid, ..charge };
        assert_eq!(told(&taken, None), ["7", "7", "5"]);
        assert_eq!(told(&taken, Some(3)), ["7", "3", "9"], "what was not used is back");
        assert_eq!(told(&taken, Some(9)), ["7", "9", "3"], "what was used beyond is owed");
        assert_eq!(told(&taken, Some(90)), ["7", "90", "0"]);
    }
}
