//! Points that a process took out of a bucket and spends in memory, without asking the table.
//!
//! A bucket is counted in microseconds of its own time; a point is one emission interval. What a
//! write takes is a [`Span`] of that time, which ends at the TAT that it leaves. Spans of different
//! writes do not overlap, whichever process they are from; each microsecond is spent once, and only
//! while it lies ahead of now. So whatever is spent between `s` and `t` fits between `s` and
//! `t + burst`: no more than `capacity + restore * (t - s)`, under any concurrency.

use super::Tier;

/// How long a lease is spent, in microseconds; what is left then goes back.
pub(super) const LIFE: i64 = 1_000_000;
/// A block is at most this part of what is available.
const SHARE: i64 = 10;
/// Spans that are remembered; what is left of the oldest is given up beyond that (our choice).
const MAX_SPANS: usize = 8;

/// What a process holds of one bucket, and what it knows of it. Times are in microseconds.
#[derive(Debug)]
pub(super) struct Lease {
    tier: Tier,
    /// In the order in which they were taken. What is left is the end of them.
    spans: Vec<Span>,
    left: i64,
    /// What of it is promised to the charge that is asking the table for the rest.
    reserved: i64,
    /// When what is left is to go back.
    until: i64,
    /// The TAT that the table showed last.
    tat: Option<i64>,
    /// All that was ever taken.
    taken: i64,
    /// All that was ever refunded: by so much charges that were made before lie lower.
    refunded: i64,
    pace: Pace,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: i64,
    end: i64,
}

/// What a lease says to a charge, where the table need not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is paid; here it lies, for [`Lease::refund`].
    Paid(i64),
    /// It fits in so many microseconds.
    Rejected(i64),
}

/// What a charge asks the table for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) now: i64,
    /// How far the TAT is to move.
    pub(super) increment: i64,
    /// Whether the bucket is believed to be full.
    pub(super) idle: bool,
    /// Whether it is taken even if it is not there.
    pub(super) owed: bool,
    amount: i64,
    /// What the lease pays of it.
    paid: i64,
}

impl Plan {
    /// What the table has to have, at least.
    fn need(&self) -> i64 {
        self.amount.saturating_sub(self.paid).max(1)
    }

    /// For what has been used already: it is taken whether it is there or not, and nothing beyond it.
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
            pace: Pace::default(),
        }
    }

    /// Whole points that a request may cost now, as far as this process knows.
    pub(super) fn available(&self, now: i64) -> u32 {
        self.available_with(now, self.tat)
    }

    /// The same, where the table shows this TAT.
    pub(super) fn available_with(&self, now: i64, tat: Option<i64>) -> u32 {
        self.tier.points(self.room(now, tat).saturating_add(self.held(now)))
    }

    /// Whether there is anything to remember.
    pub(super) fn counts(&self, now: i64) -> bool {
        self.tat.is_some_and(|tat| now < tat) || self.held(now) > 0
    }

    /// When what is held is to go back; none when nothing is.
    pub(super) fn ends(&self, now: i64) -> Option<i64> {
        (self.held(now) > 0).then_some(self.until)
    }

    /// Decides a charge without the table, if that can be done.
    pub(super) fn validate(&mut self, now: i64, amount: i64) -> Option<Verdict> {
        if self.live(now) >= amount {
            self.left = self.held(now).saturating_sub(amount);
            self.pace.count(now, amount);
            return Some(Verdict::Paid(self.mark()));
        }
        // What is about to change is not known: somebody asks, or something goes back.
        let unsettled = self.reserved > 0 || (now >= self.until && self.held(now) > 0);
        if unsettled { None } else { self.wait(now, amount).map(Verdict::Rejected) }
    }

    /// How long it takes until a charge fits, by what is known; none when it may fit now.
    pub(super) fn wait(&self, now: i64, amount: i64) -> Option<i64> {
        let tat = self.tat.filter(|tat| now < *tat)?;
        let need = amount.saturating_sub(self.live(now));
        let wait = tat.saturating_add(need).saturating_sub(self.tier.burst()).saturating_sub(now);
        (wait > 0).then_some(wait)
    }

    /// What to ask the table for, by what is known: at least what the lease lacks; and as much as was
    /// spent within the last second, up to a tenth of what is there. Only one charge asks at a time.
    pub(super) fn plan(&mut self, now: i64, amount: i64) -> Plan {
        self.left = self.held(now);
        let paid = if now < self.until { self.left.min(amount) } else { 0 };
        self.reserved = paid;
        let share = self.room(now, self.tat).checked_div(SHARE).unwrap_or(0);
        let block = self.pace.recent(now).min(share);
        // Whole points: less than one is not worth a write to give back.
        let part = block.checked_rem(self.tier.interval()).unwrap_or(0);
        let block = block.saturating_sub(part);
        let idle = self.tat.is_none_or(|tat| tat <= now);
        let plan = Plan { now, increment: 0, idle, owed: false, amount, paid };
        Plan { increment: plan.need().max(block), ..plan }
    }

    /// The table granted what was planned, and its TAT is now this: where the charge lies.
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
        self.pace.count(plan.now, plan.amount);
        self.mark()
    }

    /// The table did not grant it: its TAT is this.
    pub(super) fn rejected(&mut self, tat: i64) {
        self.tat = Some(tat);
        self.reserved = 0;
    }

    /// The table did not answer.
    pub(super) fn failed(&mut self) {
        self.reserved = 0;
    }

    /// What of a charge was not needed can be spent again, as far as it still lies ahead.
    pub(super) fn refund(&mut self, now: i64, amount: i64, mark: i64) {
        let ahead = self.ahead(now);
        let behind = self.taken.saturating_sub(ahead).saturating_add(self.refunded);
        let back = amount.min(mark.saturating_sub(behind)).max(0);
        self.left = self.held(now).saturating_add(back).min(ahead);
        self.refunded = self.refunded.saturating_add(back);
        self.pace.forget(back);
    }

    /// Ends a lease whose time is over: where its last span ends, and where it should have ended,
    /// if a point or more is left of it. That can go back as long as nobody took anything after it;
    /// everything else is restored in its time.
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

    /// What was left has gone back.
    pub(super) fn gave_back(&mut self, from: i64, to: i64) {
        if self.tat == Some(from) {
            self.tat = Some(to);
        }
    }

    /// Where what was spent last ends, as [`Lease::taken`] counts, refunds aside.
    fn mark(&self) -> i64 {
        self.taken.saturating_sub(self.left).saturating_add(self.refunded)
    }

    /// What is left and still lies ahead.
    fn held(&self, now: i64) -> i64 {
        self.left.min(self.ahead(now))
    }

    /// What may be spent without the table.
    fn live(&self, now: i64) -> i64 {
        let held = self.held(now).saturating_sub(self.reserved).max(0);
        if now < self.until { held } else { 0 }
    }

    fn ahead(&self, now: i64) -> i64 {
        self.spans.iter().map(|span| span.ahead(now)).fold(0, i64::saturating_add)
    }

    /// Room under the burst; all of it when nothing is known.
    fn room(&self, now: i64, tat: Option<i64>) -> i64 {
        let used = tat.map_or(0, |tat| tat.saturating_sub(now).max(0));
        self.tier.burst().saturating_sub(used).max(0)
    }
}

impl Span {
    fn ahead(&self, now: i64) -> i64 {
        self.end.saturating_sub(self.start.max(now)).max(0)
    }
}

/// What was spent in this second and in the one before.
#[derive(Debug, Default)]
struct Pace {
    since: i64,
    this: i64,
    last: i64,
}

impl Pace {
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
