//! Releases: numbered without a gap, and gone back to byte for byte.

use std::sync::atomic::{AtomicUsize, Ordering};

use support::{ThemeShop, Value, json, race};

async fn numbers(shop: &ThemeShop) -> Vec<i64> {
    let listed = shop.get("releases?limit=100").await.expect(200);
    listed.data().iter().map(|release| release["number"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_parallel_publish_and_rollback_leave_gapless_release_numbers() {
    let shop = ThemeShop::open().await;
    shop.publish("First").await;
    shop.publish("Second").await;
    let mut expected = 2;
    for round in 0..5 {
        let draft = shop.draft(&format!("Round {round}")).await;
        // Not what is shown: the other of the first two.
        let shown = shop.storefront_theme().await.expect(200).str("/settings/heading");
        let target = if shown == "First" { 2 } else { 1 };
        let turn = AtomicUsize::new(0);
        let act = || {
            let publishes = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            let owner = shop.owner.elsewhere();
            let (rest, input) = if publishes {
                ("publish", json!({"draft_version": draft}))
            } else {
                ("rollback", json!({"release": target}))
            };
            let path = shop.path(rest);
            async move { owner.post(&path).json(input).await }
        };
        let replies = race(2, act).await;
        let won = replies.iter().filter(|reply| reply.status == 201).count();
        // Who comes after the other has answered is no loser.
        assert!(won >= 1, "{:?}", replies.iter().map(|reply| &reply.text).collect::<Vec<_>>());
        for lost in replies.iter().filter(|reply| reply.status != 201) {
            assert_eq!((lost.status, lost.str("/code").as_str()), (409, "version_conflict"));
        }
        expected += i64::try_from(won).unwrap();
        assert_eq!(numbers(&shop).await, (1..=expected).rev().collect::<Vec<_>>());
        let shown = shop.storefront_theme().await.expect(200);
        assert_eq!(shown.int("/release"), expected, "the last is the one that is shown");
        shop.gateway.advance(std::time::Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_rollback_to_the_current_release_is_rejected() {
    let shop = ThemeShop::open().await;
    shop.post("rollback", json!({"release": 1})).await.expect(404).problem("not_found");
    shop.publish("First").await;
    shop.post("rollback", json!({"release": 1})).await.expect(409).problem("already_current");
    shop.publish("Second").await;
    let back = shop.post("rollback", json!({"release": 1, "message": "Oops"})).await.expect(201);
    assert_eq!(back.str("/release/message"), "Oops");
    // The same content under another number is shown already.
    shop.post("rollback", json!({"release": 1})).await.expect(409).problem("already_current");
    shop.post("rollback", json!({"release": 3})).await.expect(409).problem("already_current");
    shop.post("rollback", json!({"release": 4})).await.expect(404).problem("not_found");
    assert_eq!(numbers(&shop).await, [3, 2, 1]);
    let digests: Vec<Value> =
        shop.get("releases").await.data().iter().map(|it| it["content_sha256"].clone()).collect();
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[1]);
    let first = shop.get("releases/1").await.expect(200);
    let third = shop.get("releases/3").await.expect(200);
    for part in ["/settings", "/sections", "/order"] {
        assert_eq!(first.at(part), third.at(part), "{part}");
    }
    assert_eq!(third.int("/rolled_back_from"), 1);
    for none in ["0", "4", "x", "-1"] {
        shop.get(&format!("releases/{none}")).await.expect(404).problem("not_found");
    }
    // The draft stays where it was.
    assert_eq!(shop.get("editor").await.expect(200).str("/draft/settings/heading"), "Second");
}

#[tokio::test]
async fn a_publish_requires_the_current_draft_version() {
    let shop = ThemeShop::open().await;
    shop.draft("One").await;
    let rejected = shop.post("publish", json!({"draft_version": 1})).await.expect(409);
    assert_eq!(rejected.int("/current_version"), 2);
    rejected.problem("draft_conflict");
    shop.post("publish", json!({})).await.expect(422).problem("validation_failed");
    assert!(numbers(&shop).await.is_empty());
    let input = json!({"draft_version": 2});
    let key = |input: Value| shop.owner.post(&shop.path("publish")).key("once").json(input);
    let first = key(input.clone()).await.expect(201);
    let again = key(input).await.expect(201);
    assert_eq!(first.text, again.text);
    assert_eq!(numbers(&shop).await, [1]);
}
