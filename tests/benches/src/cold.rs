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

/// The bases: without the SDKs, and with them.
const HELLO: &str = "hello";
const SDKS: &str = "sdks";
/// Requests of a process before its CPU is counted.
const WARM: usize = 20;
/// Requests of a process before another's turn comes: who is asked once finds what the processor keeps at hand
/// full of the others'.
const TURN: usize = 25;
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
    /// CPU of an invocation that is rejected without credentials, if some are; and of a real one: of each
    /// the middle one's.
    pub(crate) rejected_cpu: Option<Duration>,
    pub(crate) cpu: Duration,
    /// What the bases took in the same moments.
    pub(crate) alongside: Option<Alongside>,
    /// Calls of the table in the middle real one, if its line of the log says them.
    pub(crate) trips: Option<u32>,
    /// Bytes, at most, after a thousand invocations.
    pub(crate) memory: u64,
    /// Bytes.
    pub(crate) binary: usize,
    /// Bytes of an archive with the binary alone.
    pub(crate) archive: usize,
}

/// What `hello` and `sdks` take.
pub(crate) struct Alongside {
    /// From the start of `sdks` to its first answer.
    pub(crate) first: Duration,
    /// CPU of a request of `hello`.
    pub(crate) bare: Duration,
    /// CPU of a call of the table: `sdks` makes two where `hello` makes none.
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

/// A binary, what it is measured with, and its environment.
#[derive(Clone, Copy)]
struct Subject<'a> {
    binary: &'a Path,
    plan: &'a Plan,
    environment: &'a BTreeMap<String, String>,
}

impl Subject<'_> {
    /// Starts it, has it answer, and says how long it took to be ready, and from there.
    async fn start(self) -> Result<(Function, Duration, Duration), AnyError> {
        let function = Function::start(self.binary, self.environment).await?;
        let begun = Instant::now();
        self.plan.succeed(&function, &(self.plan.real)(0)).await?;
        let (ready, first) = (function.ready_after(), begun.elapsed());
        Ok((function, ready, first))
    }

    /// A process of it that does nothing for the first time any more: connections, keys, what is kept.
    async fn warm(self) -> Result<Function, AnyError> {
        let (function, ..) = self.start().await?;
        for number in 1..WARM {
            self.plan.succeed(&function, &(self.plan.real)(number)).await?;
        }
        Ok(function)
    }

    /// The CPU that each of the events of these numbers takes.
    async fn spend(self, function: &Function, turn: &[usize]) -> Result<Vec<Duration>, AnyError> {
        let mut spent = Vec::new();
        for number in turn {
            let begun = function.cpu()?;
            self.plan.succeed(function, &(self.plan.real)(*number)).await?;
            spent.push(function.cpu()?.saturating_sub(begun));
        }
        Ok(spent)
    }
}

/// `hello` and `sdks`, which are started and asked in turn with whatever is measured: a machine is not as fast
/// in every minute, and what is compared is to be of the same one.
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

    async fn request(&mut self, turn: &[usize]) -> Result<(), AnyError> {
        let subjects = self.subjects.iter().zip(&self.running);
        for ((subject, function), spent) in subjects.zip(&mut self.spent) {
            spent.extend(subject.spend(function, turn).await?);
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
    for _ in 0..READS / TURN {
        let turn: Vec<usize> = invocations.by_ref().take(TURN).collect();
        reads.extend(subject.spend(&function, &turn).await?);
        if let Some(bases) = &mut bases {
            bases.request(&turn).await?;
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
