//! Orders that are paid at a provider.

use support::{Browser, Gateway, Market, Merchant, Providers, Review, Shown, json, with_address};

/// A shop whose payments Stripe takes.
pub async fn with_stripe() -> (Market, Providers, Browser) {
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
pub async fn to_bank(market: &Market, browser: &mut Browser) -> String {
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    let review = Review::paid_by(browser, "stripe").await;
    provider(&review.place(browser).await.expect(200))
}

/// Where a page leads to pay.
fn provider(page: &Shown) -> String {
    page.quoted_after("id=\"to-provider\" href=\"").replace("&amp;", "&")
}

/// Chooses on the provider's page; where it leads back, as a path of the shop.
pub async fn choose(browser: &mut Browser, bank: &str, choice: &str) -> String {
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
    let order = market.show(&page.order()).await.expect(200);
    assert_eq!(order.str("/financial_status"), "paid");
}

#[tokio::test]
async fn an_order_is_confirmed_once_and_with_its_payment() {
    let (market, _providers, mut browser) = with_stripe().await;
    market.merchant.prove(&market.gateway).await;
    let bank = to_bank(&market, &mut browser).await;
    let back = choose(&mut browser, &bank, "decline").await;
    let page = browser.open(&back).await.expect(200);
    let id = page.path.split('/').nth(2).unwrap().to_owned();
    let again = browser.open(&format!("/orders/{id}/pay")).await.expect(200);
    let back = choose(&mut browser, &provider(&again), "pay").await;
    browser.open(&back).await.expect(200).shows("Thank you for your order");
    let order = market.show(&id).await.expect(200);
    // The first mail is that of the paid order: none was sent while the shopper was at the bank.
    let mailbox = market.gateway.mailbox(&order.str("/email"));
    let mail = mailbox.nth(1).await;
    assert!(mail.text.contains("It is paid") && !mail.text.contains("Left to pay"), "{mail:?}");
    market.gateway.sweep().await;
    assert_eq!(mailbox.mails().len(), 1);
}

/// A guest's record goes with a redaction. No payment fails because of that.
#[tokio::test]
async fn a_payment_of_a_guest_without_a_record_is_shown_as_paid() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let back = choose(&mut browser, &bank, "pay").await;
    for guest in market.gateway.items_of("guest", "STO#").await {
        market.gateway.delete_item(&guest).await;
    }
    browser.open(&back).await.expect(200).shows("Thank you for your order");
    assert!(market.gateway.items_of("guest", "STO#").await.is_empty());
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
    let review = Review::of(&mut browser).await;
    let checked = review.page.text.split("name=\"payment\" value=\"").nth(1).unwrap();
    let (method, rest) = checked.split_once('"').unwrap();
    assert!(rest.starts_with(" checked"), "the first method is checked");
    let total = if method == "manual" { "7013" } else { "7010" };
    assert_eq!(review.page.input("total"), total);
    let review = review.with("payment", method);
    let placed = browser.submit_once("/checkout", &review.fields()).await.expect(303);
    let order = placed.header("location").trim_end_matches("/pay").to_owned();
    let page = browser.open(&order).await.expect(200).shows("Engraving: For Ann");
    page.lacks("_file");
    // Another method has another total, which says why.
    browser.submit_once("/cart/add", &line).await.expect(303);
    gateway.advance(std::time::Duration::from_secs(30));
    let step =
        with_address(&[("email", "ann@example.com"), ("payment", "stripe"), ("act", "to:payment")]);
    let page = browser.submit("/checkout", &step).await.expect(200).shows("Rounding");
    assert_eq!(page.input("total"), "7010");
}
