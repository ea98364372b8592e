//! What a function costs before it is warm, and what it takes when it is: each binary under a Runtime API
//! of this process, over the emulators of a running `local`, beside two bases that do as little as can be.

mod events;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use runtime_api::Function;
use serde_json::Value;

use crate::AnyError;
use crate::system::{Owner, System};
use crate::work;
use events::{One, Plan, plans};

/// Starts of each binary; what is said is the middle one's.
const STARTS: usize = 21;
/// Invocations whose CPU is counted: what a merchant's budget pays for at once.
const READS: usize = 200;
/// Invocations after which memory is looked at.
const INVOCATIONS: usize = 1_000;
/// Orders in the store, for their lists.
const ORDERS: usize = 20;
/// In which time a merchant's budget is full again.
const RESTORED: Duration = Duration::from_secs(8);
/// What an archive has beside the deflated binary: two headers, two names and an end.
const ARCHIVE: usize = 150;
/// The level that archives are deflated with unless somebody says otherwise.
const LEVEL: u8 = 6;

/// What was measured of a binary.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// From the process's start to its first question for an event.
    pub(crate) ready: Duration,
    /// From there to its first answer, of a real request.
    pub(crate) first: Duration,
    /// The CPU of both.
    pub(crate) cold_cpu: Duration,
    /// CPU of an invocation that is refused without credentials, if some are; and of a real one: of each
    /// the middle one's.
    pub(crate) refused_cpu: Option<Duration>,
    pub(crate) cpu: Duration,
    /// Calls of the table in the middle real one, if its line of the log says them.
    pub(crate) trips: Option<u32>,
    /// Bytes, at most, after a thousand invocations.
    pub(crate) memory: u64,
    /// Bytes.
    pub(crate) binary: usize,
    /// Bytes of an archive with the binary alone.
    pub(crate) archive: usize,
}

/// Measures every function whose binary is in the directory, and prints the table.
pub(crate) async fn run(binaries: &Path, local: &Path) -> Result<(), AnyError> {
    let system = System::start(local).await?;
    let environment = environment(&system)?;
    let mut owner = Owner::sign_in(&system.target, work::MERCHANT, "").await?;
    let checkout = work::checkout(work::stock_up(&mut owner).await?);
    let mut shopper = system.target.client();
    for _ in 0..ORDERS {
        shopper.send(&checkout).await?;
    }
    let one = One::of(&mut owner).await?;
    let mut all = Vec::new();
    table::head();
    for plan in plans(&owner, &one)? {
        let binary = runtime_api::binary(binaries, plan.binary);
        if binary.exists() {
            tokio::time::sleep(RESTORED).await;
            all.push(measure(&binary, &plan, &environment).await?);
            table::last(&all);
        } else {
            eprintln!("{} is not there, and left out.", binary.display());
        }
    }
    Ok(())
}

/// Every variable that a function is given, as `sam local` sets them, where these emulators are.
fn environment(system: &System) -> Result<BTreeMap<String, String>, AnyError> {
    let file: Value = serde_json::from_str(&fs::read_to_string("events/sam-local.json")?)?;
    let file: BTreeMap<String, String> = serde_json::from_value(file["Parameters"].clone())?;
    let mut environment = file.clone();
    for (name, url) in system.endpoints()? {
        let elsewhere = file.get(&name).ok_or("events/sam-local.json has not all endpoints")?;
        for value in environment.values_mut() {
            *value = value.replace(elsewhere.as_str(), &url);
        }
    }
    environment.insert("SERVICE_ENVIRONMENT".to_owned(), "production".to_owned());
    Ok(environment)
}

async fn measure(
    binary: &Path,
    plan: &Plan,
    environment: &BTreeMap<String, String>,
) -> Result<Measured, AnyError> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let function = Function::start(binary, environment).await?;
        let begun = Instant::now();
        plan.succeed(&function, &(plan.real)(0)).await?;
        starts.push((function.ready_after(), begun.elapsed(), function.cpu()?));
    }
    let function = Function::start(binary, environment).await?;
    let mut invocations = 0..INVOCATIONS;
    // What comes once is not counted: connections, keys, what is kept.
    for number in invocations.by_ref().take(READS / 10) {
        plan.succeed(&function, &(plan.real)(number)).await?;
    }
    let mut reads = Vec::new();
    for number in invocations.by_ref().take(READS) {
        let begun = function.cpu()?;
        plan.succeed(&function, &(plan.real)(number)).await?;
        reads.push(function.cpu()?.saturating_sub(begun));
    }
    let trips = trips(&function.log());
    let mut refusals = Vec::new();
    let refused = if plan.refused.is_some() { READS } else { 0 };
    for event in invocations.by_ref().take(refused).filter_map(|number| plan.refused(number)) {
        let begun = function.cpu()?;
        plan.refuse(&function, &event).await?;
        refusals.push(function.cpu()?.saturating_sub(begun));
    }
    for number in invocations {
        let event = plan.refused(number).unwrap_or_else(|| (plan.real)(number));
        function.invoke(&event).await?;
    }
    let bytes = fs::read(binary)?;
    Ok(Measured {
        name: plan.name,
        ready: middle(starts.iter().map(|(ready, _, _)| *ready)),
        first: middle(starts.iter().map(|(_, first, _)| *first)),
        cold_cpu: middle(starts.iter().map(|(_, _, cpu)| *cpu)),
        refused_cpu: plan.refused.map(|_| middle(refusals)),
        cpu: middle(reads),
        trips,
        memory: function.memory()?.most,
        binary: bytes.len(),
        archive: miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL).len() + ARCHIVE,
    })
}

/// The calls of the table that the middle one of the last requests made.
fn trips(log: &str) -> Option<u32> {
    let said = log.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let counted = said.filter_map(|line| line["trips"].as_u64()?.try_into().ok());
    let mut counted: Vec<u32> = counted.take(READS).collect();
    counted.sort_unstable();
    counted.get(counted.len() / 2).copied()
}

fn middle(durations: impl IntoIterator<Item = Duration>) -> Duration {
    let mut durations: Vec<Duration> = durations.into_iter().collect();
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied().unwrap_or_default()
}
