//! Customers, as their store keeps them.

use support::{Market, Shopper, cart, inr, json, unique};

const CUSTOMERS: &str = "/v1/customers";

#[tokio::test]
async fn a_customer_created_by_the_store_signs_in_by_code() {
    let market = Market::proven().await;
    let email = format!("{}@example.com", unique("known"));
    let input = json!({
        "email": email, "name": "Asha Rao", "phone": "+91 80 5550 1234", "tags": ["vip", "vip"],
        "groups": ["trade"], "note": "Prefers mornings", "tax_exempt": true,
        "accepts_marketing": true, "marketing_source": "counter",
    });
    let made = market.owner.post(CUSTOMERS).json(input.clone()).await.expect(201);
    assert_eq!(*made.at("/tags"), json!(["vip"]));
    assert_eq!(made.str("/marketing_consent/source"), "counter");
    let taken = market.owner.post(CUSTOMERS).json(input).await.expect(409);
    taken.problem("email_taken");
    let one = format!("{CUSTOMERS}/{}", made.str("/id"));
    assert_eq!(market.owner.get(&one).await.expect(200).str("/note"), "Prefers mornings");
    let listed = market.owner.get(&format!("{CUSTOMERS}?group=trade")).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    // Nobody knows a password; a code does.
    let shop = &market.store.subdomain;
    let client = market.gateway.client();
    let login = json!({"subdomain": shop, "email": email, "password": "whatever-it-is-1"});
    client.post("/v1/storefront/customer/login").json(login).await.expect(401);
    let input = json!({"subdomain": shop, "email": email});
    let sent = client.post("/v1/storefront/customer/login/otp").json(input).await.expect(202);
    let code = market.gateway.mailbox(&email).code().await;
    let input = json!({"challenge_id": sent.str("/challenge_id"), "code": code});
    let path = "/v1/storefront/customer/login/otp/verify";
    let session = client.post(path).json(input).await.expect(200);
    assert_eq!(session.str("/customer/id"), made.str("/id"));
    // What the store notes is not theirs to read.
    let me = client.with_token(&session.str("/access_token"));
    let me = me.get("/v1/storefront/customer/me").await.expect(200);
    assert!(!me.text.contains("Prefers mornings") && !me.text.contains("vip"));
}

#[tokio::test]
async fn a_merchant_lists_a_customers_addresses() {
    let market = Market::open().await;
    let address = |line1: &str, region: &str| json!({"line1": line1, "city": "Pune", "region": region, "postal_code": "411001", "country": "IN"});
    let input = json!({
        "email": format!("{}@example.com", unique("known")), "address": address("1 First Street", "MH"),
        "addresses": [address("2 Second Street", "Maharashtra"), address("3 Third Street", "NCT of Delhi")],
    });
    let made = market.owner.post(CUSTOMERS).json(input).await.expect(201);
    let path = format!("{CUSTOMERS}/{}/addresses", made.str("/id"));
    let listed = market.owner.get(&path).await.expect(200);
    let shown: Vec<_> =
        listed.data().iter().map(|one| (one["line1"].clone(), one["is_default"].clone())).collect();
    assert_eq!(shown[0], (json!("1 First Street"), json!(true)));
    assert_eq!((shown.len(), listed.data()[1]["is_default"].clone()), (3, json!(false)));
    assert!(listed.data().iter().any(|one| one["region"] == "DL"), "{}", listed.text);
    // Page by page they come in the same order.
    let (mut paged, mut next) = (Vec::new(), format!("{path}?limit=1"));
    for _ in 0..3 {
        let page = market.owner.get(&next).await.expect(200);
        paged.extend(page.data().iter().map(|one| one["line1"].clone()));
        next = format!(
            "{path}?limit=1&cursor={}",
            page.at("/page/next_cursor").as_str().unwrap_or_default()
        );
    }
    let whole: Vec<_> = shown.iter().map(|(line1, _)| line1.clone()).collect();
    assert_eq!(paged, whole);
    let none = json!({"email": format!("{}@example.com", unique("known"))});
    let none = market.owner.post(CUSTOMERS).json(none).await.expect(201);
    let listed = market.owner.get(&format!("{CUSTOMERS}/{}/addresses", none.str("/id"))).await;
    assert!(listed.expect(200).data().is_empty());
    let stranger = Market::open().await;
    stranger.owner.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_merchant_updates_and_deletes_a_customer() {
    let market = Market::open().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let one = format!("{CUSTOMERS}/{}", shopper.id);
    let input = json!({"tags": ["late payer"], "accepts_marketing": true, "name": null});
    let changed = market.owner.patch(&one).json(input).await.expect(200);
    assert_eq!(changed.str("/marketing_consent/source"), "store");
    let same = market.owner.patch(&one).json(json!({"tags": ["late payer"]})).await.expect(200);
    assert_eq!(same.int("/version"), changed.int("/version"));
    let stale = market.owner.patch(&one).if_match("\"1\"").json(json!({"note": "x"}));
    stale.await.expect(412).problem("precondition_failed");
    let moved = json!({"email": "other@example.com"});
    market.owner.patch(&one).json(moved).await.expect(422);
    shopper.get("/v1/storefront/customer/me").await.expect(200);
    market.owner.patch(&one).json(json!({"status": "disabled"})).await.expect(200);
    shopper.get("/v1/storefront/customer/me").await.expect(401);
    market.owner.delete(&one).await.expect(202);
    market.owner.get(&one).await.expect(404);
    assert_eq!(market.gateway.events("customer.deleted").await.len(), 1);
    let left = market.gateway.items(&format!("STO#{}#CUS#{}", market.store.id, shopper.id)).await;
    assert!(left.is_empty(), "{left:?}");
    let again = json!({"email": shopper.email});
    market.owner.post(CUSTOMERS).json(again).await.expect(201);
}

#[tokio::test]
async fn a_tax_exempt_customer_pays_no_tax_on_orders() {
    let market = Market::open().await;
    let rates = format!("/v1/stores/{}/tax-rates", market.store.id);
    let gst = json!({"name": "GST", "country": "IN", "basis_points": 1_800});
    market.owner.post(&rates).json(gst).await.expect(201);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let one = format!("{CUSTOMERS}/{}", shopper.id);
    let book = market.stock(10_000, 10).await;
    for (exempt, tax) in [(false, 1_800), (true, 0)] {
        market.owner.patch(&one).json(json!({"tax_exempt": exempt})).await.expect(200);
        let asked = shopper.post(&market.orders_path()).key(&unique("o"));
        let placed = asked.json(cart(&[(&book, 1)])).await.expect(201);
        assert_eq!(*placed.at("/order/totals/tax"), inr(tax));
        let input =
            json!({"items": [{"variant_id": book, "quantity": 1}], "customer_id": shopper.id});
        let made = market.owner.post("/v1/orders").key(&unique("o")).json(input).await.expect(201);
        assert_eq!(*made.at("/totals/tax"), inr(tax));
    }
    let orders = market.owner.get(&format!("{one}/orders")).await.expect(200);
    assert_eq!(orders.data().len(), 4);
    let nobody = format!("{CUSTOMERS}/cus_{}/orders", "0".repeat(32));
    market.owner.get(&nobody).await.expect(404);
}
