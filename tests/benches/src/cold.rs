//! Cold starts of functions, and the costs of warm invocations. Each binary runs under a Runtime API of this
//! process, over the emulators of a running `local`, and is compared with two minimal baselines.

mod events;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use runtime_api::Function;
use serde_json::Value;

use crate::system::{Owner, System};
use crate::work;
use benches::AnyError;
use events::{One, Plan, plans};

/// The baselines: without the SDKs, and with them.
const HELLO: &str = "hello";
const SDKS: &str = "sdks";
/// Requests of a process before its CPU is counted.
const WARM: usize = 20;
/// Requests of a process in a row, before those of another: a single request would find the CPU caches full
/// of other processes' data.
const BATCH: usize = 25;
/// Starts of each binary; the median is reported.
const STARTS: usize = 21;
/// Invocations whose CPU is counted: as many as a merchant's full budget covers.
const READS: usize = 200;
/// Invocations after which memory is measured.
const INVOCATIONS: usize = 1_000;
/// Orders in the store, for their lists.
const ORDERS: usize = 20;
/// The time in which a merchant's budget is full again.
const RESTORED: Duration = Duration::from_secs(8);
/// The bytes of an archive without the deflated binary: two headers, two names and an end record.
const ARCHIVE: usize = 150;
/// The default compression level of archives.
const LEVEL: u8 = 6;

/// The measurements of a binary.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// The time from the process's start to its first request for an event.
    pub(crate) ready: Duration,
    /// The time from there to its first response, to a real request.
    pub(crate) first: Duration,
    /// The CPU time of both.
    pub(crate) cold_cpu: Duration,
    /// The median CPU time of an invocation that is rejected without credentials, if the function has one.
    pub(crate) rejected_cpu: Option<Duration>,
    /// The median CPU time of a real invocation.
    pub(crate) cpu: Duration,
    /// The measurements of the baselines at the same time.
    pub(crate) alongside: Option<Alongside>,
    /// The median number of calls of the table in a real invocation, if the log has it.
    pub(crate) trips: Option<u32>,
    /// The peak memory after a thousand invocations, in bytes.
    pub(crate) memory: u64,
    /// The size of the binary, in bytes.
    pub(crate) binary: usize,
    /// The size of an archive with the binary alone, in bytes.
    pub(crate) archive: usize,
}

/// The measurements of `hello` and `sdks`.
pub(crate) struct Alongside {
    /// The time from the start of `sdks` to its first response.
    pub(crate) first: Duration,
    /// The CPU time of a request of `hello`.
    pub(crate) bare: Duration,
    /// The CPU time of a call of the table: `sdks` makes two, and `hello` none.
    pub(crate) call: Duration,
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
    let plans = plans(&owner, &one)?;
    let there: Vec<_> =
        plans.iter().map(|plan| (plan, runtime_api::binary(binaries, plan.binary))).collect();
    let subjects: Vec<_> = there
        .iter()
        .filter(|(_, binary)| binary.exists())
        .map(|(plan, binary)| Subject { binary, plan, environment: &environment })
        .collect();
    let base = |name: &str| subjects.iter().find(|it| it.plan.name == name).copied();
    for subject in &subjects {
        tokio::time::sleep(RESTORED).await;
        let bases = match (base(HELLO), base(SDKS)) {
            (Some(hello), Some(sdks)) if ![HELLO, SDKS].contains(&subject.plan.name) => {
                Some(Bases::warm(hello, sdks).await?)
            }
            _ => None,
        };
        all.push(measure(*subject, bases).await?);
        table::last(&all);
    }
    for (_, binary) in there.iter().filter(|(_, binary)| !binary.exists()) {
        eprintln!("{} is not there, and left out.", binary.display());
    }
    Ok(())
}

/// The environment of a function, as `sam local` sets it, with the endpoints of these emulators.
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

/// A binary, with its plan and its environment.
#[derive(Clone, Copy)]
struct Subject<'a> {
    binary: &'a Path,
    plan: &'a Plan,
    environment: &'a BTreeMap<String, String>,
}

