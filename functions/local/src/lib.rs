//! The whole system in one process: the routes of every family behind one port, and the pumps
//! that Lambda's event sources are in a deployment, over embedded AWS.
//!
//! [`System`] is what `cargo run -p local` keeps in a directory, and what a test starts for itself
//! in memory, on free ports, with a clock that it moves.

pub mod demo;
pub mod keys;
mod pumps;
mod unread;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use dispatcher::SweepReport;
use gateway::app::App;
use gateway::embedded::{self, AnyError, Embedded};
use gateway::request::ClientIp;
use gateway::routes::Routes;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

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
    pub embedded: embedded::Options,
    /// Whether the table's stream is handed on; without it the sweep alone moves events (traps 21).
    pub has_stream: bool,
    /// How often due work is swept; nothing leaves it to [`System::sweep`].
    pub sweep_every: Option<Duration>,
}

impl Default for Options {
    /// A system for one test: in memory, on free ports, swept when the test says so.
    fn default() -> Self {
        Self {
            port: Some(0),
            embedded: embedded::Options::default(),
            has_stream: true,
            sweep_every: None,
        }
    }
}

/// A running system. Dropping it ends it at once, as `kill -9` would.
pub struct System {
    /// First, so that it is dropped first: nothing outlives what it stands on.
    tasks: JoinSet<()>,
    server: Option<Server>,
    embedded: Arc<Embedded>,
    router: Router,
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
        let listener = match options.port {
            Some(port) => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?),
            None => None,
        };
        let mut settings = options.embedded;
        if let Some(listener) = &listener {
            settings.base_url = format!("http://{}", listener.local_addr()?);
        }
        let url = settings.base_url.clone();
        let embedded = Arc::new(Embedded::start(settings).await?);
        let router = routes().into_router(embedded.app().clone());
        let mut tasks = JoinSet::new();
        pumps::start(&embedded, options.has_stream, options.sweep_every, &mut tasks);
        let server = listener.map(|listener| Server::start(listener, router.clone()));
        Ok(Self { tasks, server, embedded, router, url })
    }

    /// What every handler can reach.
    pub fn app(&self) -> &App {
        self.embedded.app()
    }

    /// The embedded AWS.
    pub fn embedded(&self) -> &Embedded {
        &self.embedded
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

    /// What the schedule does once a minute, and what comes of it: takes up everything that is due,
    /// and works on what was handed out.
    pub async fn sweep(&self) -> SweepReport {
        let report = dispatcher::sweep(self.app()).await;
        report.and(pumps::work_off(&self.embedded).await)
    }

    /// Stops: no new requests, the running ones finish, then the pumps and the AWS end. What a
    /// pump was about is still due in the table.
    pub async fn stop(mut self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
        self.tasks.shutdown().await;
        drop(self.router);
        if let Some(embedded) = Arc::into_inner(self.embedded) {
            embedded.stop().await;
        }
    }
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
