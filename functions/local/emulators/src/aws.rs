//! The emulated AWS of a local system, in this process: `DynamoDB` (by `dynoxide`), SQS and Secrets Manager
//! (by `rustack`), each on its own loopback port, for `cargo run -p local` and for tests.
//!
//! The deployed code reaches them through the SDKs' own endpoint variables. They behave like AWS, except that
//! they never throttle, never report a transaction conflict, and have no stale indexes. They accept any
//! credentials, because signatures are not verified; so nothing listens beyond loopback by default. Clients
//! of this process reach the same emulators without a connection: [`Emulators::http_client`].
//!
//! With a data directory for [`Emulators::start`], these survive a `kill -9`:
//! - the table: `SQLite` in WAL mode with `synchronous = NORMAL`, which is written to the operating system
//!   before the response. A power failure may lose the last writes, but never a part of one;
//! - the secrets: written to `secrets.json` before the response;
//! - not the queues: pending deliveries are in the table, and the sweep sends them again;
//! - not the table's stream: a restart empties it, and the sweep finds the unhandled records. Of a file,
//!   records that were read are deleted, while AWS keeps them for a day.

mod account;
mod front;
mod in_process;
mod place;
mod queues;
mod stream;
mod tables;
mod transactions;
mod vault;

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, TryLockError};
use std::future::Future;

use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;

use axum::Router;
use axum::middleware::from_fn;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

pub use account::{ACCOUNT, REGION};
use in_process::Services;
pub use place::Place;
use queues::{Queues, answer_sqs};
use stream::Stream;
use tables::Tables;
use vault::{Vault, answer_secrets};

use crate::browsers::reject_pages;
use crate::error::AnyError;
pub use crate::error::EmulatorError;
use crate::remote::Elsewhere;

/// Receives after which a message moves to the dead-letter queue (docs/platform.md §2).
pub(crate) const MAX_RECEIVE_COUNT: u32 = 5;
/// How long [`Emulators::stop`] waits for requests that are already running.
const GRACE: Duration = Duration::from_secs(3);

/// The address and the ports of the emulators; port 0 for any free one.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    /// The address of all three. Any client that reaches it can read and write everything.
    pub host: Ipv4Addr,
    /// The port of `DynamoDB`.
    pub dynamodb: u16,
    /// The port of SQS.
    pub sqs: u16,
    /// The port of Secrets Manager.
    pub secrets: u16,
}

impl Default for Ports {
    /// Any free ports of loopback.
    fn default() -> Self {
        Self { host: Ipv4Addr::LOCALHOST, dynamodb: 0, sqs: 0, secrets: 0 }
    }
}

/// A queue, with its dead-letter queue.
#[derive(Debug, Clone)]
pub struct Queue {
    /// The URL of the queue.
    pub url: String,
    /// The URL of the dead-letter queue, for messages that were received five times and never deleted.
    pub dead_letter_url: String,
}

/// The emulators of one local system, listening.
///
/// Dropping it stops them too, but does not wait for requests that are still running.
pub struct Emulators {
    /// None of those that run elsewhere.
    table: Option<EmulatedTable>,
    queues: Option<(Arc<Queues>, Server)>,
    secrets: Option<Server>,
    /// The emulators for clients of this process, which fail once it is dropped.
    services: Arc<Services>,
    /// Held open for its lock: one process per data directory.
    _lock: Option<File>,
}

/// `DynamoDB`, with the table's stream.
struct EmulatedTable {
    stream: Stream,
    tables: Tables,
    server: Server,
}

impl EmulatedTable {
    async fn start(
        place: Place<'_>,
        ports: Ports,
        recorded: Option<&BTreeSet<(String, String)>>,
        writes: &Arc<Notify>,
    ) -> Result<Self, EmulatorError> {
        let tables = Tables::open(place, recorded)?;
        let (listener, endpoint) = listen(ports.host, ports.dynamodb, "--dynamodb-port").await?;
        let router = front::router(tables.clone(), Arc::clone(writes));
        let server = Server::run(endpoint, |stop| serve(listener, router, stop));
        Ok(Self { stream: Stream::of(&tables), tables, server })
    }
}

impl Emulators {
    /// Starts the emulators on free ports, with their data in a directory or in memory.
    pub async fn start(data: Option<&Path>) -> Result<Self, EmulatorError> {
        let place = data.map_or(Place::Memory, Place::Directory);
        Self::start_on(place, Ports::default(), None, &Elsewhere::default()).await
    }

