//! The health of a receiver, and the circuit breaker that keeps a failing receiver from delaying the
//! others (docs/conventions.md §10).
//!
//! Health is written only when it changes: on failure, on recovery, and otherwise at most every five
//! minutes. So a healthy receiver of many events is no hot item.

mod promptness;

use std::time::Duration;

use primitives::clock::{HOUR, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};

pub use promptness::{PROMPT, SLOW};

/// The number of consecutive failures that opens the circuit.
const TRIPS_AT: u32 = 10;
/// The time for which the circuit is open at first.
const OPEN_FIRST: Duration = MINUTE;
/// The longest time that the circuit is open.
const MAX_OPEN: Duration = MINUTE.saturating_mul(15);
/// The time that a probe may take before another is sent.
const PROBE: Duration = MINUTE;
/// The interval at which successes of a healthy receiver are recorded.
const SUCCESS_RECORDED: Duration = MINUTE.saturating_mul(5);
/// A subscription is disabled after this long without a success, …
const HOPELESS_AFTER: Duration = HOUR.saturating_mul(120);
/// … and at least so many exhausted deliveries.
const HOPELESS_EXHAUSTED: u32 = 20;

primitives::string_enum! {
    /// The health of a receiver.
    HealthStatus {
        /// No attempt failed since the last success, or since it was last enabled.
        Healthy = "healthy",
        /// The last attempt failed.
        Failing = "failing",
        /// Ten or more attempts in a row failed, and deliveries wait.
        CircuitOpen = "circuit_open",
    }
}

/// The reports of deliveries about a receiver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverHealth {
    /// Counts writes of health.
    pub revision: u64,
    /// Attempts that failed since the last success.
    pub consecutive_failures: u32,
    /// Deliveries that were exhausted since the last success.
    pub exhausted_since_success: u32,
    /// When the first of those attempts failed.
    pub failing_since: Option<Timestamp>,
    /// When an attempt last succeeded, to within five minutes.
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    pub last_failure_at: Option<Timestamp>,
    /// The circuit, while it is not closed.
    pub circuit: Option<Circuit>,
    /// The durations of the latest recorded attempts, in milliseconds, oldest first.
    #[serde(default)]
    pub recent_ms: Vec<u32>,
}

/// A circuit that is open, or half open while a probe is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circuit {
    /// Nothing is sent before this time.
    pub open_until: Timestamp,
    /// For how many seconds it was opened; doubled when the probe fails, up to 15 minutes.
    pub open_seconds: u64,
    /// When the time of the one probe ends; none while no probe is under way.
    pub probe_until: Option<Timestamp>,
}

/// Whether an attempt may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The circuit is closed: it may be made.
    Closed,
    /// It may be made as the one probe: write [`ReceiverHealth::probing`] with the claim.
    Probe,
    /// The circuit is open until this time.
    Open(Timestamp),
}

impl ReceiverHealth {
    /// The health as a status.
    pub fn word(&self) -> HealthStatus {
        match (&self.circuit, self.consecutive_failures) {
            (Some(_), _) => HealthStatus::CircuitOpen,
            (None, 0) => HealthStatus::Healthy,
            (None, _) => HealthStatus::Failing,
        }
    }

    fn next(&self) -> Self {
        Self { revision: self.revision.saturating_add(1), ..self.clone() }
    }

