//! The AWS of a local system, in this process: `DynamoDB` (by `dynoxide`), SQS and Secrets Manager
//! (by `rustack`), each on its own loopback port, for `cargo run -p local` and for tests.
//!
//! The deployed code reaches them through the SDKs' own endpoint variables and cannot tell the
//! difference, except where an emulator is kinder than AWS: it never throttles, never reports a
//! conflicting transaction, and its indexes are never stale. Signatures are not checked, so any
//! credentials do; that is why nothing here listens beyond loopback.
//!
//! What survives a `kill -9`, when [`Emulators::start`] is given a directory:
//! - the table: `SQLite` in WAL mode with `synchronous = FULL`, which is on disk before the answer;
//! - the secrets: written to `secrets.json` before the answer;
//! - not the queues: pending deliveries are in the table, and the sweep sends them again;
//! - not the table's stream: a restart empties it, and the sweep finds what was left behind.

mod vault;

use std::collections::HashMap;
use std::fs::{DirBuilder, File, TryLockError};
use std::future::Future;

use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dynoxide::Database;
use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::storage::Storage;
use rustack_sqs_core::config::SqsConfig;
use rustack_sqs_core::handler::RustackSqsHandler;
use rustack_sqs_core::provider::RustackSqs;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use vault::{Vault, answer_secrets};

/// The region that the emulators claim to be in.
pub const REGION: &str = "us-east-1";
/// The account that owns the emulated queues.
pub const ACCOUNT: &str = "000000000000";

/// After this many receives a message moves to the dead-letter queue (docs/platform.md §2).
const MAX_RECEIVE_COUNT: u32 = 5;
/// How long [`Emulators::stop`] waits for requests that are already running.
const GRACE: Duration = Duration::from_secs(3);
/// What the SDKs identify an answer by in a log; ours are all alike.
const REQUEST_ID: &str = "local";

/// A cause of any kind; whoever returns it outwards says what was being tried.
type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Why an emulator could not do what it was asked: what was tried, and the cause.
#[derive(Debug)]
pub struct EmulatorError {
    tried: String,
    cause: AnyError,
}

impl EmulatorError {
    /// For `map_err`: keeps the cause, and says what was being tried.
    fn while_trying<E>(tried: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<AnyError>,
    {
        let tried = tried.into();
        move |cause| Self { tried, cause: cause.into() }
    }
}

impl std::fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {}: {}", self.tried, self.cause)
    }
}

impl std::error::Error for EmulatorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

/// The loopback ports to listen on; 0 takes any free one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ports {
    /// For `DynamoDB`.
    pub dynamodb: u16,
    /// For SQS.
    pub sqs: u16,
    /// For Secrets Manager.
    pub secrets: u16,
}

/// A queue and the queue its hopeless messages end in.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Where to send and receive.
    pub url: String,
    /// Where a message goes that was received five times and never deleted.
    pub dead_letter_url: String,
}

/// The emulators of one local system, listening on loopback.
///
/// Dropping it stops them too, but does not wait for requests that are still running.
pub struct Emulators {
    database: Database,
    queues: Arc<RustackSqs>,
    /// Where the next read of each stream starts, by the stream's ARN.
    positions: Mutex<HashMap<String, String>>,
    dynamodb: Server,
    sqs: Server,
    secrets: Server,
    /// Held open for its lock: one process per data directory.
    _lock: Option<File>,
}

impl Emulators {
    /// Starts the emulators on free ports. With `data: None` everything is in memory; otherwise
    /// the table is in `table.db` and the secrets are in `secrets.json` of that directory, which
    /// is created (owner only) if it is absent.
    pub async fn start(data: Option<&Path>) -> Result<Self, EmulatorError> {
        Self::start_on(data, Ports::default()).await
    }

