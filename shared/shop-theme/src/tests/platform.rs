//! Tests of what public themes expect of the platform: flex containers, data for search engines, buttons, and elements.

use serde_json::{Value as Json, json};

use super::{but, cup, patient, plate, shop, theme};
use crate::{Data, Labels, Listing, Page, Theme, render, shared_file};

/// A page of this template in a layout with the platform's head.
fn shown(template: &str, page: Page, data: &Data) -> String {
    let name = page.template();
    let path = format!("templates/{name}.liquid");
    let layout = "<head>{{ content_for_header }}</head>{{ content_for_layout }}";
    let files = [("layout/theme.liquid", layout), (path.as_str(), template)];
    render(&theme("", &files), page, data, patient()).unwrap().html
}

/// What is behind the head.
fn body(html: &str) -> &str {
    html.split_once("</head>").unwrap().1
}

/// A theme with a section of these settings.
fn styled(liquid: &str) -> Theme {
    let schema = json!({"settings": [
        {"type": "style.layout_panel", "id": "layout", "default": {"gap": "20px", "@media (--mobile)": {"gap": "10px"}}},
        {"type": "style.spacing_panel", "id": "spacing", "default": {"padding": "1px"}},
    ]});
    let section = format!("{liquid}{{% schema %}}{schema}{{% endschema %}}");
    let index = json!({"sections": {"main": {"type": "box"}}, "order": ["main"]}).to_string();
    let layout = "<head>{{ content_for_header }}</head>{{ content_for_layout }}";
    let files = [
        ("sections/box.liquid", section.as_str()),
        ("templates/index.json", index.as_str()),
        ("layout/theme.liquid", layout),
    ];
    but(theme("", &[]), "templates/index.liquid", &files)
}

#[test]
fn a_layout_panel_makes_a_flex_container() {
    let html =
        |liquid: &str| render(&styled(liquid), Page::Index, &shop(), patient()).unwrap().html;
    let all = html("<i class=\"{{ section.settings | class_list }}\"></i>");
    assert!(
        all.contains("{display:flex;gap:20px;padding:1px;}@media (max-width: 749px){"),
        "{all}"
    );
    let one = html("<i class=\"{{ section.settings.layout | class_list }}\"></i>");
    assert!(one.contains("{display:flex;gap:20px;}@media (max-width: 749px){.style-"), "{one}");
    let other = html("<i class=\"{{ section.settings.spacing | class_list }}\"></i>");
    assert!(other.contains("{padding:1px;}") && !other.contains("display"), "{other}");
    assert!(html("{{ section.settings.layout.gap }}").contains(">20px<"));
}

fn described(product: Json) -> Json {
    let page = Page::Product(Box::new(product));
    let html = shown("{{ product | structured_data }}", page, &shop());
    assert!(!body(&html).contains('<'), "{html}");
    serde_json::from_str(body(&html)).unwrap()
}

#[test]
fn a_product_with_variants_is_a_group_for_search_engines() {
    let mut product = cup("cup");
    product["variants"][1]["barcode"] = json!("4006381333931");
    let group = described(product);
    assert_eq!(group["@type"], "ProductGroup");
    assert_eq!(group["productGroupID"], "prd_cup");
    assert_eq!(group["name"], "Cup <b>& saucer</b>");
    assert_eq!(group["variesBy"], json!(["https://schema.org/color", "https://schema.org/size"]));
    assert!(group.get("offers").is_none());
    let variants = group["hasVariant"].as_array().unwrap();
    assert_eq!(variants.len(), 4);
    let second = &variants[1];
    assert_eq!((&second["@type"], &second["sku"]), (&json!("Product"), &json!("CUP-2")));
    assert_eq!((&second["color"], &second["size"]), (&json!("Blue"), &json!("L")));
    assert_eq!(second["gtin"], "4006381333931");
    assert_eq!(variants[0].get("gtin"), None);
    let url = "https://tom.example/products/cup?variant=var_cup2";
    let offer = json!({
        "@type": "Offer", "@id": format!("{url}#offer"), "url": url, "price": "1299.00",
        "priceCurrency": "INR", "availability": "http://schema.org/OutOfStock",
    });
    assert_eq!(second["offers"], offer);
}

#[test]
fn a_product_with_one_variant_is_a_product_for_search_engines() {
    let product = described(plate("plate"));
    assert_eq!((&product["@type"], &product["name"]), (&json!("Product"), &json!("Plate")));
    assert_eq!(product["offers"]["price"], "500.00");
    assert_eq!(product["offers"]["availability"], "http://schema.org/OutOfStock");
    assert!(product.get("hasVariant").is_none() && product.get("brand").is_none());
    let nothing =
        shown("{{ article | structured_data }}{{ shop | structured_data }}", Page::Index, &shop());
    assert_eq!(body(&nothing), "");
}

