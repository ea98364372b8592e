//! Tax by jurisdiction, class and place, with the figures of real tax systems.

use support::{Client, Market, Reply, Shopper, Value, cart, inr, json, unique};

use super::with;

/// A store, which levies what a test says.
pub(super) struct Shop {
    pub(super) market: Market,
    store: String,
}

impl Shop {
    pub(super) async fn open() -> Self {
        let market = Market::open().await;
        let store = format!("/v1/stores/{}", market.store.id);
        Self { market, store }
    }

    async fn levy(&self, fields: Value) -> Reply {
        self.market.owner.post(&format!("{}/tax-rates", self.store)).json(fields).await
    }

    pub(super) async fn levy_all(&self, rates: &[Value]) {
        for rate in rates {
            self.levy(rate.clone()).await.expect(201);
        }
    }

    async fn set(&self, taxes: Value) {
        let path = format!("{}/settings", self.store);
        self.market.owner.patch(&path).json(json!({"taxes": taxes})).await.expect(200);
    }

    /// A variant of a product in this tax class.
    pub(super) async fn variant(&self, amount: i64, class: Option<&str>) -> String {
        let product = json!({
            "title": unique("Thing"), "status": "active", "tax_class": class,
            "variants": [{"price": inr(amount)}],
        });
        let made = self.market.owner.post("/v1/products").key(&unique("p")).json(product).await;
        made.expect(201).str("/variants/0/id")
    }

    /// A zone for everywhere with this rate; the rate's id.
    pub(super) async fn ship(&self, rate: Value) -> String {
        let zone = json!({"name": "Everywhere", "countries": [], "rates": [rate]});
        let path = format!("{}/shipping-zones", self.store);
        self.market.owner.post(&path).json(zone).await.expect(201).str("/rates/0/id")
    }

    /// The totals of one unit of each variant, sent to this address.
    async fn totals(&self, variants: &[&str], address: Value, fields: Value) -> Reply {
        let lines: Vec<(&str, i64)> = variants.iter().map(|variant| (*variant, 1)).collect();
        let cart = with(cart(&lines), json!({"shipping_address": address, "dry_run": true}));
        self.market.try_order(with(cart, fields)).await.expect(200)
    }
}

/// The tax lines of totals, each by name and amount.
fn taxes(reply: &Reply) -> Vec<(String, i64)> {
    let lines = reply.at("/totals/tax_lines").as_array().unwrap().clone();
    let line = |line: Value| {
        (line["name"].as_str().unwrap().to_owned(), line["amount"]["amount"].as_i64().unwrap())
    };
    lines.into_iter().map(line).collect()
}

pub(super) fn at(country: &str, region: Option<&str>, city: &str, code: &str) -> Value {
    json!({
        "first_name": "Ada", "last_name": "Byron", "line1": "1 Main Street", "city": city,
        "region": region, "postal_code": code, "country": country,
    })
}

fn named(found: &[(&str, i64)]) -> Vec<(String, i64)> {
    found.iter().map(|(name, amount)| ((*name).to_owned(), *amount)).collect()
}

#[tokio::test]
async fn fractional_tax_percentages_are_exact() {
    let shop = Shop::open().await;
    let gst = json!({"name": "GST", "country": "CA", "basis_points": 500});
    let gst = shop.levy(gst).await.expect(201);
    assert_eq!((gst.str("/percent"), gst.int("/basis_points")), ("5".into(), 500));
    let qst = json!({
        "name": "QST", "country": "CA", "region": "QC", "percent": "9.975", "combines": true,
    });
    let qst = shop.levy(qst).await.expect(201);
    assert_eq!((qst.str("/percent"), qst.at("/basis_points")), ("9.975".into(), &Value::Null));
    let variant = shop.variant(100_000, None).await;
    let montreal = at("CA", Some("QC"), "Montréal", "H2X 1Y4");
    let quote = shop.totals(&[&variant], montreal, json!({})).await;
    assert_eq!(taxes(&quote), named(&[("GST", 5_000), ("QST", 9_975)]));
    assert_eq!(quote.at("/totals/tax_lines/1/percent"), "9.975");
    for (wrong, code) in [
        (json!({"percent": "9.97501"}), "invalid_percentage"),
        (json!({"percent": "101"}), "invalid_percentage"),
        (json!({}), "required"),
        (json!({"percent": "5", "basis_points": 500}), "not_applicable"),
    ] {
        let rejected = shop.levy(with(json!({"name": "X", "country": "CA"}), wrong)).await;
        assert_eq!(rejected.expect(422).field_errors()[0].1, code);
    }
    let path = format!("{}/tax-rates/{}", shop.store, qst.str("/id"));
    let changed = shop.market.owner.patch(&path).json(json!({"percent": "10.5"})).await;
    assert_eq!(changed.expect(200).int("/basis_points"), 1_050);
}

