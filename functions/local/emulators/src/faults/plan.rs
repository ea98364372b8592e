//! Plans of drawn faults: their rates and their seed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::fault::{Call, Fault};

/// The unit of rates: millionths.
const ONE_MILLION: u64 = 1_000_000;
/// One percent, in millionths.
const MILLIONTHS_PER_PERCENT: u64 = ONE_MILLION / 100;

/// The rates and the seed of drawn faults: `5%:42`, where each possible fault of a call has the same share,
/// or `throttle=5%,lost=0.5%:42`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    rates: Rates,
    seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rates {
    /// The rate of all calls.
    Even(u64),
    /// The rate of each fault, among the calls that it can be injected into.
    Each(BTreeMap<Fault, u64>),
}

/// The environment variable with the plan of every system of a process.
const VARIABLE: &str = "SERVICE_FAULTS";

impl Plan {
    /// Reads the plan of the environment, for tests; none without the variable.
    ///
    /// # Errors
    /// A malformed plan.
    #[expect(clippy::disallowed_methods, reason = "of test runs alone, and read nowhere else")]
    pub fn from_env() -> Result<Option<Self>, PlanError> {
        let text = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
        text.map(|text| text.parse()).transpose()
    }

    /// The plan with a seed derived from this one and a name, so that each system of a process has faults of
    /// its own.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        let seed = name.bytes().fold(self.seed, |seed, byte| mix(seed ^ u64::from(byte)));
        Self { rates: self.rates.clone(), seed }
    }

    /// Draws the fault of the call with this number, and a random number for its details.
    pub(super) fn draw(&self, number: u64, call: &Call) -> (Option<Fault>, u64) {
        let draw = mix(self.seed ^ mix(number));
        let (mut place, detail) = (draw.rem_euclid(ONE_MILLION), mix(draw));
        let suiting = || Fault::DRAWN.into_iter().filter(|fault| fault.suits(call));
        let fault = match &self.rates {
            Rates::Even(rate) if place < *rate => {
                let all: Vec<_> = suiting().collect();
                let count = u64::try_from(all.len()).unwrap_or(1);
                let chosen = mix(detail).checked_rem(count).unwrap_or(0);
                usize::try_from(chosen).ok().and_then(|chosen| all.get(chosen).copied())
            }
            Rates::Even(_) => None,
            Rates::Each(rates) => suiting().find(|fault| {
                let rate = rates.get(fault).copied().unwrap_or(0);
                let is_hit = place < rate;
                place = place.saturating_sub(rate);
                is_hit
            }),
        };
        (fault, detail)
    }

    /// Whether the plan can draw this fault.
    pub(super) fn has(&self, fault: Fault) -> bool {
        match &self.rates {
            Rates::Even(rate) => *rate > 0,
            Rates::Each(rates) => rates.get(&fault).is_some_and(|rate| *rate > 0),
        }
    }
}

impl FromStr for Plan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let malformed = || PlanError(text.to_owned());
        let (rates, seed) = text.rsplit_once(':').ok_or_else(malformed)?;
        let seed = seed.parse().map_err(|_| malformed())?;
        if !rates.contains('=') {
            return Ok(Self { rates: Rates::Even(rate(rates).ok_or_else(malformed)?), seed });
        }
        let each = rates.split(',').map(|part| {
            let (name, percent) = part.split_once('=')?;
            let fault = Fault::DRAWN.into_iter().find(|fault| fault.name() == name.trim())?;
            Some((fault, rate(percent)?))
        });
        let each: Option<BTreeMap<_, _>> = each.collect();
        let each = each.filter(|each| each.values().sum::<u64>() <= ONE_MILLION);
        Ok(Self { rates: Rates::Each(each.ok_or_else(malformed)?), seed })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rates {
            Rates::Even(rate) => write!(f, "{}", Percent(*rate))?,
            Rates::Each(rates) => {
                for (place, (fault, rate)) in rates.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(f, "{comma}{}={}", fault.name(), Percent(*rate))?;
                }
            }
        }
        write!(f, ":{}", self.seed)
    }
}

/// A rate in millionths, displayed as a percentage.
struct Percent(u64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:04}", self.0.rem_euclid(MILLIONTHS_PER_PERCENT));
        let part = part.trim_end_matches('0');
        let point = if part.is_empty() { "" } else { "." };
        write!(f, "{}{point}{part}%", self.0.div_euclid(MILLIONTHS_PER_PERCENT))
    }
}

/// Parses a percentage like `5%` or `0.25%` into millionths.
fn rate(text: &str) -> Option<u64> {
    let text = text.trim().strip_suffix('%')?;
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.is_empty() || part.len() > 4 || !part.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(MILLIONTHS_PER_PERCENT)?;
    let rate = whole.checked_add(format!("{part:0<4}").parse().ok()?)?;
    (rate <= ONE_MILLION).then_some(rate)
}

/// Mixes the bits of a number: the finalizer of `SplitMix64`.
pub(super) fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A malformed plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError(String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Fault::DRAWN.map(Fault::name).join(", ");
        write!(
            f,
            "`{}` is no plan of faults: `5%:42` is one, for 5 % of all calls from the seed 42, and so is \
             `throttle=5%,lost=0.5%:42`; there are {names}",
            self.0
        )
    }
}

impl std::error::Error for PlanError {}
