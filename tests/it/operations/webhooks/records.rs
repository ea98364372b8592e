//! Deliveries and their attempts, read and expunged.

use gateway::clock::DAY;
use support::Behaviour;

use super::{DELIVERIES, Watched};

#[tokio::test]
async fn a_filter_that_passes_nothing_ends_the_page_with_a_cursor_and_is_charged_in_full() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    let app = watched.gateway.app();
    let key = ground::key::delivery(&ground::id::DeliveryId::parse(&id).unwrap());
    let sample: delivery::delivery::Delivery = app.table.get(&key).await.unwrap().unwrap();
    watched.gateway.advance(6 * DAY);
    for day in 1..=5_u32 {
        let more = (0..30).map(|number| delivery::delivery::Delivery {
            id: ground::id::DeliveryId::derive(&[&day.to_string(), &number.to_string()]),
            created_at: sample.created_at.plus(DAY * day),
            ..sample.clone()
        });
        let write = more.fold(app.table.write(), |write, delivery| write.put(&delivery));
        write.commit().await.unwrap();
    }
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    let mut path = format!("{DELIVERIES}?status=cancelled&limit=1");
    let first = owner.get(&path).await.expect(200);
    assert_eq!((first.data().len(), first.json["page"]["has_more"].as_bool()), (0, Some(true)));
    assert!(first.trips() <= 45, "{} round trips", first.trips());
    assert_eq!(first.header("x-service-cost-actual"), first.header("x-service-cost-requested"));
    let mut pages = 0;
    loop {
        let reply = owner.get(&path).await.expect(200);
        assert!(reply.data().is_empty());
        pages += 1;
        let Some(cursor) = reply.json["page"]["next_cursor"].as_str() else { break };
        path = format!("{DELIVERIES}?status=cancelled&limit=1&cursor={cursor}");
    }
    // Of 150 and one, two are read at once: some 81 queries, 40 a page.
    assert_eq!(pages, 3);
    let mut found = std::collections::BTreeSet::new();
    path = format!("{DELIVERIES}?status=succeeded&limit=7");
    loop {
        let reply = owner.get(&path).await.expect(200);
        let new = reply.data().iter().all(|one| found.insert(one["id"].to_string()));
        assert!(new, "nothing comes twice");
        let Some(cursor) = reply.json["page"]["next_cursor"].as_str() else { break };
        path = format!("{DELIVERIES}?status=succeeded&limit=7&cursor={cursor}");
    }
    assert_eq!(found.len(), 151);
}

#[tokio::test]
async fn every_recorded_answer_goes_with_a_deliverys_content() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Sample").await;
    let id = watched.delivery_in("succeeded").await["id"].as_str().unwrap().to_owned();
    let app = watched.gateway.app();
    let id = ground::id::DeliveryId::parse(&id).unwrap();
    let key = ground::key::attempt(&id, 1);
    let sample: delivery::delivery::DeliveryAttempt = app.table.get(&key).await.unwrap().unwrap();
    for chunk in (1..=230_u32).collect::<Vec<_>>().chunks(50) {
        let write = chunk.iter().fold(app.table.write(), |write, number| {
            let sample = delivery::delivery::DeliveryAttempt { number: *number, ..sample.clone() };
            write.put(&sample.with_response(b"private", false))
        });
        write.commit().await.unwrap();
    }
    let path = format!("{DELIVERIES}/{id}/content");
    watched.owner().delete(&path).await.expect(204);
    let attempts = watched.gateway.items_of("delivery_attempt", "DLV#").await;
    assert_eq!(attempts.len(), 230);
    assert!(attempts.iter().all(|attempt| attempt.get("response_body").is_none()));
    let redeliver = format!("{DELIVERIES}/{id}/redeliver");
    watched.owner().post(&redeliver).await.expect(409).problem("payload_expunged");
}
