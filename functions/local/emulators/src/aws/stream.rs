//! The table's stream, as an event source mapping reads it.

use std::sync::{Mutex, PoisonError};

use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::{AttributeValue, Database, Item};
use serde_json::{Value, json};

use super::{EmulatorError, REGION};

/// The streams of a database, as they were when the first was found, and how far each was read.
pub(super) struct Stream {
    database: Database,
    readings: Mutex<Vec<Reading>>,
}

/// How far a stream was read.
struct Reading {
    arn: String,
    /// Where the next read starts.
    position: String,
}

impl Stream {
    pub(super) fn of(database: Database) -> Self {
        Self { database, readings: Mutex::default() }
    }

    /// The next records of the items and changes that are wanted: `wanted` is asked with the name of
    /// the change and with the kind of the item. What is not wanted is read and forgotten, and does not
    /// count; empty when there is nothing more.
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

    /// Reads on from there.
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

    /// Before the first record that is left of a stream.
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

/// What an item says it is.
fn kind(image: &Item) -> &str {
    match image.get("entity") {
        Some(AttributeValue::S(kind)) => kind,
        _ => "",
    }
}

/// The record as Lambda delivers it: with the stream's ARN, and from a region that exists.
fn lambda_record(record: &Record, stream_arn: &str) -> Result<Value, EmulatorError> {
    let mut value = serde_json::to_value(record)
        .map_err(EmulatorError::while_trying("write a stream record as JSON"))?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("awsRegion".to_owned(), json!(REGION));
        fields.insert("eventSourceARN".to_owned(), json!(stream_arn));
    }
    Ok(value)
}
