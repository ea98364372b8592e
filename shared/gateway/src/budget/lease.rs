//! Points that a process took out of a bucket and spends in memory, without the table.
//!
//! A bucket is counted in microseconds of its own time; a point is one emission interval. A write takes a
//! [`Span`] of that time, which ends at the new TAT. Spans of different writes do not overlap, whichever
//! process they are from. Each microsecond is spent once, and only while it lies in the future. So the
//! points spent between `s` and `t` fit between `s` and `t + burst`. They are no more than
//! `capacity + restore * (t - s)`, under any concurrency.

use super::Tier;

/// The lifetime of a lease, in microseconds; unspent points are then returned.
pub(super) const LIFE: i64 = 1_000_000;
/// The divisor of the available points for the largest block.
const SHARE: i64 = 10;
/// The most spans of a lease; the rest of the oldest is dropped beyond that (our choice).
const MAX_SPANS: usize = 8;

/// The points of one bucket that a process holds, and its last reading of the bucket. Times are in
/// microseconds.
#[derive(Debug)]
pub(super) struct Lease {
    tier: Tier,
    /// In the order in which they were taken. The unspent points are at the end.
    spans: Vec<Span>,
    left: i64,
    /// The part reserved for the charge that is taking the rest from the table.
    reserved: i64,
    /// When the unspent points are returned.
    until: i64,
    /// The TAT that was last read from the table.
    tat: Option<i64>,
    /// The sum of all points ever taken.
    taken: i64,
    /// The sum of all points ever refunded. Earlier charges lie lower by that much.
    refunded: i64,
    spending: Spending,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: i64,
    end: i64,
}

/// The decision of a lease about a charge, without the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseDecision {
    /// Paid; the end of the charge's span, for [`Lease::refund`].
    Paid(i64),
    /// Rejected; it fits after this many microseconds.
    Rejected(i64),
}

/// The update of the table that a charge requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) now: i64,
    /// The distance by which the TAT moves.
    pub(super) increment: i64,
    /// Whether the bucket is expected to be full.
    pub(super) idle: bool,
    /// Whether the points are taken even if they are not available.
    pub(super) owed: bool,
    amount: i64,
    /// The part that the lease pays.
    paid: i64,
}

impl Plan {
    /// The least that the table has to have.
    fn need(&self) -> i64 {
        self.amount.saturating_sub(self.paid).max(1)
    }

    /// The plan for points that were already used: they are taken whether they are available or not, and
    /// no others are.
    pub(super) fn owed(self) -> Self {
        Self { increment: self.need(), owed: true, ..self }
    }
}

impl Lease {
    pub(super) fn new(tier: Tier) -> Self {
        Self {
            tier,
            spans: Vec::new(),
            left: 0,
            reserved: 0,
            until: 0,
            tat: None,
            taken: 0,
            refunded: 0,
            spending: Spending::default(),
        }
    }

    /// The whole points that a request may cost now, by the last reading.
    pub(super) fn available(&self, now: i64) -> u32 {
        self.available_with(now, self.tat)
    }

    /// The same, with this TAT of the table.
    pub(super) fn available_with(&self, now: i64, tat: Option<i64>) -> u32 {
        self.tier.points(self.available_micros(now, tat).saturating_add(self.held(now)))
    }

    /// Whether it has points or a reading that still matter.
    pub(super) fn counts(&self, now: i64) -> bool {
        self.tat.is_some_and(|tat| now < tat) || self.held(now) > 0
    }

    /// When the points that it holds are returned; none if it holds none.
    pub(super) fn ends(&self, now: i64) -> Option<i64> {
        (self.held(now) > 0).then_some(self.until)
    }

    /// Decides a charge without the table, if possible.
    pub(super) fn validate(&mut self, now: i64, amount: i64) -> Option<LeaseDecision> {
        if self.live(now) >= amount {
            self.left = self.held(now).saturating_sub(amount);
            self.spending.count(now, amount);
            return Some(LeaseDecision::Paid(self.mark()));
        }
        // The balance is uncertain: a request is taking points, or points are being returned.
        let unsettled = self.reserved > 0 || (now >= self.until && self.held(now) > 0);
        if unsettled { None } else { self.wait(now, amount).map(LeaseDecision::Rejected) }
    }

    /// The time until a charge fits, by the last reading; none when it may fit now.
    pub(super) fn wait(&self, now: i64, amount: i64) -> Option<i64> {
        let tat = self.tat.filter(|tat| now < *tat)?;
        let need = amount.saturating_sub(self.live(now));
        let wait = tat.saturating_add(need).saturating_sub(self.tier.burst()).saturating_sub(now);
        (wait > 0).then_some(wait)
    }

