//! However much is wrong with a request, what is answered is small, and says how much it leaves out.

use support::{Client, Market, Reply, ThemeShop, ThemeSource, Value, json, unique};

/// Bytes of such an answer at most.
const MOST: usize = 64 << 10;
/// Members that a body of a mebibyte has room for.
const MANY: usize = 90_000;

/// An object of so many members that nobody knows.
fn unknown(count: usize) -> Value {
    Value::Object((0..count).map(|number| (format!("x{number}"), json!(1))).collect())
}

/// `object`, and what it has besides.
fn with(mut object: Value, more: &Value) -> Value {
    let more = more.as_object().expect("members").clone();
    object.as_object_mut().expect("members").extend(more);
    object
}

/// Holds that a hundred of so many errors are named.
fn bounded(reply: &Reply, total: usize) {
    assert!(reply.text.len() <= MOST, "{} bytes", reply.text.len());
    let errors = reply.at("/errors").as_array().expect("errors");
    assert_eq!(errors.len(), 100);
    assert_eq!(reply.int("/more"), i64::try_from(total - 100).expect("a count"));
}

async fn rejected(client: &Client, path: &str, body: Value) -> Reply {
    client.post(path).key(&unique("odd")).json(body).await.expect(422).problem("validation_failed")
}

#[tokio::test]
async fn a_problem_lists_100_field_errors_and_counts_the_rest() {
    let market = Market::open().await;
    let guest = market.gateway.client();
    let sign_in = with(json!({"email": "a@example.com", "password": "x"}), &unknown(MANY));
    bounded(&rejected(&guest, "/v1/auth/signin", sign_in).await, MANY);
    // Three of its own are missing.
    let order = rejected(&guest.elsewhere(), &market.orders_path(), unknown(MANY)).await;
    let missing = order.int("/more") + 100 - i64::try_from(MANY).expect("a count");
    assert!((1..10).contains(&missing), "{missing} are missing");
    assert!(order.text.len() <= MOST, "{} bytes", order.text.len());
    let nested = json!([with(json!({"variant_id": "x"}), &unknown(60_000))]);
    let order = json!({"email": "a@example.com", "items": nested});
    let order = rejected(&guest.elsewhere(), &market.orders_path(), order).await;
    assert!(order.int("/more") > 59_000 && order.text.len() <= MOST);
    // A few are all named.
    let few = with(json!({"email": "a@example.com", "password": "x"}), &unknown(100));
    let few = rejected(&guest.elsewhere(), "/v1/auth/signin", few).await;
    assert_eq!((few.field_errors().len(), few.json.get("more")), (100, None));
}