    /// The health with all failures forgotten, as after enabling a subscription. Response times are no
    /// failures, and stay.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self {
            revision: self.revision.saturating_add(1),
            last_success_at: self.last_success_at,
            last_failure_at: self.last_failure_at,
            recent_ms: self.recent_ms.clone(),
            ..Self::default()
        }
    }

    /// The health of a given-up receiver that is tried again: nothing counts towards giving it up, but
    /// its circuit stays as it is.
    #[must_use]
    pub fn pardoned(&self) -> Self {
        Self {
            consecutive_failures: self.consecutive_failures,
            circuit: self.circuit.clone(),
            ..self.renewed()
        }
    }

    /// The health of another receiver, of which nothing is known.
    #[must_use]
    pub fn of_another(&self) -> Self {
        Self { recent_ms: Vec::new(), ..self.renewed() }
    }

    /// Whether the circuit allows an attempt now.
    pub fn gate(&self, now: Timestamp) -> Gate {
        match &self.circuit {
            None => Gate::Closed,
            Some(circuit) if now < circuit.open_until => Gate::Open(circuit.open_until),
            Some(circuit) => match circuit.probe_until {
                Some(until) if now < until => Gate::Open(until),
                _ => Gate::Probe,
            },
        }
    }

    /// The health with a probe under way.
    #[must_use]
    pub fn probing(&self, now: Timestamp) -> Self {
        let circuit = self
            .circuit
            .clone()
            .map(|circuit| Circuit { probe_until: Some(now.plus(PROBE)), ..circuit });
        Self { circuit, ..self.next() }
    }

    /// The health after a failed attempt; `exhausted` when it was the delivery's last.
    #[must_use]
    pub fn failed(&self, exhausted: bool, now: Timestamp) -> Self {
        let failures = self.consecutive_failures.saturating_add(1);
        let open = |length: Duration| Circuit {
            open_until: now.plus(length),
            open_seconds: length.as_secs(),
            probe_until: None,
        };
        let circuit = match &self.circuit {
            None => (failures >= TRIPS_AT).then(|| open(OPEN_FIRST)),
            // An attempt that began before the circuit opened proves nothing about the probe.
            Some(circuit) if now < circuit.open_until => Some(circuit.clone()),
            Some(circuit) => {
                let doubled = Duration::from_secs(circuit.open_seconds.saturating_mul(2));
                Some(open(doubled.min(MAX_OPEN)))
            }
        };
        Self {
            consecutive_failures: failures,
            exhausted_since_success: self
                .exhausted_since_success
                .saturating_add(u32::from(exhausted)),
            failing_since: self.failing_since.or(Some(now)),
            last_failure_at: Some(now),
            circuit,
            ..self.next()
        }
    }

    /// The health after a delivery ended without an attempt, because it waited too long for the circuit.
    #[must_use]
    pub fn expired(&self) -> Self {
        let exhausted = self.exhausted_since_success.saturating_add(1);
        Self { exhausted_since_success: exhausted, ..self.next() }
    }

    /// The health after a success; none when it need not be written.
    pub fn succeeded(&self, now: Timestamp) -> Option<Self> {
        let clean = self.consecutive_failures == 0
            && self.exhausted_since_success == 0
            && self.circuit.is_none();
        let fresh = self.last_success_at.is_some_and(|at| now < at.plus(SUCCESS_RECORDED));
        if clean && fresh {
            return None;
        }
        Some(Self { last_success_at: Some(now), ..self.renewed() })
    }

    /// Whether the service disables the subscription: at least 20 deliveries were exhausted since the
    /// last success, and the first failure is 120 hours ago.
    pub fn is_hopeless(&self, now: Timestamp) -> bool {
        self.exhausted_since_success >= HOPELESS_EXHAUSTED
            && self.failing_since.is_some_and(|since| since.plus(HOPELESS_AFTER) <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_795_244_400_000);

    fn tripped() -> ReceiverHealth {
        (0..10).fold(ReceiverHealth::default(), |health, _| health.failed(false, START))
    }

    #[test]
    fn ten_failures_in_a_row_open_the_circuit_and_nine_do_not() {
        let nine = (0..9).fold(ReceiverHealth::default(), |health, _| health.failed(false, START));
        assert_eq!((nine.gate(START), nine.word()), (Gate::Closed, HealthStatus::Failing));
        let ten = nine.failed(false, START);
        assert_eq!(ten.gate(START), Gate::Open(START.plus(MINUTE)));
        assert_eq!((ten.word(), ten.revision), (HealthStatus::CircuitOpen, 10));
    }

    #[test]
    fn one_probe_is_let_through_and_its_failure_doubles_the_wait_up_to_15_minutes() {
        let mut health = tripped();
        let mut now = START;
        for expected in [60, 120, 240, 480, 900, 900] {
            let Gate::Open(until) = health.gate(now) else { panic!("not open") };
            assert_eq!(now.until(until), Duration::from_secs(expected));
            now = until;
            assert_eq!(health.gate(now), Gate::Probe);
            health = health.probing(now);
            assert_eq!(health.gate(now), Gate::Open(now.plus(PROBE)));
            health = health.failed(false, now);
        }
    }

    #[test]
    fn a_lost_probe_makes_room_for_another_and_a_straggler_does_not_double() {
        let health = tripped();
        assert_eq!(health.failed(false, START).gate(START), health.gate(START));
        let later = START.plus(MINUTE);
        assert_eq!(health.probing(later).gate(later.plus(PROBE)), Gate::Probe);
    }

    #[test]
    fn a_success_closes_the_circuit_and_is_otherwise_written_every_five_minutes() {
        let healed = tripped().succeeded(START).unwrap();
        assert_eq!((healed.gate(START), healed.word()), (Gate::Closed, HealthStatus::Healthy));
        assert_eq!(healed.succeeded(START.plus(MINUTE)), None);
        assert!(healed.succeeded(START.plus(SUCCESS_RECORDED)).is_some());
    }

    #[test]
    fn hopeless_takes_both_120_hours_and_20_exhausted_deliveries() {
        let nineteen =
            (0..19).fold(ReceiverHealth::default(), |health, _| health.failed(true, START));
        let end = START.plus(HOPELESS_AFTER);
        assert!(!nineteen.is_hopeless(end));
        let twenty = nineteen.expired();
        assert!(twenty.is_hopeless(end));
        assert!(!twenty.is_hopeless(end.minus(Duration::from_millis(1))));
        assert!(!twenty.renewed().is_hopeless(end));
    }
}
