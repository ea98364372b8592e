//! Appending to the chain. One transaction writes the record, its lookup item and the new head, on condition
//! that the head is still the one that the record was hashed over. Of concurrent appends one succeeds, and
//! the others hash again, so the chain has neither gaps nor forks.

use core_types::id::EvidenceId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Condition, Write};

use super::{Evidence, EvidenceName, Head, Record};

/// Attempts of an append: all writers compete for the one head.
const ATTEMPTS: u32 = 60;
/// Attempts of a change that is written with its record, which somebody waits for.
pub const ADDITION_ATTEMPTS: u32 = 20;

/// The items of a new record, to be added to a transaction.
#[derive(Debug)]
pub struct Addition {
    before: Option<Head>,
    head: Head,
    evidence: Evidence,
    name: EvidenceName,
}

/// Records evidence once, and returns its id. If the same outcome of the same subject is recorded already,
/// nothing is written.
///
/// # Errors
/// `version_conflict` after too many concurrent appends; 503.
pub async fn append(services: &Services, record: Record) -> Result<EvidenceId, Problem> {
    let id = record.id();
    table::retry_up_to(ATTEMPTS, || async {
        match addition(services, record.clone(), services.clock.now()).await? {
            Some(addition) => addition.put_into(services.table.write()).commit().await,
            None => Ok(()),
        }
    })
    .await?;
    Ok(id)
}

/// Builds the items that append a record to the current chain, for a larger transaction; none if it is
/// recorded already. It must be built again after `version_conflict`.
///
/// # Errors
/// When the table does not answer.
pub async fn addition(
    services: &Services,
    record: Record,
    now: Timestamp,
) -> Result<Option<Addition>, Problem> {
    let (head_key, name_key) = (key::evidence_head(), key::evidence_named(&record.id()));
    let mut batch = services.table.get_many(&[&head_key, &name_key]).await?;
    if batch.take::<EvidenceName>(&name_key)?.is_some() {
        return Ok(None);
    }
    Addition::to(batch.take(&head_key)?, record, now).map(Some)
}

impl Addition {
    pub(super) fn to(
        before: Option<Head>,
        record: Record,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let id = record.id();
        let evidence = Evidence::after(before.as_ref(), record, now)?;
        let stated = evidence
            .statement()
            .ok_or_else(|| Problem::internal(format!("evidence {id} cannot be read back")))?;
        let head = Head {
            number: stated.number,
            hash: evidence.hash.clone(),
            begun_at: before.as_ref().map_or(stated.recorded_at, |head| head.begun_at),
            recorded_at: stated.recorded_at,
        };
        let name = EvidenceName { id, number: stated.number, recorded_at: stated.recorded_at };
        Ok(Self { before, head, evidence, name })
    }

    /// The record.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The head of the chain after it.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The record's id.
    pub fn id(&self) -> &EvidenceId {
        &self.name.id
    }

    /// Adds it to a transaction, which is rejected with `version_conflict` if another record was appended
    /// meanwhile.
    pub fn put_into(self, write: Write) -> Write {
        let follows = self.before.as_ref().map_or_else(
            || Condition::new("attribute_not_exists(PK)"),
            |before| {
                Condition::new("#number = :number AND #hash = :hash")
                    .name("#number", "number")
                    .name("#hash", "hash")
                    .value(":number", before.number)
                    .value(":hash", &before.hash)
            },
        );
        write
            .put_if(&self.head, follows, Code::VersionConflict)
            .create(&self.name, Code::VersionConflict)
            .create(&self.evidence, Code::VersionConflict)
    }
}
