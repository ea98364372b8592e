//! What a deployment gives its functions. The system that every test runs on gives each function
//! the environment and the permissions of `template.yaml` and no more (`local::functions`), so that
//! whatever a function lacks is missing in the tests of what it does. Here: that this holds, who may
//! read which secret, and that nothing is given that is not used.

use std::collections::{BTreeMap, BTreeSet};

use delivery::delivery::QUEUE;
use gateway::embedded::guard::Permission;
use local::functions::Host;
use local::template::{self, Function, Setting};
use support::{Gateway, Merchant, Operator, Shop, json};
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
        .filter(|function| function.permissions.contains(&wanted))
        .map(|function| function.name)
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn operators_are_operators_wherever_they_act() {
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
async fn an_admins_page_may_read_what_every_function_answers() {
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
async fn a_function_reads_the_secrets_that_it_opens_and_no_other() {
    for (secret, readers) in [
        ("SigningKeys", &["AppStore"][..]),
        ("ReceiptKeys", &["Operations"]),
        ("MailKey", &["Auth", "Dispatcher", "Mail", "Products", "Storefront"]),
        ("MailServer", &["Mail"]),
        ("MfaKey", &["Auth"]),
        ("PaymentKey", &["Dispatcher", "Orders", "Payments", "Storefront"]),
        ("WebhookKey", &["AppStore", "Operations", "SlowWebhooks", "Webhooks"]),
        ("GiftCardKey", &["Orders", "Products", "Storefront"]),
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
async fn a_call_that_the_policy_does_not_allow_is_refused() {
    let gateway = Gateway::start().await;
    // Health reads and counts; a list is none of its business.
    let health = host(&gateway, "Health").app();
    health.table.ping().await.unwrap();
    health.queue(QUEUE).depth().await.unwrap();
    let message = (json!({"id": 1}), std::time::Duration::ZERO);
    health.queue(QUEUE).send(&[message]).await.unwrap_err();
    let used = host(&gateway, "Health").used_permissions();
    let used: Vec<_> = used.iter().map(|p| format!("{} {}", p.action, p.resource)).collect();
    assert_eq!(used, ["dynamodb:GetItem Table", "sqs:GetQueueAttributes WebhookQueue"]);
    let settings = host(&gateway, "Health").used_settings();
    assert_eq!(Vec::from_iter(settings), ["TABLE_NAME", "WEBHOOK_QUEUE_URL"]);
}

#[test]
fn what_a_function_may_read_it_is_told_the_name_of() {
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
        let may = function.permissions.iter();
        let readable: BTreeSet<_> = may
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
    ] {
        merchant.get(path).await.expect(200);
    }
}

#[test]
fn sam_local_sets_every_variable() {
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

/// After all other tests, which write down what each function has used: `.ci/run`.
#[test]
#[ignore = "reads what all other tests have written down"]
fn nothing_is_given_that_is_not_used() {
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().unwrap().parent().unwrap().join("used");
    let files = std::fs::read_dir(&directory).expect("run all tests first");
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let used: BTreeSet<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut given = BTreeSet::new();
    for Function { name, environment, permissions, .. } in functions() {
        let own = environment.keys().filter(|it| !DECLARED_FOR_SAM_LOCAL.contains(&it.as_str()));
        given.extend(own.map(|setting| format!("{name} {setting}")));
        given.extend(permissions.iter().map(|p| format!("{name} {} {}", p.action, p.resource)));
    }
    let unused: Vec<_> = given.difference(&used).collect();
    assert!(unused.is_empty(), "template.yaml gives what no test saw used: {unused:#?}");
}
