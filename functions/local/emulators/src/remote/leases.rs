//! Leases of a stream's shards: items of the table, one for each shard, with the process that reads it and how far it
//! has come.
//!
//! A holder renews its lease by counting. A lease is free when its count has not changed for a while by this process's
//! own clock, so that no two clocks are compared.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use core_types::key;
use tokio::time::Instant;

use super::shards::Reader;
use crate::error::AnyError;

/// After how long without a renewal a lease is free (our choice): several renewals may fail.
const EXPIRY: Duration = Duration::from_secs(10);
/// The kind of these items.
const KIND: &str = "stream_lease";

/// A lease, as it was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) shard: String,
    owner: String,
    renewals: u64,
    /// The last record before which everything was handled.
    pub(super) checkpoint: Option<String>,
    /// Whether the shard was read to its end.
    pub(super) is_ended: bool,
}

/// What a holder writes into its lease.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) checkpoint: Option<String>,
    pub(super) is_ended: bool,
}

/// The leases of a table's stream, and which of them this process holds.
pub(super) struct Leases {
    client: Client,
    table: String,
    /// The name of this process.
    process: String,
    /// Those that this process holds, with their counts.
    held: HashMap<String, u64>,
    /// The owner and the count of each, and since when they have been the same.
    seen: HashMap<String, (String, u64, Instant)>,
}

impl Leases {
    pub(super) fn new(client: Client, table: &str) -> Self {
        let process = uuid::Uuid::now_v7().to_string();
        let (held, seen) = (HashMap::new(), HashMap::new());
        Self { client, table: table.to_owned(), process, held, seen }
    }

    /// Loads all of them.
    pub(super) async fn load(&mut self) -> Result<Vec<Lease>, AnyError> {
        let mut leases = Vec::new();
        let mut pages = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("PK = :partition")
            .expression_attribute_values(
                ":partition",
                AttributeValue::S(key::STREAM_LEASES.to_owned()),
            )
            .into_paginator()
            .items()
            .send();
        while let Some(item) = pages.next().await {
            leases.extend(lease(&item?));
        }
        self.note(&leases, Instant::now());
        Ok(leases)
    }

    /// Notes which leases have changed.
    fn note(&mut self, leases: &[Lease], now: Instant) {
        for lease in leases {
            let same = self.seen.get(&lease.shard).filter(|(owner, renewals, _)| {
                *owner == lease.owner && *renewals == lease.renewals
            });
            let since = same.map_or(now, |(_, _, since)| *since);
            let seen = (lease.owner.clone(), lease.renewals, since);
            self.seen.insert(lease.shard.clone(), seen);
        }
    }

    /// Who reads the shard of a lease.
    pub(super) fn reader(&self, lease: &Lease) -> Reader {
        self.reader_at(lease, Instant::now())
    }

    fn reader_at(&self, lease: &Lease, now: Instant) -> Reader {
        if self.held.contains_key(&lease.shard) {
            return Reader::ThisProcess;
        }
        let since = self.seen.get(&lease.shard).map_or(now, |(_, _, since)| *since);
        // A lease of this process that it does not hold: the reply to its write was lost.
        if lease.owner == self.process || now.duration_since(since) >= EXPIRY {
            return Reader::Nobody;
        }
        Reader::Other(lease.owner.clone())
    }

    /// Takes the lease of a shard as it was loaded, or a new one; false if another process was faster.
    pub(super) async fn take(
        &mut self,
        shard: &str,
        loaded: Option<&Lease>,
    ) -> Result<bool, AnyError> {
        let renewals = loaded.map(|lease| lease.renewals);
        let checkpoint = loaded.and_then(|lease| lease.checkpoint.clone());
        self.write(shard, renewals, &Progress { checkpoint, is_ended: false }).await
    }

    /// Renews the lease of a shard; false if it was lost.
    pub(super) async fn renew(
        &mut self,
        shard: &str,
        progress: &Progress,
    ) -> Result<bool, AnyError> {
        let Some(renewals) = self.held.get(shard).copied() else { return Ok(false) };
        self.write(shard, Some(renewals), progress).await
    }

