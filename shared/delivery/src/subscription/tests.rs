use core_types::event::{EventSubject, TopicDeclaration};
use core_types::scope::Scopes;
use crypto::seal::SealKey;
use crypto::signature::SigningSecret;
use identity::store::STORE_UPDATED;
use platform::installation::APP_INSTALLED;
use primitives::problem::Code;

use super::*;

/// The scope that reads events about stores.
const READ: Option<&str> = STORE_UPDATED.scope;
const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn subscription(store: &StoreId, key: &SealKey, types: &[&str]) -> (Subscription, SigningSecret) {
    let id = SubscriptionId::mint(NOW);
    let secret = SigningSecret::generate();
    let sealed = seal_secret(key, &id, &secret);
    let types = types.iter().map(|text| (*text).to_owned()).collect();
    let url = "https://hooks.example.com/".to_owned();
    (Subscription::for_store(store, "mer_x", id, url, types, sealed, NOW), secret)
}

fn event(name: &str, store: Option<&StoreId>, app: Option<&AppId>) -> Event {
    let subject = EventSubject { store, app, entity: "x", version: 1 };
    let topics = [TopicDeclaration::of(&STORE_UPDATED), TopicDeclaration::of(&APP_INSTALLED)];
    let topic = topics.iter().find(|topic| topic.name == name).unwrap();
    Event::untyped(topic, subject, serde_json::json!({}), NOW)
}

#[test]
fn a_store_s_subscription_takes_its_events_and_no_other_store_s() {
    let (ours, theirs) = (StoreId::mint(NOW), StoreId::mint(NOW));
    let (subscription, _) = subscription(&ours, &SealKey::generate(), &["store.*"]);
    assert!(subscription.matches_event(&event("store.updated", Some(&ours), None), READ, None));
    assert!(!subscription.matches_event(&event("store.updated", Some(&theirs), None), READ, None));
    assert!(!subscription.matches_event(&event("app.installed", Some(&ours), None), None, None));
    let off = subscription.disable(NOW).unwrap();
    assert!(!off.matches_event(&event("store.updated", Some(&ours), None), READ, None));
}

#[test]
fn an_app_subscription_matches_its_scopes_and_nothing_once_uninstalled() {
    let store = StoreId::mint(NOW);
    let (mut subscription, _) = subscription(&store, &SealKey::generate(), &["*"]);
    subscription.app_id = Some(AppId::mint(NOW));
    subscription.scopes = Some(Scopes::normalize(["write_store"]).unwrap());
    assert!(!subscription.matches_event(&event("store.updated", Some(&store), None), READ, None));
}

#[test]
fn scopes_are_checked_again_at_each_attempt() {
    let store = StoreId::mint(NOW);
    let (mut subscription, _) = subscription(&store, &SealKey::generate(), &["*"]);
    assert!(subscription.may_read(READ, None), "its owner's");
    subscription.app_id = Some(AppId::mint(NOW));
    subscription.scopes = Some(Scopes::normalize(["read_store"]).unwrap());
    assert!(!subscription.may_read(READ, None));
}

#[test]
fn another_url_is_another_receiver_and_the_same_one_is_not() {
    let (subscription, _) = subscription(&StoreId::mint(NOW), &SealKey::generate(), &["*"]);
    let failing = subscription.with_health(subscription.health.failed(true, NOW));
    let off = failing.disabled_by_system(DisabledReason::Gone, NOW);
    let same = off.moved_to(off.url.clone(), NOW);
    assert_eq!((same.status, same.version), (SubscriptionStatus::DisabledBySystem, 3));
    let moved = off.moved_to("https://new.example.com/".into(), NOW);
    assert!(moved.is_enabled() && moved.disabled_reason.is_none());
    assert_eq!((moved.health.consecutive_failures, moved.version), (0, 3));
    let by_owner = failing.disable(NOW).unwrap().moved_to("https://new.example.com/".into(), NOW);
    assert_eq!(by_owner.status, SubscriptionStatus::Disabled, "its owner's word stands");
}

#[test]
fn another_path_on_the_same_host_keeps_its_circuit() {
    let (subscription, _) = subscription(&StoreId::mint(NOW), &SealKey::generate(), &["*"]);
    let health = (0..20).fold(subscription.health.clone(), |it, _| it.failed(true, NOW));
    let tripped = subscription.with_health(health.timed(SLOW).unwrap());
    for same in ["https://hooks.example.com/b", "https://HOOKS.example.com:443/?c=1"] {
        let moved = tripped.moved_to(same.into(), NOW);
        assert_eq!(moved.health, tripped.health, "{same}");
        let off = tripped.disabled_by_system(DisabledReason::Failing, NOW);
        let again = off.moved_to(same.into(), NOW);
        assert!(again.is_enabled() && again.health.circuit == tripped.health.circuit);
        assert!(again.health.circuit.is_some() && again.health.is_slow());
        assert_eq!((again.health.exhausted_since_success, again.health.failing_since), (0, None));
    }
    for other in ["https://hooks.example.com:8443/", "https://b.example.com/"] {
        let moved = tripped.moved_to(other.into(), NOW);
        assert!(moved.health.circuit.is_none() && moved.health.recent_ms.is_empty(), "{other}");
    }
}

