//! `DynamoDB` by `dynoxide`: the connections to one file, and calls without a server.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dynoxide::storage::Storage;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::place::Place;
use super::transactions::Transactions;
use crate::error::{AnyError, EmulatorError};

/// Connections that read while another writes; concurrent reads share them.
const READERS: usize = 4;

/// Empties the stream at the start, and adds an index. Without one dynoxide scans all stream records for each write
/// and each read of the stream: 0.16 µs per record, so that after 10,000 a write takes 1.6 ms instead of 0.1.
const TIDY_STREAM: &str = "
    DELETE FROM _stream_records;
    CREATE INDEX IF NOT EXISTS stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
    DROP TRIGGER IF EXISTS stream_recorded;
";

/// Deletes the stream's records before a position. dynoxide never does. The record at the position stays: the next
/// number is one more than the last.
const TRIM_STREAM: &str =
    "DELETE FROM _stream_records WHERE table_name = ?1 AND CAST(sequence_number AS INTEGER) < ?2";

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
    /// Deletes what was read of the stream.
    trimmer: Option<Arc<Mutex<Storage>>>,
    next_reader: Arc<AtomicUsize>,
    transactions: Arc<Transactions>,
}

/// The response to a call.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// Whether it has changed a table.
    pub(super) has_written: bool,
}

impl Tables {
    pub(super) fn open(
        place: Place<'_>,
        recorded: Option<&BTreeSet<(String, String)>>,
    ) -> Result<Self, EmulatorError> {
        let path = match place {
            Place::Directory(data) => data.join("table.db"),
            // Named, so that two connections share it; it exists as long as one of them is open.
            Place::Memory | Place::CopyOf(_) => {
                format!("file:{}?mode=memory&cache=shared", uuid::Uuid::now_v7()).into()
            }
        };
        let opened = open(&path, place, recorded);
        opened.map_err(EmulatorError::while_trying(format!("open {}", path.display())))
    }

    /// The connection that writes.
    pub(super) fn primary(&self) -> Database {
        self.primary.clone()
    }

    /// The connection that reads the stream.
    pub(super) fn of_stream(&self) -> Database {
        self.stream.clone().unwrap_or_else(|| self.primary())
    }

    /// Deletes the stream's records of a table before this position. What is in memory ends with the process.
    pub(super) fn trim_stream(&self, table: &str, position: i64) -> Result<(), EmulatorError> {
        let Some(trimmer) = &self.trimmer else { return Ok(()) };
        let trimmer = trimmer.lock().unwrap_or_else(PoisonError::into_inner);
        let trimmed = trimmer.conn().execute(TRIM_STREAM, (table, position));
        trimmed.map(drop).map_err(EmulatorError::while_trying("trim the table's stream"))
    }

    /// The number of records in the stream.
    pub(super) fn stream_length(&self) -> Result<u64, EmulatorError> {
        const TRIED: &str = "count the records of the table's stream";
        let Some(trimmer) = &self.trimmer else { return Ok(0) };
        let trimmer = trimmer.lock().unwrap_or_else(PoisonError::into_inner);
        let count = "SELECT COUNT(*) FROM _stream_records";
        let counted = trimmer.conn().query_row(count, (), |row| row.get::<_, i64>(0));
        let counted = counted.map_err(EmulatorError::while_trying(TRIED))?;
        u64::try_from(counted).map_err(EmulatorError::while_trying(TRIED))
    }

    fn reader(&self) -> &Database {
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let place = next.checked_rem(self.readers.len()).unwrap_or(0);
        self.readers.get(place).unwrap_or(&self.primary)
    }

    /// Whether an operation may change a table.
    pub(super) fn is_write(operation: &str) -> bool {
        matches!(
            operation,
            "PutItem" | "UpdateItem" | "DeleteItem" | "BatchWriteItem" | "TransactWriteItems"
        )
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
            "TransactWriteItems" => {
                let execute = |input| primary.transact_write_items(input);
                let once = |input| self.transactions.once(body, input, Instant::now(), execute);
                (true, call(body, once))
            }
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

/// Copies the table of a data directory, as it is at one moment, to a file that does not exist. Another process may
/// write it meanwhile.
pub(super) fn copy(data: &Path, to: &Path) -> Result<(), AnyError> {
    let name = |path: &Path| path.to_str().map(str::to_owned).ok_or("the path is not UTF-8");
    let storage = Storage::new(&name(&data.join("table.db"))?)?;
    storage.conn().execute("VACUUM INTO ?1", [name(to)?])?;
    Ok(())
}

/// Opens the connections. `LIBSQLITE3_FLAGS` in .cargo/config.toml has their settings, because a [`Database`] does not
/// expose its connection: a commit is written to the operating system, and only a checkpoint waits for the disk.
fn open(
    path: &Path,
    place: Place<'_>,
    recorded: Option<&BTreeSet<(String, String)>>,
) -> Result<Tables, AnyError> {
    let name = path.to_str().ok_or("the path is not UTF-8")?;
    // Held until the database is open, because a `Database` does not expose its connection.
    let storage = Storage::new(name)?;
    let primary = Database::new(name)?;
    if let Place::CopyOf(data) = place {
        let copied = data.join("table.db");
        primary.restore_from(copied.to_str().ok_or("the path is not UTF-8")?)?;
    }
    storage.conn().execute_batch(TIDY_STREAM)?;
    if let Some(recorded) = recorded {
        storage.conn().execute_batch(&only_recording(recorded))?;
    }
    let has_file = matches!(place, Place::Directory(_));
    // In memory, two connections would block each other.
    let trimmer = has_file.then(|| Arc::new(Mutex::new(storage)));
    let readers = if has_file { READERS } else { 0 };
    let opened: Result<Vec<_>, _> = (0..readers).map(|_| Database::new(name)).collect();
    let stream = has_file.then(|| Database::new(name)).transpose()?;
    Ok(Tables {
        primary,
        readers: opened?.into(),
        stream,
        trimmer,
        next_reader: Arc::default(),
        transactions: Arc::default(),
    })
}

/// The trigger that skips all records of the stream but these. Of ten records nobody reads nine, and each has two
/// images of its item.
fn only_recording(recorded: &BTreeSet<(String, String)>) -> String {
    let is_name =
        |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let one = |(change, kind): &(String, String)| {
        let (change, kind) =
            (Some(change.as_str()).filter(is_name)?, Some(kind.as_str()).filter(is_name)?);
        let image = if change == "REMOVE" { "old_image" } else { "new_image" };
        let kind = format!(r#"instr(NEW.{image}, '"entity":{{"S":"{kind}"}}')"#);
        Some(format!("(NEW.event_name = '{change}' AND {kind} > 0)"))
    };
    let wanted: Vec<String> = recorded.iter().filter_map(one).collect();
    format!(
        "CREATE TRIGGER stream_recorded BEFORE INSERT ON _stream_records WHEN NOT ({}) \
         BEGIN SELECT RAISE(IGNORE); END",
        wanted.join(" OR ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_no_disk_and_pages_stay_in_memory() {
        let path = std::env::temp_dir().join(format!("{}.db", uuid::Uuid::now_v7()));
        let storage = Storage::new(path.to_str().unwrap()).unwrap();
        let setting = |name: &str| {
            let asked = format!("PRAGMA {name}");
            storage.conn().query_row(&asked, (), |row| row.get::<_, i64>(0)).unwrap()
        };
        // NORMAL; kilobytes; pages.
        let found = ["synchronous", "cache_size", "wal_autocheckpoint"].map(setting);
        assert_eq!(found, [1, -16_000, 4_000]);
        drop(storage);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
