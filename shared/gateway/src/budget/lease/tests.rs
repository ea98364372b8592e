#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use proptest::prelude::*;

use super::*;

const TIER: Tier = Tier::Public;

/// One point.
fn point() -> i64 {
    TIER.interval()
}

/// The item in the table, with the conditions of the three writes.
#[derive(Debug, Default)]
struct Row {
    tat: Option<i64>,
    writes: usize,
}

impl Row {
    /// The TAT that it leaves, or the one that stands in its way.
    fn take(&mut self, plan: &Plan) -> Result<i64, i64> {
        self.writes += 1;
        let old = self.tat.unwrap_or(0);
        let new = if plan.idle {
            (old <= plan.now).then_some(plan.now + plan.increment)
        } else {
            let ceiling = plan.now + TIER.burst() - plan.increment;
            let ceiling = if plan.owed { i64::MAX } else { ceiling };
            (plan.now < old && old <= ceiling).then_some(old + plan.increment)
        };
        self.tat = new.or(self.tat);
        new.ok_or(old)
    }

    fn give_back(&mut self, (from, to): (i64, i64)) -> bool {
        self.writes += 1;
        let unchanged = self.tat == Some(from);
        if unchanged {
            self.tat = Some(to);
        }
        unchanged
    }
}

/// A paid charge, and its time.
#[derive(Debug, Clone, Copy)]
struct Use {
    at: i64,
    amount: i64,
    mark: i64,
}

/// A process: its lease, and the charge that waits for the table.
#[derive(Debug)]
struct Process {
    lease: Lease,
    pending: Option<Plan>,
    uses: Vec<Use>,
}

impl Process {
    fn new() -> Self {
        Self { lease: Lease::new(TIER), pending: None, uses: Vec::new() }
    }

    fn paid(&mut self, at: i64, amount: i64, mark: i64) {
        self.uses.push(Use { at, amount, mark });
    }

    /// A charge, up to where it asks the table.
    fn charge(&mut self, row: &mut Row, now: i64, amount: i64) -> Option<LeaseDecision> {
        let verdict = self.lease.validate(now, amount);
        if let Some(LeaseDecision::Paid(mark)) = verdict {
            self.paid(now, amount, mark);
        }
        if verdict.is_none() && self.pending.is_none() {
            self.end(row, now);
            self.pending = Some(self.lease.plan(now, amount));
        }
        verdict
    }

    /// Answers the waiting request to the table.
    fn answer(&mut self, row: &mut Row) {
        let Some(plan) = self.pending.take() else { return };
        match row.take(&plan) {
            Ok(tat) => {
                let mark = self.lease.granted(&plan, tat);
                self.paid(plan.now, plan.amount, mark);
            }
            Err(tat) => self.lease.rejected(tat),
        }
    }

    /// A charge, to its end; says whether it was admitted.
    fn try_charge(&mut self, row: &mut Row, now: i64, amount: i64) -> bool {
        for _ in 0..4 {
            if let Some(verdict) = self.charge(row, now, amount) {
                return matches!(verdict, LeaseDecision::Paid(_));
            }
            let before = self.uses.len();
            self.answer(row);
            if self.uses.len() > before {
                return true;
            }
        }
        panic!("a charge is decided in three turns");
    }

    fn end(&mut self, row: &mut Row, now: i64) {
        if let Some((from, to)) = self.lease.end(now)
            && row.give_back((from, to))
        {
            self.lease.gave_back(from, to);
        }
    }

    /// The last charge turns out to have cost less.
    fn refund(&mut self, now: i64, nth: usize, part: i64) {
        let count = self.uses.len();
        if let Some(used) = nth.checked_rem(count).and_then(|nth| self.uses.get_mut(nth)) {
            let amount = used.amount * part / 10;
            used.amount -= amount;
            self.lease.refund(now, amount, used.mark);
        }
    }
}

