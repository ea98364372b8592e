//! Runs random sequences of commerce: `simulate --seeds 10000`, `simulate --seed 42`.

use std::process::ExitCode;
use std::time::Duration;

use emulators::AnyError;
use lexopt::prelude::*;
use simulation::{Base, Plant, Seeds, simulate};

const HELP: &str = "\
Runs random sequences of commerce, by seed, and prints the shortest that fails.

  --seeds <n>        this many seeds (1,000)
  --from <seed>      the first (0)
  --seed <seed>      this seed alone
  --seconds <n>      begin no sequence after this time
  --keep-going       run the others after one has failed, and print what was wrong with each
  --answers          print how often each route gave each status
  --threads <n>      this many at once (one a core)
  --plant <bug>      with a bug that must be found:";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(cause) => {
            eprintln!("simulate: {cause}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, AnyError> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    lambda::log::init("off");
    let (mut from, mut count, mut shows_answers) = (0_u64, 1_000_u64, false);
    let mut seeds = Seeds {
        shrinks: true,
        on_failure: |seed| eprintln!("seed {seed} fails"),
        threads: std::thread::available_parallelism()?.get(),
        ..Seeds::default()
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("seeds") => count = arguments.value()?.parse()?,
            Long("from") => from = arguments.value()?.parse()?,
            Long("seed") => (from, count) = (arguments.value()?.parse()?, 1),
            Long("seconds") => {
                seeds.within = Some(Duration::from_secs(arguments.value()?.parse()?));
            }
            Long("keep-going") => (seeds.keeps_going, seeds.shrinks) = (true, false),
            Long("answers") => shows_answers = true,
            Long("threads") => seeds.threads = arguments.value()?.parse()?,
            Long("plant") => seeds.plant = Some(arguments.value()?.parse::<Plant>()?),
            Long("help") => {
                println!("{HELP}");
                for plant in Plant::ALL {
                    println!("{:21}{}", "", plant.name());
                }
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    seeds.seeds = from..from.saturating_add(count);
    let outcome = simulate(&Base::prepared()?, &seeds)?;
    let seconds = outcome.took.as_millis().max(1);
    let rate = u128::from(outcome.count).saturating_mul(10_000).checked_div(seconds).unwrap_or(0);
    println!(
        "{} sequences in {} s, {}.{} a second",
        outcome.count,
        outcome.took.as_secs(),
        rate / 10,
        rate % 10
    );
    if shows_answers {
        for (answer, times) in &outcome.answers {
            println!("{times:>7} {answer}");
        }
    }
    if seeds.keeps_going {
        for (seed, wrong) in &outcome.failed {
            println!("seed {seed}: {}", wrong.join("\n  "));
        }
        println!("{} failed", outcome.failed.len());
    }
    if outcome.failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let Some(failure) = outcome.failure else { return Ok(ExitCode::FAILURE) };
    println!("seed {} fails; its shortest sequence that does:", failure.seed);
    print!("{}", failure.shortest);
    for wrong in failure.wrong {
        println!("- {wrong}");
    }
    Ok(ExitCode::FAILURE)
}
