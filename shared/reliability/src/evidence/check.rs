//! Verification of the chain: it is walked from its beginning, page by page, and compared with its head. The
//! walk stops at the first record that is not intact, and names it.

use core_types::id::EvidenceId;
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Key;
use table::{Query, cursor};

use super::{Evidence, GENESIS, Head, Statement};

/// Records that one check walks at most.
pub const MAX_CHECKED_RECORDS: usize = 1_000;
/// Months that one check walks at most: each costs a query, even an empty one.
const MAX_MONTHS: usize = 36;
/// The period in which records are searched when there is no head.
const HEADLESS: std::time::Duration = DAY.saturating_mul(365);

/// The defect of a record of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EvidenceChainFault")]
pub enum ChainDefect {
    /// The record was changed after it was hashed.
    Changed,
    /// The record was removed.
    Missing,
    /// The record does not belong to the chain.
    Unexpected,
}

/// The first record of the chain that is not intact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "EvidenceChainBreak")]
pub struct ChainBreak {
    /// The number of the record. For an inserted record, the number that is expected at its place.
    pub number: u64,
    /// The id of the record, if it can be read.
    pub id: Option<EvidenceId>,
    /// The defect of the record.
    pub fault: ChainDefect,
}

/// The position of a walk: the last record that is intact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The month in which it was recorded.
    month: String,
    /// Its number; 0 before the first.
    number: u64,
    /// Its hash.
    hash: String,
    /// Its id.
    id: Option<EvidenceId>,
}

/// The result of a check.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The head of the chain; none if it is empty.
    pub head: Option<Head>,
    /// Records that this check walked.
    pub checked: usize,
    /// The first record that is not intact.
    pub defect: Option<ChainBreak>,
    /// The position at which the next check continues, if there is more.
    pub next: Option<Position>,
    /// The last intact record.
    reached: Position,
}

impl Checked {
    /// Whether the whole chain was walked and is intact.
    pub fn is_whole(&self) -> bool {
        self.defect.is_none() && self.next.is_none()
    }

    /// The count of records: of those walked if the whole chain was, otherwise that of the head.
    pub fn count(&self) -> u64 {
        let counted = self.head.as_ref().map_or(0, |head| head.number);
        if self.is_whole() { self.reached.number } else { counted }
    }

    /// The hash of the last record; none if there is none.
    pub fn head_hash(&self) -> Option<&str> {
        let counted = self.head.as_ref().map(|head| head.hash.as_str());
        if self.is_whole() && self.reached.number > 0 { Some(&self.reached.hash) } else { counted }
    }
}

impl Position {
    /// The position before the first record.
    pub(super) fn beginning(at: Timestamp) -> Self {
        Self { month: at.month(), number: 0, hash: GENESIS.to_owned(), id: None }
    }

    /// The finding that the record at this position was changed.
    fn changed(&self) -> ChainBreak {
        ChainBreak { number: self.number, id: self.id.clone(), fault: ChainDefect::Changed }
    }

    /// The finding that the next record is missing.
    fn misses_next(&self) -> ChainBreak {
        ChainBreak { number: self.number.saturating_add(1), id: None, fault: ChainDefect::Missing }
    }

    /// Verifies that `found`, read from `month`, is the next record, and moves the position to it.
    ///
    /// # Errors
    /// The defective record. If `found` is consistent in itself, but hashed over another previous hash, the
    /// previous record was rewritten.
    pub(super) fn followed_by(&self, month: &str, found: &Evidence) -> Result<Self, ChainBreak> {
        let number = self.number.saturating_add(1);
        let expected = key::evidence_place(number);
        let stated = found.statement();
        let id = stated.as_ref().map(|stated| stated.id.clone());
        if found.place != expected {
            let is_later = found.place.len() == expected.len()
                && found.place.bytes().all(|byte| byte.is_ascii_digit())
                && found.place > expected;
            let unexpected = ChainBreak { number, id, fault: ChainDefect::Unexpected };
            return Err(if is_later { self.misses_next() } else { unexpected });
        }
        let is_in_place = stated
            .is_some_and(|stated| stated.number == number && stated.recorded_at.month() == month);
        if !is_in_place || !found.is_hashed() {
            return Err(ChainBreak { number, id, fault: ChainDefect::Changed });
        }
        if found.previous_hash != self.hash {
            let is_first = self.number == 0;
            let first = ChainBreak { number, id, fault: ChainDefect::Changed };
            return Err(if is_first { first } else { self.changed() });
        }
        Ok(Self { month: month.to_owned(), number, hash: found.hash.clone(), id })
    }

    /// Checks the position against the head.
    ///
    /// # Errors
    /// The record at this position, if it comes after the head or has another hash than the head.
    pub(super) fn ensure_matches_head(&self, head: Option<&Head>) -> Result<(), ChainBreak> {
        let last = head.map_or(0, |head| head.number);
        if self.number > last {
            return Err(ChainBreak { fault: ChainDefect::Unexpected, ..self.changed() });
        }
        let is_other = |head: &Head| head.number == self.number && head.hash != self.hash;
        if head.is_some_and(is_other) { Err(self.changed()) } else { Ok(()) }
    }

    /// Checks that the chain ends here, according to the head.
    ///
    /// # Errors
    /// The next record, if it is missing.
    pub(super) fn ensure_ends(&self, head: Option<&Head>) -> Result<(), ChainBreak> {
        let last = head.map_or(0, |head| head.number);
        if self.number < last { Err(self.misses_next()) } else { Ok(()) }
    }

