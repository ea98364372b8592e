//! Public themes, which are not in this repository, the whole way.

use support::clock::{MINUTE, STORE_CACHE};
use support::{ThemeShop, json, upload};

/// Uploads, installs, publishes and shows each theme in the folder of archives that `THEME_ZIPS` names.
#[tokio::test]
#[ignore = "needs themes that are not in this repository"]
async fn public_themes_are_uploaded_and_published() {
    let folder = std::env::var_os("THEME_ZIPS").expect("a folder of archives");
    for found in std::fs::read_dir(folder).expect("a folder") {
        let archive = std::fs::read(found.expect("an entry").path()).expect("an archive");
        let shop = ThemeShop::with_upload().await;
        let product = json!({"title": "Cup", "status": "active",
            "variants": [{"price": {"amount": 500, "currency": "INR"}}]});
        shop.owner.post("/v1/products").json(product).await.expect(201);
        let taken = upload(&shop.merchant, archive).await.expect(201);
        let slug = taken.str("/package/slug");
        let act =
            |action: &str, body| shop.owner.post(&format!("/v1/themes/{slug}/{action}")).json(body);
        act("install", json!({})).await.expect(201);
        act("publish", json!({"draft_version": 1})).await.expect(201);
        shop.gateway.advance(STORE_CACHE);
        for (path, status) in
            [("", 200), ("/collections/all", 200), ("/products/cup", 200), ("/no", 404)]
        {
            let page = format!("/_local/shop/{}{path}", shop.store.subdomain);
            // The local page loads each file by the API: a large theme takes more than a budget.
            let mut shown = shop.gateway.client().get(&page).await;
            for _ in 0..20 {
                if shown.status == 429 {
                    shop.gateway.advance(MINUTE);
                    shown = shop.gateway.client().get(&page).await;
                }
            }
            let shown = shown.expect(status);
            assert!(!shown.text.contains("Liquid error"), "{slug}{path}: {}", shown.text);
            println!("{slug}{path}: {} bytes", shown.text.len());
        }
    }
}
