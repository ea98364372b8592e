//! The checkout, by forms alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use support::{
    Browser, Gateway, Market, Merchant, PASSWORD, Providers, Shopper, Shown, Value, inr, json,
    race, unique,
};

use super::shop;

/// The fields of an address in India.
pub const ADDRESS: [(&str, &str); 8] = [
    ("ship[first_name]", "Asha"),
    ("ship[last_name]", "Rao"),
    ("ship[line1]", "12 MG Road"),
    ("ship[city]", "Bengaluru"),
    ("ship[region]", "KA"),
    ("ship[postal_code]", "560001"),
    ("ship[country]", "IN"),
    ("bill_choice", "same"),
];

pub fn form<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = ADDRESS.to_vec();
    all.extend_from_slice(more);
    all
}

/// Orders what is in the cart, to an address; the order's path.
pub async fn order(market: &Market, browser: &mut Browser) -> String {
    let email = format!("{}@example.com", unique("shopper"));
    let step = form(&[("email", &email), ("act", "to:shipping")]);
    let page = browser.submit("/checkout", &step).await.expect(200);
    let (key, total) = (page.input("key"), page.input("total"));
    let last = form(&[
        ("email", &email),
        ("key", &key),
        ("total", &total),
        ("payment", "manual"),
        ("act", "place"),
    ]);
    let shown = browser.submit("/checkout", &last).await.expect(200);
    assert!(shown.path.starts_with("/orders/ord_"), "{}: {}", shown.path, shown.text);
    let id = shown.path.trim_start_matches("/orders/");
    market.show(id).await.expect(200);
    shown.path
}

/// Rates for India, and a discount.
pub async fn with_rates(market: &Market) {
    let store = format!("/v1/stores/{}", market.store.id);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [
            {"name": "Express", "kind": "flat", "price": inr(29_900)},
            {"name": "Standard", "kind": "flat", "price": inr(9900)},
        ],
    });
    market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    let discount = json!({"title": "A tenth", "code": "TENTH", "kind": "percentage", "value": {"basis_points": 1_000}});
    market.owner.post("/v1/discounts").json(discount).await.expect(201);
}

#[tokio::test]
async fn a_guest_orders_without_a_script() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant), ("quantity", "2")]).await.expect(303);
    let page = browser.open("/checkout").await.expect(200).shows("1,000.00").lacks("Standard");
    assert!(page.text.contains("Shipping rates are shown once there is an address"));
    let step = form(&[("email", "asha@example.com"), ("act", "to:shipping")]);
    let page = browser.submit("/checkout", &step).await.expect(200);
    // The cheapest rate is chosen.
    let page = page.shows("Express").shows("Standard").shows("1,099.00");
    let (key, total) = (page.input("key"), page.input("total"));
    assert_eq!(total, "109900");
    let code = form(&[("email", "asha@example.com"), ("code", "TENTH"), ("act", "apply")]);
    let page = browser.submit("/checkout", &code).await.expect(200).shows("TENTH").shows("999.00");
    let page = page.shows("Discount: A tenth");
    // A total of before is not charged.
    let last = form(&[
        ("email", "asha@example.com"),
        ("key", &key),
        ("total", &total),
        ("payment", "manual"),
        ("act", "place"),
    ]);
    let old = browser.submit("/checkout", &last).await.expect(422).shows("The total has changed");
    assert_ne!(old.input("key"), key);
    let total = page.input("total");
    let key = page.input("key");
    let last = form(&[
        ("email", "asha@example.com"),
        ("key", &key),
        ("total", &total),
        ("payment", "manual"),
        ("note", "Ring twice"),
        ("act", "place"),
    ]);
    let done = browser
        .submit("/checkout", &last)
        .await
        .expect(200)
        .shows("Your order is placed")
        .shows("999.00");
    let order = market.show(done.path.trim_start_matches("/orders/")).await.expect(200);
    assert_eq!(order.at("/totals/total/amount"), 99_900);
    assert_eq!(order.str("/shipping_address/city"), "Bengaluru");
    assert_eq!(order.str("/note"), "Ring twice");
    // A second press of the button, and the back button, lead to the same order.
    let again = browser.submit("/checkout", &last).await.expect(200);
    assert_eq!(again.path, done.path);
}

