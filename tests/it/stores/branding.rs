//! What a store says about itself: its branding, and the version that storefronts cache by.

use support::clock::{MINUTE, STORE_CACHE};
use support::{Client, Gateway, Merchant, Reply, Store, Value, json, race, unique};

struct Front {
    gateway: Gateway,
    store: Store,
    owner: Client,
}

impl Front {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        Self { gateway, store, owner }
    }

    fn at(&self, path: &str) -> String {
        format!("/v1/stores/{}{path}", self.store.id)
    }

    async fn brand(&self, branding: Value) -> Reply {
        self.owner.patch(&self.at("")).json(json!({"branding": branding})).await
    }

    async fn upload(&self, seed: u8) -> String {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.resize(64, seed);
        let upload = self.owner.post("/v1/media").header("content-type", "image/png").body(bytes);
        upload.await.expect(201).str("/id")
    }

    async fn delete_media(&self, id: &str) -> Reply {
        self.owner.delete(&format!("/v1/media/{id}")).await
    }

    /// The store's page, as a process shows it that has not kept it.
    async fn page(&self) -> Reply {
        self.gateway.advance(STORE_CACHE);
        let path = format!("/v1/storefront/{}", self.store.subdomain);
        self.gateway.client().get(&path).await.expect(200)
    }

    async fn lookup(&self) -> Reply {
        let path = format!("/v1/storefront/lookup?subdomain={}", self.store.subdomain);
        self.gateway.client().get(&path).await.expect(200)
    }
}

#[tokio::test]
async fn branding_is_updated_field_by_field() {
    let front = Front::open().await;
    let plain = front.page().await;
    assert_eq!(*plain.at("/branding/logo"), Value::Null);
    assert_eq!(*plain.at("/branding/social_links"), json!([]));
    let (logo, icon) = (front.upload(1).await, front.upload(2).await);
    let links = json!([
        {"network": "instagram", "url": "https://instagram.com/blue"},
        {"network": "other", "url": "https://blog.example.com/"},
        {"network": "other", "url": "https://news.example.com/"},
    ]);
    let whole = json!({
        "logo": {"media_id": logo}, "favicon": {"media_id": icon},
        "primary_color": "#1A2B3C", "secondary_color": "#ffffff",
        "slogan": "Books, bottled.", "short_description": "We sell books.",
        "social_links": links,
    });
    let shown = front.brand(whole).await.expect(200);
    assert_eq!(
        (shown.str("/branding/primary_color"), shown.int("/version")),
        ("#1a2b3c".into(), 3)
    );
    let page = front.page().await;
    assert_eq!(page.at("/branding"), shown.at("/branding"));
    assert_eq!(*page.at("/branding/social_links"), links);
    assert_eq!(page.trips(), plain.trips());
    assert_ne!(page.etag(), plain.etag());
    let url = page.str("/branding/logo/url");
    assert!(url.ends_with(&format!("/storefront/{}/media/{logo}", front.store.subdomain)), "{url}");
    front.gateway.client().at_url(&url).get("").await.expect(200);
    // One field at a time; what is left out stays.
    let one = front.brand(json!({"slogan": null, "social_links": null})).await.expect(200);
    assert_eq!(
        (one.at("/branding/slogan"), one.at("/branding/social_links")),
        (&Value::Null, &json!([]))
    );
    assert_eq!(one.str("/branding/logo/media_id"), logo);
    let same = front.brand(json!({"secondary_color": "#FFFFFF"})).await.expect(200);
    assert_eq!(same.int("/version"), 4);
    let none = front.owner.patch(&front.at("")).json(json!({"branding": null})).await.expect(200);
    assert_eq!(none.at("/branding"), plain.at("/branding"));
    assert_eq!(front.page().await.at("/branding"), plain.at("/branding"));
}