#[test]
fn an_app_s_own_subscription_takes_events_about_it_on_any_store() {
    let (app, other) = (AppId::mint(NOW), AppId::mint(NOW));
    let store = StoreId::mint(NOW);
    let own = Subscription::for_app(&app, SubscriptionId::mint(NOW), "u".into(), "s".into(), NOW);
    assert!(own.matches_event(&event("app.installed", Some(&store), Some(&app)), None, None));
    assert!(!own.matches_event(&event("app.installed", Some(&store), Some(&other)), None, None));
    assert!(!own.matches_event(&event("store.updated", Some(&store), Some(&app)), READ, None));
    assert_eq!(own.key(), key::app_subscription(&app, &own.id));
}

#[test]
fn a_rotation_signs_with_both_until_it_is_promoted_or_its_grace_ends() {
    let key = SealKey::generate();
    let (before, old) = subscription(&StoreId::mint(NOW), &key, &["*"]);
    let new = SigningSecret::generate();
    let sealed = seal_secret(&key, &before.id, &new);
    let rotated = before.rotate(sealed.clone(), None, DEFAULT_GRACE, NOW).unwrap();
    let keys = rotated.signing_keys(&key, NOW).unwrap();
    assert_eq!(keys.current.reveal(), new.reveal());
    assert_eq!(keys.previous.unwrap().reveal(), old.reveal());
    let end = NOW.plus(DEFAULT_GRACE);
    let last = end.minus(Duration::from_millis(1));
    assert!(rotated.signing_keys(&key, last).unwrap().previous.is_some());
    assert!(rotated.signing_keys(&key, end).unwrap().previous.is_none());
    assert!(
        rotated.finish_rotation(NOW).unwrap().signing_keys(&key, NOW).unwrap().previous.is_none()
    );
    assert_eq!(rotated.finish_rotation(end).unwrap_err().code, Code::NoSecretRotation);
    let third = |grace| rotated.rotate(sealed.clone(), None, grace, NOW);
    assert_eq!(third(DEFAULT_GRACE).unwrap_err().code, Code::InvalidStateTransition);
    assert!(third(Duration::ZERO).unwrap().rotation.is_none());
}

#[test]
fn a_sealed_secret_opens_for_its_own_subscription_only() {
    let key = SealKey::generate();
    let store = StoreId::mint(NOW);
    let (one, _) = subscription(&store, &key, &["*"]);
    let headers = [("authorization".to_owned(), "Bearer x".to_owned())].into();
    let one = one.with_headers(&key, &headers);
    assert_eq!(one.custom_headers(&key), Some(headers));
    let other = Subscription { id: SubscriptionId::mint(NOW), ..one };
    assert!(other.custom_headers(&key).is_none() && other.signing_keys(&key, NOW).is_none());
}

#[test]
fn enabling_a_disabled_subscription_resets_its_health() {
    let (subscription, _) = subscription(&StoreId::mint(NOW), &SealKey::generate(), &["*"]);
    assert!(subscription.enable(NOW).is_err());
    let failing = subscription.with_health(subscription.health.failed(true, NOW));
    let off = failing.disabled_by_system(DisabledReason::Gone, NOW);
    let on = off.enable(NOW).unwrap();
    assert!(on.is_enabled() && on.disabled_reason.is_none());
    assert_eq!((on.health.consecutive_failures, on.version), (0, 3));
}

#[test]
fn a_filter_passes_matching_and_truncated_payloads() {
    let store = StoreId::mint(NOW);
    let subject = EventSubject { store: Some(&store), app: None, entity: "x", version: 1 };
    let event = |data: serde_json::Value| {
        Event::untyped(&TopicDeclaration::of(&STORE_UPDATED), subject, data, NOW)
    };
    let (mut subscription, _) = subscription(&store, &SealKey::generate(), &["*"]);
    let wants = |subscription: &Subscription, data: serde_json::Value| {
        subscription.wants(&filter::Payload::from(&event(data)))
    };
    assert!(wants(&subscription, serde_json::json!({"status": "closed"})));
    let given = serde_json::json!({"$.data.status": "open"});
    subscription.filter = Some(primitives::input::read(given).unwrap());
    assert!(wants(&subscription, serde_json::json!({"status": "open"})));
    assert!(!wants(&subscription, serde_json::json!({"status": "closed"})));
    assert!(!wants(&subscription, serde_json::json!({"status": "closed", "truncated": false})));
    assert!(wants(&subscription, serde_json::json!({"truncated": true})));
}