#[tokio::test]
async fn a_regional_tax_rate_replaces_the_countrys_unless_it_combines() {
    let shop = Shop::open().await;
    shop.levy_all(&[
        json!({"name": "IVA", "country": "ES", "percent": "21"}),
        json!({"name": "IGIC", "country": "ES", "region": "GC", "percent": "7"}),
        json!({"name": "IGST", "country": "IN", "percent": "18"}),
        json!({"name": "CGST", "country": "IN", "region": "KA", "percent": "9"}),
        json!({"name": "SGST", "country": "IN", "region": "KA", "percent": "9"}),
        json!({"name": "State", "country": "US", "region": "CA", "percent": "7.25"}),
        json!({
            "name": "County", "country": "US", "region": "CA", "percent": "0.25", "combines": true,
            "postal_codes": {"from": "90001", "to": "93599"},
        }),
        json!({
            "name": "City", "country": "US", "region": "CA", "percent": "2", "combines": true,
            "postal_codes": {"prefix": "90210"},
        }),
    ])
    .await;
    let variant = shop.variant(10_000, None).await;
    for (address, expected) in [
        (at("ES", Some("M"), "Madrid", "28013"), vec![("IVA", 2_100)]),
        (at("ES", Some("GC"), "Las Palmas", "35001"), vec![("IGIC", 700)]),
        (at("IN", Some("KA"), "Bengaluru", "560001"), vec![("CGST", 900), ("SGST", 900)]),
        (at("IN", Some("MH"), "Mumbai", "400001"), vec![("IGST", 1_800)]),
        (
            at("US", Some("CA"), "Beverly Hills", "90210"),
            vec![("State", 725), ("County", 25), ("City", 200)],
        ),
        (at("US", Some("CA"), "Los Angeles", "90012-1234"), vec![("State", 725), ("County", 25)]),
        (at("US", Some("CA"), "San Francisco", "94103"), vec![("State", 725)]),
        (at("FR", None, "Paris", "75001"), vec![]),
    ] {
        let quote = shop.totals(&[&variant], address, json!({})).await;
        assert_eq!(taxes(&quote), named(&expected));
    }
    let twice = json!({"name": "igic", "country": "ES", "region": "GC", "percent": "3"});
    shop.levy(twice).await.expect(409).problem("tax_rate_exists");
    let wrong = json!({
        "name": "X", "country": "US", "percent": "1", "postal_codes": {"from": "90001", "to": "9"},
    });
    let rejected = shop.levy(wrong).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "invalid_postal_code");
}

#[tokio::test]
async fn shipping_is_taxed_at_the_rates_of_its_goods() {
    let shop = Shop::open().await;
    shop.levy_all(&[
        json!({"name": "MwSt", "country": "DE", "percent": "19"}),
        json!({"name": "MwSt ermäßigt", "country": "DE", "percent": "7", "tax_class": "food"}),
    ])
    .await;
    let rate = shop.ship(json!({"name": "DHL", "kind": "flat", "price": inr(1_000)})).await;
    let (food, pan) = (shop.variant(3_000, Some("food")).await, shop.variant(1_000, None).await);
    let berlin = || at("DE", None, "Berlin", "10115");
    let chosen = || json!({"shipping_rate_id": rate});
    let of_shipping = |quote: &Reply| quote.int("/shipping_line/tax/amount");
    let alone = shop.totals(&[&food], berlin(), chosen()).await;
    assert_eq!(of_shipping(&alone), 70);
    // 7.50 of it goes with the food, and 2.50 with the pan: 52.5 and 47.5, both half up.
    let both = shop.totals(&[&food, &pan], berlin(), chosen()).await;
    assert_eq!(of_shipping(&both), 53 + 48);
    assert_eq!(both.int("/totals/tax/amount"), 210 + 190 + 53 + 48);
    let taxable = |n: usize| both.int(&format!("/totals/tax_lines/{n}/taxable/amount"));
    assert_eq!((taxable(0), taxable(1)), (3_000 + 750, 1_000 + 250));
    shop.set(json!({"shipping": "dominant"})).await;
    let dominant = shop.totals(&[&food, &pan], berlin(), chosen()).await;
    assert_eq!(of_shipping(&dominant), 70);
}

