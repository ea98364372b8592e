//! The table's stream, as an event source mapping reads it.

use std::sync::{Mutex, PoisonError};

use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::{AttributeValue, Database, Item};
use serde_json::{Value, json};

use super::account::REGION;
use super::tables::Tables;
use crate::error::EmulatorError;

/// What a public sequence number is more than the stored one.
const OFFSET: u128 = 100_000_000_000_000_000_000;
/// Records that are read before those are deleted: one write for many, which holds up others for a millisecond.
const TRIM_AFTER: usize = 128;

/// The streams of a database, listed at the first read, each with its position. What this has read is deleted.
pub(super) struct Stream {
    tables: Tables,
    database: Database,
    readings: Mutex<Vec<Reading>>,
}

/// The position of a stream.
struct Reading {
    table: String,
    arn: String,
    /// The shard iterator of the next read.
    position: String,
    /// The stored sequence number of the last record that was read.
    last: i64,
    /// Records read that are not deleted yet.
    read: usize,
}

impl Stream {
    pub(super) fn of(tables: &Tables) -> Self {
        let (tables, database) = (tables.clone(), tables.of_stream());
        Self { tables, database, readings: Mutex::default() }
    }

    /// Deletes what was read of each stream, if that is much.
    fn trim(&self, readings: &mut [Reading]) {
        for reading in readings.iter_mut().filter(|reading| reading.read >= TRIM_AFTER) {
            // A writer may hold the table for long; then the next read tries again.
            match self.tables.trim_stream(&reading.table, reading.last) {
                Ok(()) => reading.read = 0,
                Err(cause) => tracing::warn!(%cause, "what was read of the stream not deleted"),
            }
        }
    }

    /// Reads the next records that are `wanted`, by the name of the change and the kind of the item. Other
    /// records are skipped, and do not count; empty when there are no more records.
    pub(super) fn records(
        &self,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<Value>, EmulatorError> {
        let is_wanted = |record: &Record| {
            let kind = record.dynamodb.new_image.as_ref().map_or("", kind);
            wanted(&record.event_name, kind)
        };
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        if readings.is_empty() {
            *readings = self.beginnings()?;
        }
        let mut records = Vec::new();
        for reading in readings.iter_mut() {
            let room = limit.saturating_sub(records.len());
            let before = records.len();
            while room > 0 && records.len() == before {
                let page = self.page(reading, room)?;
                for record in page.iter().filter(|record| is_wanted(record)) {
                    records.push(lambda_record(record, &reading.arn)?);
                }
                if page.is_empty() {
                    break;
                }
            }
        }
        self.trim(&mut readings);
        Ok(records)
    }

    /// Reads the next page, and moves the position.
    fn page(&self, reading: &mut Reading, limit: usize) -> Result<Vec<Record>, EmulatorError> {
        let position = reading.position.clone();
        let input = GetRecordsRequest { shard_iterator: position, limit: Some(limit) };
        let page = self.database.get_records(input);
        let page = page.map_err(EmulatorError::while_trying("read the table's stream"))?;
        if let Some(next) = page.next_shard_iterator {
            reading.position = next;
        }
        if let Some(last) = page.records.last() {
            reading.last = stored(&last.dynamodb.sequence_number).unwrap_or(reading.last);
            reading.read = reading.read.saturating_add(page.records.len());
        }
        Ok(page.records)
    }

    fn beginnings(&self) -> Result<Vec<Reading>, EmulatorError> {
        let listed = self.database.list_streams(ListStreamsRequest::default());
        let listed = listed.map_err(EmulatorError::while_trying("list the streams"))?;
        listed.streams.into_iter().map(|stream| self.beginning(stream)).collect()
    }

    /// The position before the first record of a stream.
    fn beginning(&self, stream: StreamSummary) -> Result<Reading, EmulatorError> {
        const TRIED: &str = "find the beginning of the table's stream";
        let input = GetShardIteratorRequest {
            stream_arn: stream.stream_arn.clone(),
            shard_id: dynoxide::streams::shard_id(&stream.table_name),
            shard_iterator_type: "TRIM_HORIZON".to_owned(),
            sequence_number: None,
        };
        let found =
            self.database.get_shard_iterator(input).map_err(EmulatorError::while_trying(TRIED))?;
        let iterator = found.shard_iterator.ok_or("no iterator came back");
        let position = iterator.map_err(EmulatorError::while_trying(TRIED))?;
        Ok(Reading { table: stream.table_name, arn: stream.stream_arn, position, last: 0, read: 0 })
    }
}

/// The stored number of a public one.
fn stored(sequence_number: &str) -> Option<i64> {
    let public: u128 = sequence_number.parse().ok()?;
    i64::try_from(public.checked_sub(OFFSET)?).ok()
}

/// The kind of an item.
fn kind(image: &Item) -> &str {
    match image.get("entity") {
        Some(AttributeValue::S(kind)) => kind,
        _ => "",
    }
}

/// The record in the form in which Lambda delivers it: with the stream's ARN and an existing region.
fn lambda_record(record: &Record, stream_arn: &str) -> Result<Value, EmulatorError> {
    let mut value = serde_json::to_value(record)
        .map_err(EmulatorError::while_trying("write a stream record as JSON"))?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("awsRegion".to_owned(), json!(REGION));
        fields.insert("eventSourceARN".to_owned(), json!(stream_arn));
    }
    Ok(value)
}
