//! Tests of the tags that Shopify added to Liquid.

use serde_json::json;

use super::{but, data, page, patient, rendered, theme};
use crate::{Finding, FindingCode, Limits, Page, Posted, render};

/// The page of this number, of a template over five collections.
fn numbered(template: &str, number: usize) -> Result<String, Finding> {
    let mut data = data();
    let products = ["a", "b", "c", "d", "e"].map(|handle| json!({"handle": handle}));
    data.collections = vec![(json!({"handle": "many", "title": "Many"}), products.to_vec())];
    data.page = number;
    let theme =
        theme(template, &[("snippets/outer.liquid", "{{ collections.many.products.size }}")]);
    render(&theme, Page::Index, &data, patient()).map(|rendered| rendered.html)
}

#[test]
fn a_form_posts_to_the_address_of_its_type() {
    let cases = [
        ("product', products.first", "/cart/add"),
        ("cart', cart", "/cart"),
        ("customer_login'", "/account/login"),
        ("create_customer'", "/account"),
        ("recover_customer_password'", "/account/recover"),
        ("contact'", "/contact#contact_form"),
        ("localization'", "/localization"),
        ("storefront_password'", "/password"),
        ("customer_address', customer.new_address", "/account/addresses"),
    ];
    for (kind, path) in cases {
        let html = rendered(&format!("{{% form '{kind} %}}x{{% endform %}}"));
        assert!(html.contains(&format!(" action=\"/shop{path}\"")), "{html}");
        let name = kind.split('\'').next().unwrap();
        assert!(html.contains(&format!("name=\"form_type\" value=\"{name}\"")), "{html}");
    }
    assert_eq!(
        rendered(
            "{% form 'contact', id: 'x', class: shop.name, data-kind: '\"', novalidate: 'novalidate' %}y{% endform %}"
        ),
        "<form method=\"post\" action=\"/shop/contact#contact_form\" accept-charset=\"UTF-8\" id=\"x\" \
         class=\"Tom &amp; Jerry\" data-kind=\"&quot;\" novalidate=\"novalidate\">\
         <input type=\"hidden\" name=\"form_type\" value=\"contact\">\
         <input type=\"hidden\" name=\"utf8\" value=\"✓\">y</form>"
    );
    let unknown = rendered("{% form 'x\"y' %}{% endform %}");
    assert!(unknown.contains("Liquid error"), "{unknown}");
}

#[test]
fn a_form_shows_what_was_posted() {
    let template = "{% form 'contact' %}{{ form.email }} {{ form.errors | default_errors }}\
         {% for field in form.errors %}{{ form.errors.messages[field] }}{% endfor %}\
         {% if form.posted_successfully? %}sent{% endif %}{% endform %}";
    let shown = |errors: &[(&str, &str)]| {
        let pair = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let form = Posted {
            form: "contact".to_owned(),
            subject: String::new(),
            errors: errors.iter().map(pair).collect(),
            names: [("zip", "Postleitzahl")].iter().map(pair).collect(),
            values: vec![("email".to_owned(), "a@b.example".to_owned())],
        };
        let data = crate::Data { form: Some(form), ..data() };
        render(&theme(template, &[]), Page::Index, &data, patient()).unwrap().html
    };
    let wrong = shown(&[("email", "is invalid")]);
    assert!(
        wrong.contains("a@b.example <div class=\"errors\"><ul><li>Email is invalid</li>"),
        "{wrong}"
    );
    assert!(wrong.contains("</div>is invalid") && !wrong.contains("sent"), "{wrong}");
    let named = shown(&[("zip", "fehlt")]);
    assert!(named.contains("<li>Postleitzahl fehlt</li>"), "{named}");
    assert!(shown(&[]).contains("sent"));
}

#[test]
fn a_table_has_rows_of_its_columns() {
    assert_eq!(
        rendered(
            "{% tablerow i in (1..5) cols: 2 limit: 3 offset: 1 %}{{ i }}{% if tablerowloop.col_last %}.{% endif %}{% endtablerow %}"
        ),
        "<tr class=\"row1\">\n<td class=\"col1\">2</td><td class=\"col2\">3.</td></tr>\n\
         <tr class=\"row2\"><td class=\"col1\">4</td></tr>\n"
    );
    assert_eq!(
        rendered(
            "{% tablerow i in (1..9) %}{% if i == 2 %}{% break %}{% endif %}{{ tablerowloop.row }}{{ tablerowloop.col }}{{ tablerowloop.rindex }}{% endtablerow %}x"
        ),
        "<tr class=\"row1\">\n<td class=\"col1\">119</td><td class=\"col2\"></td></tr>\nx"
    );
    assert_eq!(rendered("{% tablerow i in nothing cols: 0 %}{{ i }}{% endtablerow %}"), "");
}

