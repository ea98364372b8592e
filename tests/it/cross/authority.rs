//! Long work acts for somebody, and ends when they may no longer.

use std::fmt::Write;
use std::time::Duration;

use core_types::id::{ExportId, ImportId, ReplayId};
use delivery::run::RunMessage;
use support::{Client, Developer, Gateway, Merchant, Reply, Shop, Store, Value, eventually, json};

const IMPORTS: &str = "/v1/imports";
const EXPORTS: &str = "/v1/exports";
const REPLAYS: &str = "/v1/operations/runtime/replays";
const SOON: Duration = Duration::from_mins(1);

/// So many products as a file.
fn products(count: usize) -> String {
    let mut file = "Handle,Title,Variant Price\n".to_owned();
    for number in 0..count {
        let _ = writeln!(file, "p-{number},Product {number},1");
    }
    file
}

/// An import of so many products, started by this client.
async fn import(client: &Client, count: usize) -> String {
    let id = client.post(IMPORTS).json(json!({"kind": "products"})).await.expect(201).str("/id");
    let part = client.put(&format!("{IMPORTS}/{id}/parts/1")).header("content-type", "text/csv");
    part.body(products(count).into_bytes()).await.expect(200);
    client.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
    id
}

async fn made(gateway: &Gateway) -> usize {
    gateway.items_of("product", "").await.len()
}

/// A gateway whose long work takes its steps when the test says so.
async fn by_hand() -> Gateway {
    Gateway::start_with(|options| options.has_runner = false).await
}

/// A step as the function takes it, with the policy that it has.
async fn step(gateway: &Gateway, message: RunMessage) {
    let host = gateway.system().functions().of("runner").unwrap();
    runner::take(host.app(), message).await.unwrap();
}

/// A step of an import that is cut off once it has made something; answers with how many products there are.
async fn part_of_a_step(gateway: &Gateway, id: &str) -> usize {
    let before = made(gateway).await;
    let something = async {
        while made(gateway).await == before {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = step(gateway, of_import(id)) => {}
        () = something => {}
    }
    // What was on its way is still done by an engine with a process of its own.
    let mut last = made(gateway).await;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = made(gateway).await;
        if now == last {
            return now;
        }
        last = now;
    }
}

fn of_import(id: &str) -> RunMessage {
    RunMessage::Import { id: ImportId::parse(id).unwrap() }
}

/// The work ended as cancelled for this reason.
fn assert_revoked(shown: &Reply, reason: &str) {
    let found = (shown.str("/status"), shown.str("/status_reason"));
    assert_eq!(found, ("cancelled".to_owned(), reason.to_owned()), "{}", shown.text);
    assert_eq!(shown.at("/allowed_actions"), &json!([]));
    assert!(shown.at("/finished_at").is_string());
}

/// As somebody does who sees their store fill up: the app is uninstalled in the midst of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uninstalling_an_app_ends_its_import_within_a_page() {
    let shop = Shop::with_published_app(&["write_imports", "write_products"]).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let app = shop.app_server.with_token(&token.str("/access_token"));
    let id = import(&app, 6_000).await;
    let path = format!("{IMPORTS}/{id}");
    let owner = shop.owner();
    let created = async || owner.elsewhere().get(&path).await.expect(200).int("/progress/created");
    eventually(SOON, || async { (created().await >= 200).then_some(()) }).await;
    shop.uninstall(&grant.installation_id).await.expect(200);
    let then = created().await;
    let shown = eventually(SOON, || async {
        let shown = owner.elsewhere().get(&path).await.expect(200);
        (shown.str("/status") != "running").then_some(shown)
    })
    .await;
    assert_revoked(&shown, "app_uninstalled");
    let done = shown.int("/progress/created");
    assert!(done >= then && done < 6_000, "{}", shown.text);
    let products = made(&shop.gateway).await;
    assert_eq!(products, usize::try_from(done).unwrap(), "what was done is said");
    shop.gateway.advance(Duration::from_mins(2));
    shop.gateway.sweep().await;
    step(&shop.gateway, of_import(&id)).await;
    assert_eq!(made(&shop.gateway).await, products);
    let told = shop.gateway.events("import.finished").await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["data"]["status_reason"], "app_uninstalled");
    // The store goes on.
    let owner = shop.merchant.sign_in_again().await.at(&shop.store);
    let next = import(&owner, 1).await;
    eventually(SOON, || async {
        let shown = owner.elsewhere().get(&format!("{IMPORTS}/{next}")).await.expect(200);
        (shown.str("/status") != "running").then_some(())
    })
    .await;
}

