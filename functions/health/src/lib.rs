//! `GET /health` and the API's OpenAPI document; and, as API Gateway's `$default`, the 404 of every path
//! below no family's prefix.

mod documents;

use std::sync::Arc;

use axum::extract::State;
use callers::Operator;
use delivery::delivery::QUEUE;
use gateway::app::App;
use gateway::budget::Cost;
use gateway::caller::{Access, Caller, Identity, Public};
use gateway::reply::{Either, Json, NoStore, Typed};
use gateway::request::{Inbound, Query};
use gateway::routes::Routes;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

pub use documents::DOCUMENT;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
        .open_to_any_origin(callers::cross_origin::is_open)
        .get("/health", Cost::FREE, health)
        .get("/v1/openapi.json", Cost::FREE, documents::json)
        .get("/v1/openapi.yaml", Cost::FREE, documents::yaml)
}

/// Anybody, or, for the deep check, an operator.
#[derive(Debug, Clone)]
enum Inspector {
    /// Anybody.
    Public(Public),
    /// An operator, for the deep check.
    Operator(Box<Operator>),
}

gateway::caller_argument!(Inspector);

fn is_deep(inbound: &Inbound) -> bool {
    inbound.query_param("deep").is_some()
}

impl Caller for Inspector {
    fn access() -> Access {
        Access::Public
    }

    fn reads(inbound: &Inbound) -> bool {
        is_deep(inbound)
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        if is_deep(inbound) {
            let operator = Operator::authenticate(services, inbound).await?;
            return Ok(Self::Operator(Box::new(operator)));
        }
        Public::authenticate(services, inbound).await.map(Self::Public)
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Public(public) => public.identity(),
            Self::Operator(operator) => operator.identity(),
        }
    }
}

/// The depth of the check.
#[request]
#[derive(Debug)]
struct HealthQuery {
    /// Whether to check the function's dependencies as well. Operators only.
    #[expect(dead_code, reason = "who calls has been found by it")]
    deep: Option<Text<0, 10>>,
}

/// The state of the function.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    /// `ok` or `degraded`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The commit that the program was built from.
    commit: String,
    time: Timestamp,
    region: String,
    /// The state of the function's dependencies, for an operator who asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Checks>,
}

/// The state of the function's dependencies.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HealthChecks")]
struct Checks {
    table: DependencyHealth,
    queue: DependencyHealth,
    keys: DependencyHealth,
}

/// The state of a dependency.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HealthCheck")]
struct DependencyHealth {
    /// `ok` or `failed`.
    status: &'static str,
    /// The duration of the check, in milliseconds, if it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u128>,
}

/// The state of the function; 503 when a dependency fails.
type HealthReply = Either<NoStore<Json<Health>>, NoStore<Typed<503, Health>>>;

/// `GET /health` (`getHealth`): Check that the service answers.
///
/// Checks that the function answers and, with `?deep=1`, for operators, that its dependencies do. Returns
/// no data of stores.
///
/// # Errors
/// With `deep`, `unauthenticated`, `invalid_token`, `account_disabled`, `operator_required`.
async fn health(
    caller: Inspector,
    State(app): State<App>,
    _: Query<HealthQuery>,
) -> Result<HealthReply, Problem> {
    let checks = match caller {
        Inspector::Public(_) => None,
        Inspector::Operator(_) => Some(Checks::of(&app).await),
    };
    let is_healthy = checks.as_ref().is_none_or(Checks::passed);
    let body = Health {
        status: if is_healthy { "ok" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        commit: app.config.commit.clone(),
        time: app.clock.now(),
        region: app.config.region.clone(),
        checks,
    };
    Ok(if is_healthy {
        Either::Left(Json::new(&body).no_store())
    } else {
        Either::Right(Typed::new(&body).no_store())
    })
}

impl Checks {
    /// Checks all dependencies.
    async fn of(services: &Services) -> Self {
        Self {
            table: DependencyHealth::of(services, services.table.ping()).await,
            queue: DependencyHealth::of(services, services.queue(QUEUE).depth()).await,
            keys: DependencyHealth::of(services, services.secrets.keys()).await,
        }
    }

    fn passed(&self) -> bool {
        [&self.table, &self.queue, &self.keys].iter().all(|check| check.ms.is_some())
    }
}

impl DependencyHealth {
    /// Checks one dependency.
    async fn of<T>(services: &Services, attempt: impl Future<Output = Result<T, Problem>>) -> Self {
        let began = services.clock.now();
        match attempt.await {
            Ok(_) => Self { status: "ok", ms: Some(began.until(services.clock.now()).as_millis()) },
            Err(problem) => {
                problem.log();
                Self { status: "failed", ms: None }
            }
        }
    }
}
