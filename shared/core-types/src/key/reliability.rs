//! Keys of reliability: incidents, samples of the platform's health, evidence, certification reports, and the
//! drills and load tests of the canary store.

use primitives::clock::Timestamp;
use table::item::{Index, Key};

use super::{IndexKey, gsi1, gsi2};
use crate::id::{DrillId, EventId, EvidenceId, IncidentId, LoadTestId, ReportId, StoreId};

/// An incident.
pub fn incident(id: &IncidentId) -> Key {
    Key::new(format!("INC#{id}"), "A")
}
/// The partition of unresolved incidents that a rule opened: one for each rule and subject.
pub const OPEN_INCIDENTS: &str = "INC#OPEN";
/// The unresolved incident of a rule about a subject.
pub fn open_incident(rule: &str, subject: &str) -> Key {
    Key::new(OPEN_INCIDENTS, format!("{rule}#{subject}"))
}
/// The list of the operations of a kind that began in a month (UTC): its index and its partition there.
/// `kind` is the entity's name.
pub fn operations_of_month(kind: &str, at: Timestamp) -> (Index, String) {
    let (index, key) = gsi1(format!("OPS#{kind}#{}", at.month()), "");
    (index, key.pk)
}
/// An operation in that list.
pub fn operation_of_month(kind: &str, at: Timestamp, id: &str) -> IndexKey {
    let (index, partition) = operations_of_month(kind, at);
    (index, Key::new(partition, format!("{at}#{id}")))
}
/// An incident in its store's list.
pub fn incident_of_store(store: &StoreId, at: Timestamp, id: &IncidentId) -> IndexKey {
    let (index, partition) = incidents_of_store(store);
    (index, Key::new(partition, format!("{at}#{id}")))
}
/// The list of a store's incidents: its index and its partition there.
pub fn incidents_of_store(store: &StoreId) -> (Index, String) {
    let (index, key) = gsi2(format!("STO#{store}#INC"), "");
    (index, key.pk)
}
/// The sample of the platform's health in a minute.
pub fn sample(at: Timestamp) -> Key {
    let place: String = at.to_string().chars().skip(11).take(5).filter(|c| *c != ':').collect();
    Key::new(samples_of_day(at), place)
}
/// The partition of a day's samples; sort keys are `hhmm`.
pub fn samples_of_day(at: Timestamp) -> String {
    format!("MET#SEEN#{}", at.day())
}
/// The partition of a month's evidence (UTC): few enough records for a partition, and few enough partitions
/// for a walk over years.
pub fn evidence_in(month: &str) -> String {
    format!("EVD#{month}")
}
/// A record of the evidence, by its number.
pub fn evidence(at: Timestamp, number: u64) -> Key {
    Key::new(evidence_in(&at.month()), evidence_place(number))
}
/// The sort key of the record with this number.
pub fn evidence_place(number: u64) -> String {
    format!("{number:012}")
}
/// The head of the evidence chain.
pub fn evidence_head() -> Key {
    Key::new("EVD#HEAD", "A")
}
/// The lookup item of the record of this id; it makes the id unique.
pub fn evidence_named(id: &EvidenceId) -> Key {
    Key::new(format!("UQ#EVD#{id}"), "A")
}
/// A certification report.
pub fn report(id: &ReportId) -> Key {
    Key::new(format!("REP#{id}"), "A")
}
/// All reports, by when they were issued: a few a month.
pub fn reports_by_time(at: Timestamp, id: &ReportId) -> IndexKey {
    gsi1(REPORTS.to_owned(), format!("{at}#{id}"))
}
/// The index and the partition of all reports.
pub fn reports() -> (Index, &'static str) {
    (Index::Gsi1, REPORTS)
}
/// The partition of all reports.
const REPORTS: &str = "OPS#REP";
/// A failover drill.
pub fn drill(id: &DrillId) -> Key {
    Key::new(format!("{DRILLS}{id}"), "A")
}
/// The prefix of the partition keys of drills.
pub const DRILLS: &str = "DRL#";
/// A load test.
pub fn load_test(id: &LoadTestId) -> Key {
    Key::new(format!("{LOAD_TESTS}{id}"), "A")
}
/// The prefix of the partition keys of load tests.
pub const LOAD_TESTS: &str = "LDT#";
/// The receipt of an event by the canary's receiver.
pub fn canary_receipt(id: &EventId) -> Key {
    Key::new("FLT#CANARY", format!("RCV#{id}"))
}
