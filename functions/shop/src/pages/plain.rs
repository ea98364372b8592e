//! A shop without a theme, or with one that fails: plain pages on which shoppers can still find products and buy.

use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;
use shop_theme::Page;

use super::wanted::Wanted;
use crate::cart::quantity_of;
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Page as Frame;
use crate::values::{money, text};
use crate::visit::Visit;

/// Renders a page.
///
/// # Errors
/// 429, 503.
pub(super) async fn page(visit: &Visit, wanted: &Wanted) -> Result<(StatusCode, String), Fault> {
    visit.charge().await?;
    let query = Fields::of_query(visit.query().as_bytes());
    let wanted = match wanted {
        Wanted::Index | Wanted::Collections => Wanted::Collection("all".to_owned(), None),
        other => other.clone(),
    };
    let (status, title, content) = match wanted.load(visit, &query, None).await? {
        Page::Collection(list) => {
            let title = text(&list.collection, "title").to_owned();
            (StatusCode::OK, title.clone(), products(&title, &list.products))
        }
        Page::Search { terms, results, .. } => (
            StatusCode::OK,
            "Search".to_owned(),
            html! {
                h1 { "Search" }
                form { div.pair.code {
                    div.field { label.hidden for="q" { "Search for" } input id="q" name="q" type="search" value=(terms); }
                    button.secondary { "Search" }
                } }
                (list(&results.products))
            },
        ),
        Page::Product(product) => {
            (StatusCode::OK, text(&product, "title").to_owned(), self::product(&product))
        }
        Page::Cart => (StatusCode::OK, "Cart".to_owned(), cart(visit).await?),
        Page::Text(page) => (
            StatusCode::OK,
            text(&page, "title").to_owned(),
            html! {
                h1 { (text(&page, "title")) }
                // Sanitized where it was written.
                (maud::PreEscaped(text(&page, "body_html")))
            },
        ),
        _ => (
            StatusCode::NOT_FOUND,
            "Not found".to_owned(),
            html! {
                h1 { "This page does not exist" }
                p { a href="/" { "Go to the start page" } }
            },
        ),
    };
    Ok((status, Frame::new(visit, &title, content).html()))
}

fn products(title: &str, products: &[Value]) -> Markup {
    html! {
        h1 { (title) }
        p { a href="/search" { "Search" } }
        (list(products))
    }
}

fn list(products: &[Value]) -> Markup {
    html! {
        @if products.is_empty() { p.faint { "There is nothing here yet." } }
        ul.lines {
            @for product in products {
                li {
                    @match product.pointer("/images/0/url").and_then(Value::as_str) {
                        Some(image) => { img src=(image) alt="" width="56" height="56" loading="lazy"; }
                        None => { span.no-image {} }
                    }
                    div { a href={ "/products/" (text(product, "handle")) } { (text(product, "title")) } }
                    div.amount { (money(product.get("price").unwrap_or(&Value::Null))) }
                }
            }
        }
    }
}

fn product(product: &Value) -> Markup {
    let variants = product.get("variants").and_then(Value::as_array).cloned().unwrap_or_default();
    html! {
        h1 { (text(product, "title")) }
        form method="post" action="/cart/add" {
            div.field {
                label for="variant" { "Variant" }
                select id="variant" name="id" {
                    @for variant in &variants {
                        @let is_there = variant.get("in_stock").and_then(Value::as_bool).unwrap_or(true);
                        option value=(text(variant, "id")) disabled[!is_there] {
                            (text(variant, "title")) " – " (money(variant.get("price").unwrap_or(&Value::Null)))
                            @if !is_there { " (sold out)" }
                        }
                    }
                }
            }
            div.field {
                label for="quantity" { "Quantity" }
                input id="quantity" name="quantity" type="number" min="1" value="1";
            }
            button.primary { "Add to the cart" }
        }
        section { (maud::PreEscaped(text(product, "description"))) }
    }
}

async fn cart(visit: &Visit) -> Result<Markup, Fault> {
    let cart = visit.load_cart().await?.filter(|cart| cart.sold_lines().next().is_some());
    let notice = if cart.is_none() { visit.unpaid_notice().await } else { None };
    Ok(html! {
        h1 { "Cart" }
        @if let Some(notice) = notice { (notice) }
        @match &cart {
            None => { p { "The cart is empty. " a href="/" { "Find something" } } }
            Some(cart) => {
                form method="post" action="/cart" {
                    ul.lines {
                        @for line in cart.sold_lines() {
                            @let goods = line.get("merchandise").unwrap_or(&Value::Null);
                            @let id = text(line, "id");
                            li {
                                div { strong { (text(goods, "title")) } " " span.faint { (text(goods, "variant_title")) } }
                                label.hidden for=(id) { "Quantity" }
                                input id=(id) name="updates[]" type="number" min="0" style="width: 6rem"
                                    value=(quantity_of(line));
                                div.amount { (money(goods.get("subtotal").unwrap_or(&Value::Null))) }
                            }
                        }
                    }
                    (crate::totals::totals(&cart.json, visit.words()))
                    div.actions {
                        button.secondary { "Update" }
                        button.primary name="checkout" value="yes" { "Check out" }
                    }
                }
            }
        }
    })
}
