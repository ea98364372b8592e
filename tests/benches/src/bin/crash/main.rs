//! Kills a running `local` repeatedly while clients write to it: `just crash`.
//!
//! Clients write with idempotency keys. The process is killed (`SIGKILL`) at random moments and restarted on
//! the same directory. Unanswered requests are repeated with their keys. In the end every acknowledged write
//! must exist exactly once: every order, gift card and stock movement, and every event at its receiver; stock
//! and payments must add up. Otherwise it exits with a failure.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a tool that prints, lives in real time, and may fail by panicking"
)]

mod check;
mod clients;
mod process;
mod receiver;
mod shops;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::AnyError;
use lexopt::Arg::Long;
use lexopt::ValueExt;
use tokio::task::JoinSet;

use clients::{Client, History};
use process::Local;
use receiver::Heard;

const USAGE: &str = "\
Kills a running `local` again and again, and looks for what is lost or done twice.

Usage: cargo run -p benches --bin crash -- [options]

  --binary <file>   the system (target/debug/local)
  --rounds <n>      how often it is killed (200)
  --writes <n>      writes that are acknowledged in all (100000)
  --stores <n>      stores that are written to (8)
  --clients <n>     clients at once (16)
  --faults <plan>   let calls of the table go wrong besides, as `local --faults`
  --minutes <n>     how long it may take (30)
  --seed <n>        of the moments and the writes (1)
  --help            this text
";

struct Options {
    binary: PathBuf,
    rounds: u64,
    writes: u64,
    stores: u8,
    clients: usize,
    faults: Option<String>,
    long: Duration,
    seed: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Option<Options>, AnyError> {
    let mut options = Options {
        binary: PathBuf::from("target/debug/local"),
        rounds: 200,
        writes: 100_000,
        stores: 8,
        clients: 16,
        faults: None,
        long: Duration::from_mins(30),
        seed: 1,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("binary") => options.binary = arguments.value()?.into(),
            Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Long("writes") => options.writes = arguments.value()?.parse()?,
            Long("stores") => options.stores = arguments.value()?.parse()?,
            Long("clients") => options.clients = arguments.value()?.parse()?,
            Long("faults") => options.faults = Some(arguments.value()?.string()?),
            Long("minutes") => options.long = Duration::from_mins(arguments.value()?.parse()?),
            Long("seed") => options.seed = arguments.value()?.parse()?,
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().into()),
        }
    }
    let fits = options.stores > 0 && options.clients > 0 && options.rounds > 0;
    if !fits || options.writes < options.rounds {
        return Err("at least one store, one client, one round, and a write a round".into());
    }
    Ok(Some(options))
}

/// Runs all rounds. Returns whether every check holds.
async fn run() -> Result<bool, AnyError> {
    let Some(options) = options()? else {
        print!("{USAGE}");
        return Ok(true);
    };
    let begun = Instant::now();
    let mut local = Local::start(&options.binary, options.faults.as_deref()).await?;
    let heard = Arc::new(Heard::default());
    let (shops, _receivers) = shops::open(&local.address, options.stores, &heard).await?;
    let history = Arc::new(History::new(options.writes, options.seed));
    let mut writing = JoinSet::new();
    for number in 0..options.clients {
        let shop = Arc::clone(&shops[number % shops.len()]);
        let client = Client::new(&local.address, shop, Arc::clone(&history));
        writing.spawn(client.write_all());
    }
    let killed = kill(&mut local, &history, &options, begun).await?;
    if killed < options.rounds {
        history.stop();
        println!("The time is over after {killed} rounds.");
    }
    while let Some(done) = writing.join_next().await {
        done??;
    }
    println!("{}", history.summary(begun.elapsed()));
    let verdict = check::all(&local.address, &shops, &history, &heard).await?;
    println!("{verdict}");
    Ok(verdict.is_clean() && killed == options.rounds)
}

/// Kills the process in each round, a random moment after the round's share of writes is acknowledged.
/// Returns the number of rounds.
async fn kill(
    local: &mut Local,
    history: &History,
    options: &Options,
    begun: Instant,
) -> Result<u64, AnyError> {
    for round in 1..=options.rounds {
        let share = options.writes * round / options.rounds;
        while history.acknowledged() < share {
            if begun.elapsed() > options.long {
                return Ok(round - 1);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let moment = clients::mix(options.seed ^ clients::mix(round)) % 60;
        tokio::time::sleep(Duration::from_millis(moment)).await;
        let (written, open) = (history.acknowledged(), history.open());
        let restarted = Instant::now();
        local.kill().await?;
        local.start_again().await?;
        println!(
            "round {round}: {written} writes acknowledged, {open} under way when it was killed; \
             back after {} ms",
            restarted.elapsed().as_millis()
        );
    }
    Ok(options.rounds)
}
