//! The shortest sequence that still fails: steps are dropped as long as it does.

use emulators::AnyError;

use crate::base::Base;
use crate::plant::Plant;
use crate::run::run;
use crate::step::{Sequence, Trouble};

/// Drops steps of a failing sequence, first many at once and then one by one. Returns what is left, with what is
/// wrong with it.
///
/// # Errors
/// The system does not start.
pub async fn shrink(
    base: &Base,
    failing: &Sequence,
    plant: Option<Plant>,
) -> Result<(Sequence, Vec<String>), AnyError> {
    let mut best = failing.clone();
    let mut wrong = run(base, &best, plant).await?.wrong;
    let mut width = best.steps.len().div_ceil(2);
    while width > 0 {
        let mut from = 0;
        let mut is_shorter = false;
        while from < best.steps.len() {
            let mut steps = best.steps.clone();
            steps.drain(from..from.saturating_add(width).min(steps.len()));
            let shorter = Sequence { seed: best.seed, steps };
            let found = run(base, &shorter, plant).await?.wrong;
            if found.is_empty() {
                from = from.saturating_add(width);
            } else {
                (best, wrong, is_shorter) = (shorter, found, true);
            }
        }
        if !(is_shorter && width == 1) {
            width /= 2;
        }
    }
    // What is left goes wrong by itself, if it does.
    for place in 0..best.steps.len() {
        let mut calmer = best.clone();
        if let Some(step) = calmer.steps.get_mut(place) {
            (step.trouble, step.at_once, step.seconds) = (Trouble::None, false, 1);
        }
        if calmer == best {
            continue;
        }
        let found = run(base, &calmer, plant).await?.wrong;
        if !found.is_empty() {
            (best, wrong) = (calmer, found);
        }
    }
    Ok((best, wrong))
}
