//! Tests of what templates are told of customers and their orders.

use serde_json::json;

use super::{money, patient, shop, theme};
use crate::{Country, Data, Page, Posted, Theme, has_template, render};

fn customers(template: &str) -> Theme {
    theme("", &[("templates/customers/addresses.liquid", template)])
}

fn data() -> Data {
    let india = Country {
        code: "IN".to_owned(),
        name: "India".to_owned(),
        label: "Indien".to_owned(),
        regions: vec![("KA".to_owned(), "Karnataka <b>".to_owned())],
    };
    let canada = Country {
        code: "CA".to_owned(),
        name: "Canada".to_owned(),
        label: "Kanada".to_owned(),
        regions: Vec::new(),
    };
    let address = |id: &str, is_default: bool| {
        json!({
            "id": id, "first_name": "A\"sha", "line1": "12 MG Road", "city": "Goa", "country": "IN",
            "region": "KA", "is_default": is_default,
        })
    };
    Data {
        customer: json!({"name": "Asha Rao", "email": "a@b.example", "orders_count": 2}),
        addresses: vec![address("adr_1", true), address("adr_2", false)],
        countries: [canada, india].into(),
        ..shop()
    }
}

fn shown(template: &str, data: &Data) -> String {
    render(&customers(template), Page::Addresses, data, patient()).unwrap().html
}

#[test]
fn an_address_names_its_country_and_province() {
    let template = "{% assign address = customer.default_address %}{{ address.id }} {{ address.country }} \
         {{ address.country_code }} {{ address.province | escape }} {{ address.province_code }}";
    assert_eq!(shown(template, &data()), "adr_1 Indien IN Karnataka &lt;b&gt; KA");
    let options = shown("{{ all_country_option_tags }}", &data());
    // The store's own country comes first.
    assert!(options.starts_with(
        "<option value=\"India\" data-provinces=\"[[&quot;Karnataka &lt;b&gt;&quot;,"
    ));
    assert!(options.ends_with("<option value=\"Canada\" data-provinces=\"[]\">Kanada</option>"));
    let scriptless = Data { is_scriptless: true, ..data() };
    let options = shown("{{ all_country_option_tags }}", &scriptless);
    assert_eq!(
        options,
        "<option value=\"India\">Indien</option><option value=\"Canada\">Kanada</option>"
    );
}

#[test]
fn a_form_of_an_address_is_about_this_address() {
    let template = "{% for address in customer.addresses %}{% form 'customer_address', address %}\
         {{ form.id }} {{ form.first_name }} {{ form.city }} {{ form.errors.messages.zip }}\
         {{ form.set_as_default_checkbox }}{% endform %}{% endfor %}\
         {% form 'customer_address', customer.new_address %}{{ form.id }}{{ form.city }}{% endform %}";
    let rejected = Posted {
        form: "customer_address".to_owned(),
        subject: "adr_2".to_owned(),
        errors: vec![("zip".to_owned(), "can't be blank".to_owned())],
        names: Vec::new(),
        values: vec![("city".to_owned(), "<i>".to_owned())],
    };
    let html = shown(template, &Data { form: Some(rejected), ..data() });
    let forms: Vec<&str> = html.split("<form ").skip(1).collect();
    let [first, second, new] = forms.as_slice() else { panic!("{html}") };
    assert!(
        first.contains("action=\"/account/addresses/adr_1\"")
            && first.contains("id=\"address_form_adr_1\"")
    );
    assert!(first.contains("name=\"_method\" value=\"put\""), "{first}");
    assert!(
        first.contains("adr_1 A&quot;sha Goa <input") && first.contains("value=\"1\" checked"),
        "{first}"
    );
    assert!(second.contains("adr_2 A&quot;sha &lt;i&gt; can't be blank<input"), "{second}");
    assert!(!second.contains("checked"), "{second}");
    assert!(new.contains("action=\"/account/addresses\"") && new.contains(">new</form>"), "{new}");
    assert!(!new.contains("_method"), "{new}");
}

#[test]
fn a_sign_in_leads_where_its_page_says() {
    let template = "{% form 'customer_login' %}{{ form.errors | default_errors }}{% endform %}";
    let query = vec![("return_to".to_owned(), "/cart?a=\"".to_owned())];
    let html = shown(template, &Data { query, ..data() });
    assert!(html.contains("name=\"return_to\" value=\"/cart?a=&quot;\""), "{html}");
}

#[test]
fn an_order_has_its_deliveries_and_what_is_left_of_its_total() {
    let tracking = json!({"number": "T<1>", "company": "Post", "url": "javascript:alert(1)"});
    let order = json!({
        "id": "ord_1", "number": "1001", "refunded_total": money(1_000), "fulfillments": [
            {"items": [{"order_item_id": "itm_1"}], "tracking": tracking, "created_at": "2026-11-28T10:00:00.000Z"}],
        "items": [
            {"id": "itm_1", "title": "Cup", "quantity": 2, "fulfilled": 2, "price": money(3_000)},
            {"id": "itm_2", "title": "Plate", "quantity": 1, "price": money(4_000)}],
        "totals": {"total": money(10_000), "tax_lines": [
            {"name": "GST", "percent": "18", "amount": money(1_800)}]},
    });
    let template = "{{ order.customer_url }} {{ order.order_status_url }} {{ order.total_net_amount }} \
         {% for item in order.line_items %}{{ item.title }}:{{ item.fulfillment.tracking_number }}:\
         {{ item.fulfillment.tracking_url }}:{{ item.successfully_fulfilled_quantity }} {% endfor %}\
         {% for it in order.fulfillments %}{{ it.item_count }} {{ it.tracking_company }} \
         {{ it.fulfillment_line_items.first.title }}{% endfor %} {% for tax in order.tax_lines %}\
         {{ tax.rate }} {{ tax.rate_percentage }}{% endfor %}{% if order.total_duties %}!{% endif %}";
    let theme = theme("", &[("templates/customers/order.liquid", template)]);
    let page = Page::Order(Box::new(order));
    assert!(has_template(&theme, &page) && !has_template(&theme, &Page::Login));
    let html = render(&theme, page, &data(), patient()).unwrap().html;
    assert_eq!(
        html,
        "/account/orders/ord_1 /orders/ord_1 9000 Cup:T<1>::2 Plate:::0 1 Post Cup 0.18 18"
    );
}

#[test]
fn the_host_puts_its_parts_around_the_content_and_no_script_with_them() {
    let theme = customers("{% javascript %}theirs(){% endjavascript %}<p>a</p>");
    let layout = "<head>{{ content_for_header }}</head>{{ content_for_layout }}";
    let theme = super::but(theme, "layout/theme.liquid", &[("layout/theme.liquid", layout)]);
    let around = ("<b>1</b>".to_owned(), "<b>2</b>".to_owned());
    let data = Data { around, is_scriptless: true, ..data() };
    let html = render(&theme, Page::Addresses, &data, patient()).unwrap().html;
    assert_eq!(html, "<head></head><b>1</b><p>a</p><b>2</b>");
}
