//! A page to sell by a browser alone: a store, its products, shipping, tax, payment and look, up to its open shop. Each form is
//! a call of the API, as the demo's merchant, and names it.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::desk::Who;
use super::layout::{Page, chip, no_demo, stores_note, text};
use super::paths::{ORDERS, REFERENCE, SELL};
use super::site::Site;
use super::store::{Chosen, StoreQuery};
use crate::providers::{STRIPE_KEY_ID, STRIPE_SECRET, WEBHOOK_SECRET};

/// Products of the table.
const PRODUCTS: &str = "/v1/products?limit=10";
/// The countries that a store can be opened in here: code, name, currency and language of each.
const COUNTRIES: [(&str, &str, &str, &str); 8] = [
    ("IN", "India", "INR", "en"),
    ("US", "United States", "USD", "en"),
    ("GB", "United Kingdom", "GBP", "en"),
    ("DE", "Germany", "EUR", "de"),
    ("FR", "France", "EUR", "fr"),
    ("ES", "Spain", "EUR", "es"),
    ("JP", "Japan", "JPY", "ja"),
    ("CA", "Canada", "CAD", "en"),
];

/// A store as its merchant has set it up.
struct Shop {
    id: String,
    store: Value,
    products: Vec<Value>,
    themes: Vec<Value>,
    /// The id of its first location.
    location: String,
    /// What it lacks: names of requirements, and sentences.
    missing: Vec<(String, String)>,
    url: String,
}

impl Shop {
    async fn load(site: &Site, chosen: &Chosen) -> Self {
        let id = &chosen.store.id;
        let path = format!("/v1/stores/{id}");
        let readiness = format!("{path}/readiness");
        let (store, readiness, products, themes, locations) = tokio::join!(
            site.desk.json(Who::Merchant, &path, &[]),
            site.desk.json(Who::Merchant, &readiness, &[]),
            site.desk.list(id, PRODUCTS),
            site.desk.list(id, "/v1/themes?limit=50"),
            site.desk.list(id, "/v1/inventory/locations"),
        );
        let items = readiness.as_ref().and_then(|found| found.get("items")?.as_array());
        let unmet =
            items.into_iter().flatten().filter(|item| item.get("met") == Some(&Value::Bool(false)));
        let missing = unmet
            .map(|item| (text(item, "requirement").to_owned(), text(item, "detail").to_owned()));
        Self {
            id: id.clone(),
            store: store.unwrap_or_default(),
            products,
            themes,
            location: locations
                .first()
                .map(|first| text(first, "id").to_owned())
                .unwrap_or_default(),
            missing: missing.collect(),
            url: site.whereabouts.shop(&chosen.store.subdomain),
        }
    }

    fn is_open(&self) -> bool {
        text(&self.store, "status") == "active"
    }

    fn lacks(&self, requirement: &str) -> bool {
        self.missing.iter().any(|(name, _)| name == requirement)
    }

    /// A form whose fields are the body of a call. `kind` says what is done beside it.
    fn form(
        &self,
        (method, path, operation): (&str, &str, &str),
        kind: &str,
        button: &str,
        fields: &Markup,
    ) -> Markup {
        let exponent = self.store.get("currency_exponent").and_then(Value::as_u64).unwrap_or(2);
        html! {
            form.sell data-form=(kind) data-method=(method) data-path=(path) data-store=(self.id)
                data-currency=(text(&self.store, "currency")) data-exponent=(exponent) data-location=(self.location) {
                (fields)
                p.actions {
                    button.button.primary type="submit" { (button) }
                    a href={ (REFERENCE) "/" (operation) } { code { (method) " " (path.replace(&self.id, "{id}")) } }
                }
                p.outcome role="status" {}
            }
        }
    }
}