impl Subject<'_> {
    /// Starts a process and sends a first event. Returns the time until it was ready, and from there to the
    /// response.
    async fn start(self) -> Result<(Function, Duration, Duration), AnyError> {
        let function = Function::start(self.binary, self.environment).await?;
        let begun = Instant::now();
        self.plan.succeed(&function, &(self.plan.real)(0)).await?;
        let (ready, first) = (function.ready_after(), begun.elapsed());
        Ok((function, ready, first))
    }

    /// Starts a process and warms it up: its connections, keys and caches.
    async fn warm(self) -> Result<Function, AnyError> {
        let (function, ..) = self.start().await?;
        for number in 1..WARM {
            self.plan.succeed(&function, &(self.plan.real)(number)).await?;
        }
        Ok(function)
    }

    /// Measures the CPU time of each of the events with these numbers.
    async fn spend(self, function: &Function, batch: &[usize]) -> Result<Vec<Duration>, AnyError> {
        let mut spent = Vec::new();
        for number in batch {
            let begun = function.cpu()?;
            self.plan.succeed(function, &(self.plan.real)(*number)).await?;
            spent.push(function.cpu()?.saturating_sub(begun));
        }
        Ok(spent)
    }
}

/// `hello` and `sdks`, which are started and invoked alternately with the measured binary, because the speed
/// of a machine changes from minute to minute.
struct Bases<'a> {
    subjects: [Subject<'a>; 2],
    running: [Function; 2],
    firsts: Vec<Duration>,
    spent: [Vec<Duration>; 2],
}

impl<'a> Bases<'a> {
    async fn warm(hello: Subject<'a>, sdks: Subject<'a>) -> Result<Self, AnyError> {
        let running = [hello.warm().await?, sdks.warm().await?];
        let (firsts, spent) = (Vec::new(), Default::default());
        Ok(Self { subjects: [hello, sdks], running, firsts, spent })
    }

    async fn start(&mut self) -> Result<(), AnyError> {
        let [_, sdks] = self.subjects;
        let (_, ready, first) = sdks.start().await?;
        self.firsts.push(ready + first);
        Ok(())
    }

    async fn request(&mut self, batch: &[usize]) -> Result<(), AnyError> {
        let subjects = self.subjects.iter().zip(&self.running);
        for ((subject, function), spent) in subjects.zip(&mut self.spent) {
            spent.extend(subject.spend(function, batch).await?);
        }
        Ok(())
    }

    fn found(self) -> Alongside {
        let [bare, sdks] = self.spent.map(middle);
        Alongside { first: middle(self.firsts), bare, call: sdks.saturating_sub(bare) / 2 }
    }
}

async fn measure(subject: Subject<'_>, mut bases: Option<Bases<'_>>) -> Result<Measured, AnyError> {
    let plan = subject.plan;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let (function, ready, first) = subject.start().await?;
        starts.push((ready, first, function.cpu()?));
        if let Some(bases) = &mut bases {
            bases.start().await?;
        }
    }
    let function = subject.warm().await?;
    let mut invocations = WARM..INVOCATIONS;
    let mut reads = Vec::new();
    for _ in 0..READS / BATCH {
        let batch: Vec<usize> = invocations.by_ref().take(BATCH).collect();
        reads.extend(subject.spend(&function, &batch).await?);
        if let Some(bases) = &mut bases {
            bases.request(&batch).await?;
        }
    }
    let trips = trips(&function.log());
    let mut rejections = Vec::new();
    let rejected = if plan.rejected.is_some() { READS } else { 0 };
    for event in invocations.by_ref().take(rejected).filter_map(|number| plan.rejected(number)) {
        let begun = function.cpu()?;
        plan.reject(&function, &event).await?;
        rejections.push(function.cpu()?.saturating_sub(begun));
    }
    for number in invocations {
        let event = plan.rejected(number).unwrap_or_else(|| (plan.real)(number));
        function.invoke(&event).await?;
    }
    let bytes = fs::read(subject.binary)?;
    Ok(Measured {
        name: plan.name,
        ready: middle(starts.iter().map(|(ready, _, _)| *ready)),
        first: middle(starts.iter().map(|(_, first, _)| *first)),
        cold_cpu: middle(starts.iter().map(|(_, _, cpu)| *cpu)),
        rejected_cpu: plan.rejected.map(|_| middle(rejections)),
        cpu: middle(reads),
        alongside: bases.map(Bases::found),
        trips,
        memory: function.memory()?.most,
        binary: bytes.len(),
        archive: miniz_oxide::deflate::compress_to_vec(&bytes, LEVEL).len() + ARCHIVE,
    })
}

/// The median number of calls of the table in the last requests.
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
