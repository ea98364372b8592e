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
use crate::values::{self, money, text};
use crate::visit::Visit;
use crate::words::Words;

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
    let words = visit.words();
    let (status, title, content) = match wanted.load(visit, &query, None).await? {
        Page::Collection(list) => {
            let title = text(&list.collection, "title").to_owned();
            (StatusCode::OK, title.clone(), products(&title, &list.products, words))
        }
        Page::Search { terms, results, .. } => (
            StatusCode::OK,
            words.pages.search.to_owned(),
            html! {
                h1 { (words.pages.search) }
                form { div.pair.code {
                    div.field { label.hidden for="q" { (words.pages.search_for) } input id="q" name="q" type="search" value=(terms); }
                    button.secondary { (words.pages.search) }
                } }
                (list(&results.products, words))
            },
        ),
        Page::Product(product) => {
            (StatusCode::OK, text(&product, "title").to_owned(), self::product(&product, words))
        }
        Page::Cart => (StatusCode::OK, words.cart.to_owned(), cart(visit).await?),
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
            words.pages.no_page.to_owned(),
            html! {
                h1 { (words.pages.no_page) }
                p { a href="/" { (words.pages.to_start) } }
            },
        ),
    };
    Ok((status, Frame::new(visit, &title, content).html()))
}

fn products(title: &str, products: &[Value], words: &Words) -> Markup {
    html! {
        h1 { (title) }
        p { a href="/search" { (words.pages.search) } }
        (list(products, words))
    }
}

fn list(products: &[Value], words: &Words) -> Markup {
    html! {
        @if products.is_empty() { p.faint { (words.pages.nothing_here) } }
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

fn product(product: &Value, words: &Words) -> Markup {
    let (variants, words) = (values::list(product, "variants"), &words.pages);
    html! {
        h1 { (text(product, "title")) }
        form method="post" action="/cart/add" {
            div.field {
                label for="variant" { (words.variant) }
                select id="variant" name="id" {
                    @for variant in variants {
                        @let is_there = variant.get("in_stock").and_then(Value::as_bool).unwrap_or(true);
                        option value=(text(variant, "id")) disabled[!is_there] {
                            (text(variant, "title")) " – " (money(variant.get("price").unwrap_or(&Value::Null)))
                            @if !is_there { " " (words.option_sold_out) }
                        }
                    }
                }
            }
            div.field {
                label for="quantity" { (words.quantity) }
                input id="quantity" name="quantity" type="number" min="1" value="1";
            }
            button.primary { (words.add_to_cart) }
        }
        section { (maud::PreEscaped(text(product, "description"))) }
    }
}

async fn cart(visit: &Visit) -> Result<Markup, Fault> {
    let cart = visit.load_cart().await?.filter(|cart| cart.sold_lines().next().is_some());
    let notice = if cart.is_none() { visit.unpaid_notice().await } else { None };
    let words = visit.words();
    Ok(html! {
        h1 { (words.cart) }
        @if let Some(notice) = notice { (notice) }
        @match &cart {
            None => { p { (words.pages.cart_is_empty) " " a href="/" { (words.pages.find_something) } } }
            Some(cart) => {
                form method="post" action="/cart" {
                    ul.lines {
                        @for line in cart.sold_lines() {
                            @let goods = line.get("merchandise").unwrap_or(&Value::Null);
                            @let id = text(line, "id");
                            li {
                                div { strong { (text(goods, "title")) } " " span.faint { (text(goods, "variant_title")) } }
                                label.hidden for=(id) { (words.pages.quantity) }
                                input id=(id) name="updates[]" type="number" min="0" style="width: 6rem"
                                    value=(quantity_of(line));
                                div.amount { (money(goods.get("subtotal").unwrap_or(&Value::Null))) }
                            }
                        }
                    }
                    (crate::totals::totals(&cart.json, words))
                    div.actions {
                        button.secondary { (words.pages.update) }
                        button.primary name="checkout" value="yes" { (words.pages.check_out) }
                    }
                }
            }
        }
    })
}