/// A field of a form: its label, its name as the path of a member, how its text becomes a value, and its value.
fn field(
    label: &str,
    name: &str,
    (kind, convert): (&str, &str),
    value: &str,
    is_required: bool,
) -> Markup {
    html! {
        label {
            span { (label) @if !is_required { " (optional)" } }
            @match kind {
                "textarea" => { textarea name=(name) rows="3" { (value) } }
                _ => { input type=(kind) name=(name) data-as=(convert) value=(value) required[is_required]; }
            }
        }
    }
}

/// A text field that must be filled in.
fn required(label: &str, name: &str, convert: &str, value: &str) -> Markup {
    field(label, name, ("text", convert), value, true)
}

/// A value that is sent and not shown.
fn fixed(name: &str, convert: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) data-as=(convert) value=(value); }
}

/// `GET /_local/store/sell`.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    Query(query): Query<StoreQuery>,
) -> Response {
    let content = match Chosen::of(&site, &query).await {
        None => no_demo(),
        Some(chosen) => {
            let shop = Shop::load(&site, &chosen).await;
            html! {
                (chosen.switch(SELL))
                (opening(&shop))
                (products(&shop))
                (terms(&shop))
                (looks(&shop))
                (another(&shop))
                (stores_note())
            }
        }
    };
    let content = html! {
        h1 { "Sell" }
        p.lede { "Opens a store and fills it, by the calls that an admin would make. What is sold appears among the " a href=(ORDERS) { "orders" } "." }
        (content)
    };
    Page { title: "Sell", current: SELL, is_public: false, content }.answer()
}

/// Whether the shop is open, and what it lacks.
fn opening(shop: &Shop) -> Markup {
    let accepted: Vec<&str> = shop.missing.iter().map(|(name, _)| name.as_str()).collect();
    let accepted =
        accepted.into_iter().filter(|name| *name != "owner_email").collect::<Vec<_>>().join(",");
    let activate = format!("/v1/stores/{}/activate", shop.id);
    html! {
        section #opening {
            h2 { (text(&shop.store, "name")) " " (chip(text(&shop.store, "status"))) }
            @if shop.is_open() {
                p { "The shop is open at " a href=(shop.url) { (shop.url) } "." }
            }
            @if !shop.missing.is_empty() {
                ul.missing { @for (_, detail) in &shop.missing { li { (detail) } } }
            }
            @if !shop.is_open() {
                (shop.form(("POST", &activate, "activateStore"), "plain", "Open the shop", &html! {
                    @if !accepted.is_empty() { (fixed("accept_missing", "list", &accepted)) }
                }))
            }
        }
    }
}

/// The newest products, and a form for another one.
fn products(shop: &Shop) -> Markup {
    let currency = text(&shop.store, "currency");
    let fields = html! {
        div.fields {
            (required("Title", "title", "text", ""))
            (required(&format!("Price, {currency}"), "price", "amount", ""))
            (field("Units in stock", "quantity", ("number", "integer"), "10", true))
            (field("Picture", "picture", ("file", "file"), "", false))
            (field("Choice, as Size", "option", ("text", "text"), "", false))
            (field("Its values, as S, M, L", "values", ("text", "list"), "", false))
        }
        (field("Description", "description", ("textarea", "text"), "", false))
    };
    html! {
        section #products {
            h2 { "Products" }
            @if !shop.products.is_empty() {
                table {
                    thead { tr { th scope="col" { "Product" } th scope="col" { "Status" } th scope="col" { "Price" } th scope="col" { span.unseen { "Page" } } } }
                    tbody { @for product in &shop.products { tr {
                        td data-label="Product" { strong { (text(product, "title")) } }
                        td data-label="Status" { (chip(text(product, "status"))) }
                        td data-label="Price" { (price(product)) }
                        td.action { a href={ (shop.url) "/products/" (text(product, "handle")) } { "Open" } }
                    } } }
                }
            }
            details open[shop.products.is_empty()] {
                summary { "Add a product" }
                (shop.form(("POST", "/v1/products", "createProduct"), "product", "Add the product", &fields))
            }
        }
    }
}

