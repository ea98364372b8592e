//! Disputes that the provider is asked about: by a sync of the payment, and once a day.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::clock::{DAY, MINUTE};
use support::{Verdict, Webhook, json, race};

use super::super::connected::Connected;
use super::{PAID, PROVIDERS, part, sums};

#[tokio::test]
async fn parallel_webhooks_and_syncs_open_a_dispute_once() {
    for provider in PROVIDERS {
        let connected = Arc::new(Connected::open_to_many("automatic").await);
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let dispute = connected.providers.dispute(&carrier, &part(700));
        let told: Vec<Webhook> = (0..3).map(|_| connected.telling("created", &dispute)).collect();
        let number = AtomicUsize::new(0);
        let answers = race(24, || {
            let turn = number.fetch_add(1, Ordering::Relaxed);
            let (connected, id) = (Arc::clone(&connected), id.clone());
            let event = told[turn % 3].clone();
            async move {
                match turn % 4 {
                    0 => connected.act(&id, "sync", json!({})).await,
                    _ => connected.hear(&event).await,
                }
            }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:#?}");
        assert_eq!(connected.counted(&["created", "updated"]).await, [1, 0], "{provider}");
        assert_eq!(sums(&connected.payment(&id).await), (700, PAID - 700));
        assert_eq!(connected.order_view(&order).await.int("/disputed_total/amount"), 700);
    }
}

#[tokio::test]
async fn disputes_without_a_webhook_are_found_by_sync_and_daily_polling() {
    let mut connected = Connected::open().await;
    for provider in PROVIDERS {
        let order = connected.order().await;
        let (id, carrier) = connected.paid(provider, &order).await;
        let first = connected.providers.dispute(&carrier, &part(500));
        let second = connected.providers.dispute(&carrier, &part(700));
        let synced = connected.act(&id, "sync", json!({})).await.expect(200);
        assert_eq!(sums(&synced), (1_200, PAID - 1_200), "{provider}: {}", synced.text);
        assert_eq!(synced.at("/disputes").as_array().unwrap().len(), 2);
        connected.act(&id, "sync", json!({})).await.expect(200);
        // Of both, an event that comes late says nothing new.
        connected.tell("created", &first).await;
        connected.providers.validate(&first, Verdict::Win);
        connected.providers.validate(&second, Verdict::Lose);
        connected.gateway.advance(MINUTE * 60);
        connected.gateway.sweep().await;
        assert_eq!(sums(&connected.payment(&id).await), (1_200, PAID - 1_200), "it is not time");
        connected.wait(DAY).await;
        connected.gateway.sweep().await;
        assert_eq!(sums(&connected.payment(&id).await), (700, PAID - 700), "{provider}");
        assert_eq!(connected.order_view(&order).await.int("/disputed_total/amount"), 700);
        let known = connected.disputes(&format!("?payment_id={id}")).await;
        let statuses: Vec<_> = known.data().iter().map(|one| one["status"].clone()).collect();
        assert!(statuses.contains(&json!("won")) && statuses.contains(&json!("lost")));
        let asked = connected.providers.calls("/v1/disputes").len();
        connected.wait(DAY * 2).await;
        connected.gateway.sweep().await;
        assert_eq!(connected.providers.calls("/v1/disputes").len(), asked, "all is over");
    }
    assert_eq!(connected.counted(&["created", "won", "lost"]).await, [4, 2, 2]);
    let listed = connected.disputes("?limit=3").await;
    assert_eq!((listed.data().len(), listed.at("/page/has_more")), (3, &json!(true)));
    let next = format!("?limit=3&cursor={}", listed.str("/page/next_cursor"));
    assert_eq!(connected.disputes(&next).await.data().len(), 1);
    assert_eq!(connected.disputes("?status=lost").await.data().len(), 2);
    assert_eq!(connected.disputes("?status=lost&provider=stripe").await.data().len(), 1);
    assert!(connected.disputes("?status=needs_response").await.data().is_empty());
}