    /// The request to the table, by the last reading. It takes at least what the lease lacks, and as much
    /// as was spent within the last second, up to a tenth of the available points. Only one charge at a
    /// time sends it.
    pub(super) fn plan(&mut self, now: i64, amount: i64) -> Plan {
        self.left = self.held(now);
        let paid = if now < self.until { self.left.min(amount) } else { 0 };
        self.reserved = paid;
        let share = self.available_micros(now, self.tat).checked_div(SHARE).unwrap_or(0);
        let block = self.spending.recent(now).min(share);
        // Whole points: less than one is not worth a write to return it.
        let part = block.checked_rem(self.tier.interval()).unwrap_or(0);
        let block = block.saturating_sub(part);
        let idle = self.tat.is_none_or(|tat| tat <= now);
        let plan = Plan { now, increment: 0, idle, owed: false, amount, paid };
        Plan { increment: plan.need().max(block), ..plan }
    }

    /// Records that the table granted the plan and has this TAT. Returns the end of the charge's span.
    pub(super) fn granted(&mut self, plan: &Plan, tat: i64) -> i64 {
        let start = tat.saturating_sub(plan.increment);
        match self.spans.last_mut() {
            Some(last) if last.end == start => last.end = tat,
            _ => self.spans.push(Span { start, end: tat }),
        }
        self.spans.retain(|span| span.end > plan.now);
        if self.spans.len() > MAX_SPANS {
            self.spans.remove(0);
        }
        let rest = plan.increment.saturating_sub(plan.amount.saturating_sub(plan.paid));
        self.left = self.left.saturating_sub(plan.paid).max(0).saturating_add(rest);
        self.reserved = 0;
        self.taken = self.taken.saturating_add(plan.increment);
        self.until = plan.now.saturating_add(LIFE);
        self.tat = Some(tat);
        self.spending.count(plan.now, plan.amount);
        self.mark()
    }

    /// Records that the table rejected the plan and has this TAT.
    pub(super) fn rejected(&mut self, tat: i64) {
        self.tat = Some(tat);
        self.reserved = 0;
    }

    /// Records that the table did not answer.
    pub(super) fn failed(&mut self) {
        self.reserved = 0;
    }

    /// Returns the unused part of a charge to the lease, as far as it still lies ahead.
    pub(super) fn refund(&mut self, now: i64, amount: i64, mark: i64) {
        let ahead = self.ahead(now);
        let behind = self.taken.saturating_sub(ahead).saturating_add(self.refunded);
        let back = amount.min(mark.saturating_sub(behind)).max(0);
        self.left = self.held(now).saturating_add(back).min(ahead);
        self.refunded = self.refunded.saturating_add(back);
        self.spending.forget(back);
    }

    /// Ends an expired lease. Returns the end of its last span, and the end without the unspent points, if
    /// a point or more is unspent. They can be returned as long as nothing was taken after them;
    /// everything else is restored by time.
    pub(super) fn end(&mut self, now: i64) -> Option<(i64, i64)> {
        if now < self.until {
            return None;
        }
        let held = self.held(now);
        (self.left, self.reserved) = (0, 0);
        let last = std::mem::take(&mut self.spans).pop()?;
        let back = held.min(last.ahead(now));
        (back >= self.tier.interval()).then(|| (last.end, last.end.saturating_sub(back)))
    }

    /// Records that the unspent points were returned to the table.
    pub(super) fn gave_back(&mut self, from: i64, to: i64) {
        if self.tat == Some(from) {
            self.tat = Some(to);
        }
    }

    /// The end of the span that was spent last, as [`Lease::taken`] counts, without refunds.
    fn mark(&self) -> i64 {
        self.taken.saturating_sub(self.left).saturating_add(self.refunded)
    }

    /// The unspent points that still lie ahead.
    fn held(&self, now: i64) -> i64 {
        self.left.min(self.ahead(now))
    }

    /// The points that may be spent without the table.
    fn live(&self, now: i64) -> i64 {
        let held = self.held(now).saturating_sub(self.reserved).max(0);
        if now < self.until { held } else { 0 }
    }

    fn ahead(&self, now: i64) -> i64 {
        self.spans.iter().map(|span| span.ahead(now)).fold(0, i64::saturating_add)
    }

    /// The microseconds available below the burst; all of it without a reading.
    fn available_micros(&self, now: i64, tat: Option<i64>) -> i64 {
        let used = tat.map_or(0, |tat| tat.saturating_sub(now).max(0));
        self.tier.burst().saturating_sub(used).max(0)
    }
}

impl Span {
    fn ahead(&self, now: i64) -> i64 {
        self.end.saturating_sub(self.start.max(now)).max(0)
    }
}

/// The points spent in this second and in the one before.
#[derive(Debug, Default)]
struct Spending {
    since: i64,
    this: i64,
    last: i64,
}

impl Spending {
    fn count(&mut self, now: i64, amount: i64) {
        let age = now.saturating_sub(self.since);
        if age >= LIFE {
            self.last = if age < LIFE.saturating_mul(2) { self.this } else { 0 };
            (self.since, self.this) = (now, 0);
        }
        self.this = self.this.saturating_add(amount);
    }

    fn forget(&mut self, amount: i64) {
        self.this = self.this.saturating_sub(amount).max(0);
    }

    fn recent(&self, now: i64) -> i64 {
        match now.saturating_sub(self.since) {
            age if age < LIFE => self.this.max(self.last),
            age if age < LIFE.saturating_mul(2) => self.this,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
