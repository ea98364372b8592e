//! How far a narrow grant reaches: what goes on acting after the request is steered by nobody who could not
//! do by themselves what it does.

use std::time::Duration;

use http::Method;
use support::{
    Behaviour, Client, Market, Receiver, Shop, ThemeShop, ThemeSource, Value, eventually, inr,
    json, unique, upload,
};

use super::{Team, accept};

const DEADLINE: Duration = Duration::from_secs(20);
const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
const DELIVERIES: &str = "/v1/operations/webhook-deliveries";
const REPLAYS: &str = "/v1/operations/runtime/replays";

/// What somebody who may do anything with webhooks, and nothing else, asks of a subscription.
fn acts(since: &Value) -> Vec<(Method, &'static str, Value)> {
    vec![
        (Method::PATCH, "", json!({"url": "http://127.0.0.1:9/elsewhere"})),
        (Method::PATCH, "", json!({"enabled": false})),
        (Method::PATCH, "", json!({"event_types": ["webhook_subscription.disabled"]})),
        (Method::POST, "/secret/rotate", json!({"grace_seconds": 0})),
        (Method::POST, "/secret/promote", json!({})),
        (Method::POST, "/test", json!({})),
        (Method::POST, "/test", json!({"event_type": "webhook_subscription.disabled"})),
        (Method::POST, "/disable", json!({})),
        (Method::POST, "/enable", json!({})),
        (Method::POST, "/confirm", json!({"token": "a"})),
        (Method::POST, "/challenge", json!({})),
        (Method::POST, "/recover", json!({"since": since})),
        (Method::DELETE, "", json!({})),
    ]
}

/// Every act is rejected for the scope that the events need, and nothing is changed by any.
async fn cannot_steer(by: &Client, owner: &Client, subscription: &str, since: &Value) {
    let one = format!("{SUBSCRIPTIONS}/{subscription}");
    let before = owner.get(&one).await.expect(200).json;
    for (method, rest, input) in acts(since) {
        let reply = by.request(method.clone(), &format!("{one}{rest}")).json(input.clone()).await;
        assert_eq!(reply.status, 403, "{method} {rest} {input}: {}", reply.text);
        let missing = reply.problem("insufficient_scope").str("/required_scope");
        assert_eq!(missing, "read_orders", "{method} {rest} {input}");
    }
    assert_eq!(owner.get(&one).await.expect(200).json, before);
}

/// A store whose app and whose owner each hear of its orders, and somebody on its staff with these scopes.
async fn staffed(scopes: &str) -> (Shop, Client, [String; 2], Receiver) {
    let shop = Shop::with_published_app(&["read_orders", "write_webhooks"]).await;
    shop.merchant.prove(&shop.gateway).await;
    let app = shop.app_client().await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let input = json!({"url": receiver.url("/"), "event_types": ["order.created"]});
    let by_app = app.post(SUBSCRIPTIONS).json(input.clone()).await.expect(201).str("/id");
    let by_owner = shop.owner().post(SUBSCRIPTIONS).json(input).await.expect(201).str("/id");
    let grant = json!({"role": "staff", "scopes": scopes});
    let (ann, _) = super::join(&shop.gateway, &shop.merchant, &shop.store, grant).await;
    let ann = ann.with_store(&shop.store.id);
    (shop, ann, [by_app, by_owner], receiver)
}

#[tokio::test]
async fn changing_a_subscription_requires_the_read_scope_of_its_events() {
    let (shop, ann, [by_app, by_owner], _receiver) = staffed("write_webhooks").await;
    let since = &shop.store.view["created_at"];
    let input = json!({"app_id": shop.app.id, "store_id": shop.store.id});
    let page = ann.post("/v1/app-store/oauth/token-exchange").json(input).await.expect(200);
    let page = ann.stranger().with_token(&page.str("/access_token"));
    cannot_steer(&page, &shop.owner(), &by_app, since).await;
    cannot_steer(&ann, &shop.owner(), &by_app, since).await;
    cannot_steer(&ann, &shop.owner(), &by_owner, since).await;
    // Who can read them does all of it.
    let app = shop.app_client().await;
    let one = format!("{SUBSCRIPTIONS}/{by_app}");
    app.post(&format!("{one}/secret/rotate")).json(json!({})).await.expect(200);
    app.post(&format!("{one}/disable")).json(json!({})).await.expect(200);
    app.delete(&one).await.expect(204);
    shop.owner().delete(&format!("{SUBSCRIPTIONS}/{by_owner}")).await.expect(204);
}

/// What an app may no longer read, its subscription sends no more: it stays the app's to remove.
#[tokio::test]
async fn an_app_with_reduced_scopes_can_delete_its_subscription() {
    let (shop, _, [by_app, _], _receiver) = staffed("write_webhooks").await;
    let mut fields = shop.authorize_fields(&support::verifier());
    fields["scopes"] = json!(["write_webhooks"]);
    let before = shop.app_client().await;
    shop.authorize_with(fields).await.expect(200);
    before.delete(&format!("{SUBSCRIPTIONS}/{by_app}")).await.expect(204);
}

