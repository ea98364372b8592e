//! The table's stream, as an event source mapping reads it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dynoxide::Database;
use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{EmulatorError, REGION};

/// How long it is believed which streams there are: a table that is made later waits so long.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// Every stream of a database, and how far each was read.
pub(super) struct Stream {
    database: Database,
    reading: Mutex<Reading>,
}

#[derive(Default)]
struct Reading {
    streams: Vec<StreamSummary>,
    listed_at: Option<Instant>,
    /// Where the next read starts, by the stream's ARN.
    positions: HashMap<String, String>,
}

impl Stream {
    pub(super) fn of(database: Database) -> Self {
        Self { database, reading: Mutex::default() }
    }

    pub(super) fn records(&self, limit: usize) -> Result<Vec<Value>, EmulatorError> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let Reading { streams, listed_at, positions } = &mut *reading;
        if streams.is_empty() || listed_at.is_none_or(|at| at.elapsed() > LISTED_FOR) {
            (*streams, *listed_at) = (self.all()?, Some(Instant::now()));
        }
        let mut records = Vec::new();
        for stream in streams {
            let room = limit.saturating_sub(records.len());
            if room == 0 {
                break;
            }
            let position = match positions.get(&stream.stream_arn) {
                Some(position) => position.clone(),
                None => self.beginning(stream)?,
            };
            let page = self
                .database
                .get_records(GetRecordsRequest { shard_iterator: position, limit: Some(room) })
                .map_err(EmulatorError::while_trying("read the table's stream"))?;
            for record in &page.records {
                records.push(lambda_record(record, &stream.stream_arn)?);
            }
            if let Some(next) = page.next_shard_iterator {
                positions.insert(stream.stream_arn.clone(), next);
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