#[tokio::test]
async fn equal_rates_of_an_included_tax_get_equal_amounts() {
    let shop = Shop::open().await;
    shop.set(json!({"prices_include_tax": true})).await;
    shop.levy_all(&[
        json!({"name": "CGST", "country": "IN", "percent": "9"}),
        json!({"name": "SGST", "country": "IN", "percent": "9"}),
    ])
    .await;
    let variant = shop.variant(59_900, None).await;
    let quote =
        shop.totals(&[&variant], at("IN", Some("KA"), "Bengaluru", "560001"), json!({})).await;
    assert_eq!(taxes(&quote), named(&[("CGST", 4_569), ("SGST", 4_569)]));
    assert_eq!(quote.int("/totals/total/amount"), 59_900);
    assert_eq!(quote.int("/totals/tax_lines/0/taxable/amount"), 59_900 - 2 * 4_569);
}

#[tokio::test]
async fn pickups_are_taxed_at_the_location_and_digital_goods_at_the_store() {
    let shop = Shop::open().await;
    let owner = &shop.market.owner;
    let moved = json!({"country": "US", "region": "Texas"});
    let moved = owner.patch(&shop.store).json(moved).await.expect(200);
    assert_eq!(moved.str("/region"), "TX");
    shop.levy_all(&[
        json!({"name": "Texas", "country": "US", "region": "TX", "percent": "6.25"}),
        json!({
            "name": "Austin", "country": "US", "region": "TX", "percent": "2", "combines": true,
            "postal_codes": {"prefix": "787"},
        }),
    ])
    .await;
    let austin = json!({
        "name": "Austin", "address": {
            "line1": "1 Congress Avenue", "city": "Austin", "region": "TX", "postal_code": "78701",
            "country": "US",
        },
    });
    let location = owner.post("/v1/inventory/locations").json(austin).await.expect(201).str("/id");
    let rate = shop
        .ship(json!({
            "name": "At the shop", "kind": "pickup", "price": inr(0), "location_id": location,
        }))
        .await;
    let variant = shop.variant(10_000, None).await;
    let chosen = json!({"shipping_rate_id": rate});
    let elsewhere = at("US", Some("OR"), "Portland", "97201");
    let picked_up = shop.totals(&[&variant], elsewhere, chosen).await;
    assert_eq!(taxes(&picked_up), named(&[("Texas", 625), ("Austin", 200)]));
    let file = json!({
        "title": "E-Book", "status": "active",
        "variants": [{"price": inr(10_000), "requires_shipping": false}],
    });
    let file = owner.post("/v1/products").key(&unique("p")).json(file).await.expect(201);
    let mut digital = cart(&[(&file.str("/variants/0/id"), 1)]);
    digital.as_object_mut().unwrap().remove("shipping_address");
    let quote = shop.market.try_order(with(digital, json!({"dry_run": true}))).await.expect(200);
    assert_eq!(taxes(&quote), named(&[("Texas", 625)]));
    // Another country has other regions.
    let moved = owner.patch(&shop.store).json(json!({"country": "DE"})).await.expect(200);
    assert_eq!(*moved.at("/region"), Value::Null);
    let wrong = owner.patch(&shop.store).json(json!({"country": "US", "region": "Bavaria"})).await;
    assert_eq!(wrong.expect(422).field_errors()[0].1, "invalid_region");
}