#[tokio::test]
async fn redelivery_requires_the_read_scope_of_the_events() {
    let scopes = "write_webhooks write_operations read_store";
    let (shop, ann, [_, by_owner], _receiver) = staffed(scopes).await;
    let owner = shop.owner();
    let product = json!({
        "title": "Mug", "status": "active",
        "variants": [{"price": inr(500), "inventory": {"levels": [{"quantity": 9}]}}],
    });
    let variant = owner.post("/v1/products").json(product).await.expect(201);
    let order = json!({
        "email": "ann@example.com",
        "items": [{"variant_id": variant.str("/variants/0/id"), "quantity": 1}],
    });
    owner.post("/v1/orders").key("one").json(order).await.expect(201);
    let delivery = eventually(DEADLINE, || async {
        let listed =
            owner.get(&format!("{DELIVERIES}?subscription_id={by_owner}")).await.expect(200);
        let found = listed.data().first().filter(|it| it["attempts"] != 0).cloned();
        found.map(|it| it["id"].as_str().unwrap().to_owned())
    })
    .await;
    let one = format!("{DELIVERIES}/{delivery}");
    let range = json!({"kind": "range", "since": shop.store.view["created_at"]});
    let of_orders = json!({
        "kind": "range", "since": shop.store.view["created_at"], "event_types": ["order.*"],
    });
    let missing = json!({
        "kind": "missing", "since": shop.store.view["created_at"], "subscription_id": by_owner,
    });
    let named = json!({"kind": "delivery", "delivery_ids": [delivery]});
    for (method, path, input) in [
        (Method::GET, format!("{one}/attempts"), None),
        (Method::POST, format!("{one}/redeliver"), Some(json!({}))),
        (Method::DELETE, format!("{one}/content"), Some(json!({}))),
        (Method::POST, REPLAYS.to_owned(), Some(range)),
        (Method::POST, REPLAYS.to_owned(), Some(of_orders)),
        (Method::POST, REPLAYS.to_owned(), Some(missing)),
        (Method::POST, REPLAYS.to_owned(), Some(named)),
    ] {
        let asked = ann.request(method.clone(), &path);
        let reply = match &input {
            Some(input) => asked.json(input.clone()).await,
            None => asked.await,
        };
        assert_eq!(reply.status, 403, "{method} {path} {input:?}: {}", reply.text);
        let missing = reply.problem("insufficient_scope").str("/required_scope");
        assert_eq!(missing, "read_orders", "{method} {path}");
    }
    assert_eq!(owner.get(REPLAYS).await.expect(200).data().len(), 0);
    // What she cannot read is not hers to stop.
    let all = json!({"kind": "range", "since": shop.store.view["created_at"]});
    let replay = owner.post(REPLAYS).json(all).await.expect(202).str("/id");
    let cancel = format!("{REPLAYS}/{replay}/cancel");
    let stopped = ann.post(&cancel).json(json!({})).await.expect(403);
    assert_eq!(stopped.problem("insufficient_scope").str("/required_scope"), "read_orders");
    owner.post(&cancel).json(json!({})).await.expect(200);
    // What she can read is hers to send again.
    let of_store = json!({
        "kind": "range", "since": shop.store.view["created_at"], "event_types": ["store.updated"],
    });
    ann.post(REPLAYS).json(of_store).await.expect(202);
    owner.get(&format!("{one}/attempts")).await.expect(200);
}

/// A theme is its owner's, whichever stores show it: staff of one store, and its apps, do not publish to others.
#[tokio::test]
async fn only_a_themes_owner_uploads_and_lists_it() {
    let shop = Shop::with_published_app(&["write_themes"]).await;
    shop.merchant.prove(&shop.gateway).await;
    let theme = ThemeSource::new(&unique("linen"));
    let package = upload(&shop.merchant, theme.zip()).await.expect(201).str("/package/id");
    let app = shop.app_client().await;
    let grant = json!({"role": "staff", "scopes": "write_themes"});
    let (ann, _) = super::join(&shop.gateway, &shop.merchant, &shop.store, grant).await;
    let ann = ann.with_store(&shop.store.id);
    let next = theme.clone().version("99.0.0");
    upload(&ann, next.zip()).await.expect(409).problem("slug_taken");
    upload(&app, next.zip()).await.expect(401);
    assert_eq!(ann.get("/v1/themes/packages").await.expect(200).data().len(), 0);
    ann.get(&format!("/v1/themes/packages/{package}")).await.expect(404).problem("not_found");
    app.get("/v1/themes/packages").await.expect(401);
    // The owner does, whichever store they look at.
    assert_eq!(shop.owner().get("/v1/themes/packages").await.expect(200).data().len(), 1);
    upload(&shop.owner(), next.zip()).await.expect(201);
}

