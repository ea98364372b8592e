//! What a deployment gives its functions. The system that every test runs on gives each function
//! the environment and the permissions of `template.yaml` and no more (`local::functions`), so that
//! whatever a function lacks is missing in the tests of what it does. Here: that this holds, who may
//! read which secret, and that nothing is given that is not used.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use delivery::delivery::QUEUE;
use emulators::guard::{FOREIGN_QUEUES, Permission, is_like};
use local::functions::{Host, REJECTED};
use local::template::{self, Function, Setting};
use platform::app::CommerceApp;
use support::{Gateway, Merchant, Operator, Shop, json};
use table::item::Key;
use tokio::task::JoinSet;

/// What the SDK and the providers read where it is set: `sam local` sets only what is declared.
const DECLARED_FOR_SAM_LOCAL: &[&str] = &[
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_ENDPOINT_URL_SQS",
    "AWS_ENDPOINT_URL_SECRETS_MANAGER",
    "RAZORPAY_BASE_URL",
    "STRIPE_BASE_URL",
    "SERVICE_ENVIRONMENT",
];

fn functions() -> Vec<Function> {
    template::functions().unwrap()
}

fn host<'a>(gateway: &'a Gateway, name: &str) -> &'a Host {
    let mut hosts = gateway.system().functions().all().iter();
    hosts.find(|host| host.function().name == name).unwrap()
}

/// The functions that may do `action` on `resource`.
fn who_may(action: &str, resource: &str) -> Vec<String> {
    let wanted = Permission { action: action.to_owned(), resource: resource.to_owned() };
    let mut names: Vec<_> = functions()
        .into_iter()
        .filter(|function| function.permissions().contains(&wanted))
        .map(|function| function.name)
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn operators_are_recognized_by_every_function() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    // Who has approved the app.
    let operator = Operator::sign_up(&shop.gateway).await;
    let me = operator.get("/v1/auth/me").await.expect(200);
    assert_eq!(me.at("/operator"), &json!(true));
    let health = operator.get("/health?deep=1").await.expect(200);
    for check in ["table", "queue", "keys"] {
        assert_eq!(health.str(&format!("/checks/{check}/status")), "ok");
    }
    let merchant = shop.merchant.get("/health?deep=1").await;
    merchant.expect(403).problem("operator_required");
}

#[tokio::test]
async fn every_function_allows_the_admin_origin() {
    const PAGE: &str = "https://admin.example.com";
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec![PAGE.to_owned()];
    })
    .await;
    for (family, routes) in local::families() {
        let is_open = |path: &str| path.starts_with("/v1/storefront") || path == "/health";
        let Some(row) = routes.rows().iter().find(|row| !is_open(row.path)) else { continue };
        // Nobody is needed to be told who may read: not found, not signed in, or not allowed so.
        let reply = gateway.client().delete(row.path).header("origin", PAGE).await;
        let allowed = reply.header("access-control-allow-origin");
        assert_eq!(allowed, Some(PAGE), "{family}: {}: {}", row.path, reply.status);
    }
}

#[tokio::test]
async fn a_function_reads_only_the_secrets_it_uses() {
    for (secret, readers) in [
        ("SigningKeys", &["AppStore"][..]),
        ("ReceiptKeys", &["Operations"]),
        ("MailKey", &["Auth", "Dispatcher", "Mail", "Products", "Shop", "Storefront", "Stores"]),
        ("MailServer", &["Mail"]),
        ("MfaKey", &["Auth"]),
        ("PaymentKey", &["Dispatcher", "Orders", "Payments", "Shop", "Storefront", "Themes"]),
        ("WebhookKey", &["AppStore", "Operations", "Runner", "SlowWebhooks", "Webhooks"]),
        ("GiftCardKey", &["Orders", "Products", "Shop", "Storefront"]),
    ] {
        assert_eq!(who_may("secretsmanager:GetSecretValue", secret), readers, "{secret}");
    }
    let gateway = Gateway::start().await;
    let storefront = host(&gateway, "Storefront").app();
    storefront.secrets.payment_key().await.unwrap();
    storefront.secrets.keys().await.unwrap();
    // What is not in its environment has no name there.
    let app = storefront.clone();
    let mut asking = JoinSet::new();
    asking.spawn(async move { app.secrets.webhook_key().await.map(drop) });
    assert!(asking.join_next().await.unwrap().unwrap_err().is_panic());
}

