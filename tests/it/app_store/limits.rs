//! The limits of developers and their apps: so many, and not one more.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Developer, Gateway, Shop, Value, json};

const APPS: &str = "/v1/app-store/developers/apps";

#[tokio::test]
async fn a_developer_has_at_most_a_hundred_apps() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let mut last = String::new();
    for _ in 0..100 {
        last = developer.create_app(Developer::app_fields(&[])).await.id;
        gateway.advance(Duration::from_secs(1));
    }
    gateway.advance(MINUTE);
    let rejected = developer.post(APPS).json(Developer::app_fields(&[])).await.expect(409);
    assert_eq!(rejected.problem("app_limit").int("/maximum"), 100);
    developer.delete(&format!("{APPS}/{last}")).await.expect(204);
    developer.create_app(Developer::app_fields(&[])).await;
    developer.post(APPS).json(Developer::app_fields(&[])).await.expect(409).problem("app_limit");
}

#[tokio::test]
async fn an_app_has_at_most_ten_redirect_uris() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let uris = |count: usize| -> Value {
        (0..count).map(|n| format!("https://app.example.com/callback/{n}")).collect()
    };
    let mut fields = Developer::app_fields(&[]);
    fields["redirect_uris"] = uris(11);
    let rejected = developer.post(APPS).json(fields.clone()).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/redirect_uris".into(), "too_many".into())]);
    fields["redirect_uris"] = uris(10);
    let app = developer.create_app(fields).await;
    let own = format!("{APPS}/{}", app.id);
    let input = json!({"redirect_uris": uris(11)});
    let rejected = developer.patch(&own).json(input).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/redirect_uris".into(), "too_many".into())]);
    let input = json!({"redirect_uris": uris(10)});
    developer.patch(&own).json(input).await.expect(200);
}

#[tokio::test]
async fn the_previous_client_secret_expires_after_exactly_one_day() {
    let mut shop = Shop::with_published_app(&["read_store"]).await;
    shop.gateway.app().clock.stop();
    let path = format!("{APPS}/{}/secret/rotate", shop.app.id);
    let old = shop.app.client_secret.clone();
    let rotated = shop.developer.post(&path).json(json!({})).await.expect(200);
    shop.gateway.advance(Duration::from_hours(24) - Duration::from_millis(1));
    shop.merchant = shop.merchant.sign_in_again().await;
    shop.redeem(&shop.authorize().await).await.expect(200);
    shop.gateway.advance(Duration::from_millis(1));
    shop.redeem(&shop.authorize().await).await.expect(401).oauth_error("invalid_client");
    // The last but one stops at once.
    shop.app.client_secret = Some(rotated.str("/client_secret"));
    shop.redeem(&shop.authorize().await).await.expect(200);
    shop.app.client_secret = old;
    let again = shop.developer.sign_in_again().await.post(&path).json(json!({})).await.expect(200);
    shop.redeem(&shop.authorize().await).await.expect(401).oauth_error("invalid_client");
    let last = shop.developer.sign_in_again().await.post(&path).json(json!({})).await.expect(200);
    for (secret, status) in [
        (rotated.str("/client_secret"), 401),
        (again.str("/client_secret"), 200),
        (last.str("/client_secret"), 200),
    ] {
        shop.app.client_secret = Some(secret);
        shop.redeem(&shop.authorize().await).await.expect(status);
    }
}