    /// The key after which a query of the month continues.
    fn key(&self) -> Key {
        Key::new(key::evidence_in(&self.month), key::evidence_place(self.number))
    }
}

/// Walks the chain from `from`, or from its beginning, over at most `limit` records.
///
/// # Errors
/// When the table does not answer.
pub async fn check(
    services: &Services,
    from: Option<Position>,
    limit: usize,
) -> Result<Checked, Problem> {
    let now = services.clock.now();
    let head = services.table.get::<Head>(&key::evidence_head()).await?;
    let begun_at = head.as_ref().map_or_else(|| now.minus(HEADLESS), |head| head.begun_at);
    let reached = from.unwrap_or_else(|| Position::beginning(begun_at));
    let mut start = (reached.number > 0).then(|| reached.key());
    let all = months(&reached.month, now);
    let counted = head.clone();
    let mut walk = Walk { services, head, reached, checked: 0 };
    for month in all.iter().take(MAX_MONTHS) {
        match walk.month(month, start.take(), limit).await? {
            Step::On => walk.reached.month.clone_from(month),
            Step::Full => {
                let next = Some(walk.reached.clone());
                return Ok(walk.found(None, next));
            }
            Step::ChainBreak(defect) => return Ok(walk.found(Some(defect), None)),
        }
    }
    if all.len() > MAX_MONTHS {
        let next = Some(walk.reached.clone());
        return Ok(walk.found(None, next));
    }
    // A record appended meanwhile may not have been walked; it is not missing.
    let defect = walk.reached.ensure_ends(counted.as_ref()).err();
    Ok(walk.found(defect, None))
}

/// The state of a walk.
struct Walk<'a> {
    services: &'a Services,
    /// The head as it was last read.
    head: Option<Head>,
    reached: Position,
    checked: usize,
}

/// The end of a walk through a month.
enum Step {
    /// At the end of the month.
    On,
    /// At the limit of records.
    Full,
    /// At a defective record.
    ChainBreak(ChainBreak),
}

impl Walk<'_> {
    async fn month(
        &mut self,
        month: &str,
        start: Option<Key>,
        limit: usize,
    ) -> Result<Step, Problem> {
        let query = Query::partition(key::evidence_in(month)).without_read_limit();
        let mut after = start.map(|key| cursor::position_of(&key, []));
        loop {
            let left = limit.saturating_sub(self.checked);
            if left == 0 {
                return Ok(Step::Full);
            }
            let found = self.services.table.page(&query, left, after, |_: &Evidence| true).await?;
            for evidence in &found.items {
                if let Err(defect) = self.step(month, evidence).await? {
                    return Ok(Step::ChainBreak(defect));
                }
            }
            after = found.next;
            if after.is_none() {
                return Ok(Step::On);
            }
        }
    }

    async fn step(
        &mut self,
        month: &str,
        evidence: &Evidence,
    ) -> Result<Result<(), ChainBreak>, Problem> {
        let next = match self.reached.followed_by(month, evidence) {
            Ok(next) => next,
            Err(defect) => return Ok(Err(defect)),
        };
        if next.ensure_matches_head(self.head.as_ref()).is_err() {
            // The record may have been appended after the head was read.
            self.head = self.services.table.get(&key::evidence_head()).await?;
        }
        let fits = next.ensure_matches_head(self.head.as_ref());
        if fits.is_ok() {
            self.reached = next;
            self.checked = self.checked.saturating_add(1);
        }
        Ok(fits)
    }

    fn found(self, defect: Option<ChainBreak>, next: Option<Position>) -> Checked {
        let Self { head, reached, checked, .. } = self;
        Checked { head, checked, defect, next, reached }
    }
}

/// The months from `since` in which the chain may have records, the oldest first.
pub fn months_of(head: &Head, since: Timestamp) -> Vec<String> {
    months(&head.begun_at.max(since).month(), head.recorded_at)
}

/// Loads the contents of the records between these times, the oldest first; none if there are more than
/// `limit`. Corrupted records are left out.
///
/// # Errors
/// When the table does not answer.
pub async fn load_between(
    services: &Services,
    head: Option<&Head>,
    from: Timestamp,
    to: Timestamp,
    limit: usize,
) -> Result<Option<Vec<Statement>>, Problem> {
    let mut stated = Vec::new();
    let is_within = |it: &Statement| from <= it.recorded_at && it.recorded_at <= to;
    let months = head.map(|head| months_of(head, from)).unwrap_or_default();
    for month in months.iter().take_while(|month| **month <= to.month()) {
        let query = Query::partition(key::evidence_in(month)).without_read_limit();
        let mut after = None;
        loop {
            let found = services
                .table
                .page(&query, MAX_CHECKED_RECORDS, after, |_: &Evidence| true)
                .await?;
            stated.extend(found.items.iter().filter_map(Evidence::statement).filter(is_within));
            if stated.len() > limit {
                return Ok(None);
            }
            after = found.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(Some(stated))
}

/// The query of a month's records, the newest first.
pub fn newest_of(month: &str) -> Query {
    Query::partition(key::evidence_in(month)).newest_first()
}

/// Every month from `first` to that of `now`, as `YYYYMM`.
fn months(first: &str, now: Timestamp) -> Vec<String> {
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    let (year, month) = first.split_at_checked(4).unwrap_or(("", ""));
    let (mut year, mut month, last) = (number(year), number(month), now.month());
    let mut all = Vec::new();
    loop {
        let named = format!("{year:04}{month:02}");
        if named > last {
            return all;
        }
        all.push(named);
        (year, month) = match month {
            12.. => (year.saturating_add(1), 1),
            _ => (year, month.saturating_add(1)),
        };
    }
}
