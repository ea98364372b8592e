//! What a shopper reads in the platform's own pages is in the language of the store.

use std::collections::BTreeSet;

use support::clock::STORE_CACHE;
use support::{
    Browser, Market, PASSWORD, Shopper, Shown, account_theme, eventually, json, unique,
    with_address,
};

use super::checkout::with_rates;
use super::{shop, shop_with};

/// Words that nearly every English sentence has one of, and no German one.
const ENGLISH: [&str; 46] = [
    "the",
    "and",
    "you",
    "your",
    "please",
    "is",
    "are",
    "not",
    "no",
    "with",
    "this",
    "that",
    "to",
    "of",
    "for",
    "it",
    "sign",
    "password",
    "address",
    "addresses",
    "order",
    "orders",
    "cart",
    "account",
    "delivery",
    "payment",
    "total",
    "back",
    "search",
    "quantity",
    "must",
    "have",
    "has",
    "does",
    "price",
    "stock",
    "out",
    "vendor",
    "availability",
    "sent",
    "checkout",
    "data",
    "right",
    "date",
    "register",
    "country",
];

/// What of a page is text: neither tags nor scripts, nor the regions of a country, which are named as there.
fn text_of(page: &Shown) -> String {
    let mut text = page.text.clone();
    for (begin, end) in [("<script", "</script>"), ("<style", "</style>"), ("<option", "</option>")]
    {
        while let Some((before, behind)) = text.split_once(begin) {
            let behind = behind.split_once(end).map_or("", |(_, behind)| behind);
            text = format!("{before} {behind}");
        }
    }
    let parts = text.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

/// That a page has no English in it.
#[track_caller]
fn is_german(page: &Shown) {
    let text = text_of(page);
    let words: BTreeSet<String> =
        text.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase).collect();
    let english: Vec<&str> = ENGLISH.into_iter().filter(|word| words.contains(*word)).collect();
    assert!(english.is_empty(), "{} has {english:?}: {text}", page.path);
    assert!(!page.text.contains("lang=\"en\""), "{}: {}", page.path, page.text);
}

async fn speak_german(market: &Market) {
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(json!({"locale": "de-AT"})).await.expect(200);
    market.gateway.advance(STORE_CACHE);
}

/// Opens a page, and sees that it is German.
async fn opens(browser: &mut Browser, path: &str) -> Shown {
    let page = browser.open(path).await;
    is_german(&page);
    page
}

