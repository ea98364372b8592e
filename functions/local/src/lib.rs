//! The whole system in one process: the routes of every family behind one port, and the pollers
//! that Lambda's event sources are in a deployment, over embedded AWS.
//!
//! [`System`] is what `cargo run -p local` keeps in a directory, and what a test starts for itself
//! in memory, on free ports, with a clock that it moves.

pub mod demo;
pub mod filters;
pub mod functions;
pub mod keys;
pub mod log;
pub mod names;
pub mod openapi;
mod pollers;
pub mod progress;
pub mod providers;

mod reference;
mod shop;
mod start;
pub mod template;
mod unread;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use dispatcher::{SweepReport, Watched};
use emulators::{AnyError, Embedded};
use functions::Functions;
use gateway::app::App;
use gateway::request::ClientIp;
use gateway::routes::Routes;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

pub use shop::PATH as SHOPS;
pub use start::PATH as START;
use unread::{Patient, Peer};

/// How long [`System::stop`] waits for requests that are already running.
const GRACE: Duration = Duration::from_secs(5);
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Every family by the name of its function, in document order.
pub fn families() -> Vec<(&'static str, Routes)> {
    vec![
        ("health", health::routes()),
        ("auth", auth::routes()),
        ("storefront", storefront::routes()),
        ("stores", stores::routes()),
        ("products", products::routes()),
        ("orders", orders::routes()),
        ("payments", payments::routes()),
        ("themes", themes_family::routes()),
        ("app-store", app_store::routes()),
        ("operations", operations::routes()),
    ]
}

/// The routes of every family.
pub fn routes() -> Routes {
    let tables = families().into_iter().map(|(_, routes)| routes);
    tables.fold(Routes::default(), Routes::merge)
}

/// How a system differs from another.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port of the API; 0 takes any free one, nothing serves no API.
    pub port: Option<u16>,
    /// The AWS under it, and the settings. The base URL follows from the port.
    pub embedded: emulators::Options,
    /// Whether the table's stream is handed on; without it the sweep alone moves events
    /// (docs/platform.md §2).
    pub has_stream: bool,
    /// Whether the steps of long work are taken; without it a test takes them itself.
    pub has_runner: bool,
    /// How often due work is swept; nothing leaves it to [`System::sweep`].
    pub sweep_every: Option<Duration>,
    /// A directory where it is written down at the end which of its settings and permissions each
    /// function has used.
    pub record_use: Option<PathBuf>,
}

impl Default for Options {
    /// A system for one test: in memory, on free ports, swept when the test says so.
    fn default() -> Self {
        Self {
            port: Some(0),
            embedded: emulators::Options::default(),
            has_stream: true,
            has_runner: true,
            sweep_every: None,
            record_use: None,
        }
    }
}

/// A running system. Dropping it ends it at once, as `kill -9` would.
pub struct System {
    /// First, so that it is dropped first: nothing outlives what it stands on.
    tasks: JoinSet<()>,
    /// Where the API will listen.
    socket: Option<TcpSocket>,
    server: Option<Server>,
    router: Router,
    functions: Arc<Functions>,
    embedded: Arc<Embedded>,
    url: String,
}

/// The API's server.
struct Server {
    task: JoinSet<()>,
    /// Dropping it asks the server to finish.
    running: oneshot::Sender<()>,
}

impl System {
    /// Starts a system, from an empty directory as from a full one.
    pub async fn start(options: Options) -> Result<Self, AnyError> {
        let mut system = Self::prepare(options).await?;
        system.listen()?;
        Ok(system)
    }

    /// As [`System::start`], but the API rejects connections until [`System::listen`].
    pub async fn prepare(options: Options) -> Result<Self, AnyError> {
        let socket = options.port.map(reserve).transpose()?;
        let mut settings = options.embedded;
        if let Some(socket) = &socket {
            settings.base_url = format!("http://{}", socket.local_addr()?);
        }
        let url = settings.base_url.clone();
        let embedded = Arc::new(Embedded::start(settings).await?);
        let functions = Arc::new(Functions::new(&embedded, options.record_use)?);
        let router = functions::front(&functions)?;
        let mut tasks = JoinSet::new();
        let (stream, sweep) = (options.has_stream, options.sweep_every);
        let has_runner = options.has_runner;
        pollers::start(&embedded, &functions, (stream, has_runner), sweep, &mut tasks)?;
        Ok(Self { tasks, socket, server: None, router, functions, embedded, url })
    }

