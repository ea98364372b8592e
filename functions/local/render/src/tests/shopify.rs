//! Tests of the tags that Shopify added to Liquid.

use serde_json::json;

use super::{data, page, patient, rendered, theme};
use crate::{Finding, FindingCode, Limits, Page, files, render};

/// The page of this number, of a template over five collections.
fn numbered(template: &str, number: usize) -> Result<String, Finding> {
    let mut data = data();
    let products = ["a", "b", "c", "d", "e"].map(|handle| json!({"handle": handle}));
    data.collections = vec![(json!({"handle": "many", "title": "Many"}), products.to_vec())];
    data.page = number;
    let theme =
        theme(template, &[("snippets/outer.liquid", "{{ collections.many.products.size }}")]);
    render(&theme, Page::Index, &data, patient())
}

#[test]
fn a_form_is_rendered_with_its_kind() {
    assert_eq!(
        rendered(
            "{% form 'product', products[0], id: 'buy', class: shop.name, data-kind: '\"' %}x{% endform %}"
        ),
        "<form method=\"post\" accept-charset=\"UTF-8\" id=\"buy\" class=\"Tom &amp; Jerry\" \
         data-kind=\"&quot;\"><input type=\"hidden\" name=\"form_type\" value=\"product\">x</form>"
    );
    let form = "{% form 'contact', return_to: 'back' %}{{ form.id }}{% if form.posted_successfully? %}a{% endif %}\
         {{ form.errors | default: '-' }}{% endform %}{{ form.id }}";
    assert_eq!(
        rendered(form),
        "<form method=\"post\" accept-charset=\"UTF-8\">\
         <input type=\"hidden\" name=\"form_type\" value=\"contact\">contact-</form>"
    );
    // A captured text is escaped in an attribute.
    let captured = "{% capture x %}<i>{% endcapture %}{% form 'cart', id: x %}{% endform %}";
    assert!(rendered(captured).contains("id=\"&lt;i&gt;\""), "{}", rendered(captured));
    for template in
        ["{% form %}{% endform %}", "{% form 'cart', 'a b': 1 %}{% endform %}", "{% form 'cart' %}"]
    {
        assert_eq!(
            page(&theme(template, &[])).unwrap_err().code,
            FindingCode::Syntax,
            "{template}"
        );
    }
    let unknown = page(&theme("{% form 'x\"y' %}{% endform %}", &[])).unwrap_err();
    assert_eq!(unknown.code, FindingCode::Failed);
}

#[test]
fn a_table_has_rows_of_its_columns() {
    assert_eq!(
        rendered(
            "{% tablerow i in (1..5) cols: 2 limit: 3 offset: 1 %}{{ i }}{% if tablerowloop.col_last %}.{% endif %}{% endtablerow %}"
        ),
        "<tr class=\"row1\"><td class=\"col1\">2</td><td class=\"col2\">3.</td></tr>\n\
         <tr class=\"row2\"><td class=\"col1\">4.</td></tr>\n"
    );
    assert_eq!(
        rendered(
            "{% tablerow i in (1..9) %}{% if i == 2 %}{% break %}{% endif %}{{ tablerowloop.row }}{{ tablerowloop.col }}{{ tablerowloop.rindex }}{% endtablerow %}x"
        ),
        "<tr class=\"row1\"><td class=\"col1\">119</td><td class=\"col2\"></td></tr>\nx"
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
        "<span class=\"page\">1</span> <a class=\"page\" href=\"/shop?page=2\">2</a> \
         <a class=\"page\" href=\"/shop?page=3\">3</a> <a class=\"page\" href=\"/shop?page=2\">›</a>"
    );
    let none = "{% paginate nothing.here by 5 %}{{ paginate.items }}{% endpaginate %}";
    assert_eq!(numbered(none, 1).unwrap(), "0");
    for size in ["0", "-1", "251", "'x'"] {
        let template =
            format!("{{% paginate collections.many.products by {size} %}}{{% endpaginate %}}");
        assert_eq!(numbered(&template, 1).unwrap_err().code, FindingCode::Failed, "{size}");
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
    assert_eq!(of("{% layout none %}<b>{{ shop.name }}</b>").unwrap(), "<b>Tom &amp; Jerry</b>");
    for name in ["gone", "../templates/index", "/etc/passwd", ""] {
        let finding = of(&format!("{{% layout '{name}' %}}x")).unwrap_err();
        assert_eq!(finding.code, FindingCode::MissingFile, "{name}");
    }
    // A JSON template can select it, too.
    for (layout, expected) in [("\"bare\"", "()"), ("false", ""), ("\"theme\"", "[]")] {
        let mut theme = theme("", &layouts);
        theme.files.remove("templates/index.liquid");
        let template = format!("{{\"layout\": {layout}, \"sections\": {{}}, \"order\": []}}");
        theme.files.extend(files([("templates/index.json", template.as_str())]));
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
        assert_eq!(rejected(&deep), FindingCode::NestedTooDeep, "{tag}");
    }
    // Each page is a copy, and copies are counted.
    let copies = "{% for i in (1..100000) %}{% paginate all_products.nothing by 1 %}{% endpaginate %}{% endfor %}";
    assert!(matches!(rejected(copies), FindingCode::TooManySteps | FindingCode::MemoryExceeded));
    let cycle = [("layout/theme.liquid", "{% layout 'theme' %}{{ content_for_layout }}")];
    assert_eq!(page(&theme("x", &cycle)).unwrap(), "x", "a layout is around a page once");
}