#[tokio::test]
async fn all_field_errors_of_a_branding_are_reported_at_once() {
    let front = Front::open().await;
    let before = front.gateway.count().await;
    let link = |url: &str| json!({"network": "x", "url": url});
    let rejected = front
        .brand(json!({
            "logo": {"media_id": "med_1"}, "favicon": "med_1", "primary_color": "red",
            "secondary_color": 7, "slogan": "", "short_description": "x".repeat(501), "font": "a",
            "social_links": [link("http://x.com/a"), link("javascript:alert(1)"), {"network": "myspace"}],
        }))
        .await
        .expect(422);
    let mut found = rejected.field_errors();
    found.sort();
    let expected = [
        ("/branding/favicon", "invalid_type"),
        ("/branding/font", "unknown_field"),
        ("/branding/logo/media_id", "invalid_id"),
        ("/branding/primary_color", "invalid_color"),
        ("/branding/secondary_color", "invalid_type"),
        ("/branding/short_description", "too_long"),
        ("/branding/slogan", "too_short"),
        ("/branding/social_links/0/url", "invalid_url"),
        ("/branding/social_links/1/url", "invalid_url"),
        ("/branding/social_links/2/network", "invalid_choice"),
        ("/branding/social_links/2/url", "required"),
    ];
    assert_eq!(found, expected.map(|(at, code)| (at.to_owned(), code.to_owned())));
    let twice = json!({"social_links": [link("https://x.com/a"), link("https://x.com/b")]});
    let rejected = front.brand(twice).await.expect(422);
    let at = "/branding/social_links/1/network".to_owned();
    assert_eq!(rejected.field_errors(), [(at, "duplicate".to_owned())]);
    let many: Vec<Value> =
        (0..13).map(|_| json!({"network": "other", "url": "https://a.co"})).collect();
    let rejected = front.brand(json!({"social_links": many})).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "too_many");
    assert_eq!(front.gateway.count().await, before);
}

#[tokio::test]
async fn an_image_used_by_branding_is_not_deleted() {
    let front = Front::open().await;
    let (one, two) = (front.upload(1).await, front.upload(2).await);
    let picture = |id: &str| json!({"media_id": id});
    // The same image in both places is held once, and released when neither shows it.
    front.brand(json!({"logo": picture(&one), "favicon": picture(&one)})).await.expect(200);
    front.delete_media(&one).await.expect(409).problem("media_in_use");
    front.brand(json!({"logo": picture(&two)})).await.expect(200);
    front.delete_media(&one).await.expect(409).problem("media_in_use");
    front.delete_media(&two).await.expect(409).problem("media_in_use");
    // They change places: still held.
    front.brand(json!({"logo": picture(&one), "favicon": picture(&two)})).await.expect(200);
    front.brand(json!({"favicon": null})).await.expect(200);
    front.delete_media(&two).await.expect(204);
    front.delete_media(&one).await.expect(409).problem("media_in_use");
    front.owner.patch(&front.at("")).json(json!({"branding": null})).await.expect(200);
    front.delete_media(&one).await.expect(204);
    let before = front.gateway.count().await;
    let gone = front.brand(json!({"logo": picture(&one), "favicon": picture(&two)})).await;
    let mut found = gone.expect(422).field_errors();
    found.sort();
    let at = |field: &str| (format!("/branding/{field}/media_id"), "unknown_media".to_owned());
    assert_eq!(found, [at("favicon"), at("logo")]);
    assert_eq!(front.gateway.count().await, before);
}

#[tokio::test]
async fn branding_rejects_another_stores_image() {
    let front = Front::open().await;
    let image = front.upload(1).await;
    let other = Merchant::sign_up(&front.gateway).await;
    let store = other.open_store().await;
    let input = json!({"branding": {"logo": {"media_id": image}}});
    let rejected = other.patch(&format!("/v1/stores/{}", store.id)).json(input).await.expect(422);
    let at = "/branding/logo/media_id".to_owned();
    assert_eq!(rejected.field_errors(), [(at, "unknown_media".to_owned())]);
    front.delete_media(&image).await.expect(204);
}

