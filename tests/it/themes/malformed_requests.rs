//! What somebody tries who reads no document: headers in every form, tokens where they do not belong.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use support::{Merchant, ThemeShop, json};

#[tokio::test]
async fn a_draft_save_accepts_only_its_version_in_if_match() {
    let shop = ThemeShop::open().await;
    let path = shop.path("editor/draft");
    let save = |form: &str| {
        let input = shop.owner.put(&path).header("if-match", form);
        input.json(json!({"settings": {"heading": "Hello"}}))
    };
    // Of no version, or of several: nobody can mean that.
    for form in ["", "W/\"1\"", "\"1\", \"2\"", "\"x\"", "\"-1\"", "\"1.0\"", "\"1", "v", "**"] {
        save(form).await.expect(400).problem("invalid_header");
    }
    for form in ["\"0\"", "\"2\"", "\"v2\"", "\"18446744073709551615\""] {
        let told = save(form).await.expect(412);
        assert_eq!(told.int("/current_version"), 1, "{form}");
    }
    save("\"18446744073709551616\"").await.expect(400).problem("invalid_header");
    assert_eq!(shop.get("editor").await.expect(200).int("/draft/version"), 1);
    for (form, version) in [("\"1\"", 2), ("\"v2\"", 3), ("*", 4)] {
        assert_eq!(save(form).await.expect(200).int("/draft/version"), version, "{form}");
    }
    // The header and the body must mean the same draft.
    let input = shop.owner.put(&path).if_match("\"4\"").json(json!({"version": 3}));
    input.await.expect(409).problem("draft_conflict");
    let input = shop.owner.put(&path).if_match("\"3\"").json(json!({"version": 4}));
    input.await.expect(412).problem("precondition_failed");
    // Two headers are two versions.
    let input = shop.owner.put(&path).if_match("\"4\"").header("if-match", "\"3\"");
    let twice = input.json(json!({})).await;
    assert!(matches!(twice.status, 400 | 412), "{}", twice.text);
    for version in [json!("4"), json!(4.5), json!(-1), json!(1e99), json!([4])] {
        let input = shop.owner.put(&path).json(json!({"version": version}));
        input.await.expect(422).problem("validation_failed");
    }
    assert_eq!(shop.get("editor").await.expect(200).int("/draft/version"), 4);
}

#[tokio::test]
async fn every_valid_form_of_if_none_match_answers_304() {
    let shop = ThemeShop::open().await;
    shop.publish("Hello").await;
    let visitor = shop.gateway.client();
    let digest = shop.storefront_theme().await.expect(200).str("/files/0/sha256");
    let file = shop.front(&format!("theme/files/{digest}"));
    let (schema, shown) = (shop.path("schema"), shop.front("theme"));
    for (client, path) in [(&shop.owner, &schema), (&visitor, &shown), (&visitor, &file)] {
        let tag = client.get(path).await.expect(200).header("etag").unwrap().to_owned();
        let strong = tag.trim_start_matches("W/").to_owned();
        for form in [
            tag.clone(),
            strong.clone(),
            format!("W/{strong}"),
            format!("\"other\", {strong}"),
            format!("{strong},\"other\""),
            "*".to_owned(),
        ] {
            let known = client.get(path).header("if-none-match", &form).await;
            assert_eq!((known.status, known.text.as_str()), (304, ""), "{path} {form}");
            assert_eq!(known.header("etag"), Some(tag.as_str()), "{path} {form}");
        }
        for form in ["", "\"other\"", "other", "\"", &strong.to_uppercase(), ","] {
            let sent = client.get(path).header("if-none-match", form).await;
            assert_eq!(sent.status, 200, "{path} {form}");
            assert!(!sent.text.is_empty(), "{path} {form}");
        }
    }
}

#[tokio::test]
async fn a_preview_token_is_valid_for_one_stores_storefront_only() {
    let shop = ThemeShop::open().await;
    shop.publish("Public").await;
    shop.draft("Secret").await;
    let begun = shop.post("preview-session", json!({})).await.expect(201);
    let token = begun.str("/preview_token");
    let other = Merchant::sign_up(&shop.gateway).await;
    let store = other.open_shop().await;
    let visitor = shop.gateway.client();
    let digest = shop.storefront_theme().await.expect(200).str("/files/0/sha256");
    let at_other = |rest: &str| format!("/v1/storefront/{}/{rest}", store.subdomain);
    for rest in ["theme".to_owned(), format!("theme/files/{digest}")] {
        let path = at_other(&rest);
        let rejected = visitor.get(&path).header("x-service-preview-token", &token).await;
        rejected.expect(400).problem("invalid_or_expired_token");
        let path = format!("{path}?preview_token={token}");
        visitor.get(&path).await.expect(400).problem("invalid_or_expired_token");
    }
    // Its claims with another store in them, under the tag of the first; and what is no token.
    let bare = token.strip_prefix("thp_").unwrap();
    let (claims, tag) = bare.split_once('.').unwrap();
    let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    assert!(claims.contains(&shop.store.id), "{claims}");
    let forged = claims.replace(&shop.store.id, &store.id);
    let forged = format!("thp_{}.{tag}", URL_SAFE_NO_PAD.encode(forged));
    let long = format!("thp_{}.{tag}", "A".repeat(4_000));
    for unknown in [forged.as_str(), "thp_.", "thp_", ".", &long] {
        let input = visitor.get(&at_other("theme")).header("x-service-preview-token", unknown);
        input.await.expect(400).problem("invalid_or_expired_token");
    }
    // It is no credential: not for its own store's editor, nor to write anything.
    let holder = visitor.with_token(&token);
    holder.get(&shop.path("editor")).await.expect(401);
    let held = holder.with_store(&shop.store.id);
    held.put(&shop.path("editor/draft")).json(json!({})).await.expect(401);
    held.post(&shop.path("publish")).json(json!({"draft_version": 3})).await.expect(401);
    let posted = visitor.post(&shop.front("theme")).header("x-service-preview-token", &token);
    posted.json(json!({})).await.expect(405);
    assert_eq!(shop.storefront_theme().await.expect(200).str("/settings/heading"), "Public");
    // Sessions are found under their own theme and store alone.
    let id = begun.str("/id");
    for path in
        [format!("/v1/themes/other-theme/preview-session/{id}"), shop.path("preview-session/x")]
    {
        shop.owner.get(&path).await.expect(404);
        shop.owner.delete(&path).await.expect(404);
    }
    let input = visitor.get(&shop.front("theme")).header("x-service-preview-token", &token);
    assert_eq!(input.await.expect(200).str("/settings/heading"), "Secret");
}
