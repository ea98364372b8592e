//! Steps that come twice, are cut off, or end with their process.

use support::{Fault, Faults};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicate_replay_messages_send_no_event_twice() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let events = happen(&watched, 150).await;
    watched.receiver.wait_for(150).await;
    let input = with(range(&watched), json!({"rate_per_second": 1_000}));
    let id = watched.owner().post(REPLAYS).json(input).await.expect(202).str("/id");
    for _ in 0..4 {
        let process = watched.gateway.process();
        let taken = support::race(5, || process.take_step("replay", &id)).await;
        assert!(taken.iter().all(Result::is_ok), "{taken:?}");
    }
    let replay = over(&watched.owner(), &id).await;
    assert_eq!((&replay["status"], &replay["matched"]), (&json!("succeeded"), &json!(150)));
    assert_eq!(replay["progress"]["succeeded"], 150);
    let again = watched.receiver.requests().split_off(150);
    assert_eq!(again.len(), 150);
    let known: BTreeSet<_> = again.iter().map(|one| one.header("webhook-id").to_owned()).collect();
    assert_eq!(known, events);
}

/// What is between the deliveries of a page and the replay's own write is what a crash there leaves.
#[tokio::test]
async fn an_interrupted_replay_step_is_repeated() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let events = happen(&watched, 25).await;
    watched.receiver.wait_for(25).await;
    let input = with(range(&watched), json!({"rate_per_second": 1}));
    let id = watched.owner().post(REPLAYS).json(input).await.expect(202).str("/id");
    in_time(&watched.owner(), &id, |replay| replay["progress"]["sent"] == 10).await;
    watched.gateway.advance(MINUTE);
    let faults = Faults::planned();
    faults.will([("TransactWriteItems", Fault::Denied)]);
    let cut_off = watched.gateway.process_over(&faults);
    cut_off.take_step("replay", &id).await.unwrap_err();
    assert_eq!(faults.left(), 0);
    let path = format!("{REPLAYS}/{id}");
    let shown = watched.owner().get(&path).await.expect(200);
    assert_eq!(shown.int("/progress/sent"), 10);
    assert_eq!(made_by(&watched.gateway, &id).await.len(), 15, "five that nobody has counted");
    for _ in 0..3 {
        watched.gateway.advance(MINUTE);
        watched.gateway.process().take_step("replay", &id).await.unwrap();
    }
    eventually(DEADLINE, || async {
        watched.gateway.sweep().await;
        watched.gateway.advance(MINUTE);
        watched.gateway.process().take_step("replay", &id).await.unwrap();
        let owner = watched.merchant.sign_in_again().await.at(&watched.store);
        let replay = owner.get(&path).await.expect(200).json;
        (replay["status"] == "succeeded").then_some(replay)
    })
    .await;
    let made = made_by(&watched.gateway, &id).await;
    let known: BTreeSet<_> =
        made.iter().map(|one| one["event_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((made.len(), known), (25, events));
    assert_eq!(watched.receiver.requests().len(), 50);
}

#[tokio::test]
async fn a_replay_resumes_after_a_restart() {
    let data = std::env::temp_dir().join(format!("replay-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&data).unwrap();
    let start = || {
        let data = data.clone();
        Gateway::start_with(move |options| options.embedded.data = Some(data))
    };
    let watched = Watched::on(start().await, Behaviour::Status(200)).await;
    let events = happen(&watched, 60).await;
    watched.receiver.wait_for(60).await;
    let input = with(range(&watched), json!({"rate_per_second": 4}));
    let id = watched.owner().post(REPLAYS).json(input).await.expect(202).str("/id");
    in_time(&watched.owner(), &id, |replay| replay["progress"]["sent"].as_u64() >= Some(20)).await;
    let Watched { gateway, merchant, store, receiver, .. } = watched;
    // Ended as `kill -9` would end it, with its queues in memory.
    drop(gateway);
    eventually(DEADLINE, || async {
        let lock = std::fs::File::open(data.join("lock")).unwrap();
        lock.try_lock().is_ok().then_some(())
    })
    .await;
    let of_replay = || {
        let mut sent = receiver.requests();
        sent.retain(|one| one.headers.get("x-service-replay-id").is_some_and(|of| *of == *id));
        sent
    };
    let sent_before = of_replay().len();
    let second = start().await;
    let owner = second.client().with_token(merchant.token()).with_store(&store.id);
    let shown = owner.get(&format!("{REPLAYS}/{id}")).await.expect(200);
    assert_eq!(shown.str("/status"), "running");
    assert!(made_by(&second, &id).await.len() < 60, "it was interrupted");
    second.advance(3 * MINUTE);
    let report = second.sweep().await;
    assert_eq!(report.long_work, 1, "{report:?}");
    let replay = eventually(Duration::from_mins(1), || async {
        second.sweep().await;
        let replay = owner.elsewhere().get(&format!("{REPLAYS}/{id}")).await.expect(200).json;
        second.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(50)).await;
        replay["finished_at"].is_string().then_some(replay)
    })
    .await;
    assert_eq!((&replay["status"], &replay["matched"]), (&json!("succeeded"), &json!(60)));
    let made = made_by(&second, &id).await;
    let known: BTreeSet<_> =
        made.iter().map(|one| one["event_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((made.len(), &known), (60, &events), "one delivery for each event");
    let delivery = |one: &support::Received| one.header("x-service-delivery-id").to_owned();
    let attempt =
        |one: &support::Received| (delivery(one), one.header("x-service-attempt").to_owned());
    let sent = of_replay();
    assert_eq!(sent.iter().map(delivery).collect::<BTreeSet<_>>().len(), 60);
    // An attempt that was under way when the system stopped left no record, and is made again; no other one is.
    let (before, after) = sent.split_at(sent_before);
    for part in [before, after] {
        assert_eq!(part.iter().map(attempt).collect::<BTreeSet<_>>().len(), part.len());
    }
    drop(second);
    std::fs::remove_dir_all(&data).unwrap();
}
