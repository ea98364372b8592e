//! How the chain grows: the record, the head that it follows and its name are one transaction, on
//! condition that the head is still the one that was hashed. So of those that append at once one is
//! next, and the others hash again: the chain has neither a gap nor a fork.

use core_types::id::EvidenceId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Condition, Write};

use super::{Evidence, EvidenceName, Head, Record};

/// Times that somebody else may be next: everybody writes the one head, one after the other.
const ATTEMPTS: u32 = 60;

/// A record that is to be written, in whichever transaction.
#[derive(Debug)]
pub struct Addition {
    before: Option<Head>,
    head: Head,
    evidence: Evidence,
    name: EvidenceName,
}

/// Records evidence, once: where the same outcome of the same subject is recorded already, that is
/// its id.
///
/// # Errors
/// `version_conflict` when very many others append; 503.
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

/// What appends a record to the chain as it is now, for a transaction that does more; none where it
/// is recorded already. It is made again after `version_conflict`.
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
        let stated = evidence.statement().ok_or_else(|| Problem::internal("spoilt evidence"))?;
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

    /// The end of the chain with it.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The record's id.
    pub fn id(&self) -> &EvidenceId {
        &self.name.id
    }

    /// Adds it to a transaction, which is rejected with `version_conflict` where somebody else was
    /// next.
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