    /// [`Self::start`], on chosen ports, without those that run elsewhere, and with a stream that records these changes
    /// alone: each the name of a change (`INSERT`) and the kind of an item.
    pub async fn start_on(
        place: Place<'_>,
        ports: Ports,
        recorded: Option<&BTreeSet<(String, String)>>,
        elsewhere: &Elsewhere,
    ) -> Result<Self, EmulatorError> {
        let lock = match place {
            Place::Directory(data) => Some(claim(data)?),
            Place::Memory | Place::CopyOf(_) => None,
        };
        let writes = Arc::default();
        let table = match elsewhere.dynamodb {
            Some(_) => None,
            None => Some(EmulatedTable::start(place, ports, recorded, &writes).await?),
        };
        let queues = match elsewhere.sqs {
            Some(_) => None,
            None => Some(start_queues(ports).await?),
        };
        let vault = match elsewhere.secrets {
            Some(_) => None,
            None => Some(start_vault(place, ports).await?),
        };
        let services = Arc::new(Services {
            dynamodb: table.as_ref().map(|it| (it.server.endpoint.clone(), it.tables.clone())),
            sqs: queues.as_ref().map(|(it, server)| (server.endpoint.clone(), Arc::clone(it))),
            secrets: vault.as_ref().map(|(it, server)| (server.endpoint.clone(), Arc::clone(it))),
            writes,
        });
        let secrets = vault.map(|(_, server)| server);
        Ok(Self { table, queues, secrets, services, _lock: lock })
    }

    /// An HTTP client for the SDKs that calls these emulators without a connection, and other hosts as usual.
    /// It saves the some 0.1 ms of a call over loopback.
    ///
    /// It does not keep the emulators alive: once they are dropped, a call fails as at a closed port.
    pub fn http_client(&self) -> SharedHttpClient {
        in_process::client(&self.services)
    }

    /// Notified after each write of a client of [`Self::http_client`], wherever the table is: its stream may have new
    /// records.
    pub fn writes(&self) -> Arc<Notify> {
        Arc::clone(&self.services.writes)
    }

    /// The value of `AWS_ENDPOINT_URL_DYNAMODB`, without a trailing slash.
    pub fn dynamodb_endpoint(&self) -> Option<&str> {
        self.table.as_ref().map(|table| table.server.endpoint.as_str())
    }

    /// The value of `AWS_ENDPOINT_URL_SQS`, without a trailing slash.
    pub fn sqs_endpoint(&self) -> Option<&str> {
        self.queues.as_ref().map(|(_, server)| server.endpoint.as_str())
    }

    /// The value of `AWS_ENDPOINT_URL_SECRETS_MANAGER`, without a trailing slash.
    pub fn secrets_endpoint(&self) -> Option<&str> {
        self.secrets.as_ref().map(|server| server.endpoint.as_str())
    }

    fn table(&self) -> Result<&EmulatedTable, EmulatorError> {
        let table = self.table.as_ref().ok_or("it is elsewhere");
        table.map_err(EmulatorError::while_trying("use the emulated table"))
    }

    /// Creates a table, unless it exists. The definition has the members of `CreateTable` and
    /// `UpdateTimeToLive` in one object. An existing table with other keys was created by another version,
    /// and is an error.
    pub fn create_table(&self, definition: &Value) -> Result<(), EmulatorError> {
        let made = self.create_table_unless_there(definition);
        made.map_err(EmulatorError::while_trying("create the table"))
    }

    fn create_table_unless_there(&self, definition: &Value) -> Result<(), AnyError> {
        let name = definition.get("TableName").and_then(Value::as_str);
        let name = name.ok_or("it has no name")?;
        let database = self.table()?.tables.primary();
        let Some(there) = database.get_table_metadata(name)? else {
            database.create_table(serde_json::from_value(definition.clone())?)?;
            database.update_time_to_live(serde_json::from_value(definition.clone())?)?;
            return Ok(());
        };
        let keys = definition.get("AttributeDefinitions").unwrap_or(&Value::Null);
        let known: Value = serde_json::from_str(&there.attribute_definitions)?;
        if attribute_names(&known) != attribute_names(keys) {
            return Err("the data are of another version: --reset begins anew".into());
        }
        Ok(())
    }

