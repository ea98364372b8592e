//! The store, the request, and what else every page has.

use std::sync::Arc;

use liquid::{Object, Value};
use serde_json::Value as Json;

use super::color::Color;
use super::plain::{nothing, plain};
use super::{collection, customer, links, media};
use crate::data::{Page, text};
use crate::money::{symbol, with_code};
use crate::shop::Shop;

/// `shop`.
pub(crate) fn shop(shop: &Arc<Shop>) -> Value {
    Value::object(Store(Arc::clone(shop)))
}

struct Store(Arc<Shop>);

impl Object for Store {
    fn get(&self, name: &str) -> Option<Value> {
        let shop = &self.0;
        let store = &shop.data.store;
        let at = |pointer: &str| store.pointer(pointer).map_or(Value::Nil, plain);
        let root = || match shop.data.origin.as_str() {
            "" => shop.to("/"),
            origin if shop.data.root.is_empty() => origin.to_owned(),
            origin => format!("{origin}{}", shop.data.root),
        };
        let domain = || {
            let host = shop.data.origin.split("://").nth(1).unwrap_or_default().to_owned();
            match text(store, "/primary_domain") {
                "" => host,
                domain => domain.to_owned(),
            }
        };
        Some(match name {
            "id" | "name" | "currency" => at(&format!("/{name}")),
            "description" => at("/branding/short_description"),
            "slogan" => at("/branding/slogan"),
            "logo" => at("/branding/logo/url"),
            "email" => at("/contact/email"),
            "phone" => at("/contact/phone"),
            "status" => at("/storefront_status"),
            "url" | "secure_url" => root().into(),
            "domain" | "permanent_domain" => domain().into(),
            "locale" => shop.theme.locale.as_str().into(),
            "published_locales" | "enabled_locales" => Value::from(vec![language(shop)]),
            "enabled_currencies" => Value::from(vec![currency(shop.data.currency())]),
            "money_format" => money_format(shop, false).into(),
            "money_with_currency_format" => money_format(shop, true).into(),
            "address" => {
                customer::address(shop, store.pointer("/contact/address").unwrap_or(&Json::Null))
            }
            "customer_accounts_enabled" | "customer_accounts_optional" | "accepts_gift_cards" => {
                true.into()
            }
            "enabled_payment_types" => Value::from(Vec::new()),
            "password_message" => {
                Value::html(liquid::escape(text(store, "/password_message").into()))
            }
            "policies" => links::policies(shop).into(),
            "refund_policy" => links::policy(shop, "refund"),
            "shipping_policy" => links::policy(shop, "shipping"),
            "privacy_policy" => links::policy(shop, "privacy"),
            "terms_of_service" => links::policy(shop, "terms"),
            "subscription_policy" => Value::Nil,
            "taxes_included" => (store.get("taxes_included") == Some(&Json::Bool(true))).into(),
            "products_count" => shop.data.products.len().into(),
            "collections_count" => shop.data.collections.len().into(),
            "vendors" | "types" => {
                let all = collection::named(shop, "all").unwrap_or_default();
                all.get(&format!("all_{name}"))
            }
            "search_types" => Value::from(vec![Value::from("product")]),
            "brand" => brand(shop),
            "metafields" | "metaobjects" | "features" => nothing(),
            _ => return None,
        })
    }

    fn text(&self) -> String {
        name_of(&self.0).to_owned()
    }
}

/// `shop.brand`.
fn brand(shop: &Arc<Shop>) -> Value {
    let store = &shop.data.store;
    let image = |pointer: &str| media::image(shop, text(store, pointer), name_of(shop));
    let color = |pointer: &str| {
        let color = Color::parse(text(store, pointer));
        let color = color.map_or(Value::Nil, Value::object);
        Value::from(vec![Value::map([("background", color), ("foreground", Value::Nil)])])
    };
    let colors = Value::map([
        ("primary", color("/branding/primary_color")),
        ("secondary", color("/branding/secondary_color")),
    ]);
    Value::map([
        ("slogan", Value::from(text(store, "/branding/slogan"))),
        ("short_description", text(store, "/branding/short_description").into()),
        ("logo", image("/branding/logo/url")),
        ("square_logo", image("/branding/logo/url")),
        ("favicon_url", image("/branding/favicon/url")),
        ("cover_image", Value::Nil),
        ("colors", colors),
        ("metafields", nothing()),
    ])
}