/// A preview shows a store that is not open: beginning one, and ending another's, is to change its themes.
#[tokio::test]
async fn theme_previews_require_write_themes() {
    let shop = ThemeShop::open().await;
    shop.merchant.prove(&shop.gateway).await;
    shop.draft("New").await;
    let begun = shop.post("preview-session", json!({})).await.expect(201).str("/id");
    let grant = json!({"role": "read_only"});
    let (ann, _) = super::join(&shop.gateway, &shop.merchant, &shop.store, grant).await;
    let ann = ann.with_store(&shop.store.id);
    let sessions = shop.path("preview-session");
    let one = format!("{sessions}/{begun}");
    for rejected in
        [ann.post(&sessions).json(json!({"expires_in": 86_400})).await, ann.delete(&one).await]
    {
        let missing = rejected.expect(403).problem("insufficient_scope").str("/required_scope");
        assert_eq!(missing, "write_themes");
    }
    ann.get(&one).await.expect(200);
}

/// Inviting an address again ends the invitation before: whoever may not change that may not replace it.
#[tokio::test]
async fn an_admin_cannot_replace_an_invitation_for_an_owner() {
    let team = Team::open().await;
    let (admin, _) = team.join(json!({"role": "admin"})).await;
    let heir = team.somebody().await;
    let request = |role: &str| json!({"email": heir.email, "role": role});
    team.invite(&team.owner, request("owner")).await.expect(201);
    let token = team.token(&heir.email).await;
    let rejected = team.invite(&admin, request("read_only")).await.expect(403);
    assert_eq!(rejected.problem("insufficient_role").str("/required_role"), "owner");
    accept(&heir, &token).await.expect(200);
    let theirs = team.id_of(&team.owner, &heir).await;
    let people = team.owner.get(&team.path("")).await.expect(200);
    let member = people.data().iter().find(|it| it["id"] == theirs.as_str()).unwrap().clone();
    assert_eq!(member["role"], "owner");
}

/// What a menu names by id is the store's.
#[tokio::test]
async fn a_menu_rejects_resources_of_other_stores() {
    let (here, there) = (Market::open().await, Market::open().await);
    let product = |market: &Market| {
        let input = json!({"title": "Mug", "status": "active", "variants": [{"price": inr(1)}]});
        market.owner.post("/v1/products").json(input)
    };
    let (own, other) = (product(&here).await.expect(201), product(&there).await.expect(201));
    let menu = format!("/v1/stores/{}/navigation/main", here.store.id);
    let item = |kind: &str, id: &str| json!({"title": "A", "type": kind, "ref": id});
    let own = own.str("/id");
    let mut nested = item("product", &own);
    nested["children"] = json!([item("product", &other.str("/id"))]);
    let items = json!({"items": [
        nested,
        item("collection", &own),
        item("category", "cat_00000000000000000000000000000000"),
        item("product", "not-made-yet"),
    ]});
    let rejected = here.owner.put(&menu).json(items).await.expect(422);
    let field_error = |at: &str, code: &str| (at.to_owned(), code.to_owned());
    assert_eq!(
        rejected.field_errors(),
        [
            field_error("/items/0/children/0/ref", "unknown_product"),
            field_error("/items/1/ref", "unknown_collection"),
            field_error("/items/2/ref", "unknown_category"),
        ]
    );
    here.owner.get(&menu).await.expect(404);
    let input = json!({"title": "Best", "kind": "manual", "product_ids": [own]});
    let best = here.owner.post("/v1/products/collections").json(input).await.expect(201).str("/id");
    let input = json!({"name": "Cups"});
    let cups = here.owner.post("/v1/products/categories").json(input).await.expect(201).str("/id");
    let items = json!({"items": [
        item("product", &own),
        item("collection", &best),
        item("category", &cups),
        item("product", "not-made-yet"),
    ]});
    here.owner.put(&menu).json(items).await.expect(200);
}

