//! What themes cost the table, exactly: units as DynamoDB counts them, and round trips
//! (`cross/costs.rs` says how).

use support::{Reply, ThemeShop, json};

/// Tenths of a unit, and round trips.
fn cost(reply: &Reply) -> (u32, u32) {
    (reply.tenths(), reply.trips())
}

#[tokio::test]
async fn what_an_editor_does_is_few_round_trips() {
    let shop = ThemeShop::with_upload().await;
    let installed = shop.post("install", json!({})).await.expect(201);
    let editor = shop.get("editor").await.expect(200);
    let path = shop.path("editor/draft");
    let ask = json!({"settings": {"heading": "Hello"}});
    let saved = shop.owner.put(&path).if_match("\"1\"").json(ask).await.expect(200);
    let preview = shop.post("preview-session", json!({})).await.expect(201);
    let published = shop.post("publish", json!({"draft_version": 2})).await.expect(201);
    shop.publish("Other").await;
    let back = shop.post("rollback", json!({"release": 1})).await.expect(201);
    let schema = shop.get("schema").await.expect(200);
    let releases = shop.get("releases").await.expect(200);
    let shown = shop.shown().await.expect(200);
    let token = preview.str("/preview_token");
    let path = shop.front("theme");
    let seen = shop.gateway.client().get(&path).header("x-service-preview-token", &token).await;
    let digest = shown.str("/files/0/sha256");
    let path = shop.front(&format!("theme/files/{digest}"));
    let file = shop.gateway.client().get(&path).await.expect(200);
    let found = [
        ("install", cost(&installed)),
        ("editor", cost(&editor)),
        ("save a draft", cost(&saved)),
        ("preview", cost(&preview)),
        ("publish", cost(&published)),
        ("roll back", cost(&back)),
        ("schema", cost(&schema)),
        ("releases", cost(&releases)),
        ("storefront", cost(&shown)),
        ("previewed", cost(&seen.expect(200))),
        ("file", cost(&file)),
    ];
    // Session, account and store are one; the theme with its draft is one; contents are remembered.
    let most = [4, 2, 3, 3, 3, 3, 2, 2, 4, 4, 4];
    for ((name, (_, trips)), most) in found.iter().zip(most) {
        assert!(*trips <= most, "{name}: {trips} of {most}: {found:?}");
    }
}