fn price(product: &Value) -> &str {
    let price = product.pointer("/price_range/min/formatted").and_then(Value::as_str);
    price.unwrap_or_default()
}

/// Shipping, tax and payment.
fn terms(shop: &Shop) -> Markup {
    let (country, currency) = (text(&shop.store, "country"), text(&shop.store, "currency"));
    let of_store = |part: &str| format!("/v1/stores/{}/{part}", shop.id);
    let (zones, rates) = (of_store("shipping-zones"), of_store("tax-rates"));
    let shipping = html! {
        div.fields {
            (required("Name", "rates.0.name", "text", "Standard"))
            (required(&format!("Price, {currency}"), "rates.0.price", "amount", ""))
            (required("To the countries", "countries", "list", country))
        }
        (fixed("name", "text", "Delivery")) (fixed("rates.0.kind", "text", "flat"))
    };
    let tax = html! {
        div.fields {
            (required("Name", "name", "text", "Tax"))
            (required("Percent", "basis_points", "percent", ""))
            (required("In the country", "country", "text", country))
        }
        (fixed("on_shipping", "flag", "true"))
    };
    let manual = html! {
        div.fields { (required("Name", "methods.0.name", "text", "Bank transfer")) }
        (fixed("methods.0.id", "text", "arranged"))
        (field("What the shopper is to do", "methods.0.instructions", ("textarea", "text"), "", false))
    };
    let stripe = html! {
        p { "Stripe is played by this system: nobody is charged, and each outcome can be chosen." }
        (fixed("credentials.publishable_key", "text", STRIPE_KEY_ID)) (fixed("credentials.secret_key", "text", STRIPE_SECRET))
        (fixed("credentials.webhook_secret", "text", WEBHOOK_SECRET))
    };
    let part = |title: &str, is_open: bool, form: Markup| {
        html! { details open[is_open] { summary { (title) } (form) } }
    };
    html! {
        section #terms {
            h2 { "Shipping, tax and payment" }
            (part("Ship for a price", shop.lacks("shipping"), shop.form(("POST", &zones, "createShippingZone"), "plain", "Add shipping", &shipping)))
            (part("Charge a tax", shop.lacks("taxes"), shop.form(("POST", &rates, "createTaxRate"), "plain", "Add the tax", &tax)))
            (part("Be paid by arrangement", shop.lacks("payments"), shop.form(("PUT", "/v1/payments/providers/manual", "setPaymentProvider"), "plain", "Offer it", &manual)))
            (part("Take cards", shop.lacks("payments"), shop.form(("PUT", "/v1/payments/providers/stripe", "setPaymentProvider"), "plain", "Connect Stripe", &stripe)))
        }
    }
}

/// The themes of the catalogue.
fn looks(shop: &Shop) -> Markup {
    html! {
        section #looks {
            h2 { "Look" }
            ul.cards { @for theme in &shop.themes { li {
                @let slug = text(theme, "slug");
                strong { (text(theme, "name")) }
                p { (text(theme, "description")) }
                (shop.form(("POST", &format!("/v1/themes/{slug}/publish"), "publishTheme"), "theme", &format!("Publish {}", text(theme, "name")), &html! {}))
            } } }
        }
    }
}

/// A form for another store of the merchant.
fn another(shop: &Shop) -> Markup {
    let fields = html! {
        div.fields {
            (required("Name", "name", "text", ""))
            (required("Address: letters, digits, hyphens", "subdomain", "text", ""))
            label {
                span { "Country" }
                select name="country" data-as="country" { @for (code, name, currency, locale) in COUNTRIES {
                    option value=(code) data-currency=(currency) data-locale=(locale) { (name) ", " (currency) }
                } }
            }
        }
    };
    html! {
        section #another {
            details {
                summary { "Open another store" }
                (shop.form(("POST", "/v1/stores", "createStore"), "store", "Create the store", &fields))
            }
        }
    }
}
