//! The table's stream, as an event source mapping reads it.

use std::sync::{Mutex, PoisonError};

use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::{AttributeValue, Database, Item};
use serde_json::{Value, json};

use super::account::REGION;
use crate::error::EmulatorError;

/// The streams of a database, listed at the first read, each with its position.
pub(super) struct Stream {
    database: Database,
    readings: Mutex<Vec<Reading>>,
}

/// The position of a stream.
struct Reading {
    arn: String,
    /// The shard iterator of the next read.
    position: String,
}

impl Stream {
    pub(super) fn of(database: Database) -> Self {
        Self { database, readings: Mutex::default() }
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
                let page = self.page(&mut reading.position, room)?;
                for record in page.iter().filter(|record| is_wanted(record)) {
                    records.push(lambda_record(record, &reading.arn)?);
                }
                if page.is_empty() {
                    break;
                }
            }
        }
        Ok(records)
    }

    /// Reads the next page, and moves the position.
    fn page(&self, position: &mut String, limit: usize) -> Result<Vec<Record>, EmulatorError> {
        let input = GetRecordsRequest { shard_iterator: position.clone(), limit: Some(limit) };
        let page = self.database.get_records(input);
        let page = page.map_err(EmulatorError::while_trying("read the table's stream"))?;
        if let Some(next) = page.next_shard_iterator {
            *position = next;
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
        Ok(Reading { arn: stream.stream_arn, position })
    }
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
