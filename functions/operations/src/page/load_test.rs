//! A load test as a page: how long answers took while the load lasted.

use super::plot::{Plot, Series};
use super::{Figure, Sheet, Table, Tone};

/// A load test, as its page shows it.
#[derive(Debug, Clone)]
pub struct LoadTestPage {
    /// The load test.
    pub id: String,
    /// What was asked for: requests a second, and how long.
    pub profile: String,
    /// How far it is, or what it came to.
    pub outcome: (Tone, String),
    /// Percentiles, errors, cost.
    pub figures: Vec<Figure>,
    /// Percentiles over time, in milliseconds.
    pub latency: Vec<Series>,
    /// Requests and errors over time.
    pub requests: Vec<Series>,
    /// What was asked, and how it was answered: operation, requests, errors, p50, p95, p99.
    pub operations: Vec<[String; 6]>,
}

impl LoadTestPage {
    /// The page.
    pub fn sheet(&self) -> Sheet {
        let row = |row: &[String; 6]| row.iter().map(|cell| cell.as_str().into()).collect();
        let latency = "How long answers took, by second.";
        let requests = "Requests and errors, by second.";
        Sheet {
            title: "Load test".to_owned(),
            outcome: Some(self.outcome.clone()),
            lines: vec![self.profile.clone(), self.id.clone()],
            figures: self.figures.clone(),
            plots: vec![
                Plot::lines(latency, "ms", self.latency.clone(), Vec::new()),
                Plot::lines(requests, "requests", self.requests.clone(), Vec::new()),
            ],
            tables: vec![Table {
                title: "Operations".to_owned(),
                columns: vec!["operation", "requests", "errors", "p50", "p95", "p99"],
                rows: self.operations.iter().map(row).collect(),
            }],
        }
    }
}