#[tokio::test]
async fn a_checkout_has_the_language_and_the_color_of_its_store() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let plain = browser.open("/checkout").await.expect(200).shows("href=\"/checkout/style.css\"");
    plain.shows("<html lang=\"en\">");
    let change = json!({"locale": "de-AT", "branding": {"primary_color": "#FFDD00"}});
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(change).await.expect(200);
    market.gateway.advance(support::clock::STORE_CACHE);
    let page = browser.open("/checkout").await.expect(200);
    let page = page.shows("<html lang=\"de\">").shows("Kasse").shows("zahlungspflichtig bestellen");
    let page = page.lacks("Checkout<").lacks("Order and pay");
    let style =
        page.text.split("href=\"/checkout/style.css?v=").nth(1).expect("a style of its own");
    let style = format!("/checkout/style.css?v={}", style.split('"').next().unwrap_or_default());
    // Black is read on yellow, and yellow is not read on white.
    browser.fetch(&style).await.expect(200).shows("--fill:#ffdd00;--on-fill:#000000;");
    browser.open("/account/login").await.expect(200).shows("Anmelden").lacks("lang=\"en\"");
    let wrong = form(&[("email", "nobody"), ("act", "place")]);
    let page = browser.submit("/checkout", &wrong).await.expect(422);
    page.shows("Bitte geben Sie eine E-Mail-Adresse an").lacks("Please");
    let path = order(&market, &mut browser).await;
    let page = browser.open(&path).await.expect(200).shows("Ihre Bestellung ist eingegangen");
    page.shows("Noch zu zahlen").lacks("Deliver");
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_is_lost() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let mut wrong = form(&[("email", "not an address"), ("note", "Ring twice"), ("act", "place")]);
    wrong.retain(|(name, _)| *name != "ship[postal_code]");
    wrong.push(("ship[postal_code]", "ABC"));
    let page = browser.submit("/checkout", &wrong).await.expect(422);
    let page = page.shows("id=\"email-error\"").shows("id=\"ship-postal_code-error\"");
    page.shows("not an address")
        .shows("value=\"ABC\"")
        .shows("value=\"12 MG Road\"")
        .shows("Ring twice");
    let orders = market.owner.get("/v1/orders").await.expect(200);
    assert_eq!(orders.at("/data").as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn codes_are_discounts_or_gift_cards() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let (_, card) = market.gift_card(10_000).await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let page =
        browser.submit("/checkout", &[("code", "NOTHING"), ("act", "apply")]).await.expect(422);
    page.shows("neither a discount code nor a gift card");
    browser
        .submit("/checkout", &[("code", "TENTH"), ("act", "apply")])
        .await
        .expect(200)
        .shows("450.00");
    let page = browser.submit("/checkout", &[("code", &card), ("act", "apply")]).await.expect(200);
    let page = page.shows("Gift card …").shows("350.00");
    // The code of a gift card is on no page.
    let page = page.lacks(&card);
    let remove =
        page.text.split("value=\"card:").nth(1).unwrap().split('"').next().unwrap().to_owned();
    // It pays for its part of an order.
    let mut other = market.browser();
    other.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    other.submit("/checkout", &[("code", &card), ("act", "apply")]).await.expect(200);
    let path = order(&market, &mut other).await;
    other.open(&path).await.expect(200).shows("Gift cards");
    // The steps of a checkout are more than a network's burst.
    market.gateway.advance(std::time::Duration::from_secs(30));
    let act = format!("card:{remove}");
    browser.submit("/checkout", &[("act", &act)]).await.expect(200).lacks("Gift card …");
    browser.submit("/checkout", &[("act", "code:TENTH")]).await.expect(200).lacks("TENTH");
}

/// A shop whose payments Stripe takes.
async fn with_stripe() -> (Market, Providers, Browser) {
    let providers = Providers::start().await;
    let base_urls = providers.base_urls();
    let market = Market::open_with(|options| {
        options.embedded.payment_base_urls = base_urls;
        options.shop_port = Some(0);
    })
    .await;
    let account = crate::payments::connected::stripe();
    market.owner.put("/v1/payments/providers/stripe").json(account).await.expect(200);
    let browser = market.browser();
    (market, providers, browser)
}

