//! Many seeds, on all cores.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use emulators::AnyError;

use crate::base::{Base, runtime};
use crate::plant::Plant;
use crate::run::{Ran, run};
use crate::shrink::shrink;
use crate::step::Sequence;

/// The seeds to run.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Which.
    pub seeds: Range<u64>,
    /// A bug that is planted.
    pub plant: Option<Plant>,
    /// After which time no other sequence begins.
    pub within: Option<Duration>,
    /// The number of threads.
    pub threads: usize,
    /// Whether other sequences are run after one has failed.
    pub keeps_going: bool,
    /// Whether the shortest sequence that fails is looked for.
    pub shrinks: bool,
    /// Told each failing seed at once: looking for its shortest sequence may take minutes.
    pub on_failure: fn(u64),
}

impl Default for Seeds {
    /// None, on one thread.
    fn default() -> Self {
        Self {
            seeds: 0..0,
            plant: None,
            within: None,
            threads: 1,
            keeps_going: false,
            shrinks: false,
            on_failure: |_| {},
        }
    }
}

/// A sequence that fails.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The shortest sequence that still fails.
    pub shortest: Sequence,
    /// What is wrong with it.
    pub wrong: Vec<String>,
}

/// What came of many seeds.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The sequences that were run.
    pub count: u64,
    /// The time that they took.
    pub took: Duration,
    /// How often each route gave each status.
    pub answers: BTreeMap<String, u64>,
    /// The failing seeds, with what was wrong.
    pub failed: BTreeMap<u64, Vec<String>>,
    /// The first failure, if its shortest sequence was looked for.
    pub failure: Option<Failure>,
}

/// Runs sequences of a prepared store until one fails.
///
/// # Errors
/// The system does not start.
#[expect(clippy::disallowed_methods, reason = "the time that the machine takes, not the system's")]
pub fn simulate(base: &Base, seeds: &Seeds) -> Result<Outcome, AnyError> {
    let begun = std::time::Instant::now();
    let (next, count) = (AtomicU64::new(seeds.seeds.start), AtomicU64::new(0));
    let failed: Mutex<BTreeMap<u64, Vec<String>>> = Mutex::default();
    let answers: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let worker = || -> Result<(), AnyError> {
        let runtime = runtime()?;
        loop {
            let is_over = seeds.within.is_some_and(|within| begun.elapsed() > within);
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let has_failed = !seeds.keeps_going && !lock(&failed).is_empty();
            if is_over || has_failed || seed >= seeds.seeds.end {
                return Ok(());
            }
            let Ran { wrong, answers: given } =
                runtime.block_on(run(base, &Sequence::of(seed), seeds.plant))?;
            count.fetch_add(1, Ordering::Relaxed);
            for (answer, times) in given {
                let mut answers = lock(&answers);
                let count: &mut u64 = answers.entry(answer).or_default();
                *count = count.saturating_add(times);
            }
            if !wrong.is_empty() {
                (seeds.on_failure)(seed);
                lock(&failed).insert(seed, wrong);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..seeds.threads.max(1))
            .map(|_| scope.spawn(|| worker().map_err(|cause| cause.to_string())))
            .collect();
        for worker in workers {
            worker.join().map_err(|_| "a simulation panicked")??;
        }
        Ok::<_, AnyError>(())
    })?;
    let took = begun.elapsed();
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = failed.keys().next().filter(|_| seeds.shrinks);
    let failure = first.map(|seed| explain(base, *seed, seeds.plant)).transpose()?;
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Outcome { count: count.into_inner(), took, answers, failed, failure })
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shortest sequence of a seed that fails.
fn explain(base: &Base, seed: u64, plant: Option<Plant>) -> Result<Failure, AnyError> {
    runtime()?.block_on(async {
        let (shortest, wrong) = shrink(base, &Sequence::of(seed), plant).await?;
        Ok(Failure { seed, shortest, wrong })
    })
}
