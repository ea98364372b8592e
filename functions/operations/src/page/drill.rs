//! A failover drill as a page: what was done, what was seen, and how long it took to be as before.

use gateway::clock::Timestamp;

use super::plot::{Mark, Plot, Series};
use super::{Figure, Sheet, Table, Tone};

/// A drill, as its page shows it.
#[derive(Debug, Clone)]
pub struct DrillPage {
    /// The drill.
    pub id: String,
    /// Which fault was injected.
    pub kind: String,
    /// What was expected.
    pub hypothesis: String,
    /// How far it is, or what it came to.
    pub verdict: (Tone, String),
    /// When the fault began.
    pub fault_at: Option<Timestamp>,
    /// When it was noticed.
    pub detected_at: Option<Timestamp>,
    /// When the fault ended.
    pub ended_at: Option<Timestamp>,
    /// When everything was as before.
    pub recovered_at: Option<Timestamp>,
    /// How long that took, and how long it may.
    pub recovery: Figure,
    /// Events that were lost, and how many may be.
    pub lost_events: Figure,
    /// What was measured on the way: what waits, what was delivered.
    pub series: Vec<Series>,
    /// What the series count.
    pub unit: String,
    /// What happened, in order.
    pub timeline: Vec<Mark>,
}

impl DrillPage {
    /// The page.
    pub fn sheet(&self) -> Sheet {
        let named = [
            ("fault", self.fault_at),
            ("detection", self.detected_at),
            ("fault over", self.ended_at),
            ("recovery", self.recovered_at),
        ];
        let marks = named
            .into_iter()
            .filter_map(|(label, at)| Some(Mark { at: at?, label: label.to_owned() }));
        let row =
            |mark: &Mark| vec![mark.at.to_string().as_str().into(), mark.label.as_str().into()];
        let title = "What waited while the fault lasted, and until the service had recovered.";
        Sheet {
            title: format!("Failover drill: {}", self.kind),
            outcome: Some(self.verdict.clone()),
            lines: vec![self.hypothesis.clone(), self.id.clone()],
            figures: vec![self.recovery.clone(), self.lost_events.clone()],
            plots: vec![Plot::lines(title, &self.unit, self.series.clone(), marks.collect())],
            tables: vec![Table {
                title: "Timeline".to_owned(),
                columns: vec!["time", "what happened"],
                rows: self.timeline.iter().map(row).collect(),
            }],
        }
    }
}
