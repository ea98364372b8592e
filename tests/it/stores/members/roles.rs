//! What each role lets a member do.

use support::{Client, Market, Merchant, Reply, Shop, Value, json, unique};

use super::{Team, accept};

/// Of each route what an owner, an admin, staff with `read_products` and `write_content`, and somebody
/// who only reads are answered.
#[tokio::test]
async fn each_role_has_exactly_its_permissions() {
    let team = Team::open().await;
    let (admin, _) = team.join(json!({"role": "admin"})).await;
    let scopes = ["read_products", "write_content"];
    let (staff, _) = team.join(json!({"role": "staff", "scopes": scopes})).await;
    let (reader, _) = team.join(json!({"role": "read_only"})).await;
    let of_store = |rest: &str| format!("/v1/stores/{}{rest}", team.store.id);
    let none = || Value::Null;
    let scope = "insufficient_scope";
    let role = "insufficient_role";
    let ok = "";
    let asked = || {
        let mail = format!("{}@example.com", unique("asked"));
        json!({"email": mail, "role": "admin"})
    };
    let owned = json!({"email": "heir@example.com", "role": "owner"});
    let policy = json!({"body_html": "<p>Text</p>", "published": true});
    for (method, path, body, told) in [
        ("GET", of_store(""), none(), [ok, ok, scope, ok]),
        ("PATCH", of_store(""), json!({"name": unique("name")}), [ok, ok, scope, scope]),
        ("GET", "/v1/products".into(), none(), [ok, ok, ok, ok]),
        ("POST", "/v1/products".into(), json!({"title": "Mug"}), [ok, ok, scope, scope]),
        ("PUT", of_store("/policies/refund"), policy, [ok, ok, ok, scope]),
        ("GET", "/v1/orders".into(), none(), [ok, ok, scope, ok]),
        ("GET", "/v1/operations/runtime/overview".into(), none(), [ok, ok, scope, ok]),
        ("GET", "/v1/operations/rate-limits".into(), none(), [ok, ok, ok, ok]),
        ("GET", "/v1/operations/audit-log".into(), none(), [ok, ok, role, role]),
        ("GET", of_store("/settings"), none(), [ok, ok, role, role]),
        (
            "POST",
            of_store("/activate"),
            support::open_as_is(),
            [ok, "invalid_state_transition", role, role],
        ),
        ("GET", "/v1/app-store/installations".into(), none(), [ok, ok, role, role]),
        ("GET", "/v1/payments/providers".into(), none(), [ok, ok, role, role]),
        ("GET", of_store("/members"), none(), [ok, ok, role, role]),
        ("POST", of_store("/members"), asked(), [ok, ok, role, role]),
        ("POST", of_store("/members"), owned, [ok, role, role, role]),
        ("DELETE", of_store(""), json!({}), ["validation_failed", role, role, role]),
    ] {
        for (by, told) in [&*team.owner, &*admin, &*staff, &*reader].into_iter().zip(told) {
            let method = method.parse().unwrap();
            let input = by.with_store(&team.store.id).request(method, &path);
            let reply = if body.is_null() { input.await } else { input.json(body.clone()).await };
            let code = reply.json["code"].as_str().unwrap_or_default();
            assert_eq!(code, told, "{path}: {}", reply.text);
            assert_eq!(reply.status < 300, told.is_empty(), "{path}: {}", reply.text);
            if code == scope {
                assert!(reply.at("/required_scope").is_string(), "{}", reply.text);
                let challenge = reply.header("www-authenticate").unwrap();
                assert!(challenge.contains("insufficient_scope"), "{challenge}");
            }
            if code == role {
                let least = if path == of_store("") { "owner" } else { "admin" };
                let needed = reply.str("/required_role");
                assert!(needed == least || needed == "owner", "{}", reply.text);
            }
        }
    }
}

