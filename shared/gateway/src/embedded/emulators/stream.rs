//! The table's stream, as an event source mapping reads it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::{AttributeValue, Database, Item};
use serde_json::{Value, json};

use super::{EmulatorError, REGION};

/// Every stream of a database, and how far each was read.
pub(super) struct Stream {
    database: Database,
    /// Where the next read starts, by the stream's ARN.
    positions: Mutex<HashMap<String, String>>,
}

impl Stream {
    pub(super) fn of(database: Database) -> Self {
        Self { database, positions: Mutex::default() }
    }

    /// The next records of the items and changes that are wanted: `wanted` is asked with the name of
    /// the change and with the kind of the item. What is not wanted is read and forgotten, and does not
    /// count; empty when there is nothing more.
    pub(super) fn records(
        &self,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<Value>, EmulatorError> {
        let is_wanted = |record: &Record| match record.dynamodb.new_image.as_ref() {
            Some(image) => wanted(&record.event_name, kind(image)),
            None => wanted(&record.event_name, ""),
        };
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = Vec::new();
        for stream in self.all()? {
            let room = limit.saturating_sub(records.len());
            if room == 0 {
                break;
            }
            let mut position = match positions.get(&stream.stream_arn) {
                Some(position) => position.clone(),
                None => self.beginning(&stream)?,
            };
            loop {
                let ask = GetRecordsRequest { shard_iterator: position, limit: Some(room) };
                let page = self.database.get_records(ask);
                let page = page.map_err(EmulatorError::while_trying("read the table's stream"))?;
                for record in page.records.iter().filter(|record| is_wanted(record)) {
                    records.push(lambda_record(record, &stream.stream_arn)?);
                }
                let Some(next) = page.next_shard_iterator else { break };
                positions.insert(stream.stream_arn.clone(), next.clone());
                if page.records.is_empty() || !records.is_empty() {
                    break;
                }
                position = next;
            }
        }
        Ok(records)
    }

    fn all(&self) -> Result<Vec<StreamSummary>, EmulatorError> {
        let listed = self.database.list_streams(ListStreamsRequest::default());
        Ok(listed.map_err(EmulatorError::while_trying("list the streams"))?.streams)
    }

    /// Before the first record that is left of a stream.
    fn beginning(&self, stream: &StreamSummary) -> Result<String, EmulatorError> {
        const TRIED: &str = "find the beginning of the table's stream";
        let ask = GetShardIteratorRequest {
            stream_arn: stream.stream_arn.clone(),
            shard_id: dynoxide::streams::shard_id(&stream.table_name),
            shard_iterator_type: "TRIM_HORIZON".to_owned(),
            sequence_number: None,
        };
        let found =
            self.database.get_shard_iterator(ask).map_err(EmulatorError::while_trying(TRIED))?;
        let iterator = found.shard_iterator.ok_or("no iterator came back");
        iterator.map_err(EmulatorError::while_trying(TRIED))
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
