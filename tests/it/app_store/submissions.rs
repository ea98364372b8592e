//! How a submission ends when it is not approved, and what becomes of its developer's profile.

use support::{Shop, Value, json};

const QUEUE: &str = "/v1/app-store/submissions";

/// The path of a submission that waits, as its developer sees it, and its id.
async fn submitted(shop: &Shop, version: &str) -> (String, String) {
    let path = format!("/v1/app-store/developers/apps/{}/submissions", shop.app.id);
    let fields = support::Developer::submission_fields(version);
    let id = shop.developer.post(&path).json(fields).await.expect(201).str("/id");
    (format!("{path}/{id}"), id)
}

#[tokio::test]
async fn a_submission_is_decided_once_with_notes_for_its_developer() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let why = json!({"notes": ["The screencast shows another app."]});
    let endings = [("reject", "rejected"), ("request-changes", "changes_requested")];
    for (number, (ending, status)) in endings.into_iter().enumerate() {
        let (path, id) = submitted(&shop, &format!("2.{number}.0")).await;
        let decision = format!("{QUEUE}/{id}/{ending}");
        let bare = shop.operator.post(&decision).json(json!({"notes": []})).await.expect(422);
        assert_eq!(bare.field_errors(), [("/notes".to_owned(), "required".to_owned())]);
        shop.developer.post(&decision).json(why.clone()).await.expect(403);
        let decided = shop.operator.post(&decision).json(why.clone()).await.expect(200);
        assert_eq!(decided.str("/status"), status);
        let shown = shop.developer.get(&path).await.expect(200);
        assert_eq!((shown.str("/status").as_str(), shown.at("/notes")), (status, &why["notes"]));
        for after in ["approve", "reject", "request-changes"] {
            let again = shop.operator.post(&format!("{QUEUE}/{id}/{after}")).json(why.clone());
            again.await.expect(409).problem("invalid_state_transition");
        }
        let late = shop.developer.post(&format!("{path}/withdraw")).json(json!({})).await;
        late.expect(409).problem("invalid_state_transition");
    }
    let own = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    assert_eq!(shop.developer.get(&own).await.expect(200).str("/approved_version"), "1.0.0");
}

#[tokio::test]
async fn a_withdrawn_submission_allows_another() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let (path, id) = submitted(&shop, "2.0.0").await;
    let again = support::Developer::submission_fields("2.0.1");
    let list = path.trim_end_matches(&format!("/{id}")).to_owned();
    let open = shop.developer.post(&list).json(again.clone()).await;
    open.expect(409).problem("submission_open");
    let withdrawn = shop.developer.post(&format!("{path}/withdraw")).json(json!({})).await;
    assert_eq!(withdrawn.expect(200).str("/status"), "withdrawn");
    assert!(shop.operator.get(QUEUE).await.expect(200).data().is_empty());
    let late = shop.operator.post(&format!("{QUEUE}/{id}/approve")).json(json!({})).await;
    late.expect(409).problem("invalid_state_transition");
    shop.developer.post(&list).json(again).await.expect(201);
}

#[tokio::test]
async fn a_submission_without_a_lookup_item_can_be_decided() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let (_, id) = submitted(&shop, "2.0.0").await;
    let pointers = shop.gateway.items_of("pointer", &format!("SUB#{id}")).await;
    shop.gateway.delete_item(&pointers[0]).await;
    assert_eq!(shop.gateway.items_of("pointer", "SUB#").await.len(), 1, "of the first submission");
    let approved = shop.operator.post(&format!("{QUEUE}/{id}/approve")).json(json!({})).await;
    assert_eq!(approved.expect(200).str("/status"), "approved");
}

#[tokio::test]
async fn a_renamed_developer_profile_becomes_unverified() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let me = "/v1/app-store/developers/me";
    let site = json!({"website": "https://apps.example.com", "contact_email": "new@example.com"});
    let changed = shop.developer.patch(me).json(site).await.expect(200);
    assert_eq!(changed.str("/website"), "https://apps.example.com");
    let renamed = json!({"company": "Other Apps Inc.", "website": null});
    let renamed = shop.developer.patch(me).json(renamed).await.expect(200);
    assert_eq!(renamed.at("/verified"), false);
    assert_eq!(renamed.at("/website"), &Value::Null);
    let shown = shop.developer.get("/v1/app-store/developers/register").await.expect(200);
    assert_eq!(shown.str("/company"), "Other Apps Inc.");
    shop.merchant.patch(me).json(json!({"company": "X"})).await.expect(403);
}

#[tokio::test]
async fn an_installation_lists_the_scopes_of_its_app() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let grant = shop.authorize().await;
    let path = format!("/v1/app-store/installations/{}/scopes", grant.installation_id);
    let scopes = shop.owner().get(&path).await.expect(200);
    assert!(scopes.text.contains("read_store") && scopes.text.contains("write_webhooks"));
    assert!(!scopes.text.contains("write_products"), "{}", scopes.text);
    shop.developer.at(&shop.store).get(&path).await.expect(404).problem("store_not_found");
}
