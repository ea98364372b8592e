//! The events that each function is measured with.

use std::fs;
use std::net::Ipv4Addr;

use runtime_api::Function;
use serde_json::{Value, json};

use super::{HELLO, SDKS};
use crate::system::{Owner, text};
use benches::AnyError;
use benches::http::Input;

/// Reads that the budget of a network covers.
const READS_OF_A_NETWORK: usize = 40;
/// Rejections that the budget of a network covers.
const REJECTIONS_OF_A_NETWORK: usize = 100;

/// The products of the demo store.
const GOODS: &str = "/v1/storefront/demo-store/products";

/// Makes the event of this number.
type Make = Box<dyn Fn(usize) -> Value>;

/// The plan of measuring a binary.
pub(super) struct Plan {
    pub(super) name: &'static str,
    /// The file name of the binary.
    pub(super) binary: &'static str,
    /// Creates its real events.
    pub(super) real: Make,
    /// A path that is rejected without credentials, if it has one.
    pub(super) rejected: Option<&'static str>,
}

impl Plan {
    /// The rejected event with this number, if the plan has one.
    pub(super) fn rejected(&self, number: usize) -> Option<Value> {
        self.rejected.map(|path| request(path, &[], number / REJECTIONS_OF_A_NETWORK))
    }

    /// Invokes a function, and requires success.
    pub(super) async fn succeed(&self, function: &Function, event: &Value) -> Result<(), AnyError> {
        let payload = function.invoke(event).await?;
        let status = payload["statusCode"].as_u64();
        let has_failed = payload["batchItemFailures"].as_array().is_some_and(|it| !it.is_empty());
        match status {
            Some(200) => Ok(()),
            None if !has_failed => Ok(()),
            _ => Err(format!("{}: {payload}", self.name).into()),
        }
    }

    /// Invokes a function, and requires a rejection.
    pub(super) async fn reject(&self, function: &Function, event: &Value) -> Result<(), AnyError> {
        let payload = function.invoke(event).await?;
        match payload["statusCode"].as_u64() {
            Some(401 | 404) => Ok(()),
            _ => Err(format!("{}: {payload}", self.name).into()),
        }
    }
}

/// The paths of single objects.
pub(super) struct One {
    product: String,
    page: String,
    order: String,
}

impl One {
    /// Loads the paths from the owner's store.
    pub(super) async fn of(owner: &mut Owner) -> Result<Self, AnyError> {
        let mut first = async |list: &str, member: &str| {
            let list = owner.send(Input::get(format!("{list}?limit=1"))).await?;
            text(&list, &format!("/data/0/{member}"))
        };
        Ok(Self {
            product: format!("/v1/products/{}", first("/v1/products", "id").await?),
            page: format!("{GOODS}/{}", first(GOODS, "handle").await?),
            order: format!("/v1/orders/{}", first("/v1/orders", "id").await?),
        })
    }
}

/// The plans of both baselines and of every function.
pub(super) fn plans(owner: &Owner, one: &One) -> Result<Vec<Plan>, AnyError> {
    let as_owner = |path: &str| -> Make {
        let (path, headers) = (path.to_owned(), owner.headers());
        Box::new(move |number| request(&path, &headers, number / READS_OF_A_NETWORK))
    };
    let as_anybody = |path: &str| -> Make {
        // With a cookie, the response is not taken from the response cache.
        let (path, headers) = (path.to_owned(), [("cookie", "visit=1".to_owned())]);
        Box::new(move |number| request(&path, &headers, number / READS_OF_A_NETWORK))
    };
    let family = |name, real, rejected| Plan { name, binary: name, real, rejected: Some(rejected) };
    // A row without rejections: a baseline, or another event of a family.
    let alongside = |name, binary, real| Plan { name, binary, real, rejected: None };
    let fed = |name, binary, event: Value| Plan {
        name,
        binary,
        real: Box::new(move |_| event.clone()),
        rejected: None,
    };
    let worker = |name, event| fed(name, name, event);
    Ok(vec![
        alongside(HELLO, HELLO, as_anybody("/")),
        alongside(SDKS, SDKS, as_anybody("/")),
        family("health", as_anybody("/health"), "/v1/nowhere"),
        family("auth", as_owner("/v1/auth/me"), "/v1/auth/me"),
        family("stores", as_owner("/v1/stores"), "/v1/stores"),
        family("products", as_owner("/v1/products"), "/v1/products"),
        alongside("products, one", "products", as_owner(&one.product)),
        family("storefront", as_anybody(GOODS), "/v1/storefront/demo-store/customers/me"),
        alongside("storefront, one", "storefront", as_anybody(&one.page)),
        alongside(
            "storefront, cached",
            "storefront",
            Box::new(|number| request(GOODS, &[], number / READS_OF_A_NETWORK)),
        ),
        family("orders", as_owner("/v1/orders"), "/v1/orders"),
        alongside("orders, one", "orders", as_owner(&one.order)),
        family("payments", as_owner("/v1/payments/providers"), "/v1/payments/providers"),
        family("themes", as_owner("/v1/themes/packages"), "/v1/themes/packages"),
        family("app-store", as_anybody("/v1/app-store/apps"), "/v1/app-store/installations"),
        family(
            "operations",
            as_owner("/v1/operations/webhook-subscriptions"),
            "/v1/operations/webhook-subscriptions",
        ),
        worker("dispatcher", first_message(sample("dispatcher/stream")?)),
        fed("dispatcher, schedule", "dispatcher", sample("dispatcher/schedule")?),
        worker("webhooks", first_message(sample("webhooks/messages")?)),
        worker("mail", first_message(sample("mail/messages")?)),
        worker("runner", first_message(sample("runner/messages")?)),
    ])
}

/// An API request in payload format 2.0, from the network with this number.
fn request(path: &str, headers: &[(&str, String)], network: usize) -> Value {
    let network = u32::try_from(network).unwrap_or_default() << 8;
    let client = Ipv4Addr::from(0x0b00_0001_u32.wrapping_add(network)).to_string();
    let mut event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": {
            "accept": "*/*", "accept-encoding": "gzip, br", "content-length": "0",
            "host": "api.example.com", "user-agent": "curl/8.14.1",
            "x-amzn-trace-id": "Root=1-6bd8c2a0-0123456789abcdef01234567", "x-forwarded-for": client,
            "x-forwarded-port": "443", "x-forwarded-proto": "https",
        },
        "requestContext": {
            "accountId": "123456789012", "apiId": "a1b2c3d4e5", "domainName": "api.example.com",
            "domainPrefix": "api", "stage": "$default", "routeKey": "$default",
            "requestId": "JKJaXmPLvHcESHA=", "time": "21/Nov/2026:07:00:00 +0000",
            "timeEpoch": 1_795_244_400_000_u64,
            "http": {"method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": client,
                "userAgent": "curl/8.14.1"},
        },
        "isBase64Encoded": false,
    });
    for (name, value) in headers {
        event["headers"][*name] = json!(value);
    }
    event
}

fn sample(name: &str) -> Result<Value, AnyError> {
    Ok(serde_json::from_str(&fs::read_to_string(format!("events/{name}.json"))?)?)
}

/// The batch with only its first message: the others are malformed.
fn first_message(mut batch: Value) -> Value {
    if let Some(records) = batch["Records"].as_array_mut() {
        records.truncate(1);
    }
    batch
}
