//! Receipts: what a third party can verify with the published keys alone.

use sha2::{Digest, Sha256};
use support::clock::MINUTE;
use support::{Behaviour, Gateway, Merchant, Value};

use super::{DELIVERIES, Watched};
use crate::operations::statements::verified;

/// What a receipt is.
const TYPE: &str = "webhook-receipt+jwt";

fn path(delivery: &Value) -> String {
    format!("{DELIVERIES}/{}/receipt", delivery["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_receipt_verifies_with_the_published_keys() {
    let watched = Watched::by(Behaviour::Status(201)).await;
    watched.rename("Received").await;
    let received = watched.receiver.wait_for(1).await.remove(0);
    let delivery = watched.delivery_in("succeeded").await;
    let reply = watched.owner().get(&path(&delivery)).await.expect(200);
    let jws = reply.str("/jws");
    let stranger = watched.gateway.client();
    let claims = verified(TYPE, &stranger, &jws, watched.gateway.url()).await.unwrap();
    assert_eq!(&claims, reply.at("/claims"));
    for (name, expected) in [
        ("sub", delivery["id"].as_str().unwrap()),
        ("event_id", received.header("webhook-id")),
        ("event_type", "store.updated"),
        ("store_id", &watched.store.id),
        ("subscription_id", watched.subscription["id"].as_str().unwrap()),
        ("host", &format!("127.0.0.1:{}", watched.receiver.port())),
    ] {
        assert_eq!(claims[name], expected, "{name}");
    }
    let digest = Sha256::digest(&received.body);
    let digest = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert_eq!(claims["body_sha256"], digest.as_str());
    assert_eq!(
        (claims["delivered"].as_bool(), claims["status_code"].as_u64()),
        (Some(true), Some(201))
    );
    let attempt = &watched.attempts(&delivery).await[0];
    assert_eq!(
        (&claims["attempted_at"], &claims["attempt"]),
        (&attempt["started_at"], &attempt["number"])
    );
    assert!(!jws.contains("hooks") && !reply.text.contains("/hooks"), "the path is not stated");
    // One mail of what it says, and it does not hold.
    let mut parts: Vec<String> = jws.split('.').map(str::to_owned).collect();
    let altered = if parts[1].ends_with('A') { "B" } else { "A" };
    let last = parts[1].len() - 5;
    parts[1].replace_range(last..=last, altered);
    assert!(verified(TYPE, &stranger, &parts.join("."), watched.gateway.url()).await.is_err());
    // It opens nothing.
    let store = format!("/v1/stores/{}", watched.store.id);
    let reply = stranger.with_token(&jws).get(&store).await.expect(401);
    reply.problem("invalid_token");
    // It outlives the payload.
    let content = format!("{DELIVERIES}/{}/content", delivery["id"].as_str().unwrap());
    watched.owner().delete(&content).await.expect(204);
    let after = watched.owner().get(&path(&delivery)).await.expect(200);
    assert_eq!(after.at("/claims/body_sha256"), digest.as_str());
}

#[tokio::test]
async fn a_receipt_describes_the_last_attempt_to_its_store_only() {
    let watched = Watched::on(
        Gateway::start_with(|options| options.has_stream = false).await,
        Behaviour::Status(503),
    )
    .await;
    watched.rename("Refused").await;
    watched.gateway.advance(2 * MINUTE);
    watched.gateway.process_without_queues().sweep().await;
    let pending = watched.delivery_in("pending").await;
    let early = watched.owner().get(&path(&pending)).await.expect(409);
    let early = early.problem("invalid_state_transition");
    assert_eq!(early.str("/current"), "pending");
    watched.gateway.advance(2 * MINUTE);
    watched.gateway.sweep().await;
    let delivery = watched.delivery_in("retrying").await;
    let reply = watched.owner().get(&path(&delivery)).await.expect(200);
    let claims =
        verified(TYPE, &watched.gateway.client(), &reply.str("/jws"), watched.gateway.url()).await;
    let claims = claims.unwrap();
    assert_eq!(
        (claims["delivered"].as_bool(), claims["status_code"].as_u64()),
        (Some(false), Some(503))
    );
    assert_eq!(claims["error"], "server_error");
    let other = Merchant::sign_up(&watched.gateway).await;
    let elsewhere = other.open_store().await;
    other.at(&elsewhere).get(&path(&delivery)).await.expect(404);
    watched.gateway.client().get(&path(&delivery)).await.expect(401);
}
