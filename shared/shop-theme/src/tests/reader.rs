//! What is written as readers of the page's language write it, and what search engines read.

use serde_json::json;

use super::{cup, patient, shop, theme};
use crate::{AmountStyle, Data, Labels, Listing, Page, Titles, cart_json, render};

fn on(page: Page, data: &Data, template: &str) -> String {
    let path = format!("templates/{}.liquid", page.template());
    let theme = theme("", &[(&path, template)]);
    render(&theme, page, data, patient()).unwrap().html
}

fn german() -> AmountStyle {
    AmountStyle {
        before: String::new(),
        after: "\u{a0}€".to_owned(),
        decimal: ",".to_owned(),
        group: ".".to_owned(),
        ..AmountStyle::english(String::new())
    }
}

fn in_style(amounts: AmountStyle, template: &str) -> String {
    let mut data = Data { amounts: Some(amounts), ..shop() };
    data.store["currency"] = json!("EUR");
    on(Page::Index, &data, template)
}

#[test]
fn amounts_are_written_as_the_language_does() {
    let of = |template: &str| in_style(german(), template);
    assert_eq!(of("{{ 123456789 | money }}"), "1.234.567,89\u{a0}€");
    assert_eq!(of("{{ -4245 | money }}"), "-42,45\u{a0}€");
    assert_eq!(of("{{ 4245 | money_with_currency }}"), "42,45\u{a0}€ EUR");
    assert_eq!(of("{{ 129900 | money_without_currency }}"), "1.299,00");
    assert_eq!(of("{{ 129900 | money_without_trailing_zeros }}"), "1.299\u{a0}€");
    assert_eq!(of("{{ 129950 | money_without_trailing_zeros }}"), "1.299,50\u{a0}€");
    assert_eq!(of("[{{ nil | money }}]"), "[]");
}

#[test]
fn scripts_are_told_the_same_format() {
    let of = |group: &str, decimal: &str| {
        let style =
            AmountStyle { group: group.to_owned(), decimal: decimal.to_owned(), ..german() };
        in_style(style, "{{ shop.money_format }}")
    };
    assert_eq!(of(".", ","), "{{amount_with_comma_separator}}\u{a0}€");
    assert_eq!(of(",", "."), "{{amount}}\u{a0}€");
    assert_eq!(of("\u{202f}", ","), "{{amount_with_space_separator}}\u{a0}€");
    assert_eq!(of("’", "."), "{{amount_with_apostrophe_separator}}\u{a0}€");
    let with_code = in_style(german(), "{{ shop.money_with_currency_format }}");
    assert_eq!(with_code, "{{amount_with_comma_separator}}\u{a0}€ EUR");
}

#[test]
fn groups_have_the_sizes_of_the_language() {
    let indian = AmountStyle { sizes: (3, 2), ..AmountStyle::english("₹".to_owned()) };
    assert_eq!(in_style(indian, "{{ 1234567800 | money }}"), "₹1,23,45,678.00");
    let spanish = AmountStyle { least: 5, ..german() };
    let both = "{{ 123400 | money }} {{ 1234500 | money }}";
    assert_eq!(in_style(spanish, both), "1234,00\u{a0}€ 12.345,00\u{a0}€");
    let arabic = AmountStyle { zero: '\u{660}', ..AmountStyle::english(String::new()) };
    assert_eq!(in_style(arabic, "{{ 1205 | money }}"), "١٢.٠٥");
}

#[test]
fn offers_for_machines_have_a_point() {
    let data = Data { amounts: Some(german()), ..shop() };
    let page = Page::Product(Box::new(cup("cup")));
    let html = on(page, &data, "{{ product | structured_data }}");
    assert!(html.contains("\"price\":\"1299.00\""), "{html}");
    assert!(html.contains("\"description\":\"It holds tea .\""), "{html}");
}

#[test]
fn collections_count_what_is_known() {
    let mut data = shop();
    let counted = json!({"handle": "many", "title": "Many", "products_count": 3});
    let automated = json!({"handle": "auto", "title": "Auto", "products_count": null});
    data.collections.push((counted, Vec::new()));
    data.collections.push((automated.clone(), Vec::new()));
    data.collections.push((json!({"handle": "shown", "products_count": null}), vec![cup("cup")]));
    let counts =
        "{% for one in collections %}{{ one.handle }}:{{ one.products_count }} {% endfor %}";
    assert_eq!(on(Page::Index, &data, counts), "kitchen:2 many:3 auto: shown:1 ");
    let listing = Listing { collection: automated, total: Some(7), ..Listing::default() };
    let count = "{{ collection.products_count }}";
    assert_eq!(on(Page::Collection(Box::new(listing)), &data, count), "7");
}