#[tokio::test]
async fn exports_and_exempt_customers_pay_prices_without_included_tax() {
    let shop = Shop::open().await;
    let owner = &shop.market.owner;
    owner.patch(&shop.store).json(json!({"country": "DE"})).await.expect(200);
    shop.set(json!({"prices_include_tax": true})).await;
    shop.levy_all(&[
        json!({"name": "MwSt", "country": "DE", "percent": "19"}),
        json!({"name": "TVA", "country": "FR", "percent": "20"}),
    ])
    .await;
    let rate = shop.ship(json!({"name": "DHL", "kind": "flat", "price": inr(1_190)})).await;
    let variant = shop.variant(11_900, None).await;
    let total = async |address: Value| {
        let quote = shop.totals(&[&variant], address, json!({"shipping_rate_id": rate})).await;
        (quote.int("/totals/total/amount"), quote.int("/totals/tax/amount"))
    };
    assert_eq!(total(at("DE", None, "Berlin", "10115")).await, (13_090, 1_900 + 190));
    assert_eq!(total(at("FR", None, "Paris", "75001")).await, (13_090, 1_983 + 198));
    let zurich = || at("CH", None, "Zürich", "8001");
    assert_eq!(total(zurich()).await, (11_000, 0));
    let customer = json!({"email": "exempt@example.com", "tax_exempt": true});
    let customer = owner.post("/v1/customers").json(customer).await.expect(201).str("/id");
    let exempt = json!({
        "items": [{"variant_id": variant, "quantity": 2}], "customer_id": customer,
        "shipping_address": at("DE", None, "Berlin", "10115"),
    });
    let exempt = owner.post("/v1/orders").key(&unique("o")).json(exempt).await.expect(201);
    assert_eq!(exempt.int("/totals/total/amount"), 20_000);
    assert_eq!(exempt.int("/items/0/price/amount"), 10_000);
    shop.set(json!({"deducts_tax_when_exempt": false})).await;
    assert_eq!(total(zurich()).await, (13_090, 0));
}

#[tokio::test]
async fn listed_shipping_rates_have_the_prices_that_the_order_has() {
    let shop = Shop::open().await;
    let (market, owner) = (&shop.market, &shop.market.owner);
    owner.patch(&shop.store).json(json!({"country": "DE"})).await.expect(200);
    shop.set(json!({"prices_include_tax": true})).await;
    shop.levy_all(&[
        json!({"name": "MwSt", "country": "DE", "percent": "19"}),
        json!({"name": "Sales tax", "country": "US", "region": "TX", "percent": "6.25"}),
    ])
    .await;
    // 119.00 are more than 110.00, and without the tax 100.00 are not.
    let zone = json!({"name": "Everywhere", "countries": [], "rates": [
        {"name": "DHL", "kind": "flat", "price": inr(1_190), "free_over": inr(12_000)},
        {"name": "At the shop", "kind": "pickup", "price": inr(595), "free_over": inr(11_000)},
    ]});
    let zone = owner.post(&format!("{}/shipping-zones", shop.store)).json(zone).await.expect(201);
    let variant = shop.variant(11_900, None).await;
    let stranger = market.gateway.client();
    let exempt = Shopper::register(&market.gateway, &market.store).await;
    let account = format!("/v1/customers/{}", exempt.id);
    owner.patch(&account).json(json!({"tax_exempt": true})).await.expect(200);
    let rates_of = async |variant: &str, buyer: &Client, address: &Value| {
        let path = format!("/v1/storefront/{}/shipping-rates", market.store.subdomain);
        let items = json!([{"variant_id": variant, "quantity": 1}]);
        let wanted = json!({"items": items, "shipping_address": address});
        let listed = buyer.post(&path).json(wanted).await.expect(200);
        let price = |rate: &str| {
            let found = listed.data().iter().find(|one| one["id"] == rate);
            found.unwrap()["price"]["amount"].as_i64().unwrap()
        };
        [0, 1].map(|n| price(&zone.str(&format!("/rates/{n}/id"))))
    };
    let rates = async |buyer: &Client, address: &Value| rates_of(&variant, buyer, address).await;
    let berlin = || at("DE", None, "Berlin", "10115");
    for (buyer, address, prices) in [
        (&stranger, berlin(), [1_190, 0]),
        (&stranger, at("US", Some("TX"), "Austin", "78701"), [1_190, 0]),
        (&stranger, at("US", Some("OR"), "Portland", "97201"), [1_000, 0]),
        (&stranger, at("CH", None, "Zürich", "8001"), [1_000, 0]),
        (&*exempt, berlin(), [1_000, 500]),
    ] {
        assert_eq!(rates(buyer, &address).await, prices, "{address}");
        for (n, price) in prices.into_iter().enumerate() {
            let rate = zone.str(&format!("/rates/{n}/id"));
            let order =
                json!({"shipping_address": address, "shipping_rate_id": rate, "dry_run": true});
            let order = with(cart(&[(&variant, 1)]), order);
            let quote = buyer.post(&market.orders_path()).key(&unique("o")).json(order).await;
            let quote = quote.expect(200);
            assert_eq!(quote.int("/shipping_line/price/amount"), price, "{address}: {rate}");
        }
    }
    // A price of nothing has no tax to lose, and that of its pickup keeps its own.
    let sample = shop.variant(0, None).await;
    let zurich = at("CH", None, "Zürich", "8001");
    assert_eq!(rates_of(&sample, &stranger, &zurich).await, [1_000, 595]);
    // Where in a country is not said: perhaps where a tax is levied.
    assert_eq!(rates(&stranger, &json!({"country": "US"})).await, [1_190, 0]);
    assert_eq!(rates(&stranger, &json!({"country": "GB"})).await, [1_190, 0]);
    // A country without regions and postal codes is known whole.
    assert_eq!(rates(&stranger, &json!({"country": "HK"})).await, [1_000, 0]);
}

