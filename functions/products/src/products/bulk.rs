//! Creates, updates and archives many products in one request.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::product::ProductView;
use catalogue::workflows::save_product::{self, CreateRequest, UpdateRequest};
use core_types::id::ProductId;
use core_types::scope::WriteProducts;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::idempotency::{Commit, Required, answering, part};
use gateway::reply::Json;
use gateway::request::Body;
use identity::store::Store;
use primitives::fields::{AtMost, FieldErrors, Int};
use primitives::input::{self, AnyJson, request};
use primitives::problem::{Code, FieldError, MAX_ERRORS, Problem};
use primitives::version::ExpectedVersion;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;

use super::{created, no_content, to_response};

/// Maximum number of operations in a request.
const MAX_OPERATIONS: usize = 100;
/// The largest version: the largest integer that JSON numbers represent exactly.
const MAX_VERSION: i64 = 9_007_199_254_740_991;

primitives::string_enum! {
    /// The action of a bulk operation.
    BulkAction {
        /// Creates `product`.
        Create = "create",
        /// Updates the product `id` with the fields of `product`.
        Update = "update",
        /// Archives the product `id`.
        Delete = "delete",
    }
}

/// The body of `POST /v1/products`, or of `PATCH /v1/products/{id}`.
#[derive(Debug, Clone, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum BulkProduct {
    /// The product to create.
    Create(CreateRequest),
    /// The fields to update.
    Update(UpdateRequest),
}

/// One operation of a bulk request.
#[request]
#[derive(Debug, Clone)]
#[schemars(rename = "BulkOperation")]
struct Operation {
    /// The action of the operation.
    action: BulkAction,
    /// The product to update or archive. Required for these actions, and not allowed for `create`.
    id: Option<ProductId>,
    /// The version that the product must have, like `If-Match`. Not allowed for `create`.
    version: Option<Int<1, MAX_VERSION>>,
    /// The product to create, or the fields to update. Not allowed for `delete`. An invalid product fails
    /// only its own operation, with status 422.
    product: Option<AnyJson<BulkProduct>>,
}

/// Operations to run in order.
#[request]
#[derive(Debug)]
pub struct BulkRequest {
    /// The operations: 1 to 100.
    #[schemars(length(min = 1))]
    operations: AtMost<Operation, MAX_OPERATIONS>,
}

/// The result of one operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BulkResult {
    /// The HTTP status that the same single request would have had.
    status: u16,
    /// The product as the single request would have returned it; `null` for `delete` and after an error.
    #[schemars(with = "Option<ProductView>")]
    product: Option<Value>,
    /// The problem details of the error (RFC 9457); `null` when the operation succeeded.
    #[schemars(with = "Option<std::collections::BTreeMap<String, Value>>")]
    problem: Option<Value>,
}

/// The results of a bulk request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BulkResults {
    /// One result for each operation, in the order of the request.
    results: Vec<BulkResult>,
    /// Number of operations that succeeded.
    succeeded: usize,
    /// Number of operations that failed.
    failed: usize,
}

impl BulkResult {
    /// Builds the result of an outcome. `room` is how many more field errors the response may list.
    fn of(outcome: Result<Answer, Problem>, room: &mut usize) -> Self {
        match outcome {
            Ok(answer) => {
                let product = serde_json::from_slice(answer.body()).ok();
                Self { status: answer.status().as_u16(), product, problem: None }
            }
            Err(problem) => {
                problem.log();
                let problem = problem.with_errors_at_most(*room);
                *room = room.saturating_sub(problem.errors().len());
                let (status, body) = (problem.code.status(), problem.body());
                Self { status, product: None, problem: Some(body) }
            }
        }
    }
}

/// `POST /v1/products/bulk` (`updateProductsInBulk`): Create, update and archive products in bulk.
///
/// A request has 1 to 100 operations, which run in order. Each succeeds or fails on its own, so the response
/// is 200 even if operations failed: inspect the `status` of every result. The action `delete` archives.
/// After a server error, send the request again with the same `Idempotency-Key`. Finished operations are
/// not repeated.
///
/// # Errors
/// `idempotency_key_required`; `too_few` as a field error.
pub async fn bulk(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    _: Required,
    Body(input): Body<BulkRequest>,
) -> Result<Json<BulkResults>, Problem> {
    let AtMost(operations) = input.operations;
    if operations.is_empty() {
        return Err(Problem::field("/operations", "too_few", "Must have at least one operation."));
    }
    let (mut results, mut room) = (Vec::new(), MAX_ERRORS);
    for (number, operation) in operations.into_iter().enumerate() {
        let outcome = run(&app, &caller.store, (number, operation)).await;
        // A transient error is not stored as a result, and neither is an operation that an interrupted
        // attempt may still be running: the client retries the request.
        if let Err(problem) = &outcome
            && (problem.code.status() >= 500 || problem.code == Code::RequestInProgress)
        {
            return Err(problem.clone());
        }
        results.push(BulkResult::of(outcome, &mut room));
    }
    let succeeded = results.iter().filter(|result| result.problem.is_none()).count();
    let failed = results.len().saturating_sub(succeeded);
    let answer = Json::new(&BulkResults { results, succeeded, failed });
    app.table.write().answer(answer, app.clock.now()).await
}

async fn run(
    services: &Services,
    store: &Store,
    (number, operation): (usize, Operation),
) -> Result<Answer, Problem> {
    let Operation { action, id, version, product } = operation;
    let expected = version.map_or(ExpectedVersion::ANY, |version| {
        ExpectedVersion::of(u64::try_from(version.0).unwrap_or(0))
    });
    let product = product.map(|product| product.0);
    match action {
        BulkAction::Create => {
            absent(id.is_some(), "/id")?;
            absent(version.is_some(), "/version")?;
            let input: CreateRequest = read(product)?;
            let now = services.clock.now();
            let (planned, completion) = ((ProductId::mint(now), input), answering(created));
            let made = save_product::create(services, store, planned, now, &completion);
            part(services, number, Box::pin(made)).await
        }
        BulkAction::Update => {
            let id = id.ok_or_else(|| required("/id"))?;
            let input: UpdateRequest = read(product)?;
            let (at, completion) = ((&id, expected), answering(to_response));
            let changed = save_product::change(services, store, at, input, &completion);
            part(services, number, Box::pin(changed)).await
        }
        BulkAction::Delete => {
            let id = id.ok_or_else(|| required("/id"))?;
            absent(product.is_some(), "/product")?;
            let (store, completion) = (&store.id, answering(no_content));
            let archived = save_product::archive(services, store, &id, expected, &completion);
            part(services, number, Box::pin(archived)).await
        }
    }
}

/// Parses the product of an operation. The pointers of its field errors begin with `/product`.
fn read<T: deserr::Deserr<FieldErrors>>(product: Option<Value>) -> Result<T, Problem> {
    let product = product.ok_or_else(|| required("/product"))?;
    input::read(product).map_err(|problem| below_product(&problem))
}

fn below_product(problem: &Problem) -> Problem {
    let deeper = |error: &FieldError| {
        let pointer = format!("/product{}", error.pointer);
        FieldError::at(pointer, error.violation.clone())
    };
    Problem::invalid(problem.errors().at_most(MAX_ERRORS, deeper))
}

fn required(pointer: &str) -> Problem {
    Problem::field(pointer, "required", "Required for this operation.")
}

fn absent(is_given: bool, pointer: &str) -> Result<(), Problem> {
    if is_given {
        let detail = "Not allowed for this operation.";
        return Err(Problem::field(pointer, "not_applicable", detail));
    }
    Ok(())
}
