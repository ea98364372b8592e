//! Collections, carts, customers and payments.

use liquid::{Args, Context, Result, Value};

use super::call::{Named, attribute, page};
use crate::objects::plain::handleize;
use crate::objects::{cart, customer};
use crate::shop::encoded;

pub(super) const FILTERS: &[Named] = &[
    ("avatar", |_, _, _| Ok("".into())),
    ("currency_selector", |_, _, _| Ok("".into())),
    ("customer_login_link", |input, _, cx| {
        link(input, "/account/login", "customer_login_link", cx)
    }),
    ("customer_logout_link", |input, _, cx| {
        link(input, "/account/logout", "customer_logout_link", cx)
    }),
    ("customer_register_link", |input, _, cx| {
        link(input, "/account/register", "customer_register_link", cx)
    }),
    ("format_address", format_address),
    ("format_code", format_code),
    ("highlight_active_tag", |input, _, _| Ok(input.clone())),
    ("item_count_for_variant", item_count_for_variant),
    ("line_items_for", |input, args, _| {
        let of = args.get(0).cloned().unwrap_or_default();
        Ok(cart::items_for(input, &of).into())
    }),
    ("link_to_add_tag", link_to_tag),
    ("link_to_remove_tag", link_to_tag),
    ("link_to_tag", link_to_tag),
    ("link_to_type", |input, _, cx| filtered(input, "type", true, cx)),
    ("link_to_vendor", |input, _, cx| filtered(input, "vendor", true, cx)),
    ("login_button", |_, _, _| Ok("".into())),
    ("payment_button", payment_button),
    ("payment_terms", |_, _, _| Ok("".into())),
    ("payment_type_img_url", |_, _, _| Ok("".into())),
    ("payment_type_svg_tag", |_, _, _| Ok("".into())),
    ("sort_by", sort_by),
    ("url_for_type", |input, _, cx| filtered(input, "type", false, cx)),
    ("url_for_vendor", |input, _, cx| filtered(input, "vendor", false, cx)),
    ("within", within),
];

fn link(input: &Value, path: &str, id: &str, cx: &Context<'_>) -> Result<Value> {
    let url = page(cx)?.to(path);
    Ok(Value::html(format!("<a href=\"{url}\" id=\"{id}\">{}</a>", input.to_text())))
}

/// The collection of a vendor or a type, or a link to it.
fn filtered(input: &Value, name: &str, is_link: bool, cx: &Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let text = input.to_text();
    let url = shop.to(&format!("/collections/{name}s?q={}", encoded(&text)));
    Ok(if is_link {
        let text = attribute(&text);
        Value::html(format!("<a href=\"{}\" title=\"{text}\">{text}</a>", attribute(&url)))
    } else {
        url.into()
    })
}

fn link_to_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let tag = args.text(0);
    let tag = if tag.is_empty() { input.to_text() } else { tag };
    let collection = cx.get("collection").get("handle");
    let collection = collection.to_text();
    let collection = if collection.is_empty() { "all".into() } else { collection };
    let url = shop.to(&format!("/collections/{collection}/{}", handleize(&tag)));
    let title = attribute(&format!("Show products matching tag {tag}"));
    Ok(Value::html(format!(
        "<a href=\"{}\" title=\"{title}\">{}</a>",
        attribute(&url),
        input.to_text()
    )))
}

/// The product's address within a collection.
fn within(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let url = input.to_text();
    let collection = args.get(0).map(|collection| collection.get("handle")).unwrap_or_default();
    let path = url.strip_prefix(shop.data.root.as_str()).unwrap_or(&url);
    match collection.to_text().as_ref() {
        "" => Ok(input.clone()),
        handle if path.starts_with("/products/") => {
            Ok(shop.to(&format!("/collections/{handle}{path}")).into())
        }
        _ => Ok(input.clone()),
    }
}

fn sort_by(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let url = input.to_text();
    let sign = if url.contains('?') { '&' } else { '?' };
    Ok(format!("{url}{sign}sort_by={}", encoded(&args.text(0))).into())
}

/// How many units of a variant the cart has.
fn item_count_for_variant(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let id = args.get(0).cloned().unwrap_or_default();
    let of = match id {
        Value::Object(_) => id,
        id => Value::map([("id", id)]),
    };
    let items = cart::items_for(input, &of);
    let counts = items.iter().map(|item| liquid::number::loose_integer(&item.get("quantity")));
    Ok(Value::Int(counts.fold(0, i64::saturating_add)))
}

/// A button that adds the product and leads to the checkout. It is a submit button, for browsers without scripts; the script
/// submits its form past scripts of themes, which stay on the page.
fn payment_button(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let variant = input.get("selected_or_first_available_variant");
    if !input.get("available").is_truthy() || variant.is_nil() {
        return Ok("".into());
    }
    let disabled = if variant.get("available").is_truthy() { "" } else { " disabled" };
    let script = if shop.data.is_scriptless {
        String::new()
    } else {
        format!("<script src=\"{}\" async></script>", shop.to("/shared/payment-button.js"))
    };
    Ok(Value::html(format!(
        "<div data-shopify=\"payment-button\" class=\"shopify-payment-button\"><button type=\"submit\" \
         class=\"shopify-payment-button__button shopify-payment-button__button--unbranded\" name=\"return_to\" \
         value=\"{}\" formaction=\"{}\" formmethod=\"post\"{disabled}>{}</button>{script}</div>",
        shop.to("/checkout"),
        shop.to("/cart/add"),
        attribute(shop.data.labels.buy_now)
    )))
}

fn format_address(input: &Value, _: &Args, _: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok("".into());
    }
    let lines = customer::lines(input);
    let lines: Vec<String> = lines.iter().map(|line| attribute(line)).collect();
    Ok(Value::html(format!("<p>{}</p>", lines.join("<br>"))))
}

/// The code of a gift card in groups of four.
fn format_code(input: &Value, _: &Args, _: &mut Context<'_>) -> Result<Value> {
    let code: Vec<char> = input.to_text().chars().filter(|c| !c.is_whitespace()).collect();
    let groups: Vec<String> = code.chunks(4).map(|group| group.iter().collect()).collect();
    Ok(groups.join(" ").into())
}
