//! The whole system in one process, over embedded AWS: the routes of every family behind one port, and the
//! pollers, which play Lambda's event sources.
//!
//! `cargo run -p local` runs a [`System`] on a data directory. A test starts its own, in memory, on free
//! ports and with a clock that it moves.

mod activity;
mod backpressure;
pub mod demo;
mod encodings;
pub mod filters;
pub mod functions;
mod host_names;
pub mod keys;
mod listening;
pub mod log;
pub mod names;
pub mod openapi;
mod pages;
mod pollers;
pub mod progress;
pub mod providers;

pub mod template;
mod unread;

use std::net::IpAddr;
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
use tokio::sync::watch;
use tokio::task::JoinSet;

use backpressure::{Gate, Relay};
pub use pages::START;
use pages::Whereabouts;
use unread::{Patient, Peer};

/// How long [`System::stop`] waits for requests that are already running.
const GRACE: Duration = Duration::from_secs(5);

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

/// The options of a system.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port of the API: 0 for any free one, none to serve no API.
    pub port: Option<u16>,
    /// The port of the shops: 0 for any free one, none to serve none.
    pub shop_port: Option<u16>,
    /// The address of the API; 127.0.0.1 and `::1` if none.
    pub host: Option<IpAddr>,
    /// The base URL at which others reach the API, without a slash at the end; by its port if none.
    pub base_url: Option<String>,
    /// The embedded AWS, and the settings.
    pub embedded: emulators::Options,
    /// Whether the dispatcher gets the table's stream; without it only the sweep publishes events
    /// (docs/platform.md §2).
    pub has_stream: bool,
    /// Whether the runner takes the steps of long work; without it a test takes them itself.
    pub has_runner: bool,
    /// Whether requests that write wait while the relay of events is behind.
    pub has_backpressure: bool,
    /// How often due work is swept; none leaves it to [`System::sweep`].
    pub sweep_every: Option<Duration>,
    /// A directory for a record of the settings and permissions that each function has used, written at the
    /// end.
    pub record_use: Option<PathBuf>,
}

impl Default for Options {
    /// The options of a test: in memory, on free ports, swept only by [`System::sweep`].
    fn default() -> Self {
        Self {
            port: Some(0),
            shop_port: None,
            host: None,
            base_url: None,
            embedded: emulators::Options::default(),
            has_stream: true,
            has_runner: true,
            has_backpressure: false,
            sweep_every: None,
            record_use: None,
        }
    }
}

/// A running system. Dropping it ends it at once, like `kill -9`.
pub struct System {
    /// The first field, so that the tasks are dropped before the emulators that they use.
    tasks: JoinSet<()>,
    /// The bound sockets of the API, until it listens.
    sockets: Vec<TcpSocket>,
    /// The bound sockets of the shops, until they listen.
    shop_sockets: Vec<TcpSocket>,
    servers: Vec<Server>,
    router: Router,
    shops: Router,
    shop_port: Option<u16>,
    /// What requests that write wait at.
    gate: Option<Gate>,
    functions: Arc<Functions>,
    embedded: Arc<Embedded>,
    url: String,
}

/// The API's server.
struct Server {
    task: JoinSet<()>,
    /// Dropping it shuts the server down.
    running: watch::Sender<()>,
}

impl System {
    /// Starts a system, on an empty or an existing data directory.
    pub async fn start(options: Options) -> Result<Self, AnyError> {
        let mut system = Self::prepare(options).await?;
        system.listen()?;
        Ok(system)
    }

    /// As [`System::start`], but the API rejects connections until [`System::listen`].
    pub async fn prepare(options: Options) -> Result<Self, AnyError> {
        let sockets = match options.port {
            Some(port) => listening::reserve(options.host, port)?,
            None => Vec::new(),
        };
        let shop_sockets = match options.shop_port {
            Some(port) => listening::reserve(options.host, port)?,
            None => Vec::new(),
        };
        let shop_port = shop_sockets.first().map(TcpSocket::local_addr).transpose()?;
        let shop_port = shop_port.map(|address| address.port());
        let is_public = options.base_url.is_some();
        let mut settings = options.embedded;
        let data = settings.data.clone();
        if let Some(socket) = sockets.first() {
            settings.base_url = listening::url_of(socket.local_addr()?);
        }
        if let Some(url) = options.base_url {
            settings.base_url = url;
        }
        let url = settings.base_url.clone();
        let domain = settings.shop_domain.clone();
        // Behind a proxy the shops have no port.
        if let Some(port) = shop_port.filter(|_| !is_public) {
            settings.shop_domain = format!("{domain}:{port}");
        }
        settings.recorded = if options.has_stream { functions::recorded()? } else { None };
        let embedded = Arc::new(Embedded::start(settings).await?);
        let functions = Arc::new(Functions::new(&embedded, options.record_use)?);
        let relay = Arc::new(Relay::default());
        let gate = options.has_backpressure.then(|| Gate::new(Arc::clone(&relay)));
        let whereabouts = Whereabouts::new(
            (&url, is_public),
            (domain, shop_port),
            data,
            &embedded.app().config,
            embedded.endpoints(),
        );
        let fronts = functions::front(&functions, whereabouts, embedded.app())?;
        let mut tasks = JoinSet::new();
        let (stream, sweep) = (options.has_stream, options.sweep_every);
        let has_runner = options.has_runner;
        let with = (stream, has_runner);
        pollers::start(&embedded, &functions, with, sweep, &relay, &mut tasks)?;
        Ok(Self {
            tasks,
            sockets,
            shop_sockets,
            servers: Vec::new(),
            router: fronts.api,
            shops: fronts.shops,
            shop_port,
            gate,
            functions,
            embedded,
            url,
        })
    }

