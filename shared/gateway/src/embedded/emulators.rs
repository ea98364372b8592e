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

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::future::Future;
use std::io::{ErrorKind, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dynoxide::Database;
use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::{ListStreamsRequest, StreamSummary};
use dynoxide::storage::Storage;
use rustack_secretsmanager_core::config::SecretsManagerConfig;
use rustack_secretsmanager_core::handler::RustackSecretsManagerHandler;
use rustack_secretsmanager_core::provider::RustackSecretsManager;
use rustack_sqs_core::config::SqsConfig;
use rustack_sqs_core::handler::RustackSqsHandler;
use rustack_sqs_core::provider::RustackSqs;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The region that the emulators claim to be in.
pub const REGION: &str = "us-east-1";
/// The account that owns the emulated queues.
pub const ACCOUNT: &str = "000000000000";

/// After this many receives a message moves to the dead-letter queue (traps 20).
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
        let (listener, endpoint) = listen(ports.dynamodb).await?;
        let dynamodb = {
            let database = database.clone();
            Server::run(endpoint, |stop| {
                dynoxide::server::serve_with_shutdown(listener, database, stop)
            })
        };
        let (listener, endpoint) = listen(ports.sqs).await?;
        let queues = Arc::new(RustackSqs::new(sqs_config(&listener)?));
        let sqs = Server::run(endpoint, {
            let router = Router::new()
                .fallback(answer_sqs)
                .with_state(Arc::new(RustackSqsHandler::new(Arc::clone(&queues))));
            |stop| serve(listener, router, stop)
        });
        let vault = Vault::open(data)?;
        let (listener, endpoint) = listen(ports.secrets).await?;
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

    /// Makes a table from the words of the `DynamoDB` interface (as `CreateTable` and
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

async fn listen(port: u16) -> Result<(TcpListener, String), EmulatorError> {
    let tried = || EmulatorError::while_trying(format!("listen on 127.0.0.1:{port}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(tried())?;
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

/// The secrets, and the file that outlives them.
struct Vault {
    provider: Arc<RustackSecretsManager>,
    handler: RustackSecretsManagerHandler,
    /// Absent when everything is in memory.
    file: Option<PathBuf>,
    /// Held while a change is made and saved, so that the file has the changes in their order.
    changing: tokio::sync::Mutex<()>,
}

/// What `secrets.json` keeps of one secret, in the interface's own words.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct SavedSecret {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    versions: Vec<SavedVersion>,
}

/// One version that carries a stage (`AWSCURRENT`, `AWSPREVIOUS`, …); the others are forgotten.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SavedVersion {
    version_id: String,
    version_stages: Vec<String>,
    /// Secret. Either this or the binary is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_string: Option<String>,
    /// Secret, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_binary: Option<String>,
}

impl Vault {
    fn open(data: Option<&Path>) -> Result<Self, EmulatorError> {
        let config = SecretsManagerConfig {
            skip_signature_validation: true,
            default_region: REGION.to_owned(),
            default_account_id: ACCOUNT.to_owned(),
        };
        let provider = Arc::new(RustackSecretsManager::new(config));
        let vault = Self {
            handler: RustackSecretsManagerHandler::new(Arc::clone(&provider)),
            provider,
            file: data.map(|directory| directory.join("secrets.json")),
            changing: tokio::sync::Mutex::new(()),
        };
        if let Some(file) = &vault.file {
            vault
                .load(file)
                .map_err(EmulatorError::while_trying(format!("load {}", file.display())))?;
        }
        Ok(vault)
    }

    /// A file that cannot be read is an error, never an empty vault: it holds the only copy.
    fn load(&self, file: &Path) -> Result<(), AnyError> {
        let saved: Vec<SavedSecret> = match fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return self.save(),
            Err(cause) => return Err(cause.into()),
        };
        for secret in saved {
            let ask = json!({ "Name": secret.name, "Description": secret.description });
            self.provider.handle_create_secret(serde_json::from_value(ask)?)?;
            for version in secret.versions {
                let ask = json!({
                    "SecretId": secret.name,
                    "ClientRequestToken": version.version_id,
                    "VersionStages": version.version_stages,
                    "SecretString": version.secret_string,
                    "SecretBinary": version.secret_binary,
                });
                self.provider.handle_put_secret_value(serde_json::from_value(ask)?)?;
            }
        }
        Ok(())
    }

    /// Replaces the file as a whole, so that it is never half a file.
    fn save(&self) -> Result<(), AnyError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let text = serde_json::to_vec_pretty(&self.snapshot()?)?;
        let draft = file.with_extension("json.new");
        // A draft that a crash left behind may have another mode; `mode` is for new files only.
        if let Err(cause) = fs::remove_file(&draft)
            && cause.kind() != ErrorKind::NotFound
        {
            return Err(cause.into());
        }
        let mut written =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        written.write_all(&text)?;
        written.sync_all()?;
        fs::rename(&draft, file)?;
        if let Some(directory) = file.parent() {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }

    /// Every secret that is not scheduled for deletion.
    fn snapshot(&self) -> Result<Vec<SavedSecret>, AnyError> {
        let mut saved = Vec::new();
        let mut ask = json!({});
        loop {
            let page = self.provider.handle_list_secrets(&serde_json::from_value(ask)?)?;
            for listed in page.secret_list {
                let name = listed.name.ok_or("a secret without a name")?;
                let mut versions = Vec::new();
                for version in listed.secret_versions_to_stages.keys() {
                    versions.push(self.version(&name, version)?);
                }
                versions.sort_by(|a, b| a.version_stages.cmp(&b.version_stages));
                saved.push(SavedSecret { name, description: listed.description, versions });
            }
            match page.next_token {
                Some(next) => ask = json!({ "NextToken": next }),
                None => return Ok(saved),
            }
        }
    }

    fn version(&self, name: &str, version: &str) -> Result<SavedVersion, AnyError> {
        let ask = serde_json::from_value(json!({ "SecretId": name, "VersionId": version }))?;
        let found = self.provider.handle_get_secret_value(&ask)?;
        Ok(serde_json::from_value(serde_json::to_value(found)?)?)
    }
}

/// Answers one call; a change is in the file before its answer leaves.
async fn answer_secrets(
    State(vault): State<Arc<Vault>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    use rustack_secretsmanager_http::{dispatch, response, router};
    let operation = match router::resolve_operation(&headers) {
        Ok(operation) => operation,
        Err(refusal) => {
            return response::error_to_response(&refusal, REQUEST_ID).map(Body::new);
        }
    };
    let reads_only = ["Get", "BatchGet", "List", "Describe", "Validate"]
        .iter()
        .any(|verb| operation.as_str().starts_with(verb));
    let _changing = if reads_only { None } else { Some(vault.changing.lock().await) };
    let answer = match dispatch::dispatch_operation(&vault.handler, operation, body).await {
        Ok(answer) => answer,
        Err(refusal) => {
            return response::error_to_response(&refusal, REQUEST_ID).map(Body::new);
        }
    };
    if !reads_only && let Err(cause) = vault.save() {
        tracing::error!(%cause, "the secrets could not be saved");
        // The SDK tries again with the same token, which saves the same version again.
        let problem = r#"{"__type":"InternalServiceError","message":"not saved"}"#;
        return (StatusCode::INTERNAL_SERVER_ERROR, problem).into_response();
    }
    answer.map(Body::new)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use aws_credential_types::Credentials;
    use aws_sdk_dynamodb::types::{
        AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
        ScalarAttributeType, StreamSpecification, StreamViewType,
    };
    use aws_types::SdkConfig;
    use aws_types::region::Region;

    use super::*;

    type Tested = Result<(), AnyError>;

    fn config(endpoint: &str) -> SdkConfig {
        use aws_credential_types::provider::SharedCredentialsProvider;
        let credentials = Credentials::new("local", "local", None, None, "local");
        SdkConfig::builder()
            .endpoint_url(endpoint)
            .region(Region::new(REGION))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
            .build()
    }

    /// A data directory of this test alone, gone when the test ends.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Self {
            Self(std::env::temp_dir().join(format!("emulators-{}", uuid::Uuid::now_v7())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _: Result<(), _> = fs::remove_dir_all(&self.0);
        }
    }

    async fn with_table(emulators: &Emulators) -> Result<aws_sdk_dynamodb::Client, AnyError> {
        let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint()));
        let key = KeySchemaElement::builder().attribute_name("PK").key_type(KeyType::Hash);
        let attribute = AttributeDefinition::builder()
            .attribute_name("PK")
            .attribute_type(ScalarAttributeType::S);
        let stream = StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(StreamViewType::NewImage);
        client
            .create_table()
            .table_name("commerce")
            .billing_mode(BillingMode::PayPerRequest)
            .key_schema(key.build()?)
            .attribute_definitions(attribute.build()?)
            .stream_specification(stream.build()?)
            .send()
            .await?;
        Ok(client)
    }

    async fn put(client: &aws_sdk_dynamodb::Client, key: &str) -> Tested {
        let key = AttributeValue::S(key.to_owned());
        client.put_item().table_name("commerce").item("PK", key).send().await?;
        Ok(())
    }

    /// The key in each record's new image; none where there is no image.
    fn keys(records: &[Value]) -> Vec<Option<&str>> {
        let key = "/dynamodb/NewImage/PK/S";
        records.iter().map(|record| record.pointer(key).and_then(Value::as_str)).collect()
    }

    #[tokio::test]
    async fn the_stream_gives_each_record_once_in_order() -> Tested {
        let emulators = Emulators::start(None).await?;
        let client = with_table(&emulators).await?;
        for key in ["a", "b", "c"] {
            put(&client, key).await?;
        }
        let first = emulators.stream_records(2)?;
        assert_eq!(keys(&first), [Some("a"), Some("b")]);
        let record = first.first().ok_or("no record")?;
        for (field, value) in [
            ("/eventName", "INSERT"),
            ("/eventSource", "aws:dynamodb"),
            ("/awsRegion", REGION),
            ("/dynamodb/StreamViewType", "NEW_IMAGE"),
            ("/dynamodb/Keys/PK/S", "a"),
        ] {
            assert_eq!(record.pointer(field).and_then(Value::as_str), Some(value), "{field}");
        }
        assert_eq!(keys(&emulators.stream_records(100)?), [Some("c")]);
        assert_eq!(emulators.stream_records(100)?.len(), 0);
        emulators.stop().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_restart_keeps_the_items_and_begins_a_new_stream() -> Tested {
        let scratch = Scratch::new();
        let emulators = Emulators::start(Some(&scratch.0)).await?;
        put(&with_table(&emulators).await?, "before").await?;
        emulators.stop().await;

        let emulators = Emulators::start(Some(&scratch.0)).await?;
        let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint()));
        put(&client, "after").await?;
        assert_eq!(client.scan().table_name("commerce").send().await?.count(), 2);
        assert_eq!(keys(&emulators.stream_records(100)?), [Some("after")]);
        Ok(())
    }

    #[tokio::test]
    async fn a_data_directory_serves_one_process() -> Tested {
        let scratch = Scratch::new();
        let first = Emulators::start(Some(&scratch.0)).await?;
        let refused = Emulators::start(Some(&scratch.0)).await.err().ok_or("started")?;
        assert!(refused.to_string().contains("another process is using it"), "{refused}");
        first.stop().await;
        Emulators::start(Some(&scratch.0)).await?;
        Ok(())
    }

    #[tokio::test]
    async fn a_message_that_is_never_deleted_ends_in_the_dead_letter_queue() -> Tested {
        let emulators = Emulators::start(None).await?;
        let queue = emulators.create_queue("deliveries", Duration::ZERO).await?;
        let again = emulators.create_queue("deliveries", Duration::ZERO).await?;
        assert_eq!(again.url, queue.url);
        let client = aws_sdk_sqs::Client::new(&config(emulators.sqs_endpoint()));
        client.send_message().queue_url(&queue.url).message_body("hello").send().await?;
        for _ in 0..MAX_RECEIVE_COUNT {
            let got = client.receive_message().queue_url(&queue.url).send().await?;
            assert_eq!(got.messages().len(), 1);
        }
        let got = client.receive_message().queue_url(&queue.url).send().await?;
        assert_eq!(got.messages().len(), 0);
        let dead = client.receive_message().queue_url(&queue.dead_letter_url).wait_time_seconds(2);
        let dead = dead.send().await?;
        assert_eq!(dead.messages().first().and_then(|m| m.body()), Some("hello"));
        emulators.stop().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_secret_is_in_the_file_before_its_answer_and_back_after_a_restart() -> Tested {
        let scratch = Scratch::new();
        let emulators = Emulators::start(Some(&scratch.0)).await?;
        let client = aws_sdk_secretsmanager::Client::new(&config(emulators.secrets_endpoint()));
        client.create_secret().name("keys").secret_string("old").send().await?;
        client.put_secret_value().secret_id("keys").secret_string("new").send().await?;
        let file = scratch.0.join("secrets.json");
        assert!(fs::read_to_string(&file)?.contains("\"new\""));
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
        drop(emulators);
        // The dropped server lets go of the lock at once: there is no request to wait for.
        let emulators = Emulators::start(Some(&scratch.0)).await?;
        let client = aws_sdk_secretsmanager::Client::new(&config(emulators.secrets_endpoint()));
        for (stage, value) in [("AWSCURRENT", "new"), ("AWSPREVIOUS", "old")] {
            let found = client.get_secret_value().secret_id("keys").version_stage(stage);
            let found = found.send().await?;
            assert_eq!(found.secret_string(), Some(value));
            assert_eq!(found.version_stages(), [stage]);
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_damaged_secrets_file_is_an_error_and_is_left_alone() -> Tested {
        let scratch = Scratch::new();
        fs::create_dir_all(&scratch.0)?;
        fs::write(scratch.0.join("secrets.json"), "[{")?;
        assert!(Emulators::start(Some(&scratch.0)).await.is_err());
        assert_eq!(fs::read_to_string(scratch.0.join("secrets.json"))?, "[{");
        Ok(())
    }
}
