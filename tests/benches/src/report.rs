//! The Markdown tables of load.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::load::{Measured, Target, Work, closed};
use crate::system::System;
use benches::AnyError;

/// Concurrent clients in the tables.
const CROWD: usize = 32;
/// The duration of each load.
pub const LONG: Duration = Duration::from_secs(2);

/// The table of requests.
pub struct Report<'a> {
    pub system: &'a System,
    /// The text that the names of printed rows contain.
    only: String,
}

impl<'a> Report<'a> {
    /// Prints the head of the table.
    pub fn begin(system: &'a System, only: String) -> Self {
        println!(
            "| work | units · trips | 1 client | p50 / p99 | {CROWD} clients | p50 / p99 |\n\
             |---|---|---|---|---|---|"
        );
        Self { system, only }
    }

    /// Whether a row with this name is printed.
    pub fn shows(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Measures and prints one row, `times` as long as other rows.
    pub async fn row(&self, work: &Arc<Work>, times: u32) -> Result<(), AnyError> {
        self.row_of(&self.system.target, work, times).await
    }

    /// The same, of requests to this host.
    pub async fn row_of(
        &self,
        target: &Target,
        work: &Arc<Work>,
        times: u32,
    ) -> Result<(), AnyError> {
        if !self.shows(work.name) {
            return Ok(());
        }
        let mut client = target.client();
        // The second request finds the caches filled.
        client.send(work).await?;
        let reply = client.send(work).await?;
        let timing = reply.headers.iter().find(|(name, _)| name == "server-timing");
        let spent = timing.map(|(_, value)| spent(value)).unwrap_or_default();
        let mut cells = Vec::new();
        for clients in [1, CROWD] {
            let measured: Measured = closed(target, work, clients, LONG * times).await?;
            cells.push(format!("{}/s | {} ms", measured.rate(), measured.latency()));
        }
        println!("| {} | {spent} | {} |", work.name, cells.join(" | "));
        Ok(())
    }

    /// Prints the memory of the system.
    pub fn memory(&self, when: &str) -> Result<(), AnyError> {
        let (now, most) = self.system.memory()?;
        println!("| memory {when} | | {now} MB, at most {most} MB | | | |");
        Ok(())
    }
}

/// The capacity units and round trips of a `Server-Timing`.
fn spent(timing: &str) -> String {
    let number = |name: &str| {
        let rest = timing.split_once(name)?.1;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    };
    let (tenths, trips) = (number("tenths=").unwrap_or(0), number("trips=").unwrap_or(0));
    format!("{}.{} · {trips}", tenths / 10, tenths % 10)
}

/// Prints the head of the table of deliveries.
pub fn head_of_deliveries() {
    println!("\n| deliveries | p50 / p99, ms |\n|---|---|");
}

/// Prints a row of the table of deliveries.
pub fn line(name: &str, said: &str) {
    println!("| {name} | {said} |");
}

/// Prints the machine of the measurement.
pub fn machine() -> Result<(), AnyError> {
    let cpus = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    println!("{cores} cores of {model}, Linux {}, load and system on the same.\n", kernel.trim());
    Ok(())
}