#[tokio::test]
async fn a_role_change_applies_to_the_next_request() {
    let team = Team::open().await;
    let (ann, id) = team.join(json!({"role": "staff", "scopes": "read_orders"})).await;
    let ann = ann.with_store(&team.store.id);
    let one = team.path(&format!("/{id}"));
    let change = async |input: Value| team.owner.patch(&one).json(input).await;
    ann.get("/v1/products").await.expect(403);
    let view = change(json!({"scopes": "write_products"})).await.expect(200);
    assert_eq!((view.int("/version"), view.at("/scopes")), (3, &json!(["write_products"])));
    ann.get("/v1/products").await.expect(200);
    ann.get("/v1/orders").await.expect(403).problem("insufficient_scope");
    let same = change(json!({"scopes": "write_products"})).await.expect(200);
    assert_eq!(same.int("/version"), 3, "nothing changed");
    change(json!({"role": "read_only", "scopes": "read_orders"})).await.expect(422);
    change(json!({"role": "read_only"})).await.expect(200);
    ann.get("/v1/orders").await.expect(200);
    ann.post("/v1/products").json(json!({"title": "Mug"})).await.expect(403);
    let rejected = change(json!({"role": "staff"})).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/scopes".to_owned(), "required".to_owned())]);
    change(json!({"role": "admin"})).await.expect(200);
    ann.post("/v1/products").json(json!({"title": "Mug"})).await.expect(201);
    let stale = team.owner.patch(&one).json(json!({"role": "read_only"})).if_match("\"3\"").await;
    stale.expect(412).problem("precondition_failed");
    let unknown = team.path(&format!("/mem_{}", "0".repeat(32)));
    team.owner.patch(&unknown).json(json!({"role": "admin"})).await.expect(404);
    assert_eq!(team.gateway.events("member.updated").await.len(), 3);
    // Who did what is in the audit log.
    let log = team.owner.get("/v1/operations/audit-log?action=member.updated").await.expect(200);
    assert_eq!(log.data().len(), 3);
    assert_eq!(log.str("/data/0/actor"), format!("merchant:{}", team.owner.id));
    assert_eq!(log.str("/data/0/entity/id"), id);
}

#[tokio::test]
async fn admins_cannot_manage_owners() {
    let team = Team::open().await;
    let (admin, admin_id) = team.join(json!({"role": "admin"})).await;
    let owner_id = team.id_of(&admin, &team.owner).await;
    let rejected = |reply: Reply| {
        let reply = reply.expect(403).problem("insufficient_role");
        assert_eq!(reply.str("/required_role"), "owner");
    };
    let one = team.path(&format!("/{owner_id}"));
    rejected(admin.patch(&one).json(json!({"role": "admin"})).await);
    rejected(admin.delete(&one).await);
    rejected(admin.patch(&team.path(&format!("/{admin_id}"))).json(json!({"role": "owner"})).await);
    let input = json!({"email": "heir@example.com", "role": "owner"});
    let invited = team.invite(&team.owner, input).await.expect(201).str("/id");
    rejected(admin.patch(&team.path(&format!("/{invited}"))).json(json!({"role": "admin"})).await);
    rejected(admin.delete(&team.path(&format!("/{invited}"))).await);
    assert_eq!(team.people(&team.owner).await[0].2, "owner");
    assert_eq!(team.gateway.events("member.removed").await.len(), 0);
}

/// A subscription goes on when whoever made it is gone: what it sends is what they could read.
#[tokio::test]
async fn staff_subscribe_only_to_events_they_can_read() {
    let team = Team::open().await;
    let scopes = "write_webhooks read_products read_operations";
    let (ann, _) = team.join(json!({"role": "staff", "scopes": scopes})).await;
    let (ann, owner) = (ann.with_store(&team.store.id), team.owner.with_store(&team.store.id));
    let path = "/v1/operations/webhook-subscriptions";
    let hook = |types: &[&str]| json!({"url": "http://127.0.0.1:9/", "event_types": types});
    for types in [
        &["order.created"][..],
        &["order.*"],
        &["*"],
        &["member.invited"],
        &["product.created", "*"],
    ] {
        let rejected = ann.post(path).json(hook(types)).await.expect(403);
        rejected.problem("insufficient_scope");
    }
    let own = ann.post(path).json(hook(&["product.created"])).await.expect(201).str("/id");
    let all = owner.post(path).json(hook(&["*"])).await.expect(201).str("/id");
    let moved = json!({"url": "http://127.0.0.1:9/mine"});
    ann.patch(&format!("{path}/{own}")).json(moved.clone()).await.expect(200);
    let rejected = ann.patch(&format!("{path}/{all}")).json(moved).await.expect(403);
    rejected.problem("insufficient_scope");
    owner
        .patch(&format!("/v1/stores/{}", team.store.id))
        .json(json!({"name": "New"}))
        .await
        .expect(200);
    owner.post("/v1/products").json(json!({"title": "Mug"})).await.expect(201);
    for (name, readable) in [("store.updated", false), ("product.created", true)] {
        let events = owner.get("/v1/operations/outbox?limit=100").await.expect(200);
        let found = events.data().iter().find(|event| event["type"] == name).unwrap();
        let one = format!("/v1/operations/outbox/{}", found["id"].as_str().unwrap());
        let seen = ann.get(&one).await.expect(200);
        assert_eq!(seen.at("/payload").is_object(), readable, "{name}");
        assert!(owner.get(&one).await.expect(200).at("/payload").is_object());
    }
}