#[tokio::test]
async fn a_function_is_denied_calls_that_its_iam_policy_lacks() {
    let gateway = Gateway::start().await;
    // Health reads and counts; neither messages nor apps are any of its business.
    let health = host(&gateway, "Health").app();
    health.table.ping().await.unwrap();
    health.queue(QUEUE).depth().await.unwrap();
    let message = (json!({"id": 1}), Duration::ZERO);
    health.queue(QUEUE).send(&[message]).await.unwrap_err();
    health.table.get::<CommerceApp>(&Key::new("APP#a", "A")).await.map(drop).unwrap_err();
    let used = host(&gateway, "Health").used_permissions();
    let used: Vec<_> = used.iter().map(ToString::to_string).collect();
    assert_eq!(used, ["dynamodb:GetItem Table HEALTH", "sqs:GetQueueAttributes WebhookQueue"]);
    let settings = host(&gateway, "Health").used_settings();
    assert_eq!(Vec::from_iter(settings), ["TABLE_NAME", "WEBHOOK_QUEUE_URL"]);
}

#[tokio::test]
async fn senders_to_foreign_queues_are_denied_the_stacks_other_queues() {
    const SENDS: &str = "sqs:SendMessage";
    let senders = who_may(SENDS, FOREIGN_QUEUES);
    assert_eq!(senders, ["Operations", "SlowWebhooks", "Webhooks"]);
    let gateway = Gateway::start().await;
    let resources = gateway.system().embedded().resource_names();
    let queues = resources.iter().filter(|(name, _)| name.contains("://"));
    let queues: BTreeSet<_> = queues.map(|(_, resource)| resource.clone()).collect();
    assert_eq!(queues.len(), 10, "each with its dead letters");
    for function in functions().iter().filter(|function| senders.contains(&function.name)) {
        let statements = |denies| {
            let statements = function.policy.iter().filter(move |it| it.denies == denies);
            let sends = statements.filter(|it| it.actions.contains(SENDS));
            sends.flat_map(|it| it.resources.clone()).collect::<BTreeSet<_>>()
        };
        let (mut given, denied) = (statements(false), statements(true));
        assert!(given.remove(FOREIGN_QUEUES) && given.is_disjoint(&denied), "{}", function.name);
        assert_eq!(&given | &denied, queues, "{}", function.name);
    }
}

#[test]
fn readable_secrets_are_named_in_the_functions_environment() {
    for function in functions() {
        let named: BTreeSet<_> = function
            .environment
            .iter()
            .filter(|(name, _)| name.ends_with("_SECRET"))
            .map(|(_, setting)| match setting {
                Setting::Reference(to) => to.as_str(),
                Setting::Text(text) => text.as_str(),
            })
            .collect();
        let may = function.permissions();
        let readable: BTreeSet<_> = may
            .iter()
            .filter(|permission| permission.action.starts_with("secretsmanager:"))
            .map(|permission| permission.resource.as_str())
            .collect();
        assert_eq!(named, readable, "{}", function.name);
    }
}

/// Which asks an index that nothing else in some of these functions needs.
#[tokio::test]
async fn every_function_finds_a_merchants_only_store() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.open_store().await;
    for path in [
        "/v1/app-store/installations",
        "/v1/customers",
        "/v1/form-submissions",
        "/v1/inventory/locations",
        "/v1/media",
        "/v1/operations/audit-log",
        "/v1/orders",
        "/v1/payments",
        "/v1/payments/providers",
        "/v1/products",
        "/v1/products/gift-cards",
        "/v1/reviews",
        "/v1/themes?installed=true",
    ] {
        merchant.get(path).await.expect(200);
    }
}