/// How scripts write amounts: `₹{{amount}}`.
fn money_format(shop: &Shop, has_code: bool) -> String {
    let format = shop.amounts.format(shop.money.exponent > 0);
    if has_code { with_code(shop.data.currency(), format) } else { format }
}

/// A currency, which is its code where a text is wanted.
pub(crate) fn currency(code: &str) -> Value {
    let name = iso_currency::Currency::from_code(code).map(|known| known.name().to_owned());
    let members = Value::map([
        ("iso_code", Value::from(code)),
        ("symbol", symbol(code).into()),
        ("name", name.unwrap_or_default().into()),
    ]);
    Value::object(Titled { title: Arc::from(code), members })
}

/// An object that is a text where one is wanted.
pub(crate) struct Titled {
    pub(crate) title: Arc<str>,
    pub(crate) members: Value,
}

impl Object for Titled {
    fn get(&self, name: &str) -> Option<Value> {
        Some(self.members.get(name))
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.title.clone().into())
    }
}

/// A country, which is its name where a text is wanted.
pub(crate) fn country(shop: &Arc<Shop>, code: &str) -> Value {
    if code.is_empty() {
        return Value::Nil;
    }
    let members = Value::map([
        ("iso_code", Value::from(code)),
        ("name", country_name(shop, code).into()),
        ("unit_system", (if code == "US" { "imperial" } else { "metric" }).into()),
        ("currency", currency(shop.data.currency())),
        ("market", Value::Nil),
        ("popular?", true.into()),
        ("continent", "".into()),
        ("available_languages", Value::from(vec![language(shop)])),
    ]);
    Value::object(Titled { title: Arc::from(country_name(shop, code)), members })
}

/// The name of a country: the host's, in the language of the page; or else the English one of those that shops are most
/// often in; the code of another.
fn country_name<'a>(shop: &'a Shop, code: &'a str) -> &'a str {
    const NAMES: [(&str, &str); 30] = [
        ("AE", "United Arab Emirates"),
        ("AT", "Austria"),
        ("AU", "Australia"),
        ("BE", "Belgium"),
        ("BR", "Brazil"),
        ("CA", "Canada"),
        ("CH", "Switzerland"),
        ("CN", "China"),
        ("DE", "Germany"),
        ("DK", "Denmark"),
        ("ES", "Spain"),
        ("FI", "Finland"),
        ("FR", "France"),
        ("GB", "United Kingdom"),
        ("IE", "Ireland"),
        ("IN", "India"),
        ("IT", "Italy"),
        ("JP", "Japan"),
        ("KR", "South Korea"),
        ("MX", "Mexico"),
        ("MY", "Malaysia"),
        ("NL", "Netherlands"),
        ("NO", "Norway"),
        ("NZ", "New Zealand"),
        ("PL", "Poland"),
        ("PT", "Portugal"),
        ("SE", "Sweden"),
        ("SG", "Singapore"),
        ("US", "United States"),
        ("ZA", "South Africa"),
    ];
    if let Some(country) = shop.data.country(code) {
        return &country.label;
    }
    NAMES.iter().find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}