/// Sends a form, and sees that its page is German.
async fn submits(browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Shown {
    let page = browser.submit(path, fields).await;
    is_german(&page);
    page
}

#[tokio::test]
async fn a_german_checkout_says_in_german_what_is_wrong() {
    let (market, mut browser) = shop().await;
    with_rates(&market).await;
    speak_german(&market).await;
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    opens(&mut browser, "/checkout").await.expect(200);
    let long = "x".repeat(300);
    let mut wrong = vec![("ship[country]", "IN"), ("bill_choice", "same"), ("act", "place")];
    wrong.extend([("email", "nobody"), ("ship[first_name]", "Asha"), ("ship[line1]", &*long)]);
    wrong.extend([("ship[postal_code]", "ABC"), ("ship[region]", "ZZ"), ("ship[phone]", "none")]);
    let page = submits(&mut browser, "/checkout", &wrong).await.expect(422);
    let page = page
        .shows("Bitte geben Sie eine E-Mail-Adresse an")
        .shows("Bitte verwenden Sie höchstens 255 Zeichen.");
    let page = page.shows("gültige Postleitzahl").shows("gültige Telefonnummer");
    let page = page.shows("Bitte wählen Sie eine Region").shows("Bitte ausfüllen.");
    let bare = [("email", "a@example.com"), ("key", &*page.input("key")), ("act", "place")];
    let page = submits(&mut browser, "/checkout", &bare).await.expect(422);
    page.shows("id=\"ship-city-error\"").shows("Bitte ausfüllen.");
    let code = [("act", "apply"), ("code", "NOTHING")];
    submits(&mut browser, "/checkout", &code).await.expect(422).shows("weder ein Rabattcode");
    let abroad = [
        ("email", "a@example.com"),
        ("ship[first_name]", "Ada"),
        ("ship[last_name]", "King"),
        ("ship[line1]", "Hauptstraße 1"),
        ("ship[city]", "Bonn"),
        ("ship[postal_code]", "53111"),
        ("ship[country]", "DE"),
        ("bill_choice", "same"),
        ("act", "to:shipping"),
    ];
    let page = submits(&mut browser, "/checkout", &abroad).await;
    page.shows("Der Shop liefert nicht an diese Adresse.");
    let path = browser.order().await;
    opens(&mut browser, &path).await.expect(200).shows("Ihre Bestellung ist eingegangen");
    opens(&mut browser, "/orders/ord_nothing").await.expect(404);
    // A cart whose goods are gone meanwhile.
    let variant = market.stock(50_000, 1).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let mut first = market.browser();
    first.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    first.order().await;
    let page = submits(
        &mut browser,
        "/checkout",
        &with_address(&[("email", "a@example.com"), ("act", "place")]),
    )
    .await;
    page.shows("nicht in der gewünschten Menge");
}

#[tokio::test]
async fn a_german_account_is_german() {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    speak_german(&market).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    for path in ["/account/login", "/account/login/code", "/account/register", "/account/recover"] {
        opens(&mut browser, path).await.expect(200);
    }
    opens(&mut browser, "/account/reset").await.expect(422).shows("Dieser Link ist abgelaufen");
    let weak = [("email", "nobody"), ("password", "short")];
    let page = submits(&mut browser, "/account/register", &weak).await.expect(422);
    page.shows("mindestens 8 Zeichen").shows("Bitte geben Sie eine E-Mail-Adresse an");
    let email = format!("{}@example.com", unique("fresh"));
    let fresh = [("email", &*email), ("password", PASSWORD)];
    let page = submits(&mut browser, "/account/register", &fresh).await.expect(200);
    let wrong = [("challenge_id", &*page.input("challenge_id")), ("code", "000000")];
    let page = submits(&mut browser, "/account/login/verify", &wrong).await.expect(422);
    page.shows("Dieser Code ist nicht richtig");
    let wrong = [("email", "")];
    submits(&mut browser, "/account/login/code", &wrong).await.expect(422);
    submits(&mut browser, "/account/recover", &wrong).await.expect(422);
    submits(&mut browser, "/account/recover", &[("email", &*email)]).await.expect(200);
    let wrong = [("email", &*shopper.email), ("password", "not the password")];
    let page = submits(&mut browser, "/account/login", &wrong).await.expect(422);
    page.shows("E-Mail-Adresse oder Passwort ist nicht richtig.");
    let right = [("email", &*shopper.email), ("password", PASSWORD)];
    submits(&mut browser, "/account/login", &right)
        .await
        .expect(200)
        .shows("noch keine Bestellungen");
    opens(&mut browser, "/account/addresses").await.expect(200);
    let half = [("ship[country]", "IN"), ("ship[postal_code]", "ABC")];
    let page = submits(&mut browser, "/account/addresses", &half).await.expect(422);
    page.shows("markierten Felder").shows("gültige Postleitzahl").shows("Bitte ausfüllen.");
    submits(&mut browser, "/account/addresses", &support::ADDRESS_FIELDS).await.expect(200);
    opens(&mut browser, "/account/privacy").await.expect(200);
    let page = submits(&mut browser, "/account/data-request", &[]).await.expect(200);
    page.shows("hat Ihre Anfrage vom");
    let wrong = [("password", "wrong")];
    let page = submits(&mut browser, "/account/delete", &wrong).await.expect(422);
    page.shows("Dieses Passwort ist nicht richtig.");
    let variant = market.stock(50_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    browser.order().await;
    opens(&mut browser, "/account")
        .await
        .expect(200)
        .shows("Nicht bezahlt")
        .shows("Nicht versandt");
}

#[tokio::test]
async fn a_german_shop_without_a_theme_is_german() {
    let (market, mut browser) = shop().await;
    speak_german(&market).await;
    opens(&mut browser, "/cart").await.expect(200).shows("Ihr Warenkorb ist leer.");
    let variant = market.stock(1_000, 9).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    opens(&mut browser, "/cart").await.expect(200).shows("Zur Kasse");
    for path in ["/", "/search", "/pages/contact"] {
        opens(&mut browser, path).await.expect(200);
    }
    opens(&mut browser, "/no-such-page").await.expect(404).shows("Diese Seite gibt es nicht");
    let found = market.browser().open("/").await.expect(200);
    let product = found.text.split("href=\"/products/").nth(1).expect("a product");
    let product = format!("/products/{}", product.split('"').next().unwrap_or_default());
    opens(&mut browser, &product).await.expect(200).shows("In den Warenkorb");
    let page = submits(&mut browser, "/contact", &[]).await.expect(422);
    page.shows("<html lang=\"de\">").shows("Bitte füllen Sie das Formular aus.");
    opens(&mut browser, "/cart/nonsense").await.expect(404).shows("Zur Startseite");
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let closed = json!({"shop": {"password_protected": true, "password": "Open Sesame 7"}});
    market.owner.patch(&settings).json(closed).await.expect(200);
    market.gateway.advance(STORE_CACHE);
    opens(&mut browser, "/").await.expect(200).shows("noch nicht geöffnet");
    let page = submits(&mut browser, "/password", &[("password", "x")]).await.expect(422);
    page.shows("Dieses Passwort ist nicht richtig.");
}

#[tokio::test]
async fn filters_of_a_german_shop_are_german() {
    let (market, _) = super::pages::shop().await;
    speak_german(&market).await;
    // The filters follow the products within a moment.
    let page = eventually(super::SOON, || async {
        market.gateway.advance(STORE_CACHE);
        let page = market.browser().open("/collections/all").await.expect(200);
        page.text.contains("Bell (2)").then_some(page)
    })
    .await;
    let page = page.shows("Verfügbarkeit").shows("Auf Lager (2)").shows("Nicht auf Lager (1)");
    let page = page.shows("Preis").shows("Hersteller").shows("Preis, aufsteigend");
    page.lacks("In stock").lacks("Availability").lacks(">Vendor");
}

#[tokio::test]
async fn a_theme_is_told_in_german_what_is_wrong_with_its_forms() {
    let (market, mut browser) = shop_with(account_theme).await;
    speak_german(&market).await;
    let wrong = [("customer[email]", "nobody"), ("customer[password]", "short")];
    let page = browser.submit("/account", &wrong).await.expect(422).shows("Theme register");
    let page = page.shows("ist nicht gültig");
    page.shows("Passwort ist zu kurz (mindestens 8 Zeichen)").lacks("is not valid");
    let wrong = [("customer[email]", "a@example.com"), ("customer[password]", "not this one")];
    let page = browser.submit("/account/login", &wrong).await.expect(422);
    page.shows("E-Mail-Adresse oder Passwort ist nicht richtig.").lacks("Incorrect");
}

/// A theme whose home page is the date of an instant, and the countries of forms.
fn dated_theme(slug: &str) -> Vec<(String, Vec<u8>)> {
    let section = "<p>{{ '2026-12-31T23:30:00Z' | time_tag: format: 'date_at_time' }}</p>\
         <p>{{ localization.country.name }}</p><select>{{ all_country_option_tags }}</select>\
         {% schema %}{\"name\": \"Hero\", \"presets\": [{\"name\": \"Hero\"}]}{% endschema %}";
    let mut files = account_theme(slug);
    files.retain(|(path, _)| path != "sections/hero.liquid");
    files.push(("sections/hero.liquid".to_owned(), section.as_bytes().to_vec()));
    files
}

#[tokio::test]
async fn a_theme_shows_dates_and_countries_of_the_store() {
    let (market, mut browser) = shop_with(dated_theme).await;
    let store = format!("/v1/stores/{}", market.store.id);
    let change = json!({"locale": "de-AT", "timezone": "Europe/Vienna", "country": "AT"});
    market.owner.patch(&store).json(change).await.expect(200);
    market.gateway.advance(STORE_CACHE);
    let page = browser.open("/").await.expect(200);
    let page = page.shows("<time datetime=\"2026-12-31T23:30:00Z\">1. Jänner 2027 um 00:30</time>");
    page.shows("<p>Österreich</p>")
        .shows("<option value=\"Germany\"")
        .shows(">Deutschland</option>");
}

#[tokio::test]
async fn a_german_shop_of_a_demo_theme_is_written_for_germans() {
    let (market, mut browser) = super::pages::shop().await;
    let product = browser.open("/products/oak-bowl").await.expect(200).input("id");
    let store = format!("/v1/stores/{}", market.store.id);
    let taxes = json!({"taxes": {"prices_include_tax": true}});
    market.owner.patch(&format!("{store}/settings")).json(taxes).await.expect(200);
    for handle in ["privacy", "refund"] {
        let policy = json!({"body_html": "<p>Kurz.</p>", "published": true});
        market.owner.put(&format!("{store}/policies/{handle}")).json(policy).await.expect(200);
    }
    let rules = json!([{"field": "tag", "relation": "equals", "value": "wood"}]);
    for body in [
        json!({"title": "Holz", "rules": rules, "match": "all", "published": true}),
        json!({"title": "Leer", "kind": "manual", "published": true, "product_ids": []}),
    ] {
        market.owner.post("/v1/products/collections").json(body).await.expect(201);
    }
    let menu = json!({"items": [{"title": "Alles", "type": "link", "url": "/collections/all"}]});
    market.owner.put(&format!("{store}/navigation/main-menu")).json(menu).await.expect(200);
    market.owner.patch(&store).json(json!({"locale": "de"})).await.expect(200);
    market.gateway.advance(STORE_CACHE);
    let money = "30,00\u{a0}\u{20b9}";
    let page = browser.open("/products/oak-bowl").await.expect(200).shows(money);
    let page = page.shows("inkl. MwSt.").shows(">Alles</a>").shows("\"price\":\"30.00\"");
    let page = page.shows("<meta property=\"og:type\" content=\"product\">");
    page.shows("Datenschutzerklärung").shows("Rückgabe und Erstattung");
    let page = browser.open("/collections").await.expect(200).shows("<title>Kollektionen");
    // Nothing is said of how many an automated collection has.
    page.shows("<h1>Kollektionen</h1>").shows("0 Produkte").lacks("3 Produkte");
    browser.open("/policies/privacy").await.expect(200).shows("<title>Datenschutzerklärung");
    browser.open("/search").await.expect(200).shows("<title>Suche");
    let page = browser.open("/nothing").await.expect(404).shows("<title>Diese Seite gibt es nicht");
    page.lacks("rel=\"canonical\"");
    browser.submit_once("/cart/add", &[("id", &product)]).await.expect(303);
    let page = browser.open("/cart").await.expect(200).shows("<title>Warenkorb").shows(money);
    page.shows("inkl. MwSt.").lacks("Versand und Steuern");
    browser.open("/checkout").await.expect(200).shows(money);
}
