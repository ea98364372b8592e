//! Conditions of writes, without the checks before them: what a request decides from what it has read is
//! rejected by the write itself, if it is no longer so.

use std::time::Duration;

use core_types::id::{AppId, StoreId};
use core_types::key;
use crypto::seal;
use delivery::subscription::{Subscription, remove_of_app};
use platform::grant::{AUTHORIZATION_CODE_LIFETIME, AuthorizationCode, Grant};
use primitives::problem::{Code, Problem};
use support::clock::{MINUTE, Timestamp};
use support::{Receiver, Shop, json};
use table::Query;

const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";

/// A code that was just issued, as it is in the table.
async fn issued(shop: &Shop) -> AuthorizationCode {
    shop.gateway.app().clock.stop();
    let grant = shop.authorize().await;
    let place = key::code(&seal::digest(&grant.code));
    shop.gateway.app().table.get(&place).await.unwrap().unwrap()
}

/// The redemption alone, without whatever looks at a code before.
async fn redeem(shop: &Shop, code: &AuthorizationCode, at: Timestamp) -> Result<(), Problem> {
    let change = code.redemption(&Grant::begin(at), at);
    let write = shop.gateway.app().table.write();
    write.update(&key::code(&code.digest), change, Code::InvalidGrant).commit().await
}

#[tokio::test]
async fn the_redemption_condition_rejects_an_expired_code() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let code = issued(&shop).await;
    let end = code.created_at.plus(AUTHORIZATION_CODE_LIFETIME);
    assert_eq!(AUTHORIZATION_CODE_LIFETIME, Duration::from_mins(15));
    for late in [end, end.plus(Duration::from_millis(1))] {
        assert_eq!(redeem(&shop, &code, late).await.unwrap_err().code, Code::InvalidGrant);
    }
    let last = code.created_at.plus(AUTHORIZATION_CODE_LIFETIME - Duration::from_millis(1));
    redeem(&shop, &code, last).await.unwrap();
}

#[tokio::test]
async fn the_redemption_condition_rejects_a_redeemed_code() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let code = issued(&shop).await;
    redeem(&shop, &code, code.created_at).await.unwrap();
    // `code` still says that it is not: whoever read it before the other redemption.
    assert_eq!(redeem(&shop, &code, code.created_at).await.unwrap_err().code, Code::InvalidGrant);
}

#[tokio::test]
async fn the_redemption_condition_rejects_another_client_or_redirect_uri() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let code = issued(&shop).await;
    let mut foreign = code.clone();
    foreign.client_id = "cli_other".into();
    let mut elsewhere = code.clone();
    elsewhere.redirect_digest = seal::digest("https://evil.example/callback");
    for odd in [foreign, elsewhere] {
        assert_eq!(
            redeem(&shop, &odd, code.created_at).await.unwrap_err().code,
            Code::InvalidGrant
        );
    }
    redeem(&shop, &code, code.created_at).await.unwrap();
}

#[tokio::test]
async fn an_authorization_code_creates_one_grant() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let code = issued(&shop).await;
    redeem(&shop, &code, code.created_at).await.unwrap();
    let later = code.created_at.plus(MINUTE);
    assert_eq!(redeem(&shop, &code, later).await.unwrap_err().code, Code::InvalidGrant);
    let found: Option<AuthorizationCode> =
        shop.gateway.app().table.get(&key::code(&code.digest)).await.unwrap();
    let begun = found.unwrap().grant.map(|grant| (grant.created_at, grant.revoked_at));
    assert_eq!(begun, Some((code.created_at, None)), "the first one's, as it was");
}

#[tokio::test]
async fn an_uninstallation_does_not_free_subscription_quota_twice() {
    let shop = Shop::with_published_app(&["read_store", "write_webhooks"]).await;
    let app = shop.app_client().await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    shop.owner().post(SUBSCRIPTIONS).json(input.clone()).await.expect(201);
    let made = app.post(SUBSCRIPTIONS).json(input).await.expect(201);
    let gateway = shop.gateway.app();
    let store = StoreId::parse(&shop.store.id).unwrap();
    let app_id = AppId::parse(&shop.app.id).unwrap();
    let query = Query::partition(key::store(&store).pk).begins_with(key::SUBSCRIPTIONS);
    let known: Vec<Subscription> = gateway.table.all(&query, 60).await.unwrap();
    app.delete(&format!("{SUBSCRIPTIONS}/{}", made.str("/id"))).await.expect(204);
    let late = remove_of_app(gateway.table.write(), &store, &app_id, &known).commit().await;
    assert_eq!(late.unwrap_err().code, Code::VersionConflict);
    let counters = shop.gateway.items_of("webhook_subscription_count", "STO#").await;
    assert_eq!(counters[0]["count"], 1);
}