/// An app on a store whose long work is taken by hand.
async fn shop_by_hand(scopes: &[&str]) -> (Shop, Client, String) {
    let shop = Shop::on(by_hand().await, Developer::app_fields(scopes)).await;
    let grant = shop.authorize().await;
    let token = shop.redeem(&grant).await.expect(200);
    let app = shop.app_server.with_token(&token.str("/access_token"));
    (shop, app, grant.installation_id)
}

#[tokio::test]
async fn an_import_ends_when_its_app_loses_the_scope() {
    let (shop, app, _) = shop_by_hand(&["write_imports", "write_products"]).await;
    let id = import(&app, 1_500).await;
    let before = Box::pin(part_of_a_step(&shop.gateway, &id)).await;
    assert!(before > 0);
    let mut fields = shop.authorize_fields(&support::verifier());
    fields["scope"] = json!("write_imports read_products");
    shop.authorize_with(fields).await.expect(200);
    step(&shop.gateway, of_import(&id)).await;
    let shown = shop.owner().get(&format!("{IMPORTS}/{id}")).await.expect(200);
    assert_revoked(&shown, "scope_withdrawn");
    assert_eq!(made(&shop.gateway).await, before);
}

#[tokio::test]
async fn revoking_tokens_or_suspending_an_app_ends_its_import() {
    for (action, reason) in [("tokens/revoke", "tokens_revoked"), ("suspend", "app_suspended")] {
        let (shop, app, installation) = shop_by_hand(&["write_imports", "write_products"]).await;
        let id = import(&app, 10).await;
        let path = format!("/v1/app-store/installations/{installation}/{action}");
        shop.owner().post(&path).json(json!({})).await.expect(200);
        step(&shop.gateway, of_import(&id)).await;
        let shown = shop.owner().get(&format!("{IMPORTS}/{id}")).await.expect(200);
        assert_revoked(&shown, reason);
        assert_eq!(made(&shop.gateway).await, 0);
    }
}

/// A store with a member of staff who may do this.
async fn with_staff(gateway: &Gateway, scopes: &str) -> (Merchant, Store, Merchant, String) {
    let owner = Merchant::sign_up(gateway).await;
    let store = owner.open_store().await;
    owner.prove(gateway).await;
    let staff = Merchant::sign_up(gateway).await;
    staff.prove(gateway).await;
    let input = json!({"email": staff.email, "role": "staff", "scopes": scopes});
    let members = format!("/v1/stores/{}/members", store.id);
    let member = owner.post(&members).json(input).await.expect(201).str("/id");
    let token = gateway.mailbox(&staff.email).token_of("You are invited to a store").await;
    let accept = json!({"token": token});
    staff.post("/v1/stores/invitations/accept").json(accept).await.expect(200);
    (owner, store, staff, format!("{members}/{member}"))
}

#[tokio::test]
async fn an_import_ends_when_its_creator_loses_membership_or_role() {
    let gateway = by_hand().await;
    let (owner, store, staff, member) = with_staff(&gateway, "write_imports write_products").await;
    let id = import(&staff.at(&store), 1_500).await;
    let before = Box::pin(part_of_a_step(&gateway, &id)).await;
    assert!(before > 0);
    // What still covers the work keeps it.
    let change = json!({"scopes": "write_imports write_products write_orders"});
    owner.patch(&member).json(change).await.expect(200);
    let more = Box::pin(part_of_a_step(&gateway, &id)).await;
    assert!(more > before, "it went on");
    owner.patch(&member).json(json!({"role": "read_only"})).await.expect(200);
    step(&gateway, of_import(&id)).await;
    let path = format!("{IMPORTS}/{id}");
    assert_revoked(&owner.at(&store).get(&path).await.expect(200), "scope_withdrawn");
    let change = json!({"role": "staff", "scopes": "write_imports write_products"});
    owner.patch(&member).json(change).await.expect(200);
    let id = import(&staff.at(&store), 5).await;
    owner.delete(&member).await.expect(204);
    step(&gateway, of_import(&id)).await;
    let path = format!("{IMPORTS}/{id}");
    assert_revoked(&owner.at(&store).get(&path).await.expect(200), "member_removed");
    assert_eq!(made(&gateway).await, more);
}