/// The language of the page.
pub(crate) fn language(shop: &Arc<Shop>) -> Value {
    const NAMES: [(&str, &str, &str); 14] = [
        ("cs", "Czech", "Čeština"),
        ("da", "Danish", "Dansk"),
        ("de", "German", "Deutsch"),
        ("en", "English", "English"),
        ("es", "Spanish", "Español"),
        ("fi", "Finnish", "Suomi"),
        ("fr", "French", "Français"),
        ("hi", "Hindi", "हिन्दी"),
        ("it", "Italian", "Italiano"),
        ("ja", "Japanese", "日本語"),
        ("nl", "Dutch", "Nederlands"),
        ("pl", "Polish", "Polski"),
        ("pt", "Portuguese", "Português"),
        ("sv", "Swedish", "Svenska"),
    ];
    let code = shop.theme.locale.as_str();
    let short = code.split('-').next().unwrap_or_default();
    let known = NAMES.iter().find(|(known, ..)| *known == short);
    let (name, own) = known.map_or((code, code), |(_, name, own)| (*name, *own));
    let members = Value::map([
        ("iso_code", Value::from(code)),
        ("name", name.into()),
        ("endonym_name", own.into()),
        ("primary", true.into()),
        ("root_url", shop.to("/").into()),
    ]);
    Value::object(Titled { title: Arc::from(code), members })
}

/// `localization`.
pub(crate) fn localization(shop: &Arc<Shop>) -> Value {
    let country = country(shop, text(&shop.data.store, "/country"));
    let market = Value::map([
        ("id", Value::from("1")),
        ("handle", "primary".into()),
        ("metafields", nothing()),
    ]);
    Value::map([
        ("available_countries", Value::from(vec![country.clone()])),
        ("available_languages", Value::from(vec![language(shop)])),
        ("country", country),
        ("language", language(shop)),
        ("market", market),
    ])
}

/// The name of a region of a country; what was given where it is none.
pub(crate) fn region_name<'a>(shop: &'a Shop, country: &str, region: &'a str) -> &'a str {
    let country = shop.data.country(country);
    let regions = country.map(|country| country.regions.as_slice()).unwrap_or_default();
    regions.iter().find(|(code, _)| code == region).map_or(region, |(_, name)| name)
}

/// The options of a form's countries, the store's own first, each with its provinces. Where no script of the theme runs,
/// the host's has the provinces: each form of a page has all options.
pub(crate) fn country_options(shop: &Arc<Shop>) -> Value {
    let option = |name: &str, label: &str, provinces: &str| {
        let [name, label, provinces] =
            [name, label, provinces].map(|text| liquid::escape(text.into()));
        format!("<option value=\"{name}\" data-provinces=\"{provinces}\">{label}</option>")
    };
    let code = text(&shop.data.store, "/country");
    if shop.data.countries.is_empty() {
        let name = country_name(shop, code);
        return Value::html(option(name, name, "[]"));
    }
    let others = shop.data.countries.iter().filter(|country| country.code != code);
    let options = shop.data.country(code).into_iter().chain(others).map(|country| {
        if shop.data.is_scriptless {
            let [name, label] =
                [&country.name, &country.label].map(|text| liquid::escape(text.into()));
            return format!("<option value=\"{name}\">{label}</option>");
        }
        let pairs: Vec<[&str; 2]> =
            country.regions.iter().map(|(_, name)| [name.as_str(), name.as_str()]).collect();
        option(&country.name, &country.label, &serde_json::to_string(&pairs).unwrap_or_default())
    });
    Value::html(options.collect::<String>())
}

/// `recommendations`.
pub(crate) fn recommendations(shop: &Arc<Shop>) -> Value {
    let mut raw = shop.data.recommendations.as_slice();
    if let (true, Page::Product(product)) = (raw.is_empty(), &shop.page) {
        raw = crate::data::list(product, "/related");
    }
    let count = raw.len();
    let is_performed = Value::from(count > 0 || shop.data.parameter("product_id").is_some());
    Value::map([
        // Themes read it by either name.
        ("performed", is_performed.clone()),
        ("performed?", is_performed),
        ("products", collection::products(shop, raw, None)),
        ("products_count", count.into()),
        ("intent", "related".into()),
    ])
}

/// The name of the store.
pub(crate) fn name_of(shop: &Shop) -> &str {
    text(&shop.data.store, "/name")
}