/// Orders with Stripe; the played provider's page, where the browser is led.
async fn to_bank(market: &Market, browser: &mut Browser) -> String {
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let step =
        form(&[("email", "asha@example.com"), ("payment", "stripe"), ("act", "to:shipping")]);
    let page = browser.submit("/checkout", &step).await.expect(200);
    let (key, total) = (page.input("key"), page.input("total"));
    let last = form(&[
        ("email", "asha@example.com"),
        ("key", &key),
        ("total", &total),
        ("payment", "stripe"),
        ("act", "place"),
    ]);
    provider(&browser.submit("/checkout", &last).await.expect(200))
}

/// Where a page leads to pay.
fn provider(page: &Shown) -> String {
    let behind = page.text.split("id=\"to-provider\" href=\"").nth(1);
    let link = behind.and_then(|text| text.split('"').next()).expect("a link");
    link.replace("&amp;", "&")
}

/// Chooses on the provider's page; where it leads back, as a path of the shop.
async fn choose(browser: &mut Browser, bank: &str, choice: &str) -> String {
    let http =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = http.post(bank).form(&[("choice", choice)]).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 303, "{}", answer.text().await.unwrap());
    let back = answer.headers()["location"].to_str().unwrap();
    let host = browser.host();
    back.strip_prefix(&format!("http://{host}")).expect("back to the shop").to_owned()
}

#[tokio::test]
async fn a_payment_at_a_provider_leads_back_to_a_paid_order() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let shown = reqwest::get(&bank).await.unwrap().text().await.unwrap();
    assert!(shown.contains("3-D Secure"), "{shown}");
    let asked = reqwest::Client::new().post(&bank).form(&[("choice", "3ds")]).send().await.unwrap();
    assert!(asked.text().await.unwrap().contains("Approve"));
    let back = choose(&mut browser, &bank, "pay").await;
    let page = browser.open(&back).await.expect(200).shows("Thank you for your order");
    let page = page.shows("Payment method: Card, wallet or bank (Stripe) – paid");
    let order = market.show(page.path.trim_start_matches("/orders/")).await.expect(200);
    assert_eq!(order.str("/financial_status"), "paid");
}

#[tokio::test]
async fn a_declined_payment_can_be_tried_again() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let back = choose(&mut browser, &bank, "decline").await;
    let page = browser.open(&back).await.expect(200).shows("Nothing was charged").shows("Pay ");
    let page = page.shows("Pay by: Payment by arrangement");
    let id = page.path.split('/').nth(2).unwrap().to_owned();
    let again = provider(&browser.open(&format!("/orders/{id}/pay")).await.expect(200));
    let back = choose(&mut browser, &again, "pay").await;
    browser.open(&back).await.expect(200).shows("Thank you for your order");
}

#[tokio::test]
async fn a_bank_debit_is_on_its_way() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let back = choose(&mut browser, &bank, "debit").await;
    browser.open(&back).await.expect(200).shows("on its way").lacks("Cancel the order");
}

#[tokio::test]
async fn an_order_is_shown_to_its_shopper_alone() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let path = order(&market, &mut browser).await;
    let token = browser.cookies["shop_order"].split('.').nth(1).unwrap().to_owned();
    let mut other = market.browser();
    other.open(&path).await.expect(404).shows("not shown here");
    other.open(&format!("{path}/pay")).await.expect(404);
    // The link of a mail opens it, and leaves no token in the address.
    let shown = other.open(&format!("{path}?token={token}")).await.expect(200);
    assert_eq!(shown.path, path);
    shown.shows("Cancel the order");
    other.open(&path).await.expect(200).shows("Do you want to cancel this order?");
    let done = other.submit(&format!("{path}/cancel"), &[]).await.expect(200);
    done.shows("This order was cancelled").lacks("Cancel the order");
    let again = other.submit(&format!("{path}/cancel"), &[]).await;
    again.lacks("resource");
}

