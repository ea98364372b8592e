//! Domains of a store's own: shown by a record, taken by one store, led to, given back.

use std::io::Write as _;
use std::path::PathBuf;

use support::clock::STORE_CACHE;
use support::{Client, Gateway, Merchant, Reply, Store, json, outgoing, race, unique};

/// A gateway whose name servers are a file.
struct Net {
    gateway: Gateway,
    records: PathBuf,
}

impl Net {
    async fn start() -> Self {
        let records = std::env::temp_dir().join(format!("{}.txt", unique("records")));
        let egress = outgoing::with_records(records.clone());
        let gateway = Gateway::start_with(|options| options.embedded.egress = egress).await;
        Self { gateway, records }
    }

    /// Writes the record that an answer asks for.
    fn write(&self, asked: &Reply) {
        let mut file = std::fs::File::options();
        let mut file = file.create(true).append(true).open(&self.records).unwrap();
        writeln!(file, "{}. {}", asked.str("/txt_name"), asked.str("/txt_value")).unwrap();
    }

    /// Somebody with an open store.
    async fn shop(&self) -> Shop {
        let owner = Merchant::sign_up(&self.gateway).await;
        let store = owner.open_store().await;
        let activate = format!("/v1/stores/{}/activate", store.id);
        owner.post(&activate).json(support::open_as_is()).await.expect(200);
        Shop { owner, store }
    }

    async fn lookup(&self, host: &str) -> Reply {
        self.gateway.client().get("/v1/storefront/lookup").query(&[("host", host)]).await
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.records);
    }
}

struct Shop {
    owner: Merchant,
    store: Store,
}

impl Shop {
    fn path(&self, rest: &str) -> String {
        format!("/v1/stores/{}/domains{rest}", self.store.id)
    }

    async fn request(&self, host: &str, primary: bool) -> Reply {
        let input = json!({"host": host, "primary": primary});
        self.owner.post(&self.path("")).json(input).await
    }

    async fn verify(&self, host: &str) -> Reply {
        self.owner.post(&self.path(&format!("/{host}/verify"))).json(json!({})).await
    }

    async fn remove(&self, host: &str) -> Reply {
        self.owner.delete(&self.path(&format!("/{host}"))).await
    }

    async fn primary(&self) -> serde_json::Value {
        let reply = self.owner.get(&format!("/v1/stores/{}", self.store.id)).await.expect(200);
        reply.at("/primary_domain").clone()
    }
}

#[tokio::test]
async fn a_domain_resolves_to_the_store_after_txt_verification() {
    let net = Net::start().await;
    let shop = net.shop().await;
    let host = format!("{}.example.com", unique("shop"));
    let asked = shop.request(&host.to_uppercase(), true).await.expect(201);
    assert_eq!((asked.str("/host"), asked.str("/status")), (host.clone(), "pending".into()));
    assert_eq!(asked.str("/txt_name"), format!("_commerce-challenge.{host}"));
    shop.request(&host, false).await.expect(409).problem("domain_taken");
    let missing = shop.verify(&host).await.expect(422).problem("txt_not_found");
    assert_eq!(missing.str("/txt_value"), asked.str("/txt_value"));
    net.lookup(&host).await.expect(404).problem("storefront_not_found");
    assert!(shop.primary().await.is_null());
    net.write(&asked);
    let verified = shop.verify(&host).await.expect(200);
    assert_eq!(
        (verified.str("/status"), verified.at("/primary")),
        ("verified".into(), &json!(true))
    );
    let again = shop.verify(&host).await.expect(200);
    assert_eq!(again.int("/version"), verified.int("/version"));
    assert_eq!(shop.primary().await, json!(host));
    net.gateway.advance(STORE_CACHE);
    for asked in [host.clone(), format!("{}:443", host.to_uppercase()), format!("{host}.")] {
        let found = net.lookup(&asked).await.expect(200);
        assert_eq!(found.str("/store_id"), shop.store.id, "{asked}");
        assert_eq!(found.str("/primary_domain"), host);
        assert!(found.header("etag").is_some());
    }
    assert_eq!(net.gateway.events("domain.verified").await.len(), 1);
    // It stays as long as the store wants it.
    shop.remove(&host).await.expect(204);
    shop.remove(&host).await.expect(404);
    assert!(shop.primary().await.is_null());
    net.gateway.advance(STORE_CACHE);
    net.lookup(&host).await.expect(404);
    assert_eq!(net.gateway.events("domain.removed").await.len(), 1);
    assert!(net.gateway.items("UQ#HOST#").await.is_empty());
}