#[tokio::test]
async fn every_storefront_change_raises_the_config_version() {
    let front = Front::open().await;
    let first = front.page().await;
    let mut version = first.int("/config_version");
    let mut tags = (first.etag(), front.lookup().await.etag());
    let items = json!({"items": [{"title": "Home", "type": "home"}]});
    let page = json!({"body_html": "<p>Hi</p>"});
    let provider = "/v1/payments/providers/manual";
    let owner = &front.owner;
    let changes = [
        owner.put(&front.at("/navigation/main")).json(items.clone()),
        owner.put(&front.at("/navigation/main")).json(items),
        owner.put(&front.at("/policies/privacy")).json(page),
        owner.patch(&front.at("/settings")).json(json!({"checkout": {"require_phone": true}})),
        owner.put(provider).json(json!({"instructions": "Bring cash."})),
        owner.put(provider).json(json!({"enabled": false})),
        owner.delete(provider),
    ];
    for (place, change) in changes.into_iter().enumerate() {
        let reply = change.await;
        assert!((200..300).contains(&reply.status), "{place}: {}", reply.text);
        let page = front.page().await;
        let lookup = front.lookup().await;
        version += 1;
        assert_eq!(
            (page.int("/config_version"), lookup.int("/config_version")),
            (version, version)
        );
        assert!(page.etag() != tags.0 && lookup.etag() != tags.1, "{place}");
        tags = (page.etag(), lookup.etag());
    }
    // What changes nothing raises nothing.
    let settings = json!({"checkout": {"require_phone": true}});
    owner.patch(&front.at("/settings")).json(settings).await.expect(200);
    assert_eq!(front.page().await.int("/config_version"), version);
    // The owner's idea of the store is not stale; and no write of the store takes the count back.
    let rename = owner.patch(&front.at("")).json(json!({"name": "B Shop"})).if_match("\"2\"");
    let renamed = rename.await.expect(200);
    assert_eq!((renamed.int("/version"), renamed.int("/config_version")), (3, version + 1));
    assert_eq!(front.page().await.int("/config_version"), version + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_changes_each_raise_the_config_version() {
    let front = Front::open().await;
    let before = front.page().await.int("/config_version");
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = race(16, || {
        let turn = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let input = if turn.is_multiple_of(2) {
            front.owner.patch(&front.at("")).json(json!({"name": unique("name")}))
        } else {
            let menu = front.at(&format!("/navigation/menu-{turn}"));
            front.owner.put(&menu).json(json!({"items": []}))
        };
        async move { input.await }
    })
    .await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    let after = front.page().await.int("/config_version");
    assert_eq!(after - before, i64::try_from(done).unwrap());
    assert!(done >= 8, "no menu is lost to a rename");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_has_at_most_fifty_menus() {
    let front = Front::open().await;
    let menu = |name: &str| front.at(&format!("/navigation/{name}"));
    let put = |name: &str| front.owner.put(&menu(name)).json(json!({"items": []}));
    for handle in ["refund", "privacy", "terms", "shipping", "contact"] {
        let page = json!({"body_html": "<p>Hi</p>"});
        front.owner.put(&front.at(&format!("/policies/{handle}"))).json(page).await.expect(200);
    }
    for place in 10..56 {
        put(&format!("menu-{place}")).await.expect(200);
    }
    front.gateway.advance(MINUTE);
    // Eight more at once: there is room for four.
    let next = std::sync::atomic::AtomicUsize::new(56);
    let answers = race(8, || {
        let input =
            put(&format!("menu-{}", next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        async move { input.await }
    })
    .await;
    let rejected: Vec<&Reply> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert_eq!(rejected.len(), 4);
    for answer in rejected {
        let code = answer.json["code"].as_str().unwrap();
        assert_eq!((answer.status, code, &answer.json["limit"]), (409, "menu_limit", &json!(50)));
    }
    let page = front.page().await;
    let count = |name: &str| page.at(name).as_array().unwrap().len();
    assert_eq!((count("/navigation"), count("/policies"), count("/payment_methods")), (50, 5, 1));
    // Those there are can be changed; one that goes makes room.
    let version = put("menu-10").await.expect(200).int("/version");
    assert_eq!(version, 2);
    put("another").await.expect(409).problem("menu_limit");
    let stale = front.owner.delete(&menu("menu-10")).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    front.owner.delete(&menu("menu-10")).await.expect(204);
    front.owner.delete(&menu("menu-10")).await.expect(404).problem("not_found");
    front.owner.get(&menu("menu-10")).await.expect(404);
    let gone = front.gateway.events("navigation.deleted").await;
    assert_eq!((gone.len(), &gone[0]["data"]["version"]), (1, &json!(3)));
    assert_eq!(put("another").await.expect(200).int("/version"), 1);
    put("menu-10").await.expect(409).problem("menu_limit");
    let page = front.page().await;
    let named = page.at("/navigation").as_array().unwrap();
    assert!(named.len() == 50 && named[0] == json!("another") && named[1] == json!("menu-11"));
    // The list of them is the same, page by page.
    let path = format!("/v1/storefront/{}/navigation?limit=100", front.store.subdomain);
    let listed = front.gateway.client().get(&path).await.expect(200);
    assert_eq!(listed.data().iter().map(|menu| menu["id"].clone()).collect::<Vec<_>>(), *named);
    // What writes the store leaves its menus alone.
    front.owner.patch(&front.at("")).json(json!({"name": "B Shop"})).await.expect(200);
    assert_eq!(front.page().await.at("/navigation").as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn a_deleted_menu_can_be_created_again() {
    let front = Front::open().await;
    let menu = front.at("/navigation/main");
    let none = json!([]);
    for _ in 0..2 {
        let made = front.owner.put(&menu).json(json!({"items": []})).await.expect(200);
        assert_eq!(made.int("/version"), 1);
        assert_eq!(*front.page().await.at("/navigation"), json!(["main"]));
        front.owner.delete(&menu).await.expect(204);
        assert_eq!(*front.page().await.at("/navigation"), none);
    }
}
