//! What themes cost the table, exactly: units as DynamoDB counts them, and round trips
//! (`costs.rs` says how).

use benches::costs::operations::{
    CATALOGUE, EDITOR, PUBLISH, ROLL_BACK, SAVE_DRAFT, THEME, THEME_FILE, UPLOAD,
};
use support::{Developer, Gateway, Operator, ThemeShop, ThemeSource, accept, json, unique, upload};

use super::{Cost, cost};

/// What docs/costs.md computes with is what was counted.
fn assert_priced(found: &[Cost], priced: &[(&str, u64)]) {
    for (name, units) in priced {
        let counted = found.iter().find(|(known, ..)| known == name).unwrap();
        assert_eq!(u64::from(counted.1), *units, "{name}");
    }
}

#[tokio::test]
async fn theme_operations_have_fixed_unit_costs() {
    let shop = ThemeShop::with_upload().await;
    let next = ThemeSource::new(&shop.slug).version("1.1.0");
    let uploaded = shop.upload(&next).await.expect(201);
    let installed = shop.post("install", json!({"version": "1.0.0"})).await.expect(201);
    let schema = shop.get("schema").await.expect(200);
    let path = shop.path("editor/draft");
    let input = json!({"settings": {"heading": "Hello"}});
    let saved = shop.owner.put(&path).if_match("\"1\"").json(input).await.expect(200);
    let preview = shop.post("preview-session", json!({})).await.expect(201);
    let published = shop.post("publish", json!({"draft_version": 2})).await.expect(201);
    let editor = shop.get("editor").await.expect(200);
    shop.publish("Other").await;
    let back = shop.post("rollback", json!({"release": 1})).await.expect(201);
    let releases = shop.get("releases").await.expect(200);
    let upgraded = shop.post("upgrade", json!({})).await.expect(200);
    let found = [
        cost("upload", &uploaded),
        cost("install", &installed),
        cost("schema", &schema),
        cost("save a draft", &saved),
        cost("preview", &preview),
        cost("publish", &published),
        cost("editor", &editor),
        cost("roll back", &back),
        cost("releases", &releases),
        cost("upgrade", &upgraded),
    ];
    assert_eq!(
        found,
        [
            // Session, account; theme and version; at half the price: seven files and the document that
            // names them. The two of these that are new, and a chunk of each: 8. Theme 2 + 2 rows,
            // version 2, package 2 + 1 row, event 2 + 3 rows.
            ("upload", 300, 7),
            // Session, account, store; the theme here and in the catalogue, its draft, its licence; at
            // half the price: what it is made of. Store 2 + 1 row, theme 2, draft 2, event 2 + 3,
            // record 2.
            ("install", 215, 4),
            // The same without the licence; its contents are known by now.
            ("schema", 60, 2),
            // Session, account, store; theme and draft at half the price. The draft.
            ("save a draft", 60, 3),
            // The same as they are. The session.
            ("preview", 70, 3),
            // The same. Release 2, theme 2, store 2 + 1 row, event 2 + 3, record 2.
            ("publish", 180, 3),
            // With the release.
            ("editor", 60, 2),
            // As publishing, with two releases: the one that is shown, and the one that was.
            ("roll back", 200, 3),
            ("releases", 40, 2),
            // As installing, without the store; two contents, of which one is known.
            ("upgrade", 165, 4),
        ]
    );
    let priced = [
        ("upload", UPLOAD.units()),
        ("save a draft", SAVE_DRAFT.units()),
        ("publish", PUBLISH.units()),
        ("editor", EDITOR.units()),
        ("roll back", ROLL_BACK.units()),
    ];
    assert_priced(&found, &priced);
}

#[tokio::test]
async fn storefront_theme_reads_have_fixed_unit_costs() {
    let shop = ThemeShop::open().await;
    shop.publish("Hello").await;
    let preview = shop.post("preview-session", json!({})).await.expect(201);
    let token = preview.str("/preview_token");
    let first = shop.storefront_theme().await.expect(200);
    shop.gateway.app().clock.stop();
    let visitor = shop.gateway.client();
    let again = visitor.get(&shop.front("theme")).await.expect(200);
    let path = shop.front("theme");
    let seen = visitor.get(&path).header("x-service-preview-token", &token).await.expect(200);
    let digest = first.str("/files/0/sha256");
    let path = shop.front(&format!("theme/files/{digest}"));
    let file = visitor.get(&path).await.expect(200);
    let tag = file.header("etag").unwrap().to_owned();
    let known = visitor.get(&path).header("if-none-match", &tag).await.expect(304);
    let unknown = shop.front(&format!("theme/files/{}", "0".repeat(64)));
    let none = visitor.get(&unknown).await.expect(404);
    let again_none = visitor.get(&unknown).await.expect(404);
    let page = visitor.get(&format!("/v1/storefront/{}", shop.store.subdomain)).await.expect(200);
    let found = [
        cost("theme, anew", &first),
        cost("theme", &again),
        cost("previewed", &seen),
        cost("file", &file),
        cost("file, known", &known),
        cost("no file", &none),
        cost("no file again", &again_none),
        cost("store", &page),
    ];
    assert_eq!(
        found,
        [
            // At half the price: the store by its subdomain, the release, what it is made of.
            ("theme, anew", 15, 3),
            // The answer is kept for a moment.
            ("theme", 0, 0),
            // The session as it is: it may have been ended. The store and the account of whoever began it.
            ("previewed", 30, 2),
            // Its bytes; where they lie is remembered.
            ("file", 5, 1),
            ("file, known", 0, 0),
            // The releases before, and once alone.
            ("no file", 5, 1),
            ("no file again", 0, 0),
            // The release and the policies.
            ("store", 10, 2),
        ]
    );
    // What its budget costs is leased.
    assert_priced(&found, &[("theme, anew", THEME.reads), ("file", THEME_FILE.reads)]);
}

#[tokio::test]
async fn theme_catalogue_reads_have_fixed_unit_costs() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let mut path = String::new();
    for _ in 0..3 {
        let slug = unique("linen");
        path = format!("/v1/themes/{slug}");
        let source = ThemeSource::new(&slug);
        let package = upload(&developer, source.zip()).await.expect(201).str("/package/id");
        accept(&developer, &operator, &package, json!({})).await;
    }
    let page = gateway.client().get("/v1/themes").await.expect(200);
    assert_eq!(page.data().len(), 3);
    let store = developer.open_shop().await;
    let own = developer.at(&store).get("/v1/themes").await.expect(200);
    let shown = gateway.client().get(&path).await.expect(200);
    let found =
        [cost("catalogue", &page), cost("with what a store has", &own), cost("theme", &shown)];
    assert_eq!(
        found,
        [
            // The list of keys and three themes, each at half the price.
            ("catalogue", 20, 2),
            // Session, account and store as well; a licence for each that costs something.
            ("with what a store has", 50, 3),
            // At half the price: it, and its versions.
            ("theme", 10, 2),
        ]
    );
    assert_priced(&found, &[("catalogue", CATALOGUE.reads)]);
}
