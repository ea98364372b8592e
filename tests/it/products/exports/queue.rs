//! How many exports a store has unfinished, and in which order they are written.

use super::*;

async fn by_hand() -> Market {
    Market::open_with(|options| options.has_runner = false).await
}

async fn asked(market: &Market) -> Reply {
    market.owner.post(EXPORTS).json(json!({"kind": "products"})).await
}

/// A step as the function takes it.
async fn step(market: &Market, id: &str) {
    market.gateway.function("Runner").take_step("export", id).await.unwrap();
}

async fn status(market: &Market, id: &str) -> String {
    market.owner.get(&format!("{EXPORTS}/{id}")).await.expect(200).str("/status")
}

#[tokio::test]
async fn a_store_has_at_most_five_unfinished_exports() {
    let market = by_hand().await;
    let mut made = Vec::new();
    for reply in join_all((0..9).map(|_| asked(&market))).await {
        match reply.status {
            202 => made.push(reply.str("/id")),
            _ => assert_eq!(reply.problem("export_limit").int("/limit"), 5),
        }
    }
    while made.len() < 5 {
        made.push(asked(&market).await.expect(202).str("/id"));
    }
    assert_eq!(made.len(), 5, "more were created at one moment");
    asked(&market).await.expect(409).problem("export_limit");
    // A data request counts, and another store's exports do not.
    let input = json!({"email": format!("{}@example.com", unique("guest"))});
    let guest = market.owner.post("/v1/customers/guests/data-request").json(input).await;
    guest.expect(409).problem("export_limit");
    // However one ends, another may follow: cancelled, and written.
    let cancel = format!("{EXPORTS}/{}/cancel", made[2]);
    market.owner.post(&cancel).json(json!({})).await.expect(200);
    asked(&market).await.expect(202);
    asked(&market).await.expect(409).problem("export_limit");
    let oldest = made.iter().min().unwrap();
    step(&market, oldest).await;
    assert_eq!(status(&market, oldest).await, "succeeded");
    asked(&market).await.expect(202);
    asked(&market).await.expect(409).problem("export_limit");
}

#[tokio::test]
async fn a_stores_exports_run_one_at_a_time_in_order() {
    let market = by_hand().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(asked(&market).await.expect(202).str("/id"));
    }
    // The message of a later one changes nothing, nor does one that the sweep sends.
    step(&market, &ids[1]).await;
    market.gateway.advance(Duration::from_mins(2));
    step(&market, &ids[2]).await;
    for id in &ids {
        assert_eq!(status(&market, id).await, "queued");
    }
    for id in &ids {
        step(&market, id).await;
        assert_eq!(status(&market, id).await, "succeeded");
    }
}

#[tokio::test]
async fn five_queued_exports_of_a_store_all_succeed() {
    let market = Market::open().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(asked(&market).await.expect(202).str("/id"));
    }
    eventually(Duration::from_secs(30), || async {
        let mut done = 0;
        for id in &ids {
            done += usize::from(status(&market, id).await == "succeeded");
        }
        (done == ids.len()).then_some(())
    })
    .await;
}