#[test]
fn titles_and_statuses_are_those_of_the_host() {
    let mut statuses = [("", ""); 14];
    statuses[0] = ("partially_refunded", "teilweise erstattet");
    let titles = Titles {
        cart: "Warenkorb",
        search: "Suche",
        collections: "Kollektionen",
        not_found: "Diese Seite gibt es nicht",
        account: "Konto",
        order: "Bestellung {number}",
    };
    let data = Data { labels: Labels { titles, statuses, ..Labels::default() }, ..shop() };
    let order = json!({
        "id": "ord_1", "number": "T-1", "financial_status": "partially_refunded", "fulfillment_status": "on_hold",
        "totals": {"tax_included": true, "gift_cards": {"amount": 500}, "due": {"amount": 100}},
    });
    for (page, title) in [
        (Page::Cart, "Warenkorb"),
        (Page::Collections, "Kollektionen"),
        (Page::NotFound, "Diese Seite gibt es nicht"),
        (Page::Addresses, "Konto"),
        (Page::Order(Box::new(order.clone())), "Bestellung T-1"),
    ] {
        assert_eq!(on(page, &data, "{{ page_title }}"), title);
    }
    let template = "{{ order.financial_status_label }} {{ order.fulfillment_status_label }} \
        {{ order.taxes_included }} {{ order.gift_cards_amount }} {{ order.due_amount }}";
    let html = on(Page::Order(Box::new(order)), &data, template);
    assert_eq!(html, "Teilweise erstattet On hold true 500 100");
}

#[test]
fn a_description_is_escaped_once() {
    let mut product = cup("cup");
    product["description"] =
        json!("<p>Milch &amp; Kandis,&nbsp;&#34;1 &lt; 2&#x22; & more &x;</p>");
    let html = on(Page::Product(Box::new(product)), &shop(), "{{ page_description | escape }}");
    assert_eq!(html, "Milch &amp; Kandis, &quot;1 &lt; 2&quot; &amp; more &amp;x;");
}

#[test]
fn each_page_has_one_canonical_address() {
    let at = |page: Page, path: &str, number: usize| {
        let data = Data { path: path.to_owned(), page: number, ..shop() };
        on(page, &data, "{{ canonical_url }}")
    };
    let product = Page::Product(Box::new(cup("cup")));
    let path = "/collections/kitchen/products/cup";
    assert_eq!(at(product, path, 1), "https://tom.example/products/cup");
    let list = || {
        Page::Collection(Box::new(Listing {
            collection: json!({"handle": "kitchen"}),
            ..Listing::default()
        }))
    };
    let path = "/collections/kitchen";
    assert_eq!(at(list(), path, 1), "https://tom.example/collections/kitchen");
    assert_eq!(at(list(), path, 2), "https://tom.example/collections/kitchen?page=2");
    assert_eq!(at(Page::NotFound, "/nothing", 1), "");
}

#[test]
fn a_code_that_does_not_apply_says_so() {
    let mut data = shop();
    data.cart["discount_codes"] = json!(["TEN", "OLD"]);
    data.cart["faults"] = json!([
        {"code": "discount_expired", "pointer": "/discount_codes/1", "detail": "It is over.", "blocks_checkout": true},
    ]);
    let codes = &cart_json(&data.cart, &data)["discount_codes"];
    let wanted = json!([{"code": "TEN", "applicable": true}, {"code": "OLD", "applicable": false}]);
    assert_eq!(codes, &wanted);
}

#[test]
fn the_first_menu_has_either_name() {
    let template = "{{ linklists['main'].links.size }} {{ linklists['main-menu'].links.size }}";
    assert_eq!(on(Page::Index, &shop(), template), "2 2");
    let mut data = shop();
    data.menus[0]["handle"] = json!("main-menu");
    assert_eq!(on(Page::Index, &data, template), "2 2");
}