    /// [`Self::start`], on chosen ports.
    pub async fn start_on(data: Option<&Path>, ports: Ports) -> Result<Self, EmulatorError> {
        let lock = data.map(claim).transpose()?;
        let database = open_database(data)?;
        let (listener, endpoint) = listen(ports.dynamodb, "--dynamodb-port").await?;
        let dynamodb = {
            let database = database.clone();
            Server::run(endpoint, |stop| {
                dynoxide::server::serve_with_shutdown(listener, database, stop)
            })
        };
        let (listener, endpoint) = listen(ports.sqs, "--sqs-port").await?;
        let queues = Arc::new(RustackSqs::new(sqs_config(&listener)?));
        let sqs = Server::run(endpoint, {
            let router = Router::new()
                .fallback(answer_sqs)
                .with_state(Arc::new(RustackSqsHandler::new(Arc::clone(&queues))));
            |stop| serve(listener, router, stop)
        });
        let vault = Vault::open(data)?;
        let (listener, endpoint) = listen(ports.secrets, "--secrets-port").await?;
        let secrets = Server::run(endpoint, {
            let router = Router::new().fallback(answer_secrets).with_state(Arc::new(vault));
            |stop| serve(listener, router, stop)
        });
        let positions = Mutex::default();
        Ok(Self { database, queues, positions, dynamodb, sqs, secrets, _lock: lock })
    }

    /// For `AWS_ENDPOINT_URL_DYNAMODB`, without a trailing slash.
    pub fn dynamodb_endpoint(&self) -> &str {
        &self.dynamodb.endpoint
    }

    /// For `AWS_ENDPOINT_URL_SQS`, without a trailing slash.
    pub fn sqs_endpoint(&self) -> &str {
        &self.sqs.endpoint
    }

    /// For `AWS_ENDPOINT_URL_SECRETS_MANAGER`, without a trailing slash.
    pub fn secrets_endpoint(&self) -> &str {
        &self.secrets.endpoint
    }

    /// Makes a table from the words of the `DynamoDB` API (as `CreateTable` and
    /// `UpdateTimeToLive` take them, in one object), unless it is there already.
    pub fn create_table(&self, definition: &Value) -> Result<(), EmulatorError> {
        let made = self.create_table_unless_there(definition);
        made.map_err(EmulatorError::while_trying("create the table"))
    }

    fn create_table_unless_there(&self, definition: &Value) -> Result<(), AnyError> {
        let name = definition.get("TableName").and_then(Value::as_str);
        let name = name.ok_or("it has no name")?;
        if self.database.get_table_metadata(name)?.is_none() {
            self.database.create_table(serde_json::from_value(definition.clone())?)?;
            self.database.update_time_to_live(serde_json::from_value(definition.clone())?)?;
        }
        Ok(())
    }

    /// Makes `name` and its dead-letter queue `<name>-dead`, unless they are there already.
    /// `visibility` is how long a received message is hidden, in whole seconds.
    pub async fn create_queue(
        &self,
        name: &str,
        visibility: Duration,
    ) -> Result<Queue, EmulatorError> {
        let dead = format!("{name}-dead");
        let redrive = json!({
            "deadLetterTargetArn": format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{dead}"),
            "maxReceiveCount": MAX_RECEIVE_COUNT,
        });
        let attributes = json!({
            "VisibilityTimeout": visibility.as_secs().to_string(),
            "RedrivePolicy": redrive.to_string(),
        });
        let dead_letter_url = self.create_bare_queue(&dead, json!({})).await?;
        let url = self.create_bare_queue(name, attributes).await?;
        Ok(Queue { url, dead_letter_url })
    }

    async fn create_bare_queue(
        &self,
        name: &str,
        attributes: Value,
    ) -> Result<String, EmulatorError> {
        let tried = format!("create the queue {name}");
        let ask = json!({ "QueueName": name, "Attributes": attributes });
        // Through JSON, because the request type belongs to a crate that only the emulator needs.
        let ask =
            serde_json::from_value(ask).map_err(EmulatorError::while_trying(tried.clone()))?;
        let made = self.queues.create_queue(ask).await;
        let made = made.map_err(EmulatorError::while_trying(tried.clone()))?;
        made.queue_url.ok_or("no URL came back").map_err(EmulatorError::while_trying(tried))
    }

