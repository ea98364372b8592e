//! SQS of several accounts: the service's own, and those of subscribers with queues of their own.
//!
//! The access key of a call selects its account: twelve digits are an account, anything else is the service's
//! own. A call about a queue of another account needs that queue's policy, as in AWS; the policy's conditions
//! are ignored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use rustack_sqs_core::config::SqsConfig;
use rustack_sqs_core::handler::RustackSqsHandler;
use rustack_sqs_core::provider::RustackSqs;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::account::{ACCOUNT, REGION, REQUEST_ID};
use crate::error::{AnyError, EmulatorError};

/// The queues of every account, on one port.
pub(super) struct Queues {
    own: Account,
    others: Mutex<BTreeMap<String, Account>>,
    config: SqsConfig,
}

/// The queues of one account.
#[derive(Clone)]
struct Account {
    queues: Arc<RustackSqs>,
    handler: Arc<RustackSqsHandler>,
}

impl Account {
    fn new(config: SqsConfig) -> Self {
        let queues = Arc::new(RustackSqs::new(config));
        Self { handler: Arc::new(RustackSqsHandler::new(Arc::clone(&queues))), queues }
    }
}

/// The part of a call's body that names its queue.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(rename = "QueueUrl", borrow)]
    queue_url: Option<std::borrow::Cow<'a, str>>,
}

impl Queues {
    /// Creates the queues of a listener, whose address is part of queue URLs.
    pub(super) fn at(listener: &TcpListener) -> Result<Self, EmulatorError> {
        let address = listener.local_addr().map_err(EmulatorError::while_trying("read a port"))?;
        let config = SqsConfig {
            skip_signature_validation: true,
            default_region: REGION.to_owned(),
            account_id: ACCOUNT.to_owned(),
            host: address.ip().to_string(),
            port: address.port(),
        };
        let own = Account::new(config.clone());
        Ok(Self { own, others: Mutex::default(), config })
    }

    /// The queues of the service's own account.
    pub(super) fn own(&self) -> &RustackSqs {
        &self.own.queues
    }

    pub(super) async fn shut_down(&self) {
        let others: Vec<Account> = self.others().values().cloned().collect();
        for account in std::iter::once(&self.own).chain(&others) {
            account.queues.shutdown_all().await;
        }
    }

    fn others(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Account>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, account: &str) -> Account {
        if account == ACCOUNT {
            return self.own.clone();
        }
        let make = || {
            let config = SqsConfig { account_id: account.to_owned(), ..self.config.clone() };
            Account::new(config)
        };
        self.others().entry(account.to_owned()).or_insert_with(make).clone()
    }
}

/// Handles a call of SQS's JSON protocol.
pub(super) async fn answer_sqs(
    State(queues): State<Arc<Queues>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    use rustack_sqs_http::{dispatch, response, router};
    let call = serde_json::from_slice::<Call<'_>>(&body).ok();
    let url = call.and_then(|call| call.queue_url).unwrap_or_default().into_owned();
    let (caller, owner) = (account_of_caller(&headers), account_of_queue(&url));
    let account = queues.of(owner.unwrap_or(caller));
    if owner.is_some_and(|owner| owner != caller)
        && !admits(&account.queues, &url, caller, operation(&headers)).await
    {
        return denied(caller, operation(&headers), &url);
    }
    let answer = match router::resolve_operation(&headers) {
        Ok(operation) => {
            dispatch::dispatch_operation(account.handler.as_ref(), operation, body).await
        }
        Err(rejection) => Err(rejection),
    };
    let answer =
        answer.unwrap_or_else(|rejection| response::error_to_response(&rejection, REQUEST_ID));
    answer.map(Body::new)
}

fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The account of the caller, by the access key of the signature (`Credential=<key>/<date>/…`).
fn account_of_caller(headers: &HeaderMap) -> &str {
    let signature = headers.get("authorization").and_then(|value| value.to_str().ok());
    let credential = signature.and_then(|text| text.split_once("Credential="));
    let key = credential.and_then(|(_, rest)| rest.split('/').next());
    key.filter(|key| is_account(key)).unwrap_or(ACCOUNT)
}

fn account_of_queue(url: &str) -> Option<&str> {
    let (place, _) = url.rsplit_once('/')?;
    place.rsplit('/').next().filter(|account| is_account(account))
}

/// The operation of a call: `SendMessage` of `AmazonSQS.SendMessage`.
fn operation(headers: &HeaderMap) -> &str {
    let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok());
    target.and_then(|target| target.rsplit('.').next()).unwrap_or_default()
}

/// Whether a queue's policy allows another account an operation. Also true for an unknown queue, which the
/// emulator itself rejects.
async fn admits(queues: &RustackSqs, url: &str, caller: &str, operation: &str) -> bool {
    let input = json!({"QueueUrl": url, "AttributeNames": ["Policy"]});
    let Ok(input) = serde_json::from_value(input) else { return false };
    let Ok(found) = queues.get_queue_attributes(input).await else { return true };
    let policy = found.attributes.get("Policy").map(String::as_str).unwrap_or_default();
    let policy: Value = serde_json::from_str(policy).unwrap_or_default();
    let action = format!("sqs:{}", operation.trim_end_matches("Batch")).to_ascii_lowercase();
    let about = |statement: &&Value| {
        let is_meant = |text: &str| {
            let text = text.to_ascii_lowercase();
            text == action || text == "sqs:*"
        };
        let is_caller = |text: &str| {
            text == "*" || text == caller || text.starts_with(&format!("arn:aws:iam::{caller}:"))
        };
        let principal = statement.get("Principal").unwrap_or(&Value::Null);
        let principal = principal.get("AWS").unwrap_or(principal);
        texts(statement.get("Action")).into_iter().any(is_meant)
            && texts(Some(principal)).into_iter().any(is_caller)
    };
    let statements: Vec<&Value> = match policy.get("Statement") {
        Some(Value::Array(all)) => all.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let statements = statements.iter().copied().filter(|it| about(it));
    let effects: Vec<_> = statements.filter_map(|it| it.get("Effect")?.as_str()).collect();
    effects.contains(&"Allow") && !effects.contains(&"Deny")
}

/// The texts of a JSON string or an array of strings.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn denied(caller: &str, operation: &str, url: &str) -> Response {
    let message = format!(
        "User: arn:aws:iam::{caller}:user/local is not authorized to perform: sqs:{} on resource: {url} \
         because no resource-based policy allows the action",
        operation.to_ascii_lowercase()
    );
    let body = json!({"__type": "com.amazonaws.sqs#AccessDeniedException", "message": message});
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::FORBIDDEN;
    for (name, value) in [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amzn-query-error", "AccessDenied;Sender"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Builds the request that creates a queue.
pub(super) fn creation<T: serde::de::DeserializeOwned>(
    name: &str,
    attributes: &Value,
) -> Result<T, AnyError> {
    // Through JSON, because the request type belongs to a crate that only the emulator needs.
    Ok(serde_json::from_value(json!({ "QueueName": name, "Attributes": attributes }))?)
}
