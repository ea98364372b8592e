//! How many pages a second: `cargo test --release -p liquid --test it speed -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use liquid::{Map, Object, Runtime, Template, Value};

const PAGE: &str = r#"
{%- for product in products -%}
  {%- assign cheap = product.price | at_most: 5000 -%}
  <li class="card {% cycle 'odd', 'even' %}{% if product.available == false %} sold-out{% endif %}">
    <a href="{{ product.url }}" id="p-{{ product.id }}">{{ product.title | escape }}</a>
    <img src="{{ product.image.src | append: '?width=' | append: 400 }}" alt="{{ product.image.alt | escape }}">
    <span>{{ product.vendor }}</span> <span>{{ product.type | upcase }}</span>
    {% if product.compare_at_price > product.price %}<s>{{ product.compare_at_price | divided_by: 100.0 }}</s>{% endif %}
    <b>{{ product.price | divided_by: 100.0 | round: 2 }}</b> <i>{{ cheap }}</i>
    <p>{{ product.description | strip_html | truncatewords: 8 }}</p>
    {{ product.tags | join: ', ' }} {{ product.tags.size }} {{ forloop.index }}/{{ forloop.length }}
    {% for variant in product.variants %}{{ variant.title }} {{ variant.sku }}{% unless forloop.last %}, {% endunless %}{% endfor %}
    <time>{{ product.created_at | date: '%b %d, %Y' }}</time>
  </li>
{%- endfor -%}
"#;

fn product(number: i64) -> Value {
    let text = |text: &str| Value::from(format!("{text} {number}"));
    let variants =
        ["S", "M"].map(|size| Value::map([("title", Value::from(size)), ("sku", text(size))]));
    Value::map([
        ("id", Value::Int(number)),
        ("title", text("A <fine> cup & saucer")),
        ("url", text("/products/cup")),
        ("vendor", text("Potters")),
        ("type", "Cups".into()),
        ("price", Value::Int(1000 + number * 50)),
        ("compare_at_price", Value::Int(5000)),
        ("available", Value::Bool(number % 7 != 0)),
        ("image", Value::map([("src", text("/files/cup.png")), ("alt", text("Cup"))])),
        (
            "description",
            text("<p>Thrown by hand of <b>red clay</b> and fired twice for a long, long life</p>"),
        ),
        ("tags", ["clay", "red", "kitchen"].map(Value::from).into_iter().collect()),
        ("variants", variants.into_iter().collect()),
        ("created_at", "2026-03-14T10:15:00Z".into()),
    ])
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods, reason = "it is a measurement")]
fn pages_of_two_hundred_products_a_second() {
    let products: Value = (1..=200).map(product).collect();
    let globals: Arc<dyn Object> = Arc::new([("products", products)].into_iter().collect::<Map>());
    let template = Template::parse(PAGE).unwrap();
    let runtime = Runtime::new(globals);
    let page = template.render(&runtime).unwrap();
    assert!(page.errors.is_empty());
    let (begin, mut pages) = (Instant::now(), 0_u32);
    while begin.elapsed() < Duration::from_secs(3) {
        let _page = template.render(&runtime).unwrap();
        pages += 1;
    }
    let each = begin.elapsed() / pages;
    println!("{} bytes, {} steps", page.output.len(), page.usage.steps);
    println!("{} pages/s, {each:?} each", 1_000_000 / each.as_micros());
}
