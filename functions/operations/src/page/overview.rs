//! The runtime overview as a page: what waits, how late it is, and how fast answers are.

use gateway::clock::Timestamp;

use super::plot::{Plot, Series};
use super::{Cell, Figure, Sheet, Table, Tone};

/// The overview, as its page shows it.
#[derive(Debug, Clone)]
pub struct OverviewPage {
    /// When it was made.
    pub at: Timestamp,
    /// The window that it is about: `1h`.
    pub window: String,
    /// How things are.
    pub outcome: (Tone, String),
    /// Delivery success, outbox lag, open incidents …
    pub figures: Vec<Figure>,
    /// Messages that wait, by queue.
    pub depth: Vec<Series>,
    /// How late the outbox is, in seconds.
    pub lag: Vec<Series>,
    /// Latency percentiles, in milliseconds.
    pub latency: Vec<Series>,
    /// Queues: name, waiting, in flight, oldest, dead letters.
    pub queues: Vec<[String; 5]>,
    /// Families: name, requests, errors, throttled, p50, p95, p99.
    pub families: Vec<[String; 7]>,
}

impl OverviewPage {
    /// The page.
    pub fn sheet(&self) -> Sheet {
        let table = |title: &str, columns: Vec<&'static str>, rows: Vec<Vec<Cell>>| Table {
            title: title.to_owned(),
            columns,
            rows,
        };
        let queues = ["queue", "waiting", "in flight", "oldest", "dead letters"];
        let families = ["family", "requests", "errors", "throttled", "p50", "p95", "p99"];
        let plot = |title, unit, series: &Vec<Series>| {
            Plot::lines(title, unit, series.clone(), Vec::new())
        };
        Sheet {
            title: "Runtime overview".to_owned(),
            outcome: Some(self.outcome.clone()),
            lines: vec![format!("The last {}, as of {}.", self.window, self.at)],
            figures: self.figures.clone(),
            plots: vec![
                plot("Messages that wait, by queue.", "messages", &self.depth),
                plot("How late the outbox is.", "s", &self.lag),
                plot("How long answers took.", "ms", &self.latency),
            ],
            tables: vec![
                table("Queues", queues.to_vec(), self.queues.iter().map(cells).collect()),
                table("Families", families.to_vec(), self.families.iter().map(cells).collect()),
            ],
        }
    }
}

fn cells<const COLUMNS: usize>(row: &[String; COLUMNS]) -> Vec<Cell> {
    row.iter().map(|cell| cell.as_str().into()).collect()
}
