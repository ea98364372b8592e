//! The stream of a table that is not embedded, read through the API of `DynamoDB` Streams.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::error::SdkError;
use aws_sdk_dynamodbstreams::operation::get_records::{GetRecordsError, GetRecordsOutput};
use aws_sdk_dynamodbstreams::types::ShardIteratorType;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::leases::{Leases, Progress};
use super::records;
use super::shards::{Reader, Shard, readable, to_take};
use crate::aws::REGION;
use crate::error::{AnyError, EmulatorError};
use crate::stream::{Handling, StreamRecords, Unhandled};

/// Records of one call at most: what the service allows.
const MOST: usize = 1_000;
/// The time between two renewals of the leases, and between two looks for new shards.
const RENEWAL: Duration = Duration::from_secs(2);

/// A reader of a table's stream. With leases it reads the shards whose leases it holds, each from the first record that
/// may not have been handled; without, all of them, from the first write after the start.
pub(crate) struct RemoteStream {
    client: Client,
    arn: String,
    state: Mutex<State>,
}

struct State {
    leases: Option<Leases>,
    /// The shards that are read, by id.
    readings: BTreeMap<String, Reading>,
    /// Shards that were read to their end.
    ended: BTreeSet<String>,
    /// When leases and shards were last inspected.
    inspected: Option<Instant>,
}

/// The position in a shard.
struct Reading {
    /// The iterator of the next read, unless there is none yet or it has expired.
    iterator: Option<String>,
    from: Position,
    /// What was read and may not have been handled: the last record of each page.
    unhandled: VecDeque<(String, Handling)>,
    /// The last record before which everything was handled.
    checkpoint: Option<String>,
    is_at_end: bool,
}

#[derive(Clone)]
enum Position {
    Latest,
    Horizon,
    After(String),
}

impl Reading {
    fn new(from: Position) -> Self {
        let (iterator, checkpoint, unhandled) = (None, None, VecDeque::new());
        Self { iterator, from, unhandled, checkpoint, is_at_end: false }
    }

    /// What of it was handled.
    fn progress(&mut self) -> Progress {
        while let Some((last, _)) = self.unhandled.pop_front_if(|(_, one)| one.is_handled()) {
            self.checkpoint = Some(last);
        }
        let is_ended = self.is_at_end && self.unhandled.is_empty();
        Progress { checkpoint: self.checkpoint.clone(), is_ended }
    }
}

impl RemoteStream {
    pub(super) fn new(client: Client, arn: String, leases: Option<Leases>) -> Self {
        let (readings, ended) = (BTreeMap::new(), BTreeSet::new());
        let state = Mutex::new(State { leases, readings, ended, inspected: None });
        Self { client, arn, state }
    }

    /// Notes where the stream ends now, unless leases say where it was read to.
    pub(super) async fn begin(&self) -> Result<(), AnyError> {
        let mut state = self.state.lock().await;
        if state.leases.is_some() {
            return Ok(());
        }
        for shard in self.shards().await? {
            if shard.is_closed {
                state.ended.insert(shard.id);
                continue;
            }
            let mut reading = Reading::new(Position::Latest);
            reading.iterator = self.iterator(&shard.id, &reading.from).await?;
            state.readings.insert(shard.id, reading);
        }
        state.inspected = Some(Instant::now());
        Ok(())
    }