#[test]
fn a_listing_counts_the_products_that_filters_hide() {
    let counts = |listing: Listing| {
        let page = Page::Collection(Box::new(listing));
        let template = "{{ collection.products_count }} of {{ collection.all_products_count }}";
        body(&shown(template, page, &shop())).to_owned()
    };
    let of = |count: Json, total: usize, unfiltered: Option<usize>| Listing {
        collection: json!({"handle": "tea", "title": "Tea", "products_count": count}),
        products: vec![cup("cup")],
        total: Some(total),
        unfiltered,
        ..Listing::default()
    };
    assert_eq!(counts(of(Json::Null, 41, Some(41))), "41 of 41");
    assert_eq!(counts(of(Json::Null, 3, Some(41))), "3 of 41");
    assert_eq!(counts(of(json!(16), 3, None)), "3 of 16");
    assert_eq!(counts(of(Json::Null, 41, None)), "41 of 41");
    assert_eq!(counts(of(json!(16), 41, None)), "41 of 41");
}

#[test]
fn the_element_for_the_account_is_defined_where_a_theme_has_it() {
    let element = "<shopify-account menu=\"x\"><svg></svg></shopify-account>";
    let guest = shown(element, Page::Index, &shop());
    let script = "<script src=\"/shared/account.js\" data-href=\"/account/login\" data-label=\"Account\" defer></script>";
    assert!(guest.contains(script), "{guest}");
    assert_eq!(body(&guest), element);
    let customer = Data { customer: json!({"id": "cus_1"}), ..shop() };
    assert!(shown(element, Page::Index, &customer).contains("data-href=\"/account\" "));
    let quiet = Data { is_scriptless: true, ..shop() };
    for html in [shown("none", Page::Index, &shop()), shown(element, Page::Index, &quiet)] {
        assert!(!html.contains("account.js"), "{html}");
    }
    let element = "<shopify-account style=\"a>b\"><i>x</i></shopify-account>";
    let html = shown(element, Page::Index, &quiet);
    let (tag, content) = body(&html).split_once("<template shadowrootmode=\"open\"").unwrap();
    assert_eq!(tag, "<shopify-account style=\"a>b\">");
    assert!(content.contains(
        "href=\"/account/login\" aria-label=\"Account\"><slot name=\"signed-out-avatar\">"
    ));
    assert!(content.ends_with("</template><i>x</i></shopify-account>"), "{html}");
    assert!(content.contains("<slot name=\"signed-out-avatar\"><svg"), "{html}");
    let pictured = shown("<shopify-account><svg></svg></shopify-account>", Page::Index, &quiet);
    let many = shown(&"<shopify-account>".repeat(100), Page::Index, &quiet);
    assert_eq!(many.matches("<template").count(), 8);
    assert!(pictured.contains("<slot name=\"signed-out-avatar\"><slot></slot></slot>"));
    assert!(shared_file("account.js").is_some() && shared_file("payment-button.js").is_some());
}

#[test]
fn a_product_form_has_a_button_to_buy_now() {
    let template = "{% form 'product', product %}{{ form | payment_button }}{% endform %}";
    let page = |product: Json| Page::Product(Box::new(product));
    let labels = Labels { buy_now: "Jetzt kaufen", ..Labels::default() };
    let data = Data { labels, ..shop() };
    let html = shown(template, page(cup("cup")), &data);
    let button = "<div data-shopify=\"payment-button\" class=\"shopify-payment-button\"><button type=\"submit\" \
        class=\"shopify-payment-button__button shopify-payment-button__button--unbranded\" name=\"return_to\" \
        value=\"/checkout\" formaction=\"/cart/add\" formmethod=\"post\">Jetzt kaufen</button>\
        <script src=\"/shared/payment-button.js\" async></script></div>";
    assert!(html.contains(button), "{html}");
    let query = vec![("variant".to_owned(), "var_cup2".to_owned())];
    let sold_out = shown(template, page(cup("cup")), &Data { query, ..shop() });
    assert!(sold_out.contains("formmethod=\"post\" disabled>"), "{sold_out}");
    let gone = shown(template, page(plate("plate")), &shop());
    let other =
        shown("{% form 'contact' %}{{ form | payment_button }}{% endform %}", Page::Index, &shop());
    for html in [gone, other] {
        assert!(!html.contains("payment-button"), "{html}");
    }
}

#[test]
fn a_menu_without_a_title_is_named_after_its_handle() {
    let menus = ["main", "customer-service"].map(|handle| json!({"handle": handle, "items": []}));
    let mut data = Data { menus: menus.to_vec(), ..shop() };
    data.menus.push(json!({"handle": "own", "title": "My menu", "items": []}));
    let template = "{{ linklists['main-menu'].title }}, {{ linklists.main.title }}, \
        {{ linklists['customer-service'].title }}, {{ linklists.own.title }}";
    let html = shown(template, Page::Index, &data);
    assert_eq!(body(&html), "Main menu, Main menu, Customer service, My menu");
}