/// A kept answer shows a secret: it is repeated to whoever may do what its request could.
#[tokio::test]
async fn an_idempotent_response_is_replayed_only_with_the_same_scope() {
    let (shop, ann, [by_app, by_owner], _receiver) = staffed("write_webhooks").await;
    let exchange = async |by: &Client| {
        let input = json!({"app_id": shop.app.id, "store_id": shop.store.id});
        let page = by.post("/v1/app-store/oauth/token-exchange").json(input).await.expect(200);
        by.stranger().with_token(&page.str("/access_token"))
    };
    let (owners, anns) = (exchange(&shop.merchant).await, exchange(&ann).await);
    let rotate = format!("{SUBSCRIPTIONS}/{by_app}/secret/rotate");
    let first = owners.post(&rotate).key("once").json(json!({})).await.expect(200);
    let again = owners.post(&rotate).key("once").json(json!({})).await.expect(200);
    assert_eq!(again.str("/secret"), first.str("/secret"));
    let rejected = anns.post(&rotate).key("once").json(json!({})).await.expect(403);
    assert!(!rejected.text.contains(&first.str("/secret")));
    assert_eq!(rejected.problem("insufficient_scope").str("/required_scope"), "read_orders");
    // Of a member whose scopes are taken back, too.
    let grant = json!({"role": "staff", "scopes": "write_webhooks read_orders"});
    let (bob, id) = super::join(&shop.gateway, &shop.merchant, &shop.store, grant).await;
    let bob = bob.with_store(&shop.store.id);
    let rotate = format!("{SUBSCRIPTIONS}/{by_owner}/secret/rotate");
    bob.post(&rotate).key("once").json(json!({})).await.expect(200);
    let one = format!("/v1/stores/{}/members/{id}", shop.store.id);
    let less = json!({"role": "staff", "scopes": "write_webhooks"});
    shop.merchant.patch(&one).json(less).await.expect(200);
    bob.post(&rotate).key("once").json(json!({})).await.expect(403).problem("insufficient_scope");
}

/// Whoever is removed from a store, or an app that is, shows it to nobody any more.
#[tokio::test]
async fn a_preview_ends_when_its_creator_loses_access() {
    let shop = Shop::with_published_app(&["write_themes"]).await;
    shop.merchant.prove(&shop.gateway).await;
    let slug = unique("linen");
    upload(&shop.merchant, ThemeSource::new(&slug).zip()).await.expect(201);
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200).str("/access_token");
    let app = shop.app_server.with_token(&token);
    let path = |rest: &str| format!("/v1/themes/{slug}/{rest}");
    shop.owner().post(&path("install")).json(json!({})).await.expect(201);
    shop.owner().put(&path("editor/draft")).json(json!({})).await.expect(200);
    let member = json!({"role": "staff", "scopes": "write_themes"});
    let (ann, id) = super::join(&shop.gateway, &shop.merchant, &shop.store, member).await;
    let begin = async |by: &Client| {
        let begun = by.post(&path("preview-session")).json(json!({})).await.expect(201);
        begun.str("/preview_token")
    };
    let (anns, apps) = (begin(&ann.with_store(&shop.store.id)).await, begin(&app).await);
    let front = format!("/v1/storefront/{}", shop.store.subdomain);
    let look = async |token: &str| {
        shop.gateway.client().get(&front).header("x-service-preview-token", token).await.status
    };
    assert_eq!((look(&anns).await, look(&apps).await), (200, 200));
    shop.merchant.delete(&format!("/v1/stores/{}/members/{id}", shop.store.id)).await.expect(204);
    shop.uninstall(&grant.installation_id).await.expect(200);
    // The store is not open.
    assert_eq!((look(&anns).await, look(&apps).await), (404, 404));
}

/// What is in no catalogue is seen and installed by its owner alone, in their own session.
#[tokio::test]
async fn only_its_owner_installs_an_unlisted_theme() {
    let shop = Shop::with_published_app(&["write_themes"]).await;
    shop.merchant.prove(&shop.gateway).await;
    let slug = unique("linen");
    let theme = ThemeSource::new(&slug);
    upload(&shop.merchant, theme.zip()).await.expect(201);
    let app = shop.app_client().await;
    let grant = json!({"role": "staff", "scopes": "write_themes"});
    let (ann, _) = super::join(&shop.gateway, &shop.merchant, &shop.store, grant).await;
    let ann = ann.with_store(&shop.store.id);
    let path = |rest: &str| format!("/v1/themes/{slug}/{rest}");
    for client in [&ann, &app] {
        for version in ["", "?version=1.0.0"] {
            let schema = client.get(&path(&format!("schema{version}"))).await;
            schema.expect(404).problem("not_found");
        }
        for input in [json!({}), json!({"version": "1.0.0"})] {
            client.post(&path("install")).json(input).await.expect(404).problem("not_found");
        }
    }
    let owner = shop.owner();
    owner.get(&path("schema")).await.expect(200);
    owner.post(&path("install")).json(json!({})).await.expect(201);
    // What the store has installed is the store's; the next version is not yet.
    ann.get(&path("schema")).await.expect(200);
    upload(&shop.merchant, theme.clone().version("1.1.0").zip()).await.expect(201);
    for input in [json!({"dry_run": true}), json!({"version": "1.1.0"})] {
        app.post(&path("upgrade")).json(input.clone()).await.expect(404);
        ann.post(&path("upgrade")).json(input).await.expect(404).problem("not_found");
    }
    owner.post(&path("upgrade")).json(json!({})).await.expect(200);
}