/// No window of time sees more than the capacity and what it restores.
fn assert_bound(mut uses: Vec<Use>) {
    uses.sort_by_key(|used| used.at);
    for (first, from) in uses.iter().enumerate() {
        let mut sum = 0;
        for to in &uses[first..] {
            sum += to.amount;
            assert!(sum <= TIER.burst() + to.at - from.at, "{} to {}: {sum}", from.at, to.at);
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Pass(i64),
    Charge(usize, i64),
    Answer(usize),
    Refund(usize, usize, i64),
    End(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let process = 0..3_usize;
    prop_oneof![
        3 => (0..120_000_i64).prop_map(Event::Pass),
        1 => (0..4_000_000_i64).prop_map(Event::Pass),
        9 => (process.clone(), prop_oneof![Just(1), 1..40_i64]).prop_map(|(p, c)| Event::Charge(p, c)),
        6 => process.clone().prop_map(Event::Answer),
        3 => (process.clone(), 0..1_000_usize, 0..11_i64).prop_map(|(p, n, c)| Event::Refund(p, n, c)),
        2 => process.prop_map(Event::End),
    ]
}

proptest! {
    #[test]
    fn no_interleaving_of_processes_is_admitted_more_than_the_bound(
        events in prop::collection::vec(event(), 1..400),
    ) {
        let (mut row, mut now) = (Row::default(), 1_000_000_000);
        let mut processes = [Process::new(), Process::new(), Process::new()];
        for event in events {
            match event {
                Event::Pass(micros) => now += micros,
                Event::Charge(process, points) => {
                    processes[process].charge(&mut row, now, points * point());
                }
                Event::Answer(process) => processes[process].answer(&mut row),
                Event::Refund(process, nth, part) => processes[process].refund(now, nth, part),
                Event::End(process) if processes[process].pending.is_none() => {
                    processes[process].end(&mut row, now);
                }
                Event::End(_) => {}
            }
        }
        assert_bound(processes.into_iter().flat_map(|process| process.uses).collect());
    }

    /// To one process that is alone a bucket is what it would be without a lease.
    #[test]
    fn a_process_alone_is_admitted_what_it_would_be_without_a_lease(
        charges in prop::collection::vec((0..400_000_i64, 1..40_i64), 1..200),
    ) {
        let (mut row, mut now, mut plain) = (Row::default(), 1_000_000_000, 0);
        let mut process = Process::new();
        for (pause, points) in charges {
            now += pause;
            let amount = points * point();
            let after = plain.max(now) + amount;
            let fits = after <= now + TIER.burst();
            prop_assert_eq!(process.try_charge(&mut row, now, amount), fits);
            plain = if fits { after } else { plain };
            let available = TIER.points(TIER.burst() - (plain - now).max(0));
            prop_assert_eq!(process.lease.available(now), available);
        }
    }
}

#[test]
fn the_first_charge_takes_no_more_than_it_costs_and_a_busy_bucket_is_written_ever_less_often() {
    let (mut row, mut process, now) = (Row::default(), Process::new(), 1_000_000_000);
    assert!(process.try_charge(&mut row, now, 3 * point()));
    assert_eq!((row.writes, row.tat), (1, Some(now + 3 * point())));
    for count in 2..=100 {
        assert!(process.try_charge(&mut row, now, point()));
        assert_eq!(process.lease.available(now), 300 - 2 - count);
    }
    // Blocks of 3, 6, 12, 24; and then of a tenth of what is there: 25, 22, 20.
    assert_eq!(row.writes, 1 + 7);
}

#[test]
fn a_bucket_is_spent_to_its_end_and_then_rejected_without_the_table() {
    let (mut row, mut process, now) = (Row::default(), Process::new(), 1_000_000_000);
    for _ in 0..150 {
        assert!(process.try_charge(&mut row, now, 2 * point()));
    }
    assert_eq!((row.tat, process.lease.available(now)), (Some(now + 300 * point()), 0));
    let writes = row.writes;
    for _ in 0..50 {
        let verdict = process.charge(&mut row, now, 2 * point());
        assert_eq!(verdict, Some(LeaseDecision::Rejected(2 * point())));
    }
    let verdict = process.charge(&mut row, now + 1, point());
    assert_eq!((verdict, row.writes), (Some(LeaseDecision::Rejected(point() - 1)), writes));
    // It ends when it said it would.
    assert!(process.try_charge(&mut row, now + 2 * point(), 2 * point()));
}

/// A process that has spent so many points one by one, at this moment.
fn busy(row: &mut Row, now: i64, points: usize) -> Process {
    let mut process = Process::new();
    for _ in 0..points {
        assert!(process.try_charge(row, now, point()));
    }
    process
}

#[test]
fn unused_points_are_returned_after_a_second_unless_the_bucket_was_charged_since() {
    let now = 1_000_000_000;
    let mut row = Row::default();
    let mut process = busy(&mut row, now, 90);
    let taken = row.tat.unwrap();
    assert!(taken > now + 90 * point(), "something is left");
    assert_eq!(process.lease.end(now + LIFE - 1), None);
    process.end(&mut row, now + LIFE);
    assert_eq!(row.tat, Some(now + 90 * point()));
    assert_eq!(process.lease.ends(now + LIFE), None);

    let mut row = Row::default();
    let mut process = busy(&mut row, now, 90);
    let mut other = Process::new();
    assert!(other.try_charge(&mut row, now, point()));
    process.end(&mut row, now + LIFE);
    assert_eq!(row.tat, Some(taken + point()), "it is restored in its time");
    assert_eq!(process.lease.ends(now + LIFE), None);
}

#[test]
fn points_that_a_charge_did_not_use_pay_for_the_next() {
    let (mut row, mut process, now) = (Row::default(), Process::new(), 1_000_000_000);
    assert!(process.try_charge(&mut row, now, 11 * point()));
    let mark = process.uses[0].mark;
    process.lease.refund(now, 10 * point(), mark);
    assert_eq!(process.lease.available(now), 299);
    assert!(process.try_charge(&mut row, now, 10 * point()));
    assert_eq!((row.writes, process.lease.available(now)), (1, 289));
    // What has been restored meanwhile does not come back twice.
    let later = now + 11 * point();
    process.lease.refund(later, 10 * point(), mark);
    assert_eq!((process.lease.held(later), process.lease.available(later)), (0, 300));
}

#[test]
fn a_debt_overdraws_the_bucket_and_admits_nobody_until_it_is_restored() {
    let (mut row, mut process, now) = (Row::default(), Process::new(), 1_000_000_000);
    assert!(process.try_charge(&mut row, now, 290 * point()));
    let plan = process.lease.plan(now, 40 * point()).owed();
    assert_eq!(plan.increment, 40 * point(), "no block beside it");
    let tat = row.take(&plan).unwrap();
    process.lease.granted(&plan, tat);
    assert_eq!((tat, process.lease.held(now)), (now + 330 * point(), 0));
    assert_eq!(process.lease.available(now), 0);
    assert_eq!(process.lease.validate(now, point()), Some(LeaseDecision::Rejected(31 * point())));
    assert!(process.try_charge(&mut row, now + 31 * point(), point()));
}

#[test]
fn a_table_that_does_not_answer_costs_the_lease_nothing() {
    let (mut row, mut process, now) = (Row::default(), Process::new(), 1_000_000_000);
    assert!(process.try_charge(&mut row, now, 11 * point()));
    process.refund(now, 0, 5);
    let held = process.lease.held(now);
    assert_eq!(held, 11 * point() / 2);
    assert_eq!(process.lease.validate(now, 20 * point()), None);
    process.lease.plan(now, 20 * point());
    // It is promised to who asks.
    assert_eq!(process.lease.validate(now, point()), None);
    process.lease.failed();
    assert_eq!(process.lease.held(now), held);
    assert!(matches!(process.lease.validate(now, point()), Some(LeaseDecision::Paid(_))));
}

#[test]
fn a_lease_remembers_few_spans() {
    let (mut row, mut process, mut other) = (Row::default(), Process::new(), Process::new());
    for _ in 0..20 {
        process.try_charge(&mut row, 1_000_000_000, 3 * point());
        other.try_charge(&mut row, 1_000_000_000, 3 * point());
    }
    assert!(process.lease.spans.len() <= MAX_SPANS);
}
