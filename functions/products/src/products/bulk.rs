//! Many products in one request.

use axum::extract::State;
use catalogue::product::ProductView;
use catalogue::workflows::save_product::{self, CreateRequest, UpdateRequest};
use core_types::id::ProductId;
use core_types::scope::WriteProducts;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::idempotency::{Required, part};
use gateway::problem::{Code, FieldError, MAX_ERRORS, Problem};
use gateway::reply::Json;
use gateway::request::{self, AnyJson, AtMost, Body, IfMatch, Int, request};
use identity::store::Store;
use platform::caller::StoreAccess;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Operations of one request.
const MOST: usize = 100;
/// The version that a number names.
const MAX_VERSION: i64 = 9_007_199_254_740_991;

gateway::string_enum! {
    /// What an operation does.
    BulkAction {
        /// Makes `product`.
        Create = "create",
        /// Changes the product `id` as `product` says.
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
    /// One to make.
    Create(CreateRequest),
    /// What to change about one.
    Update(UpdateRequest),
}

/// An operation.
#[request]
#[derive(Debug, Clone)]
#[schemars(rename = "BulkOperation")]
struct Operation {
    /// What it does.
    action: BulkAction,
    /// The product that is changed or archived.
    id: Option<ProductId>,
    /// The version that it has to be at, as `If-Match` says it.
    version: Option<Int<1, MAX_VERSION>>,
    /// The product to make, or what to change about it. It is validated with its operation, which is
    /// answered 422 by itself.
    product: Option<AnyJson<BulkProduct>>,
}

/// Operations, which are done in their order.
#[request]
#[derive(Debug)]
pub struct BulkRequest {
    /// 1 to 100.
    #[schemars(length(min = 1))]
    operations: AtMost<Operation, MOST>,
}

/// What became of an operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BulkResult {
    /// The status that a request of the same would have been answered with.
    status: u16,
    /// The product, as that request would have shown it.
    #[schemars(with = "Option<ProductView>")]
    product: Option<Value>,
    /// Why it was rejected (RFC 9457).
    #[schemars(with = "Option<std::collections::BTreeMap<String, Value>>")]
    problem: Option<Value>,
}

/// What became of each operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BulkResults {
    /// In the order of the operations.
    results: Vec<BulkResult>,
    /// How many were done.
    succeeded: usize,
    /// How many were rejected.
    failed: usize,
}

impl BulkResult {
    /// `room` is how many field errors may still be named in the results of the request.
    fn of(outcome: Result<Answer, Problem>, room: &mut usize) -> Self {
        match outcome {
            Ok(answer) => {
                let product = serde_json::from_slice(answer.body()).ok();
                Self { status: answer.status().as_u16(), product, problem: None }
            }
            Err(problem) => {
                problem.log();
                let problem = problem.naming(*room);
                *room = room.saturating_sub(problem.errors().len());
                let (status, body) = (problem.code.status(), problem.body());
                Self { status, product: None, problem: Some(body) }
            }
        }
    }
}

/// `POST /v1/products/bulk` (`updateProductsInBulk`): Create, update and archive products in bulk.
///
/// A request has up to 100 products. Each operation is done, or rejected, by itself, and has an answer of its
/// own; what is rejected keeps no other from being done.
///
/// # Errors
/// `too_few` as a fault of its field.
pub async fn bulk(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    _: Required,
    Body(input): Body<BulkRequest>,
) -> Result<Json<BulkResults>, Problem> {
    let AtMost(operations) = input.operations;
    if operations.is_empty() {
        return Err(Problem::field("/operations", "too_few", "Name at least one operation."));
    }
    let (mut results, mut room) = (Vec::new(), MAX_ERRORS);
    for (number, operation) in operations.into_iter().enumerate() {
        let outcome = run(&app, &caller.store, (number, operation)).await;
        // What the next attempt may do is not answered for good; nor is what an attempt that broke
        // off may still be at.
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
    app: &App,
    store: &Store,
    (number, operation): (usize, Operation),
) -> Result<Answer, Problem> {
    let Operation { action, id, version, product } = operation;
    let if_match = version.map_or_else(IfMatch::default, |version| {
        IfMatch::version(u64::try_from(version.0).unwrap_or(0))
    });
    let product = product.map(|product| product.0);
    match action {
        BulkAction::Create => {
            absent(id.is_some(), "/id")?;
            absent(version.is_some(), "/version")?;
            let asked: CreateRequest = read(product)?;
            let now = app.clock.now();
            let made = save_product::create(app, store, (ProductId::mint(now), asked), now);
            part(app, number, Box::pin(made)).await
        }
        BulkAction::Update => {
            let id = id.ok_or_else(|| required("/id"))?;
            let asked: UpdateRequest = read(product)?;
            part(app, number, Box::pin(save_product::change(app, store, (&id, if_match), asked)))
                .await
        }
        BulkAction::Delete => {
            let id = id.ok_or_else(|| required("/id"))?;
            absent(product.is_some(), "/product")?;
            part(app, number, Box::pin(save_product::archive(app, &store.id, &id, if_match))).await
        }
    }
}

/// The product of an operation, whose faults are told as its members.
fn read<T: deserr::Deserr<request::FieldErrors>>(product: Option<Value>) -> Result<T, Problem> {
    let product = product.ok_or_else(|| required("/product"))?;
    request::read(product).map_err(|problem| within(&problem))
}

fn within(problem: &Problem) -> Problem {
    let deeper = |error: &FieldError| {
        let pointer = format!("/product{}", error.pointer);
        FieldError { pointer, fault: error.fault.clone() }
    };
    Problem::invalid(problem.errors().at_most(MAX_ERRORS, deeper))
}

fn required(pointer: &str) -> Problem {
    Problem::field(pointer, "required", "The operation needs this field.")
}

fn absent(is_given: bool, pointer: &str) -> Result<(), Problem> {
    if is_given {
        let detail = "The operation takes no such field.";
        return Err(Problem::field(pointer, "not_applicable", detail));
    }
    Ok(())
}