    /// Reads the next records that are `wanted`, by the name of the change and the kind of the new item; the others are
    /// skipped. Empty when there are no more.
    pub(crate) async fn records(
        &self,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<StreamRecords, EmulatorError> {
        const TRIED: &str = "read the table's stream";
        let mut state = self.state.lock().await;
        self.inspect(&mut state).await.map_err(EmulatorError::while_trying(TRIED))?;
        let (unhandled, mut records) = (Unhandled::default(), Vec::new());
        for (shard, reading) in &mut state.readings {
            let read = self.read(shard, reading, limit, &wanted, &unhandled).await;
            match read {
                Ok(more) => records.extend(more),
                Err(cause) if records.is_empty() => {
                    return Err(EmulatorError::while_trying(TRIED)(cause));
                }
                // What was read is not read again.
                Err(cause) => tracing::warn!(%cause, shard, "shard of the stream not read"),
            }
        }
        Ok(StreamRecords { records, unhandled })
    }

    /// Reads a shard until there are records that are wanted, or no more.
    async fn read(
        &self,
        shard: &str,
        reading: &mut Reading,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
        unhandled: &Unhandled,
    ) -> Result<Vec<Value>, AnyError> {
        let mut found = Vec::new();
        while found.is_empty() && !reading.is_at_end {
            if reading.iterator.is_none() {
                reading.iterator = self.iterator(shard, &reading.from).await?;
            }
            let Some(page) = self.page(reading, limit).await? else { continue };
            let is_wanted = |record: &&_| wanted(records::change(record), records::kind(record));
            let lambda = |record| {
                let region = aws_sdk_dynamodbstreams::types::Record::aws_region(record);
                records::lambda_record(record, &self.arn, region.unwrap_or(REGION))
            };
            found.extend(page.records().iter().filter(is_wanted).map(lambda));
            reading.is_at_end = page.next_shard_iterator.is_none();
            reading.iterator.clone_from(&page.next_shard_iterator);
            let last = page.records().last().and_then(records::sequence_number);
            let Some(last) = last.map(str::to_owned) else { break };
            let nobody = found.is_empty();
            let handling = if nobody { Handling::default() } else { unhandled.handling() };
            reading.unhandled.push_back((last.clone(), handling));
            reading.from = Position::After(last);
        }
        Ok(found)
    }

    /// Reads a page; none if its iterator has expired.
    async fn page(
        &self,
        reading: &mut Reading,
        limit: usize,
    ) -> Result<Option<GetRecordsOutput>, AnyError> {
        let limit = i32::try_from(limit.min(MOST)).unwrap_or(1);
        let call = self.client.get_records().set_shard_iterator(reading.iterator.clone());
        match call.limit(limit).send().await.map_err(SdkError::into_service_error) {
            Ok(page) => Ok(Some(page)),
            Err(GetRecordsError::ExpiredIteratorException(_)) => {
                reading.iterator = None;
                Ok(None)
            }
            Err(GetRecordsError::TrimmedDataAccessException(cause)) => {
                tracing::error!(%cause, "records of the stream were lost; left to the sweep");
                (reading.iterator, reading.from) = (None, Position::Horizon);
                Ok(None)
            }
            Err(cause) => Err(cause.into()),
        }
    }

    async fn iterator(&self, shard: &str, from: &Position) -> Result<Option<String>, AnyError> {
        let call = self.client.get_shard_iterator().stream_arn(&self.arn).shard_id(shard);
        let call = match from {
            Position::Latest => call.shard_iterator_type(ShardIteratorType::Latest),
            Position::Horizon => call.shard_iterator_type(ShardIteratorType::TrimHorizon),
            Position::After(last) => call
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(last),
        };
        Ok(call.send().await?.shard_iterator)
    }

    /// Every shard of the stream.
    async fn shards(&self) -> Result<Vec<Shard>, AnyError> {
        let (mut shards, mut start) = (Vec::new(), None);
        loop {
            let call = self.client.describe_stream().stream_arn(&self.arn);
            let page = call.set_exclusive_start_shard_id(start).send().await?;
            let page = page.stream_description.ok_or("the stream has no description")?;
            shards.extend(page.shards().iter().filter_map(|shard| {
                let numbers = shard.sequence_number_range();
                Some(Shard {
                    id: shard.shard_id()?.to_owned(),
                    parent: shard.parent_shard_id().map(str::to_owned),
                    is_closed: numbers.is_some_and(|it| it.ending_sequence_number().is_some()),
                })
            }));
            start = page.last_evaluated_shard_id;
            if start.is_none() {
                return Ok(shards);
            }
        }
    }

    /// Renews the leases, and finds the shards to read, if it is time.
    async fn inspect(&self, state: &mut State) -> Result<(), AnyError> {
        let has_ended = state.readings.values().any(|reading| reading.is_at_end);
        let is_recent = state.inspected.is_some_and(|at| at.elapsed() < RENEWAL);
        // Without leases, new shards come when others end.
        if (is_recent || state.leases.is_none() && state.inspected.is_some()) && !has_ended {
            return Ok(());
        }
        state.inspected = Some(Instant::now());
        match &mut state.leases {
            None => {
                let at_end = state.readings.extract_if(.., |_, reading| reading.is_at_end);
                state.ended.extend(at_end.map(|(shard, _)| shard));
                for shard in readable(&self.shards().await?, &state.ended) {
                    let begin = || Reading::new(Position::Horizon);
                    state.readings.entry(shard.id.clone()).or_insert_with(begin);
                }
                Ok(())
            }
            Some(leases) => {
                renew(leases, &mut state.readings).await?;
                self.share(leases, &mut state.readings).await
            }
        }
    }

    /// Takes this process's share of the shards.
    async fn share(
        &self,
        leases: &mut Leases,
        readings: &mut BTreeMap<String, Reading>,
    ) -> Result<(), AnyError> {
        let (loaded, shards) = (leases.load().await?, self.shards().await?);
        let ended = loaded.iter().filter(|lease| lease.is_ended);
        let ended = ended.map(|lease| lease.shard.clone()).collect();
        let of = |shard: &str| loaded.iter().find(|lease| lease.shard == shard);
        let readers: BTreeMap<String, Reader> = readable(&shards, &ended)
            .into_iter()
            .map(|shard| {
                let reader = of(&shard.id).map_or(Reader::Nobody, |lease| leases.reader(lease));
                (shard.id.clone(), reader)
            })
            .collect();
        for shard in to_take(&readers) {
            let lease = of(shard);
            if leases.take(shard, lease).await? {
                let checkpoint = lease.and_then(|lease| lease.checkpoint.clone());
                let mut reading =
                    Reading::new(checkpoint.clone().map_or(Position::Horizon, Position::After));
                reading.checkpoint = checkpoint;
                readings.insert(shard.to_owned(), reading);
            }
        }
        let existing = shards.iter().map(|shard| shard.id.as_str()).collect();
        leases.forget(&loaded, &existing).await
    }
}

/// Renews the leases of the shards that are read, and reads no longer those that were lost or have ended.
async fn renew(
    leases: &mut Leases,
    readings: &mut BTreeMap<String, Reading>,
) -> Result<(), AnyError> {
    let mut over = Vec::new();
    for (shard, reading) in readings.iter_mut() {
        let progress = reading.progress();
        if !leases.renew(shard, &progress).await? {
            tracing::info!(shard, "another process reads this shard of the stream");
            over.push(shard.clone());
        } else if progress.is_ended {
            leases.release(shard);
            over.push(shard.clone());
        }
    }
    readings.retain(|shard, _| !over.contains(shard));
    Ok(())
}
