//! What many do at once to one theme, one slug or one store: some are told that somebody was faster,
//! and what is kept is as if they had come one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use support::{
    Merchant, Reply, ThemeShop, ThemeSource, Value, content_sha256, json, race, unique, upload,
};

/// Statuses, lowest first.
fn statuses(replies: &[Reply]) -> Vec<u16> {
    let mut all: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    all.sort_unstable();
    all
}

/// Every release of the theme, the oldest first.
async fn history(shop: &ThemeShop) -> Vec<Value> {
    let listed = shop.get("releases?limit=100").await.expect(200);
    let mut all = listed.data().clone();
    all.reverse();
    all
}

/// The digest of a release, out of what is served: the live release's files, which are those of the
/// one version there is, and the release's own settings.
async fn digest(shop: &ThemeShop, shown: &Reply, number: &Value) -> Value {
    let release = shop.get(&format!("releases/{number}")).await.expect(200);
    json!(content_sha256(shown.at("/files").as_array().unwrap(), &release.json))
}

#[tokio::test]
async fn parallel_theme_changes_leave_a_gapless_release_history() {
    let shop = ThemeShop::open().await;
    shop.publish("First").await;
    shop.publish("Second").await;
    let turns = AtomicUsize::new(0);
    let mut saved: BTreeMap<i64, String> = BTreeMap::new();
    for _ in 0..6 {
        let replies = race(9, || {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            let (shop, owner) = (&shop, shop.owner.elsewhere());
            async move {
                match turn % 3 {
                    0 => {
                        let input = json!({"settings": {"heading": format!("Turn {turn}")}});
                        owner.put(&shop.path("editor/draft")).json(input).await
                    }
                    1 => {
                        let editor = owner.get(&shop.path("editor")).await.expect(200);
                        let input = json!({"draft_version": editor.int("/draft/version")});
                        owner.post(&shop.path("publish")).json(input).await
                    }
                    _ => {
                        let input = json!({"release": turn % 2 + 1});
                        owner.post(&shop.path("rollback")).json(input).await
                    }
                }
            }
        })
        .await;
        for reply in &replies {
            assert!(matches!(reply.status, 200 | 201 | 409), "{} {}", reply.status, reply.text);
            if reply.status == 200 {
                let version = reply.int("/draft/version");
                let heading = reply.str("/draft/settings/heading");
                assert_eq!(saved.insert(version, heading), None, "two saved version {version}");
            }
        }
        let releases = history(&shop).await;
        let numbers: Vec<i64> =
            releases.iter().map(|release| release["number"].as_i64().unwrap()).collect();
        let all = 1..=i64::try_from(releases.len()).unwrap();
        assert_eq!(numbers, all.collect::<Vec<_>>(), "the history has no gap");
        let shown = shop.storefront_theme().await.expect(200);
        let last = releases.last().unwrap();
        assert_eq!(shown.at("/release"), &last["number"], "the last is what is shown");
        assert_eq!(shown.at("/content_sha256"), &last["content_sha256"]);
    }
    let shown = shop.storefront_theme().await.expect(200);
    let releases = history(&shop).await;
    assert!(releases.len() > 8, "each round has one who was not disturbed: {}", releases.len());
    for release in &releases {
        let number = &release["number"];
        assert_eq!(digest(&shop, &shown, number).await, release["content_sha256"], "{number}");
        if let Some(from) = release["rolled_back_from"].as_u64() {
            let source = &releases[usize::try_from(from).unwrap() - 1];
            assert_eq!(release["content_sha256"], source["content_sha256"], "{number}");
        } else if let Some(heading) = saved.get(&release["draft_version"].as_i64().unwrap()) {
            let detail = shop.get(&format!("releases/{number}")).await.expect(200);
            assert_eq!(detail.str("/settings/heading"), *heading, "{number}");
        }
    }
}