    /// The table-stream records since the last call, oldest first, at most `limit` (and at most
    /// 1,000), each in the form in which Lambda delivers it. The first call begins with the first
    /// write after the start.
    ///
    /// Not `async` on purpose: a caller that is cancelled between the read and its answer would
    /// lose the records.
    pub fn stream_records(&self, limit: usize) -> Result<Vec<Value>, EmulatorError> {
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut records = Vec::new();
        for stream in streams(&self.database)? {
            let room = limit.saturating_sub(records.len());
            if room == 0 {
                break;
            }
            let position = match positions.get(&stream.stream_arn) {
                Some(position) => position.clone(),
                None => beginning(&self.database, &stream)?,
            };
            let page = self
                .database
                .get_records(GetRecordsRequest { shard_iterator: position, limit: Some(room) })
                .map_err(EmulatorError::while_trying("read the table's stream"))?;
            for record in &page.records {
                records.push(lambda_record(record, &stream.stream_arn)?);
            }
            if let Some(next) = page.next_shard_iterator {
                positions.insert(stream.stream_arn, next);
            }
        }
        Ok(records)
    }

    /// Deletes the items whose time to live has passed, as `DynamoDB` does within days, and
    /// returns how many. Each deletion is in the stream. It goes by the real clock, not the test's.
    pub async fn sweep_ttl(&self) -> Result<usize, EmulatorError> {
        const TRIED: &str = "sweep the expired items";
        let database = self.database.clone();
        tokio::task::spawn_blocking(move || database.sweep_ttl())
            .await
            .map_err(EmulatorError::while_trying(TRIED))?
            .map_err(EmulatorError::while_trying(TRIED))
    }

    /// Stops listening, lets running requests finish (3 s at most) and closes the files.
    pub async fn stop(self) {
        // First the queues: a long poll would otherwise hold its connection for 20 s.
        let emptied = tokio::time::timeout(GRACE, self.queues.shutdown_all()).await;
        if emptied.is_err() {
            tracing::warn!("a queue did not stop in time");
        }
        tokio::join!(self.dynamodb.stop(), self.sqs.stop(), self.secrets.stop());
    }
}

/// One listening emulator.
struct Server {
    endpoint: String,
    /// Dropping it asks the server to finish.
    running: oneshot::Sender<()>,
    /// Holds one task; dropping it ends the task.
    task: JoinSet<()>,
}

/// Resolves when the server shall finish.
type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    fn run<F>(endpoint: String, serve: impl FnOnce(Stop) -> F) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let (running, stopped) = oneshot::channel();
        let serving = serve(Box::pin(async move {
            // An error says that the sender was dropped, which is how we stop.
            let _: Result<(), _> = stopped.await;
        }));
        let mut task = JoinSet::new();
        task.spawn(async move {
            if let Err(cause) = serving.await {
                tracing::error!(cause, "an emulator ended");
            }
        });
        Self { endpoint, running, task }
    }

    async fn stop(mut self) {
        drop(self.running);
        if tokio::time::timeout(GRACE, self.task.join_next()).await.is_err() {
            tracing::warn!(endpoint = self.endpoint, "an emulator did not stop in time");
        }
    }
}

async fn listen(port: u16, option: &str) -> Result<(TcpListener, String), EmulatorError> {
    let tried = format!("listen on 127.0.0.1:{port}, which {option} changes");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(EmulatorError::while_trying(tried))?;
    let address = listener.local_addr().map_err(EmulatorError::while_trying("read a port"))?;
    Ok((listener, format!("http://{address}")))
}

async fn serve(listener: TcpListener, router: Router, stop: Stop) -> Result<(), String> {
    let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
    serving.await.map_err(|cause| cause.to_string())
}