#[tokio::test]
async fn two_tabs_place_one_order() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let step = form(&[("email", "asha@example.com"), ("act", "to:shipping")]);
    let page = browser.submit("/checkout", &step).await.expect(200);
    let total = page.input("total");
    market.gateway.advance(std::time::Duration::from_secs(30));
    let turn = AtomicUsize::new(0);
    // Each tab has a key, and each button is pressed three times.
    let press = || {
        let even = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let key = if even { "a-key-of-the-first-tab" } else { "a-key-of-the-second-tab" };
        let (mut tab, total) = (browser.clone(), total.clone());
        async move {
            let fields = form(&[
                ("email", "asha@example.com"),
                ("key", key),
                ("payment", "manual"),
                ("act", "place"),
                ("total", &total),
            ]);
            tab.submit("/checkout", &fields).await
        }
    };
    let shown = race(6, press).await;
    let orders = market.owner.get("/v1/orders").await.expect(200);
    let orders: Vec<Value> = orders.at("/data").as_array().unwrap().clone();
    assert_eq!(orders.len(), 1, "{orders:?}");
    for shown in shown {
        assert!(shown.path.starts_with("/orders/") || shown.status == 422, "{shown:?}");
    }
    market.audit(&variant).await;
}

#[tokio::test]
async fn a_country_is_chosen_before_the_rest_of_an_address() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    // What the script sends when a country is the first thing that is chosen.
    let first = [
        ("act", "to:delivery"),
        ("email", "ann@example.com"),
        ("ship[country]", "GB"),
        ("bill_choice", "same"),
        ("note", "Ring twice"),
    ];
    let page = browser.submit("/checkout", &first).await.expect(200);
    let page = page.shows("<option value=\"GB\" selected>").shows("Postcode");
    page.shows("ann@example.com").shows("Ring twice").lacks("class=\"error\"");
    // Half an address, with a code: what is typed stays, and nothing is red yet.
    let half = [
        ("act", "to:delivery"),
        ("email", "ann@example.com"),
        ("ship[country]", "US"),
        ("ship[line1]", "1 Main Street"),
        ("bill_choice", "other"),
        ("bill[country]", "CA"),
    ];
    let page = browser.submit("/checkout", &half).await.expect(200);
    let page = page.shows("<option value=\"US\" selected>").shows("ZIP code");
    let page = page.shows("value=\"1 Main Street\"").shows("<option value=\"CA\" selected>");
    page.lacks("class=\"error\"").lacks("aria-invalid");
    // Who goes on to the shipping is told what lacks.
    let mut on = half;
    on[0] = ("act", "to:shipping");
    browser.submit("/checkout", &on).await.expect(422).shows("ship-city-error");
}

#[tokio::test]
async fn enter_in_the_field_of_a_code_applies_it() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let page = browser.open("/checkout").await.expect(200);
    // Enter presses the first button of the form.
    let first = page.text.split("<button").nth(1).unwrap();
    let act = first.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    let enter = [("act", act), ("email", "ann@example.com"), ("code", "TENTH")];
    browser.submit("/checkout", &enter).await.expect(200).shows("450.00");
}

#[tokio::test]
async fn a_browser_keeps_its_last_orders_and_finds_the_unpaid_one() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    browser.open("/cart").await.expect(200).lacks("is not paid yet");
    let mut paths = Vec::new();
    for _ in 0..2 {
        browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
        paths.push(order(&market, &mut browser).await);
        market.gateway.advance(std::time::Duration::from_secs(30));
    }
    for path in &paths {
        browser.open(path).await.expect(200);
    }
    // A token that does not open the order replaces none that does.
    browser.open(&format!("{}?token=garbage", paths[0])).await.expect(200);
    browser.open(&paths[1]).await.expect(200);
    market.gateway.advance(std::time::Duration::from_secs(30));
    for page in ["/cart", "/checkout"] {
        let page = browser.open(page).await.expect(200).shows("is not paid yet");
        page.shows(&format!("href=\"{}\"", paths[1]));
    }
    let mut other = market.browser();
    other.open(&format!("{}?token=garbage", paths[0])).await.expect(404);
    assert!(!other.cookies.contains_key("shop_order"));
    // Whoever signs out leaves nothing of an order to the next one at this browser.
    browser.submit("/account/logout", &[]).await;
    for path in &paths {
        browser.open(path).await.expect(404);
    }
}

