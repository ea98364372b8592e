//! `max_rate_per_second`: put off, not lost.

use std::collections::BTreeSet;
use std::time::Duration;

use support::clock::Timestamp;
use support::{Behaviour, Gateway, Value, eventually, json};

use super::Watched;

const EVENTS: usize = 100;
const RATE: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn max_rate_per_second_delays_deliveries_and_loses_none() {
    let fields = json!({"max_rate_per_second": RATE});
    let watched = Watched::with(Gateway::start().await, Behaviour::Status(200), fields).await;
    // A few fail, and are tried again at the same rate.
    watched.receiver.next(vec![Behaviour::Status(500); 5]);
    for number in 0..EVENTS {
        watched.rename(&format!("Event {number}")).await;
    }
    let put_off = watched.gateway.items_of("delivery", "DLV#").await;
    assert!(put_off.iter().any(|one| one["held_by"] == "rate"), "most of them wait for a turn");
    eventually(Duration::from_mins(3), || async {
        let deliveries = watched.gateway.items_of("delivery", "DLV#").await;
        let done = deliveries.iter().filter(|one| one["status"] == "succeeded").count();
        (done == EVENTS).then_some(())
    })
    .await;
    let requests = watched.receiver.requests();
    let ids: BTreeSet<_> =
        requests.iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), requests.len()), (EVENTS, EVENTS + 5));
    let deliveries = watched.gateway.items_of("delivery", "DLV#").await;
    let attempts = deliveries.iter().flat_map(|one| one["attempts"].as_array().unwrap());
    let began = |attempt: &Value| Timestamp::parse(attempt["at"].as_str().unwrap()).unwrap();
    let mut began: Vec<Timestamp> = attempts.map(began).collect();
    began.sort_unstable();
    assert_eq!(began.len(), EVENTS + 5);
    for window in began.windows(RATE + 1) {
        let taken = window[0].until(window[RATE]);
        assert!(taken >= Duration::from_secs(1), "{} within {taken:?}", RATE + 1);
    }
}
