//! Load on a running `local`: `just bench`, or `cargo build --profile dist -p local && cargo run --profile dist -p
//! benches`. It prints the Markdown tables of docs/benchmarks.md, and draws its pictures; with `--cold` it
//! prints the table of functions.
//!
//! The system is a process of its own with a table in a file and its demo store. The load comes over loopback
//! from this process, on the same cores. Nothing is disabled for the measurement: budgets apply, and requests
//! come from as many networks as their budgets require.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a benchmark prints, measures real time, and may fail by panicking"
)]

mod cold;
mod growth;
mod load;
mod plot;
mod receivers;
mod report;
mod system;
mod webhooks;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::AnyError;
use lexopt::Arg::Long;
use lexopt::ValueExt;

use load::{Measured, closed};
use report::{LONG, Report};
use system::{Owner, System};
use webhooks::Watched;

const USAGE: &str = "\
Load on a running `local`, over loopback: three to four minutes.

Usage: cargo run --profile dist -p benches -- [options]

  --binary <file>      the system (target/dist/local)
  --only <words>       of the tables, only the rows whose names contain this
  --plots <directory>  where the pictures go; without it none are drawn
  --growth <deliveries>
                       place orders with ten subscribers until there are so many deliveries, and fail if
                       that slows the system or its file grows by more than it keeps
  --cold <directory>   of the functions' release binaries, and of `hello` and `sdks` beside them, instead
                       of load: how they start, and what an invocation takes
  --help               this text
";

/// Concurrent clients in the pictures.
const CLIENTS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// How long as many orders are placed as the system takes.
const SATURATED: std::time::Duration = std::time::Duration::from_secs(40);
/// Orders a second in the picture of deliveries.
const PACES: [u32; 5] = [10, 25, 50, 100, 150];

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), AnyError> {
    let mut binary = PathBuf::from("target/dist/local");
    let (mut plots, mut cold, mut only, mut growth) = (None, None, String::new(), None);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("binary") => binary = arguments.value()?.into(),
            Long("only") => only = arguments.value()?.string()?,
            Long("plots") => plots = Some(PathBuf::from(arguments.value()?)),
            Long("growth") => growth = Some(arguments.value()?.parse::<u64>()?),
            Long("cold") => cold = Some(PathBuf::from(arguments.value()?)),
            Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    report::machine()?;
    if let Some(binaries) = cold {
        return cold::run(&binaries, &binary).await;
    }
    let system = System::start(&binary).await?;
    println!("Started with its demo store in {} ms.\n", system.start.as_millis());
    if let Some(deliveries) = growth {
        return growth::run(&system, deliveries).await;
    }
    let report = Report::begin(&system, only);
    reads(&report).await?;
    let variants = {
        let mut owner = Owner::sign_in(&system.target, work::MERCHANT, "").await?;
        work::stock_up(&mut owner).await?
    };
    let checkout = work::checkout(variants);
    report.row(&work::sign_in(), 2).await?;
    report.row(&checkout, 2).await?;
    report.memory("after these")?;
    if let Some(directory) = &plots {
        draw_reads_and_checkout(&system, &checkout, directory).await?;
    }
    let mut owner = Owner::sign_in(&system.target, work::MERCHANT, "").await?;
    let mut watched = Watched { target: &system.target, owner: &mut owner, checkout: &checkout };
    deliveries(&report, &mut watched).await?;
    if let Some(directory) = &plots {
        draw_deliveries(&mut watched, directory).await?;
    }
    report.memory("at the end")
}

async fn reads(report: &Report<'_>) -> Result<(), AnyError> {
    for work in work::reads() {
        report.row(&work, 1).await?;
    }
    report.memory("after these reads")?;
    for work in work::pages() {
        report.row_of(&report.system.shop, &work, 1).await?;
    }
    report.memory("after these pages")
}

async fn deliveries(report: &Report<'_>, watched: &mut Watched<'_>) -> Result<(), AnyError> {
    report::head_of_deliveries();
    for (name, receivers, pace) in [
        ("accept → arrival, one receiver, 20 orders/s", 1, 20),
        ("accept → arrival, ten receivers, 23 orders/s", 10, 23),
    ] {
        if report.shows(name) {
            report::line(name, &watched.latency(receivers, pace, LONG * 2).await?.latency());
        }
    }
    let (checkouts, those) =
        ("checkout with 10 subscribers, 4 clients", "deliveries of those, sustained");
    if report.shows(checkouts) || report.shows(those) {
        let (orders, rate) = watched.sustained(LONG * 2).await?;
        report::line(checkouts, &format!("{} orders/s; {}", orders.rate(), orders.latency()));
        report::line(those, &format!("{rate} per s"));
    }
    for (name, receivers) in [
        ("as many orders as it takes for 40 s, one subscriber", 1),
        ("as many orders as it takes for 40 s, ten subscribers", 10),
    ] {
        if report.shows(name) {
            let (orders, late) = watched.saturated(receivers, SATURATED).await?;
            report::line(name, &format!("{} orders/s; arrival {}", orders.rate(), late.latency()));
        }
    }
    if report.shows("event → delivery queued, behind orders") {
        let (orders, lag) = watched.lag(LONG * 3).await?;
        let name = format!("event → delivery queued, behind {} orders/s for 6 s", orders.rate());
        report::line(&name, &lag.latency());
    }
    let alone = "accept → arrival, 8 of 10 receivers, all healthy";
    let alongside = "the same, while 1 hangs, 1 and 50 of another store are slow";
    if report.shows(alone) || report.shows(alongside) {
        let target = watched.target;
        let mut other = Owner::sign_in(target, work::OPERATOR, "another-shop").await?;
        let [healthy, troubled] = watched.fairness(&mut other).await?;
        report::line(alone, &healthy.latency());
        report::line(alongside, &troubled.latency());
    }
    Ok(())
}

async fn draw_reads_and_checkout(
    system: &System,
    checkout: &std::sync::Arc<load::Work>,
    directory: &Path,
) -> Result<(), AnyError> {
    let list = work::reads().swap_remove(0);
    for (work, file, title) in [
        (&list, "list.svg", "Product list of 20, from the table: latency against load"),
        (checkout, "checkout.svg", "Checkout of 2 lines: latency against load"),
    ] {
        let mut points: Vec<(u64, Measured)> = Vec::new();
        for clients in CLIENTS {
            let measured = closed(&system.target, work, clients, LONG * 3 / 4).await?;
            points.push((measured.rate(), measured));
        }
        let load = "requests a second, of 1, 2, 4, 8, 16 and 32 clients";
        save(directory, file, &plot::draw(title, load, &points))?;
    }
    Ok(())
}

async fn draw_deliveries(watched: &mut Watched<'_>, directory: &Path) -> Result<(), AnyError> {
    let mut points = Vec::new();
    for pace in PACES {
        points.push((u64::from(pace), watched.latency(1, pace, LONG).await?));
    }
    let title = "From an accepted order to its delivery: latency against load";
    save(directory, "delivery.svg", &plot::draw(title, "orders a second", &points))
}

fn save(directory: &Path, file: &str, svg: &str) -> Result<(), AnyError> {
    std::fs::create_dir_all(directory)?;
    Ok(std::fs::write(directory.join(file), svg)?)
}