    /// Creates `name` and its dead-letter queue `<name>-dead`, unless they exist. `visibility` is the
    /// visibility timeout, in whole seconds.
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
        let input = queues::creation(name, &attributes);
        let input = input.map_err(EmulatorError::while_trying(tried.clone()))?;
        let (queues, _) = self
            .queues
            .as_ref()
            .ok_or("the queues are elsewhere")
            .map_err(EmulatorError::while_trying(tried.clone()))?;
        let made = queues.own().create_queue(input).await;
        let made = made.map_err(EmulatorError::while_trying(tried.clone()))?;
        made.queue_url.ok_or("no URL came back").map_err(EmulatorError::while_trying(tried))
    }

    /// Reads the table-stream records since the last call, the oldest first, at most `limit` (and at most
    /// 1,000), each in the form in which Lambda delivers it. The first call begins with the first write after
    /// the start.
    ///
    /// It is not `async` on purpose: a call that is cancelled between the read and its return would lose the
    /// records.
    pub fn stream_records(&self, limit: usize) -> Result<Vec<Value>, EmulatorError> {
        self.table()?.stream.records(limit, |_, _| true)
    }

    /// As [`Self::stream_records`], but only those that are `wanted`, by the name of the change and the kind
    /// of the new item; the others are skipped. Empty when there are no more records.
    pub fn stream_records_of(
        &self,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<Value>, EmulatorError> {
        self.table()?.stream.records(limit, wanted)
    }

    /// The number of records in the table's stream that were not deleted yet; 0 in memory.
    pub fn stream_length(&self) -> Result<u64, EmulatorError> {
        self.table()?.tables.stream_length()
    }

    /// Deletes the items whose time to live has passed, as `DynamoDB` does within days, and returns their
    /// number. Each deletion is in the stream. It uses the real clock, not the test's.
    pub async fn sweep_ttl(&self) -> Result<usize, EmulatorError> {
        const TRIED: &str = "sweep the expired items";
        let database = self.table()?.tables.primary();
        tokio::task::spawn_blocking(move || database.sweep_ttl())
            .await
            .map_err(EmulatorError::while_trying(TRIED))?
            .map_err(EmulatorError::while_trying(TRIED))
    }

    /// Stops listening, lets running requests finish (3 s at most) and closes the files.
    pub async fn stop(self) {
        drop(self.services);
        let stop = |server: Option<Server>| async move {
            if let Some(server) = server {
                server.stop().await;
            }
        };
        // The queues come first: a long poll would otherwise hold its connection for 20 s.
        if let Some((queues, _)) = &self.queues
            && tokio::time::timeout(GRACE, queues.shut_down()).await.is_err()
        {
            tracing::warn!("queue emulator did not stop in time");
        }
        tokio::join!(
            stop(self.table.map(|table| table.server)),
            stop(self.queues.map(|(_, server)| server)),
            stop(self.secrets),
        );
    }
}

async fn start_queues(ports: Ports) -> Result<(Arc<Queues>, Server), EmulatorError> {
    let (listener, endpoint) = listen(ports.host, ports.sqs, "--sqs-port").await?;
    let queues = Arc::new(Queues::at(&listener)?);
    let router = Router::new().fallback(answer_sqs).with_state(Arc::clone(&queues));
    let router = router.layer(from_fn(reject_pages));
    Ok((queues, Server::run(endpoint, |stop| serve(listener, router, stop))))
}

async fn start_vault(
    place: Place<'_>,
    ports: Ports,
) -> Result<(Arc<Vault>, Server), EmulatorError> {
    let vault = Arc::new(Vault::open(place)?);
    let (listener, endpoint) = listen(ports.host, ports.secrets, "--secrets-port").await?;
    let router = Router::new().fallback(answer_secrets).with_state(Arc::clone(&vault));
    let router = router.layer(from_fn(reject_pages));
    Ok((vault, Server::run(endpoint, |stop| serve(listener, router, stop))))
}

/// One listening emulator.
struct Server {
    endpoint: String,
    /// Dropping it shuts the server down.
    running: oneshot::Sender<()>,
    /// Holds one task; dropping it ends the task.
    task: JoinSet<()>,
}

/// Resolves when the server must shut down.
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
                tracing::error!(cause, "emulator failed");
            }
        });
        Self { endpoint, running, task }
    }

    async fn stop(mut self) {
        drop(self.running);
        if tokio::time::timeout(GRACE, self.task.join_next()).await.is_err() {
            tracing::warn!(endpoint = self.endpoint, "emulator did not stop in time");
        }
    }
}

/// Copies the table and the secrets of a data directory to a new one, while a system may be using it: all of the table
/// as it was at one moment. A system that is started on the copy sends the deliveries that had not ended then.
pub fn back_up(data: &Path, to: &Path) -> Result<(), EmulatorError> {
    let copied = || -> Result<(), AnyError> {
        if !data.join("table.db").is_file() {
            return Err(format!("{} has no table", data.display()).into());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(to)?;
        // The secrets first: they open what is in the table.
        std::fs::copy(data.join("secrets.json"), to.join("secrets.json"))?;
        tables::copy(data, &to.join("table.db"))
    };
    copied().map_err(EmulatorError::while_trying(format!("back up to {}", to.display())))
}

async fn listen(
    host: Ipv4Addr,
    port: u16,
    option: &str,
) -> Result<(TcpListener, String), EmulatorError> {
    let tried = format!("listen on {host}:{port}, which {option} changes");
    let listener =
        TcpListener::bind((host, port)).await.map_err(EmulatorError::while_trying(tried))?;
    let address = listener.local_addr().map_err(EmulatorError::while_trying("read a port"))?;
    Ok((listener, format!("http://{address}")))
}

async fn serve(listener: TcpListener, router: Router, stop: Stop) -> Result<(), String> {
    let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
    serving.await.map_err(|cause| cause.to_string())
}

/// Creates the data directory if needed, and locks it for this process. Two processes on one `table.db` would
/// each trust their own cache of the table's definition.
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

/// The names of the key attributes.
fn attribute_names(definitions: &Value) -> BTreeSet<&str> {
    let each = definitions.as_array().into_iter().flatten();
    each.filter_map(|attribute| attribute.get("AttributeName")?.as_str()).collect()
}

#[cfg(test)]
mod tests;
