//! The functions as they are deployed: each a process of its binary, with the environment that the template
//! gives it and no more, over the embedded emulators; and what AWS is between them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::Duration;

use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use emulators::Embedded;
use emulators::aws::REGION;
use http::HeaderName;
use local::template;
use runtime_api::Function;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::Client;

/// The directory with the functions' binaries, where it is not the one that this was built into.
const BINARIES: &str = "FUNCTION_BINARIES";
/// The origin that may call merchant routes.
const ADMIN_ORIGIN: &str = "https://admin.example.com";
/// A mail server that nobody is asked to reach.
const NO_MAIL_SERVER: &str = "smtp://127.0.0.1:9";

static PROVIDER: Once = Once::new();

/// Every function of the template over one AWS. A process is started when it is invoked first.
pub struct Deployed {
    parts: Arc<Parts>,
    http: reqwest::Client,
    url: String,
    _front: JoinSet<()>,
}

struct Parts {
    embedded: Embedded,
    functions: Vec<Deployment>,
}

/// A function, and what it is started with.
struct Deployment {
    function: template::Function,
    environment: BTreeMap<String, String>,
    process: OnceCell<Function>,
}

impl Deployment {
    async fn process(&self) -> &Function {
        let start = || async {
            let binary = runtime_api::binary(&binaries(), &self.function.binary);
            let hint =
                "`cargo build --bins` makes what is looked for where FUNCTION_BINARIES is not set";
            Function::start(&binary, &self.environment)
                .await
                .unwrap_or_else(|cause| panic!("{}: {cause} ({hint})", self.function.name))
        };
        self.process.get_or_init(start).await
    }
}

/// Where the binaries are: where the tests' own build is, or where the environment says.
#[expect(clippy::disallowed_methods, reason = "of the tests, not of a function")]
fn binaries() -> PathBuf {
    if let Ok(directory) = std::env::var(BINARIES) {
        // A test's working directory is its package's.
        return PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(directory);
    }
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("it is in target/debug/deps").to_owned()
}

impl Deployed {
    /// In memory, on free ports, by the real clock: a process reads no other.
    pub async fn start() -> Self {
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let options = emulators::Options {
            base_url: url.clone(),
            mail_from: "Commerce <no-reply@example.com>".to_owned(),
            mail_server: Some(NO_MAIL_SERVER.to_owned()),
            admin_origins: vec![ADMIN_ORIGIN.to_owned()],
            ..emulators::Options::default()
        };
        let embedded = Embedded::start(options).await.expect("the emulators start");
        let functions = template::functions().expect("the template can be read").into_iter();
        let functions = functions.map(|function| Deployment {
            environment: environment(&function, &embedded),
            function,
            process: OnceCell::new(),
        });
        let parts = Arc::new(Parts { functions: functions.collect(), embedded });
        let front = Router::new().fallback(lead).with_state(Arc::clone(&parts));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, front).await.expect("it serves") });
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_mins(2))
            .build()
            .expect("a client");
        Self { parts, http, url, _front: serving }
    }

    /// The names of the template's functions, with the names of their binaries.
    pub fn functions(&self) -> Vec<(&str, &str)> {
        let all = self.parts.functions.iter().map(|it| &it.function);
        all.map(|function| (function.name.as_str(), function.binary.as_str())).collect()
    }

    /// The process of the function of this name, which is started if need be.
    pub async fn function(&self, name: &str) -> &Function {
        let found = self.parts.functions.iter().find(|it| it.function.name == name);
        found.unwrap_or_else(|| panic!("template.yaml has no {name}")).process().await
    }

    /// The origin of the pages that may call merchant routes.
    pub fn admin_origin(&self) -> &'static str {
        ADMIN_ORIGIN
    }

    /// Somebody who asks through what API Gateway is in a deployment.
    pub fn client(&self) -> Client {
        Client::new(self.http.clone(), &self.url)
    }

    /// Gives the dispatcher what the table's stream has for it, as its event source mapping does, and says how
    /// many records that were.
    pub async fn hand_on_stream(&self) -> usize {
        let filters = self.parts.functions.iter().find_map(|it| it.function.stream.as_ref());
        let filters = filters.expect("the template has a listener");
        let may_be_taken = |change: &str, kind: &str| filters.may_take(change, kind);
        let read = self.parts.embedded.stream_records(100, may_be_taken).await;
        let mut records = read.expect("the stream is read").records;
        records.retain(|record| filters.takes(record));
        let count = records.len();
        if count > 0 {
            let event = json!({ "Records": records });
            let answer = self.function("Dispatcher").await.invoke(&event).await;
            assert_eq!(answer.expect("it answers"), json!({"batchItemFailures": []}));
        }
        count
    }

    /// Gives a function what waits in its queue, a batch, and says how many messages that were.
    pub async fn hand_on_queue(&self, queue: &str, function: &str) -> usize {
        let references = self.parts.embedded.references();
        let url = references.get(queue).expect("the template has the queue");
        let client = self.parts.embedded.sqs();
        let received = client
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(5)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .await
            .expect("the queue is read");
        let messages = received.messages.unwrap_or_default();
        if messages.is_empty() {
            return 0;
        }
        let records: Vec<Value> = messages.iter().map(|message| record(message, url)).collect();
        let event = json!({ "Records": records });
        let answer = self.function(function).await.invoke(&event).await;
        assert_eq!(answer.expect("it answers"), json!({"batchItemFailures": []}));
        for message in &messages {
            let delete = client.delete_message().queue_url(url);
            let delete = delete.set_receipt_handle(message.receipt_handle.clone());
            delete.send().await.expect("the message is deleted");
        }
        messages.len()
    }
}

