//! What happened in the last moment of a range, when the lists are read late.

use support::{Fault, Faults};

use super::*;

#[tokio::test]
async fn a_replay_up_to_now_includes_events_listed_late() {
    let gateway = Gateway::start_with(|options| options.has_runner = false).await;
    let watched = Watched::on(gateway, Behaviour::Status(200)).await;
    let faults = Faults::planned();
    let late = watched.gateway.process_over(&faults);
    faults.will([("Query", Fault::Stale); 12]);
    let id = late.announce(&watched.store, 1).await.remove(0);
    watched.receiver.wait_for(1).await;
    let path = "/v1/operations/outbox?status=published";
    eventually(DEADLINE, || async {
        let events = watched.owner().elsewhere().get(path).await.expect(200);
        events.data().iter().any(|it| it["id"] == id.as_str()).then_some(())
    })
    .await;
    let replay = watched.owner().post(REPLAYS).json(range(&watched)).await.expect(202).str("/id");
    // A message at once, and those that follow it.
    let shown = eventually(DEADLINE, || async {
        late.take_step("replay", &replay).await.unwrap();
        let path = format!("{REPLAYS}/{replay}");
        let shown = watched.owner().elsewhere().get(&path).await.expect(200);
        shown.at("/finished_at").is_string().then_some(shown)
    })
    .await;
    assert_eq!((shown.int("/progress/sent"), shown.str("/status").as_str()), (1, "succeeded"));
    let sent = watched.receiver.requests();
    assert_eq!((sent.len(), sent[1].header("webhook-id")), (2, id.as_str()));
}
