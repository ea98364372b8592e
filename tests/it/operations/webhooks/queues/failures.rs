//! Queues that do not take what is sent.

use super::*;

#[tokio::test]
async fn deliveries_to_a_denying_or_missing_queue_are_retried() {
    let queued = Queued::to("failing").await;
    queued.queue.admit(false).await;
    queued.rename("Refused").await;
    let denied = queued.delivery_in("retrying").await;
    assert_eq!(
        (denied["last_error"].as_str(), denied["last_status_code"].as_u64()),
        (Some("access_denied"), Some(403))
    );
    queued.queue.delete().await;
    queued.gateway.advance(2 * MINUTE);
    queued.gateway.sweep().await;
    let attempts = |count: usize| {
        let (queued, denied) = (&queued, &denied);
        move || async move {
            let attempts = queued.attempts(denied).await;
            (attempts.len() == count).then_some(attempts)
        }
    };
    let tried = eventually(DEADLINE, attempts(2)).await;
    let errors: Vec<_> = tried.iter().map(|attempt| attempt["error"].as_str().unwrap()).collect();
    assert_eq!(errors, ["access_denied", "queue_not_found"]);
    assert!(tried[0]["response_body"].as_str().unwrap().contains("not authorized"), "{tried:?}");
    // The receiver's health is written down after the attempt.
    eventually(DEADLINE, || async {
        let shown = queued.owner().get(&queued.path()).await.expect(200);
        (shown.int("/stats/consecutive_failures") == 2).then_some(())
    })
    .await;
    queued.queue.reopen().await;
    queued.gateway.advance(10 * MINUTE);
    queued.gateway.sweep().await;
    let polled = queued.queue.next().await;
    verify(&polled.received, queued.secret());
    assert_eq!(
        (name_of(&polled), polled.received.header("x-service-attempt")),
        (json!("Refused"), "3")
    );
    let done = queued.delivery_in("succeeded").await;
    assert_eq!(done["id"], denied["id"]);
}

#[tokio::test]
async fn an_oversized_queue_message_is_recorded_as_too_large() {
    let queued = Queued::to("small").await;
    queued.queue.set(QueueAttributeName::MaximumMessageSize, "1024").await;
    // The whole store is in the event.
    queued.rename(&"x".repeat(100)).await;
    let failed = queued.delivery_in("retrying").await;
    assert_eq!(failed["last_error"], "message_too_large");
}

#[tokio::test]
async fn a_broken_queue_opens_only_its_own_circuit() {
    let queued = Queued::to("dead").await;
    let well = PolledQueue::open(&queued.gateway, "well").await;
    let input = json!({"destination": well.destination(), "event_types": ["store.updated"]});
    let other = queued.owner().post(SUBSCRIPTIONS).json(input).await.expect(201).str("/id");
    let (_, token) = well.challenge().await;
    let confirm = format!("{SUBSCRIPTIONS}/{other}/confirm");
    queued.owner().post(&confirm).json(json!({"token": token})).await.expect(200);
    queued.queue.delete().await;
    for count in 1..=10 {
        queued.rename(&format!("Number {count}")).await;
    }
    eventually(DEADLINE, || async {
        let shown = queued.owner().get(&queued.path()).await.expect(200);
        (shown.str("/health") == "circuit_open").then_some(())
    })
    .await;
    let shown = queued.owner().get(&format!("{SUBSCRIPTIONS}/{other}")).await.expect(200);
    assert_eq!(shown.str("/health"), "healthy");
    let mut arrived = 0;
    while arrived < 10 {
        arrived += eventually(DEADLINE, || async {
            Some(well.poll().await.len()).filter(|count| *count > 0)
        })
        .await;
    }
}