/// The template's, over these emulators. Receivers on loopback may be reached.
fn environment(function: &template::Function, embedded: &Embedded) -> BTreeMap<String, String> {
    let mut environment = function.environment(&embedded.references()).expect("all is there");
    let endpoints = embedded.endpoints();
    for (name, value) in [
        ("AWS_ENDPOINT_URL_DYNAMODB", &endpoints.dynamodb),
        ("AWS_ENDPOINT_URL_SQS", &endpoints.sqs),
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", &endpoints.secrets_manager),
        ("SERVICE_ENVIRONMENT", &Some("development".to_owned())),
    ] {
        let declared = environment.insert(name.to_owned(), value.clone().unwrap_or_default());
        assert!(declared.is_some(), "template.yaml declares no {name}");
    }
    environment
}

/// A message as its event source mapping hands it on.
fn record(message: &Message, url: &str) -> Value {
    let attributes = message.attributes.iter().flatten();
    let attributes: Map<String, Value> =
        attributes.map(|(name, value)| (name.to_string(), json!(value))).collect();
    let queue = url.rsplit('/').next().unwrap_or_default();
    json!({
        "messageId": message.message_id, "receiptHandle": message.receipt_handle,
        "body": message.body, "md5OfBody": message.md5_of_body, "attributes": attributes,
        "messageAttributes": {}, "eventSource": "aws:sqs", "awsRegion": REGION,
        "eventSourceARN": format!("arn:aws:sqs:{REGION}:000000000000:{queue}"),
    })
}

/// What API Gateway's HTTP API does with a request: makes an event of it, gives it to the function whose
/// path is the closest, and makes an answer of its payload.
async fn lead(State(parts): State<Arc<Parts>>, request: Request) -> Response {
    let (parts_of_request, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("the body comes whole");
    let path = parts_of_request.uri.path();
    let weighed = parts.functions.iter().filter_map(|deployment| {
        template::takes(&deployment.function.paths, path).map(|weight| (weight, deployment))
    });
    let (_, deployment) = weighed.max_by_key(|(weight, _)| *weight).expect("$default takes all");
    let event = event(&parts_of_request, &body);
    match deployment.process().await.invoke(&event).await {
        Ok(payload) => {
            // What serves this front drops such a body; API Gateway would send it.
            let is_head = parts_of_request.method == http::Method::HEAD;
            assert!(
                !is_head || payload["body"].as_str().unwrap_or_default().is_empty(),
                "{payload}"
            );
            answer(&payload)
        }
        Err(cause) => {
            let mut response = Response::new(Body::from(cause.to_string()));
            *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    }
}

/// A request in payload format 2.0.
fn event(request: &http::request::Parts, body: &Bytes) -> Value {
    let mut headers: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in &request.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let joined = headers.entry(name.as_str()).or_default();
        if !joined.is_empty() {
            joined.push(',');
        }
        joined.push_str(&value);
    }
    let path = request.uri.path();
    let client = headers.get("x-forwarded-for").cloned().unwrap_or_default();
    let (text, is_base64) = match std::str::from_utf8(body) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (BASE64_STANDARD.encode(body), true),
    };
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path,
        "rawQueryString": request.uri.query().unwrap_or_default(), "headers": headers,
        "requestContext": {
            "accountId": "000000000000", "apiId": "local", "stage": "$default",
            "domainName": "local.execute-api.us-east-1.amazonaws.com", "requestId": "local",
            "http": {"method": request.method.as_str(), "path": path, "protocol": "HTTP/1.1",
                "sourceIp": client, "userAgent": "tests"},
        },
        "body": text, "isBase64Encoded": is_base64,
    })
}

fn answer(payload: &Value) -> Response {
    let text = payload["body"].as_str().unwrap_or_default();
    let body = match payload["isBase64Encoded"].as_bool() {
        Some(true) => BASE64_STANDARD.decode(text).expect("a body in base64 is that"),
        _ => text.as_bytes().to_vec(),
    };
    let mut response = Response::new(Body::from(body));
    let status = payload["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| http::StatusCode::from_u16(status).ok());
    *response.status_mut() = status.unwrap_or_else(|| panic!("no status: {payload}"));
    for (name, value) in payload["headers"].as_object().into_iter().flatten() {
        let name = HeaderName::try_from(name).expect("the name of a header");
        let value = value.as_str().and_then(|value| value.parse().ok());
        response.headers_mut().insert(name, value.expect("the value of a header"));
    }
    response
}