    /// Begins to accept connections, if it has a port.
    pub fn listen(&mut self) -> Result<(), AnyError> {
        self.listen_on(&Handle::current())
    }

    /// As [`System::listen`], with the threads of another runtime for the requests.
    pub fn listen_on(&mut self, runtime: &Handle) -> Result<(), AnyError> {
        let _context = runtime.enter();
        let api = (std::mem::take(&mut self.sockets), &self.router);
        let shops = (std::mem::take(&mut self.shop_sockets), &self.shops);
        for (sockets, router) in [api, shops] {
            if sockets.is_empty() {
                continue;
            }
            let listeners = sockets.into_iter().map(listening::listen).collect::<Result<_, _>>()?;
            self.servers.push(Server::start(listeners, router, self.gate.clone()));
        }
        Ok(())
    }

    /// An app with all settings and permissions, for direct access to the table and the clock.
    pub fn app(&self) -> &App {
        self.embedded.app()
    }

    /// The embedded AWS.
    pub fn embedded(&self) -> &Embedded {
        &self.embedded
    }

    /// The functions, each with its environment and permissions of the template.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The router of the API, for requests without its port.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The router of the shops, for requests without their port. A request's `Host` says which shop it is for.
    pub fn shops(&self) -> Router {
        self.shops.clone()
    }

    /// The port of the shops, if they have one.
    pub fn shop_port(&self) -> Option<u16> {
        self.shop_port
    }

    /// The base URL of the API, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Moves the clock. Work that becomes due waits for the next sweep.
    pub fn advance(&self, by: Duration) {
        self.app().clock.advance(by);
    }

    /// Runs the sweep, as the schedule does once a minute, and then all due work that it has queued.
    pub async fn sweep(&self) -> SweepReport {
        let Ok(host) = self.functions.of("dispatcher") else { return SweepReport::default() };
        let dispatcher = host.app();
        let report = dispatcher::sweep(dispatcher).await;
        report.and(pollers::work_off(&self.embedded, dispatcher).await)
    }

    /// Runs the watch, as the schedule does once a minute: it opens and resolves incidents.
    ///
    /// # Errors
    /// A template without a dispatcher.
    pub async fn look(&self) -> Result<Watched, AnyError> {
        Ok(dispatcher::run_watch(self.functions.of("dispatcher")?.app()).await)
    }

    /// Stops the system: running requests finish, then the pollers and the embedded AWS end. Unfinished work
    /// of a poller is still due in the table.
    pub async fn stop(mut self) {
        for server in self.servers {
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

impl Server {
    fn start(listeners: Vec<TcpListener>, router: &Router, gate: Option<Gate>) -> Self {
        let router = router.clone();
        let router = match gate {
            Some(gate) => {
                router.layer(axum::middleware::from_fn_with_state(gate, backpressure::admit))
            }
            None => router,
        };
        let encodings = encodings::all();
        let encode = move |request, next| encodings.clone().answer(request, next);
        let router = router
            .layer(axum::middleware::from_fn(encode))
            .layer(axum::middleware::map_request(say_client))
            .layer(axum::middleware::from_fn(unread::finish_reading));
        let (running, stopped) = watch::channel(());
        let mut task = JoinSet::new();
        for listener in listeners {
            let (router, mut stopped) = (router.clone(), stopped.clone());
            task.spawn(async move {
                let service = router.into_make_service_with_connect_info::<Peer>();
                let stopping = async move {
                    // An error says that the sender was dropped, which is how we stop.
                    let _ = stopped.changed().await;
                };
                let serving =
                    axum::serve(Patient(listener), service).with_graceful_shutdown(stopping);
                if let Err(cause) = serving.await {
                    tracing::error!(%cause, "HTTP server failed");
                }
            });
        }
        Self { task, running }
    }

    async fn stop(mut self) {
        drop(self.running);
        let ended = async { while self.task.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!("requests aborted at shutdown");
        }
    }
}

/// Adds the client's address to the request, as API Gateway does in its event.
async fn say_client(ConnectInfo(peer): ConnectInfo<Peer>, mut request: Request) -> Request {
    // A socket of both families names IPv4 clients within IPv6.
    request.extensions_mut().insert(ClientIp(peer.0.ip().to_canonical()));
    request
}
