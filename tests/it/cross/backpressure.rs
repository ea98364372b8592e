//! Backpressure of the local system: requests that write wait while the relay of events is behind.

use std::time::{Duration, Instant};

use emulators::faults::{Fault, Faults};
use support::{Behaviour, Client, Gateway, eventually, json};

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
        let owner = self.watched.owner();
        let since = Instant::now();
        // Who reads does not wait.
        eventually(DEADLINE, || self.read_until(&owner, since + BEHIND)).await;
        assert!(self.watched.receiver.requests().is_empty());
    }

    async fn read_until(&self, owner: &Client, end: Instant) -> Option<()> {
        owner.get(&self.path()).await.expect(200);
        (Instant::now() > end).then_some(())
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
    let begun = Instant::now();
    let (path, input) = (relayed.path(), json!({"name": "Second"}));
    let second = async {
        let reply = owner.patch(&path).json(input).await.expect(200);
        (reply, Instant::now())
    };
    let first = async {
        eventually(DEADLINE, || relayed.read_until(&owner, begun + BEHIND)).await;
        relayed.go_on().await;
        begun.elapsed()
    };
    let ((_, answered), waited) = tokio::join!(second, first);
    assert!(answered - begun > BEHIND, "accepted while the relay stood still, of {waited:?}");
    relayed.watched.receiver.wait_for(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_has_waited_for_ten_seconds_is_answered_503() {
    let relayed = Relayed::start().await;
    relayed.stand_still().await;
    let owner = relayed.watched.owner();
    let begun = Instant::now();
    let input = json!({"name": "Second"});
    let rejected = owner.patch(&relayed.path()).json(input.clone()).await.expect(503);
    rejected.problem("service_unavailable");
    assert!(begun.elapsed() >= Duration::from_secs(10), "{:?}", begun.elapsed());
    let unchanged = owner.get(&relayed.path()).await.expect(200);
    assert_eq!(unchanged.str("/name"), "First");
    relayed.go_on().await;
    relayed.watched.receiver.wait_for(1).await;
    owner.patch(&relayed.path()).json(input).await.expect(200);
    relayed.watched.receiver.wait_for(2).await;
}