/// Which is written beside the request, and missed by nobody where it is rejected.
#[tokio::test]
async fn every_merchant_function_records_session_use() {
    const UNUSED: Duration = Duration::from_mins(6);
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.open_store().await;
    let operator = Operator::sign_up(&gateway).await;
    for (function, path) in [
        ("Auth", "/v1/auth/me"),
        ("Stores", "/v1/stores"),
        ("Products", "/v1/products"),
        ("Orders", "/v1/orders"),
        ("Payments", "/v1/payments"),
        ("AppStore", "/v1/app-store/installations"),
        ("Operations", "/v1/operations/audit-log"),
        ("Health", "/health?deep=1"),
    ] {
        gateway.advance(UNUSED);
        let caller: &Merchant = if function == "Health" { &operator } else { &merchant };
        caller.get(path).await.expect(200);
        let rejected = host(&gateway, function).rejected();
        assert!(rejected.is_empty(), "{function}: {rejected:?}");
    }
}

#[test]
fn sam_local_sets_every_environment_variable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../events/sam-local.json");
    let file: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let set: BTreeSet<_> = file["Parameters"].keys().cloned().collect();
    let given: BTreeSet<_> =
        functions().into_iter().flat_map(|function| function.environment.into_keys()).collect();
    let optional = |name: &&String| !name.ends_with("_BASE_URL");
    let (set, given): (BTreeSet<_>, BTreeSet<_>) =
        (set.iter().filter(optional).collect(), given.iter().filter(optional).collect());
    assert_eq!(set, given);
}

#[test]
fn no_policy_grants_a_leading_key_twice() {
    for Function { name, policy, .. } in functions() {
        for keys in policy.iter().map(|statement| &statement.leading_keys) {
            let covered = |key: &&String| keys.iter().any(|it| it != *key && is_like(it, key));
            let covered: Vec<_> = keys.iter().filter(covered).collect();
            assert!(covered.is_empty(), "{name}: what another one is like: {covered:?}");
        }
    }
}

/// What all other tests have written down that each function has used, and what it was rejected.
fn written_down() -> (BTreeSet<String>, BTreeSet<String>) {
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().unwrap().parent().unwrap().join("used");
    let files = std::fs::read_dir(&directory).expect("run all tests first");
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.partition(|line| !line.starts_with(REJECTED))
}

/// After all other tests: `.ci/run`. Each action of a statement was used on each of its resources, and
/// each of its leading keys by one of them, by one of the functions that run the same code.
#[test]
#[ignore = "reads what all other tests have written down"]
fn the_template_grants_no_unused_permission() {
    let (used, _) = written_down();
    let mut unused = Vec::new();
    let all = functions();
    for Function { name, binary, environment, policy, .. } in functions() {
        let own = environment.keys().filter(|it| !DECLARED_FOR_SAM_LOCAL.contains(&it.as_str()));
        let settings = own.map(|setting| format!("{name} {setting}"));
        unused.extend(settings.filter(|setting| !used.contains(setting)));
        for statement in policy.into_iter().filter(|statement| !statement.denies) {
            let permissions = statement.permissions();
            let uses = |permission: &Permission, key: &str| {
                let line =
                    |name: &String| format!("{name} {permission} {key}").trim_end().to_owned();
                all.iter().filter(|it| it.binary == binary).any(|it| used.contains(&line(&it.name)))
            };
            let mut keys: Vec<&str> = statement.leading_keys.iter().map(String::as_str).collect();
            keys.extend(keys.is_empty().then_some(""));
            let never = permissions.iter().filter(|it| !keys.iter().any(|key| uses(it, key)));
            unused.extend(never.map(|permission| format!("{name} {permission}")));
            let never = keys.iter().filter(|key| !permissions.iter().any(|it| uses(it, key)));
            unused.extend(never.map(|key| format!("{name} {:?} {key}", statement.actions)));
        }
    }
    assert!(unused.is_empty(), "template.yaml gives what no test saw used: {unused:#?}");
}

/// The same for what is missing: who is rejected may go on without, and the test pass.
#[test]
#[ignore = "reads what all other tests have written down"]
fn the_template_lacks_no_requested_permission() {
    const ON_PURPOSE: &[&str] = &[
        "refused: Health dynamodb:GetItem Table APP#a",
        "refused: Health sqs:SendMessage WebhookQueue",
    ];
    let (_, rejected) = written_down();
    let rejected: Vec<_> =
        rejected.iter().filter(|line| !ON_PURPOSE.contains(&line.as_str())).collect();
    assert!(rejected.is_empty(), "template.yaml does not give what was asked for: {rejected:#?}");
}