/// Creates the data directory if need be, and takes it for this process. Two processes on one
/// `table.db` would each trust their own cache of the table's definition.
fn claim(data: &Path) -> Result<File, EmulatorError> {
    let tried = format!("use the data directory {}", data.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .map_err(EmulatorError::while_trying(tried.clone()))?;
    let lock =
        File::create(data.join("lock")).map_err(EmulatorError::while_trying(tried.clone()))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(EmulatorError::while_trying(tried)("another process is using it"))
        }
        Err(TryLockError::Error(cause)) => Err(EmulatorError::while_trying(tried)(cause)),
    }
}

/// dynoxide keeps stream records for ever, and for each write and each read of the stream looks
/// through all of them: 0.16 µs per record, so that after 10,000 a write takes 1.6 ms instead of
/// 0.1. Hence an index, and a fresh start for records that nobody will read again.
const TIDY_STREAM: &str = "
    DELETE FROM _stream_records;
    CREATE INDEX IF NOT EXISTS stream_order
        ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
";

fn open_database(data: Option<&Path>) -> Result<Database, EmulatorError> {
    let path = match data {
        Some(data) => data.join("table.db"),
        // Named, for two connections to meet in it; it lives as long as one of them is open.
        None => format!("file:{}?mode=memory&cache=shared", uuid::Uuid::now_v7()).into(),
    };
    open_tidied(&path).map_err(EmulatorError::while_trying(format!("open {}", path.display())))
}

fn open_tidied(path: &Path) -> Result<Database, AnyError> {
    let name = path.to_str().ok_or("the path is not UTF-8")?;
    // Kept until the database is open: a `Database` does not lend its connection.
    let storage = Storage::new(name)?;
    storage.conn().execute_batch(TIDY_STREAM)?;
    let database = Database::new(name)?;
    drop(storage);
    Ok(database)
}

// --- The table's stream ---

fn streams(database: &Database) -> Result<Vec<StreamSummary>, EmulatorError> {
    let listed = database.list_streams(ListStreamsRequest::default());
    Ok(listed.map_err(EmulatorError::while_trying("list the streams"))?.streams)
}

/// Before the first record that is left of a stream.
fn beginning(database: &Database, stream: &StreamSummary) -> Result<String, EmulatorError> {
    const TRIED: &str = "find the beginning of the table's stream";
    let ask = GetShardIteratorRequest {
        stream_arn: stream.stream_arn.clone(),
        shard_id: dynoxide::streams::shard_id(&stream.table_name),
        shard_iterator_type: "TRIM_HORIZON".to_owned(),
        sequence_number: None,
    };
    let found = database.get_shard_iterator(ask).map_err(EmulatorError::while_trying(TRIED))?;
    found.shard_iterator.ok_or("no iterator came back").map_err(EmulatorError::while_trying(TRIED))
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

// --- SQS ---

/// The emulator puts its own address into queue URLs, so it has to know it.
fn sqs_config(listener: &TcpListener) -> Result<SqsConfig, EmulatorError> {
    let address = listener.local_addr().map_err(EmulatorError::while_trying("read a port"))?;
    Ok(SqsConfig {
        skip_signature_validation: true,
        default_region: REGION.to_owned(),
        account_id: ACCOUNT.to_owned(),
        host: address.ip().to_string(),
        port: address.port(),
    })
}

async fn answer_sqs(
    State(handler): State<Arc<RustackSqsHandler>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    use rustack_sqs_http::{dispatch, response, router};
    let answer = match router::resolve_operation(&headers) {
        Ok(operation) => dispatch::dispatch_operation(handler.as_ref(), operation, body).await,
        Err(refusal) => Err(refusal),
    };
    let answer = answer.unwrap_or_else(|refusal| response::error_to_response(&refusal, REQUEST_ID));
    answer.map(Body::new)
}

// --- Secrets Manager ---

#[cfg(test)]
mod tests;