#[tokio::test]
async fn a_store_without_guests_asks_to_sign_in_and_leads_back() {
    let (market, mut browser) = shop().await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let change = json!({"checkout": {"guest_checkout": false}});
    market.owner.patch(&settings).json(change).await.expect(200);
    market.gateway.advance(support::clock::STORE_CACHE);
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let page = browser.open("/checkout").await.expect(200);
    assert_eq!(page.path, "/account/login?return_to=/checkout");
    // Also whoever had the page open before.
    let last =
        [("email", "ann@example.com"), ("key", "a-key"), ("payment", "manual"), ("act", "place")];
    let page = browser.submit("/checkout", &form(&last)).await.expect(200);
    assert_eq!(page.path, "/account/login?return_to=/checkout");
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD), ("return_to", "/checkout")];
    let page = browser.submit("/account/login", &right).await.expect(200);
    assert_eq!(page.path, "/checkout");
    page.shows("You are signed in.").shows("500.00");
}

/// A browser at a store that counts in three decimals and takes cards beside manual payments, and a variant.
async fn with_dinars() -> (Gateway, Providers, Browser, String) {
    let providers = Providers::start().await;
    let base_urls = providers.base_urls();
    let gateway = Gateway::start_with(|options| {
        options.embedded.payment_base_urls = base_urls;
        options.shop_port = Some(0);
    })
    .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let (owner, path) = (merchant.at(&store), format!("/v1/stores/{}", store.id));
    owner.patch(&path).json(json!({"currency": "KWD"})).await.expect(200);
    let variant = json!({"price": {"amount": 7_013, "currency": "KWD"}, "inventory": {"levels": [{"quantity": 9}]}});
    let product = json!({"title": "A book", "status": "active", "variants": [variant]});
    let product = owner.post("/v1/products").json(product).await.expect(201);
    owner.post(&format!("{path}/activate")).json(support::open_as_is()).await.expect(200);
    let account = crate::payments::connected::stripe();
    owner.put("/v1/payments/providers/stripe").json(account).await.expect(200);
    let port = gateway.system().shop_port().unwrap_or_default();
    let browser = gateway.browser(&format!("{}.localhost:{port}", store.subdomain));
    let variant = product.str("/variants/0/id");
    (gateway, providers, browser, variant)
}

#[tokio::test]
async fn the_shown_total_is_that_of_the_checked_payment_method() {
    let (gateway, _providers, mut browser, variant) = with_dinars().await;
    let line =
        [("id", &*variant), ("properties[Engraving]", "For Ann"), ("properties[_file]", "7f")];
    browser.submit_once("/cart/add", &line).await.expect(303);
    let step = form(&[("email", "ann@example.com"), ("act", "to:shipping")]);
    let page = browser.submit("/checkout", &step).await.expect(200);
    let checked = page.text.split("name=\"payment\" value=\"").nth(1).unwrap();
    let (method, rest) = checked.split_once('"').unwrap();
    assert!(rest.starts_with(" checked"), "the first method is checked");
    let (key, total) = (page.input("key"), page.input("total"));
    assert_eq!(&*total, if method == "manual" { "7013" } else { "7010" });
    let last = form(&[
        ("email", "ann@example.com"),
        ("key", &key),
        ("total", &total),
        ("payment", method),
        ("act", "place"),
    ]);
    let placed = browser.submit_once("/checkout", &last).await.expect(303);
    let order = placed.header("location").trim_end_matches("/pay").to_owned();
    let page = browser.open(&order).await.expect(200).shows("Engraving: For Ann");
    page.lacks("_file");
    // Another method has another total, which says why.
    browser.submit_once("/cart/add", &line).await.expect(303);
    gateway.advance(std::time::Duration::from_secs(30));
    let step = form(&[("email", "ann@example.com"), ("payment", "stripe"), ("act", "to:payment")]);
    let page = browser.submit("/checkout", &step).await.expect(200).shows("Rounding");
    assert_eq!(page.input("total"), "7010");
}

#[tokio::test]
async fn a_customers_saved_address_fills_the_checkout() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200);
    browser.submit("/account/addresses", &ADDRESS).await.expect(200);
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let page = browser.open("/checkout").await.expect(200).shows(&shopper.email);
    let page = page.shows("Deliver to a saved address");
    let id = page.text.split("value=\"use:").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let act = format!("use:{id}");
    let page = browser.submit("/checkout", &[("act", &act), ("bill_choice", "same")]).await;
    page.expect(200).shows("value=\"12 MG Road\"").lacks("class=\"error\"");
}
