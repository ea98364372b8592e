//! The functions, each with its environment and permissions of the template, and the router that plays API
//! Gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use emulators::guard::{Guard, Use};
use emulators::{AnyError, Embedded};
use gateway::app::App;
use gateway::routes::hand_on;
use primitives::clock::Clock;
use primitives::problem::{Code, Problem};
use tower::ServiceExt;

use crate::activity::Activity;
use crate::pages::Whereabouts;
use crate::template::{self, Function};
use crate::{activity, pages, shop};

/// The prefix of a recorded line about a rejected permission.
pub const REJECTED: &str = "refused: ";

/// One function: its code, with the environment and the permissions of the template.
pub struct Host {
    function: Function,
    environment: BTreeMap<String, String>,
    guard: Guard,
    embedded: Arc<Embedded>,
    /// Created at first use, as a Lambda is started by its first request.
    app: OnceLock<App>,
    router: OnceLock<Router>,
}

impl Host {
    /// The app of its handlers.
    pub fn app(&self) -> &App {
        self.app.get_or_init(|| self.embedded.function(&self.environment, &self.guard))
    }

    /// Its definition in the template.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The environment variables that it has used so far.
    pub fn used_settings(&self) -> BTreeSet<&'static str> {
        self.app.get().map(|app| app.config.used()).unwrap_or_default()
    }

    /// The permissions that it has used so far.
    pub fn used_permissions(&self) -> BTreeSet<Use> {
        self.guard.used()
    }

    /// The permissions that it was denied so far.
    pub fn rejected(&self) -> BTreeSet<String> {
        self.guard.rejected()
    }

    fn router(&self) -> Router {
        let make = || {
            let mut families = crate::families().into_iter();
            let routes = families.find(|(binary, _)| *binary == self.function.binary);
            let routes = routes.map(|(_, routes)| routes).unwrap_or_default();
            routes.into_router(self.app().clone())
        };
        self.router.get_or_init(make).clone()
    }
}

/// Every function of the template.
pub struct Functions {
    hosts: Vec<Host>,
    /// The directory for the record of used settings and permissions.
    record: Option<PathBuf>,
}

impl Functions {
    /// The template's functions over this embedded AWS.
    ///
    /// # Errors
    /// A template with a reference that the local system does not have.
    pub(crate) fn new(embedded: &Arc<Embedded>, record: Option<PathBuf>) -> Result<Self, AnyError> {
        let (references, names) = (embedded.references(), embedded.resource_names());
        let host = |function: Function| {
            let policy = function.policy.clone();
            Ok::<_, AnyError>(Host {
                environment: function.environment(&references)?,
                guard: Guard::new(function.name.clone(), policy, names.clone()),
                function,
                embedded: Arc::clone(embedded),
                app: OnceLock::new(),
                router: OnceLock::new(),
            })
        };
        let hosts = template::functions()?.into_iter().map(host).collect::<Result<_, _>>()?;
        Ok(Self { hosts, record })
    }

    /// All of them, in the template's order.
    pub fn all(&self) -> &[Host] {
        &self.hosts
    }

    /// The function of this name in the template.
    ///
    /// # Errors
    /// The template has no such function.
    pub fn named(&self, name: &str) -> Result<&Host, AnyError> {
        let found = self.hosts.iter().find(|host| host.function.name == name);
        found.ok_or_else(|| format!("template.yaml has no function {name}").into())
    }

    /// The function that API Gateway routes this path to.
    fn leading(&self, path: &str) -> Option<&Host> {
        let weighed = self.hosts.iter().filter_map(|host| {
            template::takes(&host.function.paths, path).map(|weight| (weight, host))
        });
        weighed.max_by_key(|(weight, _)| *weight).map(|(_, host)| host)
    }

    /// The first function of a binary: `dispatcher`, `webhooks`, `mail`.
    ///
    /// # Errors
    /// The template has no such function.
    pub fn of(&self, binary: &str) -> Result<&Host, AnyError> {
        let found = self.hosts.iter().find(|host| host.function.binary == binary);
        found.ok_or_else(|| format!("template.yaml has no function of functions/{binary}").into())
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        let Some(directory) = &self.record else { return };
        let mut lines = String::new();
        for host in &self.hosts {
            let name = &host.function.name;
            for setting in host.used_settings() {
                let _ = writeln!(lines, "{name} {setting}");
            }
            for used in host.used_permissions() {
                let _ = writeln!(lines, "{name} {used}");
            }
            for rejected in host.rejected() {
                let _ = writeln!(lines, "{REJECTED}{name} {rejected}");
            }
        }
        let written = std::fs::create_dir_all(directory).and_then(|()| {
            let file = directory.join(std::process::id().to_string());
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
            file.write_all(lines.as_bytes())
        });
        if let Err(cause) = written {
            tracing::error!(%cause, "usage of the functions not written");
        }
    }
}

/// The changes of the table that the template's listener may be invoked with; none where it takes all.
///
/// # Errors
/// A template that cannot be read.
pub(crate) fn recorded() -> Result<Option<BTreeSet<(String, String)>>, AnyError> {
    let filters = template::functions()?.into_iter().find_map(|function| function.stream);
    Ok(filters.and_then(|filters| filters.changes()))
}

/// The router that plays API Gateway: each path is routed to its function, with any method.
///
/// # Errors
/// A row that the template routes to another function, where it would be 404 in a deployment.
pub(crate) fn front(
    functions: &Arc<Functions>,
    whereabouts: Whereabouts,
    clock: Clock,
) -> Result<Router, AnyError> {
    let mut astray = Vec::new();
    for (binary, routes) in crate::families() {
        let is_led =
            |path: &str| functions.leading(path).is_some_and(|host| host.function.binary == binary);
        let rows = routes.rows().iter().filter(|row| !is_led(row.path));
        astray.extend(rows.map(|row| format!("{binary}: {} {}", row.method, row.path)));
    }
    if !astray.is_empty() {
        return Err(format!("template.yaml leads these past their families: {astray:#?}").into());
    }
    let functions = Arc::clone(functions);
    let lead = move |request| forward(Arc::clone(&functions), request);
    let api = Router::new().fallback(lead);
    let shop_clock = clock.clone();
    let activity = Arc::new(Activity::new(clock));
    // Where others reach the system, what they send is nobody's to see.
    let seen = if whereabouts.is_public {
        api
    } else {
        let record = from_fn_with_state(Arc::clone(&activity), activity::record);
        api.layer(record)
    };
    let pages = pages::router(seen.clone(), activity, whereabouts);
    Ok(pages.merge(shop::router(seen.clone(), shop_clock)).fallback_service(seen))
}

/// Forwards a request unchanged: the function itself reads the path's parameters.
async fn forward(functions: Arc<Functions>, request: Request) -> Response {
    let Some(host) = functions.leading(request.uri().path()) else {
        return Problem::from(Code::NotFound).into_response();
    };
    let (mut parts, body) = request.into_parts();
    hand_on(&mut parts.extensions);
    host.router().oneshot(Request::from_parts(parts, body)).await.into_response()
}