#[tokio::test]
async fn one_of_two_stores_verifying_a_host_gets_it() {
    let net = Net::start().await;
    let (one, other) = (net.shop().await, net.shop().await);
    let host = format!("{}.example.com", unique("shop"));
    // Asking keeps nobody from it.
    for shop in [&one, &other] {
        net.write(&shop.request(&host, true).await.expect(201));
    }
    let shops = [&one, &other];
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = race(8, || {
        let shop = shops[next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2];
        let host = host.clone();
        async move { (shop.store.id.clone(), shop.verify(&host).await) }
    })
    .await;
    let winners: std::collections::BTreeSet<_> =
        answers.iter().filter(|(_, reply)| reply.status == 200).map(|(id, _)| id.clone()).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    for (id, reply) in &answers {
        assert!(winners.contains(id) || reply.json["code"] == "domain_taken", "{}", reply.text);
    }
    let (winner, loser) =
        if winners.contains(&one.store.id) { (&one, &other) } else { (&other, &one) };
    assert_eq!((winner.primary().await, loser.primary().await), (json!(host), json!(null)));
    assert_eq!(net.gateway.events("domain.verified").await.len(), 1);
    // A deleted store gives it back.
    let confirm = json!({"confirm": winner.store.subdomain});
    let path = format!("/v1/stores/{}", winner.store.id);
    winner.owner.delete(&path).json(confirm).await.expect(202);
    net.lookup(&host).await.expect(404);
    loser.verify(&host).await.expect(200);
    assert_eq!(net.lookup(&host).await.expect(200).str("/store_id"), loser.store.id);
}

#[tokio::test]
async fn a_store_has_one_primary_verified_domain() {
    let net = Net::start().await;
    let shop = net.shop().await;
    let [first, second] = ["a", "b"].map(|name| format!("{}.example.com", unique(name)));
    for (host, primary) in [(&first, true), (&second, false)] {
        net.write(&shop.request(host, primary).await.expect(201));
        shop.verify(host).await.expect(200);
    }
    assert_eq!(shop.primary().await, json!(first));
    let one = shop.path(&format!("/{second}"));
    let stale = shop.owner.patch(&one).json(json!({"primary": true})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    let led = shop.owner.patch(&one).json(json!({"primary": true})).await.expect(200);
    assert_eq!((led.at("/primary"), led.int("/version")), (&json!(true), 3));
    assert_eq!(shop.primary().await, json!(second));
    let list = shop.owner.get(&shop.path("")).await.expect(200);
    let shown: Vec<_> = list.data().iter().map(|it| (&it["host"], &it["primary"])).collect();
    assert_eq!(shown, [(&json!(first), &json!(false)), (&json!(second), &json!(true))]);
    shop.owner.patch(&one).json(json!({"primary": false})).await.expect(200);
    assert!(shop.primary().await.is_null());
    // Of one that is not verified yet it is a wish.
    let third = format!("{}.example.com", unique("c"));
    let asked = shop.request(&third, false).await.expect(201);
    let wish = shop.path(&format!("/{third}"));
    let wished = shop.owner.patch(&wish).json(json!({"primary": true})).await.expect(200);
    assert_eq!((wished.str("/status"), wished.at("/primary")), ("pending".into(), &json!(true)));
    assert!(shop.primary().await.is_null());
    net.write(&asked);
    shop.verify(&third).await.expect(200);
    assert_eq!(shop.primary().await, json!(third));
}

#[tokio::test]
async fn a_store_has_at_most_20_valid_domains() {
    let net = Net::start().await;
    let shop = net.shop().await;
    for host in [
        "",
        "localhost",
        "com",
        "co.uk",
        "127.0.0.1",
        "[::1]",
        "shop.internal",
        "a b.example.com",
        "https://example.com",
    ] {
        let rejected = shop.request(host, false).await.expect(422);
        assert_eq!(
            rejected.field_errors(),
            [("/host".to_owned(), "invalid_host".to_owned())],
            "{host}"
        );
    }
    let umlaut = shop.request("www.bücher.example.com", false).await.expect(201);
    assert_eq!(umlaut.str("/host"), "www.xn--bcher-kva.example.com");
    for n in 1..20 {
        shop.request(&format!("shop{n}.example.com"), false).await.expect(201);
    }
    let full =
        shop.request("one-more.example.com", false).await.expect(409).problem("domain_limit");
    assert_eq!(full.int("/limit"), 20);
    let stranger: Client = (*Merchant::sign_up(&net.gateway).await).clone();
    stranger.get(&shop.path("")).await.expect(404);
}

#[tokio::test]
async fn the_platforms_own_hosts_are_rejected_as_domains() {
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec!["https://admin.example.com".to_owned()];
    })
    .await;
    let owner = Merchant::sign_up(&gateway).await;
    let store = owner.open_store().await;
    let path = format!("/v1/stores/{}/domains", store.id);
    let rejected = owner.post(&path).json(json!({"host": "Admin.example.com"})).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/host".to_owned(), "own_host".to_owned())]);
    owner.post(&path).json(json!({"host": "shop.example.com"})).await.expect(201);
}