#[tokio::test]
async fn a_refund_has_tax_lines_per_line_and_rate() {
    let shop = Shop::open().await;
    let region = json!({"name": "SGST", "country": "IN", "region": "KA", "percent": "9.5"});
    shop.levy_all(&[region]).await;
    let rate = shop.ship(json!({"name": "Post", "kind": "flat", "price": inr(1_000)})).await;
    let variant = shop.variant(3_333, None).await;
    let placed = shop.market.order(with(cart(&[(&variant, 3)]), json!({"shipping_rate_id": rate})));
    let placed = placed.await;
    shop.market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    // 9.5 % of 99.99 is 9.499: the parts of three units add up to 9.50.
    let line = json!({
        "order_item_id": placed.line(0), "quantity": 1, "restock_type": "no_restock",
    });
    let refund =
        async |fields: Value| shop.market.act(&placed.id, "refund", fields).await.expect(201);
    let mut taxes = Vec::new();
    for _ in 0..3 {
        let one = refund(json!({"items": [line.clone()]})).await;
        assert_eq!(one.at("/refund/lines/0/tax_lines/0/percent"), "9.5");
        assert_eq!(one.at("/refund/tax_lines"), one.at("/refund/lines/0/tax_lines"));
        taxes.push(one.int("/refund/tax_lines/0/amount/amount"));
    }
    assert_eq!(taxes, [317, 316, 317]);
    let half = refund(json!({"shipping": {"amount": inr(500)}})).await;
    let rest = refund(json!({"shipping": {"full": true}})).await;
    let of_shipping = |reply: &Reply| reply.int("/refund/tax_lines/0/amount/amount");
    assert_eq!(of_shipping(&half) + of_shipping(&rest), 95);
    assert_eq!(rest.str("/order/financial_status"), "refunded");
}

#[tokio::test]
async fn non_taxable_variants_are_not_taxed() {
    let shop = Shop::open().await;
    shop.levy_all(&[json!({"name": "GST", "country": "IN", "percent": "18"})]).await;
    let taxed = shop.variant(10_000, None).await;
    let product = json!({
        "title": unique("Thing"), "status": "active",
        "variants": [{"price": inr(10_000), "taxable": false}],
    });
    let made = shop.market.owner.post("/v1/products").json(product).await.expect(201);
    let untaxed = made.str("/variants/0/id");
    assert_eq!(*made.at("/variants/0/taxable"), json!(false));
    let home = at("IN", Some("KA"), "Bengaluru", "560001");
    let quote = shop.totals(&[&taxed, &untaxed], home.clone(), json!({})).await;
    assert_eq!(taxes(&quote), named(&[("GST", 1_800)]));
    assert_eq!(quote.int("/totals/total/amount"), 21_800);
    // A price without tax has none to lose where no tax is levied.
    shop.set(json!({"prices_include_tax": true})).await;
    let abroad = at("CH", None, "Zürich", "8001");
    let quote = shop.totals(&[&untaxed], abroad, json!({})).await;
    assert_eq!(quote.int("/totals/total/amount"), 10_000);
    // Changed, it is taxed.
    let path = format!("/v1/products/{}/variants/{untaxed}", made.str("/id"));
    let changed = shop.market.owner.patch(&path).json(json!({"taxable": true})).await.expect(200);
    assert_eq!(*changed.at("/taxable"), json!(true));
    let quote = shop.totals(&[&untaxed], home, json!({})).await;
    assert_eq!(quote.int("/totals/tax/amount"), 1_525);
}