/// An app inside the admin does what the app and whoever uses it both may.
#[tokio::test]
async fn an_embedded_app_is_limited_to_the_members_scopes() {
    let shop = Shop::with_published_app(&["write_products", "read_orders"]).await;
    shop.merchant.prove(&shop.gateway).await;
    let installation = shop.authorize().await.installation_id;
    let Shop { gateway, merchant: owner, store, app, .. } = shop;
    let team = Team { gateway, owner, store };
    let (ann, id) =
        team.join(json!({"role": "staff", "scopes": "read_products write_media"})).await;
    let exchange =
        async |input: Value| ann.post("/v1/app-store/oauth/token-exchange").json(input).await;
    let input = json!({"app_id": app.id, "store_id": team.store.id});
    let exchanged = exchange(input.clone()).await.expect(200);
    assert_eq!(exchanged.at("/scopes"), &json!(["read_products"]));
    let mut more = input.clone();
    more["scope"] = json!("write_products");
    exchange(more).await.expect(400).oauth_error("invalid_scope");
    let page = ann.stranger().with_token(&exchanged.str("/access_token"));
    page.get("/v1/products").await.expect(200);
    page.get("/v1/orders").await.expect(403).problem("insufficient_scope");
    let fetch = async |path: &str| {
        let input = json!({"installation_id": installation, "method": "GET", "path": path});
        ann.post("/v1/app-store/bridge/fetch").json(input).await.expect(200).int("/status")
    };
    assert_eq!((fetch("/v1/products").await, fetch("/v1/orders").await), (200, 403));
    // As an admin they have all of it, with a new token; and nothing once they are gone.
    let one = team.path(&format!("/{id}"));
    team.owner.patch(&one).json(json!({"role": "admin"})).await.expect(200);
    let page_of_admin = exchange(input.clone()).await.expect(200).str("/access_token");
    let page_of_admin = ann.stranger().with_token(&page_of_admin);
    page_of_admin.get("/v1/orders").await.expect(200);
    team.owner.patch(&one).json(json!({"role": "staff", "scopes": "read_media"})).await.expect(200);
    page_of_admin.get("/v1/orders").await.expect(403).problem("insufficient_scope");
    team.owner.delete(&one).await.expect(204);
    for page in [&page, &page_of_admin] {
        page.get("/v1/products").await.expect(401).problem("invalid_token");
    }
    let rejected = exchange(input).await;
    assert_eq!(rejected.status, 404, "{}", rejected.text);
}

/// What a store's people are to it costs the requests of nobody.
#[tokio::test]
async fn a_member_request_costs_the_same_reads_as_an_owners() {
    let market = Market::proven().await;
    let Market { gateway, merchant: owner, store, .. } = market;
    let team = Team { gateway, owner, store };
    let (ann, _) = team.join(json!({"role": "staff", "scopes": "read_store"})).await;
    let cost = async |by: &Client| {
        let reply = team.look(by).await.expect(200);
        (reply.trips(), reply.tenths())
    };
    let owner: &Merchant = &team.owner;
    // What the first request of a session writes down is over.
    for by in [owner, &ann] {
        cost(by).await;
    }
    assert_eq!(cost(&ann).await, cost(owner).await);
    assert_eq!(cost(&ann).await.0, 1);
    accept(&ann, "x").await.expect(400);
}
