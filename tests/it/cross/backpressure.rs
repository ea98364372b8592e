//! Backpressure of the local system: requests that write wait while the relay of events is behind.

use std::time::Duration;

use emulators::faults::{Fault, Faults};
use support::{Behaviour, Gateway, eventually, json};
use tokio::time::timeout;

use crate::operations::webhooks::{DEADLINE, DELIVERIES, Watched};

/// Longer than an event may wait before the relay is behind.
const BEHIND: Duration = Duration::from_millis(300);

/// A system with backpressure, whose relay stands still once it is told to.
struct Relayed {
    watched: Watched,
    faults: Faults,
}

impl Relayed {
    async fn start() -> Self {
        let faults = Faults::planned();
        let planned = Some(faults.clone());
        let gateway = Gateway::start_with(|options| {
            options.has_backpressure = true;
            options.embedded.planned = planned;
        })
        .await;
        let watched = Watched::on(gateway, Behaviour::Status(200)).await;
        watched.gateway.quiet().await;
        Self { watched, faults }
    }

    fn path(&self) -> String {
        format!("/v1/stores/{}", self.watched.store.id)
    }

    /// The relay looks for the subscriptions of an event, and waits until somebody else queries the table.
    async fn stand_still(&self) {
        let queries = self.faults.came("Query");
        self.faults.will([("Query", Fault::Behind("Query", queries + 2))]);
        // Nothing waits yet, so it is accepted at once.
        self.watched.rename("First").await;
        eventually(DEADLINE, || async { (self.faults.left() == 0).then_some(()) }).await;
        // Who reads does not wait.
        let reading = async {
            loop {
                self.watched.owner().get(&self.path()).await.expect(200);
            }
        };
        let _: Result<(), _> = timeout(BEHIND, reading).await;
        assert!(self.watched.receiver.requests().is_empty());
    }

    async fn go_on(&self) {
        self.watched.owner().get(DELIVERIES).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_write_wait_until_the_relay_has_caught_up() {
    let relayed = Relayed::start().await;
    relayed.stand_still().await;
    let owner = relayed.watched.owner();
    let mut second = owner.patch(&relayed.path()).json(json!({"name": "Second"})).into_future();
    let early = timeout(BEHIND, &mut second).await;
    assert!(early.is_err(), "answered while the relay stands still");
    relayed.go_on().await;
    second.await.expect(200);
    relayed.watched.receiver.wait_for(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_has_waited_for_ten_seconds_is_answered_503() {
    let relayed = Relayed::start().await;
    relayed.stand_still().await;
    let owner = relayed.watched.owner();
    let input = json!({"name": "Second"});
    let mut request = owner.patch(&relayed.path()).json(input.clone()).into_future();
    let early = timeout(Duration::from_secs(9), &mut request).await;
    assert!(early.is_err(), "answered early");
    request.await.expect(503).problem("service_unavailable");
    let unchanged = owner.get(&relayed.path()).await.expect(200);
    assert_eq!(unchanged.str("/name"), "First");
    relayed.go_on().await;
    relayed.watched.receiver.wait_for(1).await;
    owner.patch(&relayed.path()).json(input).await.expect(200);
    relayed.watched.receiver.wait_for(2).await;
}