#[tokio::test]
async fn removing_a_member_ends_their_export_without_a_file() {
    let gateway = by_hand().await;
    let (owner, store, staff, member) =
        with_staff(&gateway, "write_exports read_products read_customers read_orders").await;
    let at = owner.at(&store);
    let input = json!({"title": "A Lamp", "variants": [{"price": support::inr(100)}]});
    at.post("/v1/products").json(input).key("lamp").await.expect(201);
    let asked = staff.at(&store).post(EXPORTS).json(json!({"kind": "products"})).await;
    let id = asked.expect(202).str("/id");
    owner.delete(&member).await.expect(204);
    step(&gateway, RunMessage::Export { id: ExportId::parse(&id).unwrap() }).await;
    assert_revoked(&at.get(&format!("{EXPORTS}/{id}")).await.expect(200), "member_removed");
    assert!(gateway.items(&format!("FIL#{id}")).await.is_empty());
    let told = gateway.events("export.finished").await;
    assert_eq!(told[0]["data"]["status_reason"], "member_removed");
}

#[tokio::test]
async fn uninstalling_an_app_ends_its_replay() {
    let scopes = ["read_store", "write_operations", "write_webhooks"];
    let (shop, app, installation) = shop_by_hand(&scopes).await;
    let receiver = support::Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    app.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let path = format!("/v1/stores/{}", shop.store.id);
    for name in ["First", "Second"] {
        shop.owner().patch(&path).json(json!({"name": name})).await.expect(200);
    }
    receiver.wait_for(2).await;
    let since: Value = shop.store.view["created_at"].clone();
    let input = json!({"kind": "range", "since": since, "event_types": ["store.updated"]});
    let replay = app.post(REPLAYS).json(input).await.expect(202);
    assert_eq!(replay.int("/matched"), 2);
    shop.uninstall(&installation).await.expect(200);
    let id = replay.str("/id");
    shop.gateway.advance(Duration::from_secs(10));
    step(&shop.gateway, RunMessage::Replay { id: ReplayId::parse(&id).unwrap() }).await;
    let shown = shop.owner().get(&format!("{REPLAYS}/{id}")).await.expect(200);
    assert_revoked(&shown, "app_uninstalled");
    assert_eq!(shown.int("/progress/sent"), 0);
    let deliveries = shop.gateway.items_of("delivery", "DLV#").await;
    assert!(deliveries.iter().all(|delivery| delivery["replay_id"].is_null()));
    let stated = shop.owner().get("/v1/operations/reliability-evidence").await.expect(200);
    assert_eq!(stated.data()[0]["outcome"], "cancelled");
}

/// Also at the canary's, while its requests are made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_test_ends_when_its_operator_closes_their_account() {
    const LOAD_TESTS: &str = "/v1/operations/runtime/load-tests";
    let gateway = Gateway::start().await;
    let operator = support::Operator::sign_up(&gateway).await;
    let input = json!({"duration_s": 60, "requests_per_second": 2, "checkout_percent": 0});
    let id = operator.post(LOAD_TESTS).json(input).await.expect(202).str("/id");
    let item = async || gateway.items("LDT#").await.remove(0);
    eventually(SOON, || async { (item().await["seconds_done"].as_u64() >= Some(5)).then_some(()) })
        .await;
    let gone = json!({"current_password": support::PASSWORD});
    operator.delete("/v1/auth/me").json(gone).await.expect(202);
    let ended = eventually(Duration::from_secs(10), || async {
        let item = item().await;
        item["finished_at"].is_string().then_some(item)
    })
    .await;
    assert_eq!((&ended["id"], &ended["status"]), (&json!(id), &json!("aborted")));
    assert_eq!(ended["stop_reason"], "aborted: account_closed");
    assert!(ended["seconds_done"].as_u64() < Some(60));
    assert!(gateway.items_of("canary_hold", "FLT#").await.is_empty());
}

#[tokio::test]
async fn deleting_a_store_ends_its_imports_and_exports() {
    let gateway = by_hand().await;
    let owner = Merchant::sign_up(&gateway).await;
    let store = owner.open_store().await;
    let at = owner.at(&store);
    let id = at.post(EXPORTS).json(json!({"kind": "products"})).await.expect(202).str("/id");
    let import = import(&at, 5).await;
    at.delete(&format!("/v1/stores/{}", store.id)).json(json!({"confirm": store.subdomain})).await;
    gateway.quiet().await;
    step(&gateway, RunMessage::Export { id: ExportId::parse(&id).unwrap() }).await;
    step(&gateway, of_import(&import)).await;
    let kept = gateway.items("EXP#").await;
    assert_eq!(kept[0]["status_reason"], "store_deleted", "{kept:?}");
    assert_eq!(gateway.items("IMP#").await[0]["status_reason"], "store_deleted");
    assert_eq!(made(&gateway).await, 0);
}