#[test]
fn a_paginated_page_describes_the_others() {
    let template = "{% paginate collections.many.products by 2 %}\
         {% for product in collections.many.products %}{{ product.handle }}{% endfor %} \
         {{ paginate.current_page }}/{{ paginate.pages }} {{ paginate.items }} {{ paginate.current_offset }} \
         {{ paginate.previous.url }} {{ paginate.next.url }} {% render 'outer' %}{% endpaginate %} \
         {{ collections.many.products.size }}";
    assert_eq!(numbered(template, 0).unwrap(), "ab 1/3 5 0  /shop?page=2 5 5");
    assert_eq!(numbered(template, 2).unwrap(), "cd 2/3 5 2 /shop?page=1 /shop?page=3 5 5");
    assert_eq!(numbered(template, 9).unwrap(), "e 3/3 5 4 /shop?page=2  5 5");
    let links = "{% paginate collections.many.products by 2, window_size: 1 %}\
         {{ paginate | default_pagination }}{% endpaginate %}";
    assert_eq!(
        numbered(links, 1).unwrap(),
        "<span class=\"page current\">1</span> <span class=\"page\"><a href=\"/shop?page=2\">2</a></span> \
         <span class=\"page\"><a href=\"/shop?page=3\">3</a></span> \
         <span class=\"next\"><a href=\"/shop?page=2\">Next &raquo;</a></span>"
    );
    let none = "{% paginate nothing.here by 5 %}{{ paginate.items }}{% endpaginate %}";
    assert_eq!(numbered(none, 1).unwrap(), "0");
    for size in ["0", "-1", "251", "'x'"] {
        let template =
            format!("{{% paginate collections.many.products by {size} %}}{{% endpaginate %}}");
        assert!(numbered(&template, 1).unwrap().contains("Liquid error"), "{size}");
    }
}

#[test]
fn a_template_selects_its_layout() {
    let layouts = [
        ("layout/theme.liquid", "[{{ content_for_layout }}]"),
        ("layout/bare.liquid", "({{ content_for_layout }})"),
    ];
    let of = |template: &str| page(&theme(template, &layouts));
    assert_eq!(of("x").unwrap(), "[x]");
    assert_eq!(of("{% layout 'bare' %}x").unwrap(), "(x)");
    assert_eq!(of("{% assign name = 'bare' %}{% layout name %}x").unwrap(), "(x)");
    assert_eq!(
        of("{% layout none %}<b>{{ shop.name | escape }}</b>").unwrap(),
        "<b>Tom &amp; Jerry</b>"
    );
    for name in ["gone", "../templates/index", "/etc/passwd", ""] {
        let finding = of(&format!("{{% layout '{name}' %}}x")).unwrap_err();
        assert_eq!(finding.code, FindingCode::MissingFile, "{name}");
    }
    // A JSON template can select it, too.
    for (layout, expected) in [("\"bare\"", "()"), ("false", ""), ("\"theme\"", "[]")] {
        let template = format!("{{\"layout\": {layout}, \"sections\": {{}}, \"order\": []}}");
        let theme = but(
            theme("", &layouts),
            "templates/index.liquid",
            &[("templates/index.json", &template)],
        );
        assert_eq!(page(&theme).unwrap(), expected, "{layout}");
    }
}

#[test]
fn the_iterations_of_these_tags_are_counted() {
    let limits = Limits { steps: 5_000, ..patient() };
    let rejected = |template: &str| {
        render(&theme(template, &[]), Page::Index, &data(), limits).unwrap_err().code
    };
    let endless = "{% tablerow i in (1..1000000000) cols: 3 %}{% endtablerow %}";
    assert_eq!(rejected(endless), FindingCode::TooManySteps);
    let wide = format!("{{% tablerow i in (1..100000) %}}{}{{% endtablerow %}}", "x".repeat(4_000));
    assert_eq!(rejected(&wide), FindingCode::OutputTooLarge);
    for tag in ["form 'cart'", "paginate products by 5", "tablerow i in (1..2)"] {
        let name = tag.split(' ').next().unwrap();
        let deep = format!("{{% {tag} %}}").repeat(200) + &format!("{{% end{name} %}}").repeat(200);
        assert_eq!(rejected(&deep), FindingCode::Syntax, "{tag}");
    }
    // Each page is a copy, and copies are counted.
    let copies = "{% for i in (1..100000) %}{% paginate all_products.nothing by 1 %}{% endpaginate %}{% endfor %}";
    assert!(matches!(rejected(copies), FindingCode::TooManySteps | FindingCode::MemoryExceeded));
    let cycle = [("layout/theme.liquid", "{% layout 'theme' %}{{ content_for_layout }}")];
    assert_eq!(page(&theme("x", &cycle)).unwrap(), "x", "a layout is around a page once");
}