    /// Begins to answer, if it has a port.
    pub fn listen(&mut self) -> Result<(), AnyError> {
        self.listen_on(&Handle::current())
    }

    /// As [`System::listen`], with threads of another runtime for whatever answers.
    pub fn listen_on(&mut self, runtime: &Handle) -> Result<(), AnyError> {
        if let Some(socket) = self.socket.take() {
            let port = socket.local_addr()?.port();
            let _context = runtime.enter();
            let listener = socket.listen(BACKLOG).map_err(|cause| taken(port, &cause))?;
            self.server = Some(Server::start(listener, self.router.clone()));
        }
        Ok(())
    }

    /// The service with everything: to look behind the functions' backs, and for the clock.
    pub fn app(&self) -> &App {
        self.embedded.app()
    }

    /// The embedded AWS.
    pub fn embedded(&self) -> &Embedded {
        &self.embedded
    }

    /// The functions, each with what the template gives it.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The API without its port: for requests from within.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Where the API is, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Moves the clock. What becomes due by that waits for the next sweep.
    pub fn advance(&self, by: Duration) {
        self.app().clock.advance(by);
    }

    /// What the schedule does once a minute, and what comes of it: processes everything that is due,
    /// and works on what was handed out.
    pub async fn sweep(&self) -> SweepReport {
        let Ok(host) = self.functions.of("dispatcher") else { return SweepReport::default() };
        let dispatcher = host.app();
        let report = dispatcher::sweep(dispatcher).await;
        report.and(pollers::work_off(&self.embedded, dispatcher).await)
    }

    /// What the schedule does besides: looks how the platform is doing, and opens and resolves incidents.
    ///
    /// # Errors
    /// A template without a dispatcher.
    pub async fn look(&self) -> Result<Watched, AnyError> {
        Ok(dispatcher::look(self.functions.of("dispatcher")?.app()).await)
    }

    /// Stops: no new requests, the running ones finish, then the pollers and the AWS end. What a
    /// poller was about is still due in the table.
    pub async fn stop(mut self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
        self.tasks.shutdown().await;
        drop(self.router);
        drop(self.functions);
        if let Some(embedded) = Arc::into_inner(self.embedded) {
            embedded.stop().await;
        }
    }
}

/// Takes a port without listening on it yet.
fn reserve(port: u16) -> Result<TcpSocket, AnyError> {
    let socket = TcpSocket::new_v4()?;
    // As a server that is started again wants it; a port that somebody listens on stays theirs.
    socket.set_reuseaddr(true)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    socket.bind(address).map_err(|cause| taken(port, &cause))?;
    Ok(socket)
}

/// Names the port, and the option that changes it.
fn taken(port: u16, cause: &std::io::Error) -> String {
    format!("the API cannot listen on 127.0.0.1:{port}: {cause}; choose another port with --port")
}

impl Server {
    fn start(listener: TcpListener, router: Router) -> Self {
        let router = router
            .layer(axum::middleware::map_request(say_client))
            .layer(axum::middleware::from_fn(unread::finish_reading));
        let (running, stopped) = oneshot::channel::<()>();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let service = router.into_make_service_with_connect_info::<Peer>();
            let serving = axum::serve(Patient(listener), service).with_graceful_shutdown(async {
                // An error says that the sender was dropped, which is how we stop.
                let _: Result<(), _> = stopped.await;
            });
            if let Err(cause) = serving.await {
                tracing::error!(%cause, "the server ended");
            }
        });
        Self { task, running }
    }

    async fn stop(mut self) {
        drop(self.running);
        if tokio::time::timeout(GRACE, self.task.join_next()).await.is_err() {
            tracing::warn!("requests were cut off");
        }
    }
}

/// Says where the request came from, as API Gateway does in its event.
async fn say_client(ConnectInfo(peer): ConnectInfo<Peer>, mut request: Request) -> Request {
    request.extensions_mut().insert(ClientIp(peer.0.ip()));
    request
}