#[tokio::test]
async fn one_of_many_parallel_uploads_of_a_version_is_accepted() {
    let shop = ThemeShop::with_upload().await;
    let turns = AtomicUsize::new(0);
    let replies = race(6, || {
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        let css = format!("body {{ margin: {turn}px }}");
        let source = ThemeSource { css, ..ThemeSource::new(&shop.slug).version("2.0.0") };
        let merchant = shop.merchant.elsewhere();
        async move { upload(&merchant, source.zip()).await }
    })
    .await;
    assert_eq!(statuses(&replies), [201, 409, 409, 409, 409, 409]);
    for lost in replies.iter().filter(|reply| reply.status == 409) {
        assert_eq!(lost.str("/code"), "version_exists", "{}", lost.text);
    }
    let won = replies.iter().find(|reply| reply.status == 201).unwrap();
    let listed = shop.merchant.get("/v1/themes/packages").await.expect(200);
    let ids: BTreeSet<&str> =
        listed.data().iter().map(|package| package["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{}", listed.text);
    assert!(ids.contains(won.str("/package/id").as_str()));
    shop.post("install", json!({"version": "2.0.0"})).await.expect(201);
}

#[tokio::test]
async fn one_of_two_developers_claiming_a_slug_gets_it() {
    let shop = ThemeShop::with_upload().await;
    let other = Merchant::sign_up(&shop.gateway).await;
    for _ in 0..4 {
        let slug = unique("wanted");
        let turns = AtomicUsize::new(0);
        let replies = race(4, || {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            let maker = if turn.is_multiple_of(2) { &shop.merchant } else { &other };
            let (maker, turn) = (maker.elsewhere(), turn / 2);
            let source = ThemeSource::new(&slug).version(&format!("1.0.{turn}"));
            async move { upload(&maker, source.zip()).await }
        })
        .await;
        // One of them has both versions, the other none.
        assert_eq!(statuses(&replies), [201, 201, 409, 409], "{slug}");
        for lost in replies.iter().filter(|reply| reply.status == 409) {
            assert_eq!(lost.str("/code"), "slug_taken", "{}", lost.text);
        }
        let of = |maker: &Merchant| {
            let path = format!("/v1/themes/packages?slug={slug}");
            let input = maker.get(&path);
            async move { input.await.expect(200).data().len() }
        };
        let mut counts = [of(&shop.merchant).await, of(&other).await];
        counts.sort_unstable();
        assert_eq!(counts, [0, 2]);
    }
}

#[tokio::test]
async fn the_theme_limit_holds_under_parallel_installs() {
    let shop = ThemeShop::open().await;
    let mut slugs = Vec::new();
    for number in 0..23 {
        let slug = unique(&format!("many{number}"));
        upload(&shop.merchant, ThemeSource::new(&slug).zip()).await.expect(201);
        // What it costs is restored.
        shop.gateway.advance(Duration::from_secs(1));
        slugs.push(slug);
    }
    let (first, rest) = slugs.split_at(18);
    let install = |slug: &String| {
        let (owner, path) = (shop.owner.elsewhere(), format!("/v1/themes/{slug}/install"));
        async move { owner.post(&path).json(json!({})).await }
    };
    for slug in first {
        install(slug).await.expect(201);
    }
    let next = AtomicUsize::new(0);
    let replies = race(5, || install(&rest[next.fetch_add(1, Ordering::Relaxed)])).await;
    assert_eq!(statuses(&replies), [201, 409, 409, 409, 409]);
    for lost in replies.iter().filter(|reply| reply.status == 409) {
        assert_eq!((lost.str("/code").as_str(), lost.int("/limit")), ("theme_limit", 20));
    }
    let listed = shop.owner.get("/v1/themes?installed=true&limit=100").await.expect(200);
    assert_eq!(listed.data().len(), 20);
    // There is room again for one, and for one alone.
    shop.owner.post(&format!("/v1/themes/{}/uninstall", first[0])).await.expect(200);
    let next = AtomicUsize::new(0);
    let lost: Vec<&String> = rest
        .iter()
        .zip(&replies)
        .filter(|(_, it)| it.status == 409)
        .map(|(slug, _)| slug)
        .collect();
    let replies = race(2, || install(lost[next.fetch_add(1, Ordering::Relaxed)])).await;
    assert_eq!(statuses(&replies), [201, 409]);
}

#[tokio::test]
async fn a_parallel_publish_and_uninstall_never_both_succeed() {
    let shop = ThemeShop::open().await;
    for _ in 0..4 {
        let version = shop.draft("Now").await;
        let turns = AtomicUsize::new(0);
        let replies = race(2, || {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            let (shop, owner) = (&shop, shop.owner.elsewhere());
            async move {
                match turn {
                    0 => {
                        let input = json!({"draft_version": version});
                        owner.post(&shop.path("publish")).json(input).await
                    }
                    _ => owner.post(&shop.path("uninstall")).json(json!({})).await,
                }
            }
        })
        .await;
        let both: Vec<&str> = replies.iter().map(|reply| reply.text.as_str()).collect();
        let [published, uninstalled] = [replies[0].status, replies[1].status];
        assert!((published == 201) != (uninstalled == 200), "{both:?}");
        let shown = shop.storefront_theme().await;
        if published == 201 {
            assert_eq!(shown.status, 200, "{both:?}");
            return;
        }
        assert_eq!(shown.status, 404, "{both:?}");
        shop.post("install", json!({})).await.expect(201);
    }
}