#[tokio::test]
async fn field_errors_are_bounded_for_every_shape_and_depth() {
    let market = Market::open().await;
    let owner = &market.owner;
    let metadata: Value = (0..30_000)
        .map(|number| (format!("x{number}"), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let product = json!({"title": "Mug", "metadata": metadata});
    let product = rejected(owner, "/v1/products", product).await;
    assert!(product.int("/more") >= 29_900 && product.text.len() <= MOST);
    let operators = |_| unknown(8_000);
    let filter: Value = (0..10)
        .map(|path| (format!("$.data.x{path}"), operators(path)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let hook =
        json!({"url": "https://example.com/h", "topics": ["order.created"], "filter": filter});
    let hook = rejected(owner, "/v1/operations/webhook-subscriptions", hook).await;
    assert!(hook.int("/more") >= 79_900 && hook.text.len() <= MOST, "{}", hook.text.len());
    let path = format!("/v1/stores/{}/navigation/main", market.store.id);
    let menu =
        |items| owner.put(&path).json(json!({"title": "Main", "items": vec![json!({}); items]}));
    let many = menu(45_000).await.expect(422);
    assert!(many.text.len() <= MOST, "{}", many.text.len());
    menu(100_000).await.expect(400).problem("invalid_json");
    // Repeated parameters of a form, as an OAuth endpoint says it.
    let form = "x=1&".repeat(100_000);
    let form = market.gateway.client().post("/v1/app-store/oauth/token").body(form);
    let form = form.header("content-type", "application/x-www-form-urlencoded").await.expect(400);
    assert!(form.text.len() <= MOST, "{}", form.text.len());
}

#[tokio::test]
async fn long_field_names_are_truncated_in_errors() {
    let market = Market::open().await;
    let guest = market.gateway.client();
    for name in ["x".repeat(900_000), "\u{1}".repeat(100_000), "é/~".repeat(100_000)] {
        let odd = json!({"email": "a@example.com", "password": "x", (name.clone()): 1});
        let reply = rejected(&guest, "/v1/auth/signin", odd).await;
        let errors = reply.field_errors();
        assert_eq!(errors.len(), 1);
        assert!(errors[0].0.ends_with('…') && reply.text.len() <= 4_000, "{}", reply.text.len());
        let twice =
            format!("{{{0}:1,{0}:1}}", Value::from(name.chars().take(80_000).collect::<String>()));
        let twice =
            guest.post("/v1/auth/signin").header("content-type", "application/json").body(twice);
        let twice = twice.await.expect(400).problem("invalid_json");
        assert!(twice.text.len() <= 4_000, "{}", twice.text.len());
    }
    let names: serde_json::Map<String, Value> =
        (0..90).map(|number| (format!("{number}{}", "x".repeat(10_000)), json!(1))).collect();
    let reply = rejected(&guest, "/v1/auth/signin", names.into()).await;
    assert!(reply.text.len() <= MOST, "{}", reply.text.len());
}

#[tokio::test]
async fn bulk_operations_share_a_limit_of_100_field_errors() {
    let market = Market::open().await;
    let operation = |_| json!({"action": "create", "product": unknown(500)});
    let input = json!({"operations": (0..100).map(operation).collect::<Vec<_>>()});
    let done = market.owner.post("/v1/products/bulk").key(&unique("bulk")).json(input).await;
    let done = done.expect(200);
    assert_eq!(done.int("/failed"), 100);
    let results = done.at("/results").as_array().expect("results");
    let named = |result: &Value| result["problem"]["errors"].as_array().map_or(0, Vec::len);
    assert_eq!(results.iter().map(named).sum::<usize>(), 100);
    for result in results {
        let problem = &result["problem"];
        assert_eq!(problem["code"], "validation_failed");
        // The title is missing.
        let more = problem["more"].as_u64().unwrap_or(0);
        assert_eq!(u64::try_from(named(result)).unwrap() + more, 501, "{problem}");
    }
    assert!(done.text.len() <= 2 * MOST, "{}", done.text.len());
}

#[tokio::test]
async fn theme_findings_are_bounded() {
    let shop = ThemeShop::with_upload().await;
    let mut source = ThemeSource::new(&unique("odd"));
    source.manifest["version"] = json!("one");
    let mut files = source.files();
    let odd = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    for number in 0..300 {
        files.push(odd(&format!("templates/t{number}.json"), "{"));
        files.push(odd(&format!("odd/{number}.txt"), "x"));
    }
    let data = json!({"current": unknown(60_000)}).to_string();
    files.push(odd("config/settings_data.json", &data));
    let rejected = support::upload(&shop.merchant, support::zip(&files)).await.expect(422);
    let rejected = rejected.problem("invalid_package");
    assert!(rejected.text.len() <= MOST, "{} bytes", rejected.text.len());
    let findings = rejected.at("/findings").as_array().expect("findings");
    assert_eq!(findings.len(), 101);
    let codes: Vec<&str> = findings.iter().filter_map(|finding| finding["code"].as_str()).collect();
    assert!(codes.contains(&"version_invalid"), "one kind hides no other: {codes:?}");
    assert_eq!(codes.last(), Some(&"more_findings"));
    assert!(rejected.int("/more") >= 5_000, "{}", rejected.int("/more"));
    shop.post("install", json!({})).await.expect(201);
    let blocks: serde_json::Map<String, Value> =
        (0..40).map(|number| (format!("b{number}"), json!({"type": "odd"}))).collect();
    let order: Vec<&String> = blocks.keys().collect();
    let section = json!({"type": "hero", "blocks": blocks, "block_order": order});
    let sections: serde_json::Map<String, Value> =
        (0..20).map(|number| (format!("s{number}"), section.clone())).collect();
    let order: Vec<&String> = sections.keys().collect();
    let draft = json!({"version": 1, "settings": {}, "sections": sections, "order": order});
    let draft = shop.owner.put(&shop.path("editor/draft")).json(draft).await.expect(422);
    assert!(draft.text.len() <= MOST, "{}", draft.text.len());
    assert!(draft.int("/more") >= 600, "{}", draft.text);
}
