//! `DynamoDB` by `dynoxide`: the connections to one file, and calls without a server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynoxide::storage::Storage;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{AnyError, EmulatorError};

/// Connections that read while another writes; concurrent reads share them.
const READERS: usize = 4;

/// Empties the stream at the start, and adds an index. dynoxide never deletes stream records, and scans all
/// of them for each write and each read of the stream: 0.16 µs per record, so that after 10,000 a write takes
/// 1.6 ms instead of 0.1.
const TIDY_STREAM: &str = "
    DELETE FROM _stream_records;
    CREATE INDEX IF NOT EXISTS stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
";

/// The tables. Cheap to clone.
///
/// A [`Database`] is one connection, which serves one call at a time. A file is therefore opened several
/// times: a query waits neither for another nor for a write, and sees every write that completed before it
/// began. In memory, connections would block each other, so there is one.
#[derive(Clone)]
pub(super) struct Tables {
    primary: Database,
    readers: Arc<[Database]>,
    /// Reads the stream, so that reading a hundred images does not block a writer.
    stream: Option<Database>,
    next_reader: Arc<AtomicUsize>,
}

/// The response to a call.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// Whether it has changed a table.
    pub(super) has_written: bool,
}

impl Tables {
    pub(super) fn open(data: Option<&Path>) -> Result<Self, EmulatorError> {
        let path = match data {
            Some(data) => data.join("table.db"),
            // Named, so that two connections share it; it exists as long as one of them is open.
            None => format!("file:{}?mode=memory&cache=shared", uuid::Uuid::now_v7()).into(),
        };
        let opened = open(&path, data.is_some());
        opened.map_err(EmulatorError::while_trying(format!("open {}", path.display())))
    }

    /// The connection that writes; the only one that knows the tokens of transactions.
    pub(super) fn primary(&self) -> Database {
        self.primary.clone()
    }

    /// The connection that reads the stream.
    pub(super) fn of_stream(&self) -> Database {
        self.stream.clone().unwrap_or_else(|| self.primary())
    }

    fn reader(&self) -> &Database {
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let place = next.checked_rem(self.readers.len()).unwrap_or(0);
        self.readers.get(place).unwrap_or(&self.primary)
    }

    /// Handles a call like the server. `None`, without an effect, leaves it to the server: rare operations,
    /// and malformed calls, which the server rejects with `DynamoDB`'s messages.
    pub(super) fn answer(&self, operation: &str, body: &[u8]) -> Option<Answer> {
        let (primary, reader) = (&self.primary, || self.reader());
        let (has_written, called) = match operation {
            "GetItem" => (false, call(body, |input| reader().get_item(input))),
            "Query" => (false, call(body, |input| reader().query(input))),
            "BatchGetItem" => (false, call(body, |input| reader().batch_get_item(input))),
            "Scan" => (false, call(body, |input| reader().scan(input))),
            // All of its reads must be of one moment, which only the primary connection guarantees.
            "TransactGetItems" => (false, call(body, |input| primary.transact_get_items(input))),
            "PutItem" => (true, call(body, |input| primary.put_item(input))),
            "UpdateItem" => (true, call(body, |input| primary.update_item(input))),
            "DeleteItem" => (true, call(body, |input| primary.delete_item(input))),
            "BatchWriteItem" => (true, call(body, |input| primary.batch_write_item(input))),
            "TransactWriteItems" => (true, call(body, |input| primary.transact_write_items(input))),
            _ => return None,
        };
        match called? {
            Ok(body) => Some(Answer { status: 200, body, has_written }),
            Err(rejection) if is_malformed(&rejection) => None,
            Err(rejection) => Some(Answer {
                status: rejection.status_code(),
                body: rejection.to_json().into_bytes(),
                has_written: false,
            }),
        }
    }
}

fn call<Input, Reply>(
    body: &[u8],
    act: impl FnOnce(Input) -> Result<Reply, DynoxideError>,
) -> Option<Result<Vec<u8>, DynoxideError>>
where
    Input: DeserializeOwned,
    Reply: Serialize,
{
    let input = serde_json::from_slice(body).ok()?;
    let reply = act(input);
    let written = |reply| {
        serde_json::to_vec(&reply)
            .map_err(|cause| DynoxideError::InternalServerError(cause.to_string()))
    };
    Some(reply.and_then(written))
}

/// Whether it is a rejection that dynoxide's own server formats differently.
fn is_malformed(rejection: &DynoxideError) -> bool {
    let kind = rejection.error_type();
    kind.ends_with("ValidationException") || kind.ends_with("SerializationException")
}

fn open(path: &Path, has_file: bool) -> Result<Tables, AnyError> {
    let name = path.to_str().ok_or("the path is not UTF-8")?;
    // Held until the database is open, because a `Database` does not expose its connection.
    let storage = Storage::new(name)?;
    storage.conn().execute_batch(TIDY_STREAM)?;
    let primary = Database::new(name)?;
    drop(storage);
    // Sets `synchronous = NORMAL`: a commit is written to the operating system, and only a checkpoint waits
    // for the disk.
    primary.disable_bulk_loading()?;
    let readers = if has_file { READERS } else { 0 };
    let opened: Result<Vec<_>, _> = (0..readers).map(|_| Database::new(name)).collect();
    let stream = has_file.then(|| Database::new(name)).transpose()?;
    Ok(Tables { primary, readers: opened?.into(), stream, next_reader: Arc::default() })
}