    /// Writes a lease on condition that nobody has since its count was this.
    async fn write(
        &mut self,
        shard: &str,
        renewals: Option<u64>,
        progress: &Progress,
    ) -> Result<bool, AnyError> {
        let next = renewals.unwrap_or_default().saturating_add(1);
        let number = |count: u64| AttributeValue::N(count.to_string());
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let mut update = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key::stream_lease(shard).attributes()))
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":owner", text(&self.process))
            .expression_attribute_values(":next", number(next))
            .expression_attribute_values(":kind", text(KIND))
            .expression_attribute_values(":ended", AttributeValue::Bool(progress.is_ended));
        let mut change =
            "SET entity = :kind, #owner = :owner, renewals = :next, is_ended = :ended".to_owned();
        if let Some(checkpoint) = &progress.checkpoint {
            change.push_str(", checkpoint = :checkpoint");
            update = update.expression_attribute_values(":checkpoint", text(checkpoint));
        }
        update = match renewals {
            Some(renewals) => update
                .condition_expression("renewals = :renewals")
                .expression_attribute_values(":renewals", number(renewals)),
            None => update.condition_expression("attribute_not_exists(PK)"),
        };
        let written = update.update_expression(change).send().await;
        match written.map_err(SdkError::into_service_error) {
            Ok(_) => {
                self.held.insert(shard.to_owned(), next);
                Ok(true)
            }
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => {
                self.held.remove(shard);
                Ok(false)
            }
            Err(cause) => Err(cause.into()),
        }
    }

    /// No longer holds the lease of a shard that was read to its end.
    pub(super) fn release(&mut self, shard: &str) {
        self.held.remove(shard);
    }

    /// Deletes the leases of shards that do not exist any more.
    pub(super) async fn forget(
        &mut self,
        leases: &[Lease],
        existing: &BTreeSet<&str>,
    ) -> Result<(), AnyError> {
        let gone = leases.iter().filter(|lease| !existing.contains(lease.shard.as_str()));
        for lease in gone.filter(|lease| lease.is_ended) {
            let delete = self.client.delete_item().table_name(&self.table);
            let key = key::stream_lease(&lease.shard).attributes();
            delete.set_key(Some(key)).send().await?;
            self.seen.remove(&lease.shard);
        }
        Ok(())
    }
}

fn lease(item: &HashMap<String, AttributeValue>) -> Option<Lease> {
    let text = |name: &str| item.get(name)?.as_s().ok().cloned();
    Some(Lease {
        shard: text("SK")?,
        owner: text("owner")?,
        renewals: item.get("renewals")?.as_n().ok()?.parse().ok()?,
        checkpoint: text("checkpoint"),
        is_ended: item.get("is_ended").and_then(|flag| flag.as_bool().ok()).copied()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease_of(owner: &str, renewals: u64) -> Lease {
        let (shard, owner) = ("s".to_owned(), owner.to_owned());
        Lease { shard, owner, renewals, checkpoint: None, is_ended: false }
    }

    #[test]
    fn a_lease_that_is_not_renewed_is_free_by_this_processs_clock() {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
            .build();
        let mut leases = Leases::new(Client::from_conf(config), "t");
        let begun = Instant::now();
        let other = Reader::Other("other".to_owned());
        leases.note(&[lease_of("other", 7)], begun);
        let late = begun + EXPIRY;
        assert_eq!(leases.reader_at(&lease_of("other", 7), begun), other);
        assert_eq!(leases.reader_at(&lease_of("other", 7), late), Reader::Nobody);
        leases.note(&[lease_of("other", 8)], late);
        assert_eq!(leases.reader_at(&lease_of("other", 8), late), other, "it was renewed");
        let own = lease_of(&leases.process.clone(), 9);
        leases.note(std::slice::from_ref(&own), late);
        assert_eq!(leases.reader_at(&own, late), Reader::Nobody, "the reply was lost");
        leases.held.insert("s".to_owned(), 9);
        assert_eq!(leases.reader_at(&own, late + EXPIRY), Reader::ThisProcess);
    }
}
