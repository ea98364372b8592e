//! What a page is about, and the storefront API's answers that it is rendered from.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::amounts::AmountStyle;

/// The storefront API's answers about a store (docs/openapi.json), and the request.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// `GET /v1/storefront/{subdomain}`.
    pub store: Json,
    /// `GET …/products`, the items: what settings and carts refer to by handle or id.
    pub products: Vec<Json>,
    /// `GET …/collections`: each with the first page of its products.
    pub collections: Vec<(Json, Vec<Json>)>,
    /// `GET …/navigation/{handle}`, each menu that the store names.
    pub menus: Vec<Json>,
    /// `GET …/policies/{handle}`: texts that pages link to.
    pub texts: Vec<Json>,
    /// `GET …/carts/{id}`; null without a cart.
    pub cart: Json,
    /// `GET /v1/storefront/customer/me`; null for a visitor without an account.
    pub customer: Json,
    /// `GET /v1/storefront/customer/addresses`, the items.
    pub addresses: Vec<Json>,
    /// `GET /v1/storefront/customer/orders`, the items.
    pub orders: Vec<Json>,
    /// Products related to that of the page, or that were asked for as recommendations.
    pub recommendations: Vec<Json>,
    /// The path of the shop's pages, without a slash at the end: templates link to paths below it. Empty
    /// where the shop has an origin of its own.
    pub root: String,
    /// The origin of the shop: `https://shop.example`.
    pub origin: String,
    /// The path of the request below the root, with its slash: `/collections/all`. Derived from the page if
    /// it is empty.
    pub path: String,
    /// The query of the request: names and values, decoded.
    pub query: Vec<(String, String)>,
    /// The page number of a paginated list, from 1; 0 is the first, too.
    pub page: usize,
    /// The outcome of a form that was sent: its type, and errors by field.
    pub form: Option<Posted>,
    /// The countries of addresses, that of the store first; without any, forms offer the store's own alone.
    pub countries: Arc<[Country]>,
    /// What the host calls parts of lists, in the language of the page.
    pub labels: Labels,
    /// How the language of the page writes amounts; as English does, with the currency's symbol, if it is none.
    pub amounts: Option<AmountStyle>,
    /// What the host adds to the head of each page: HTML.
    pub header: String,
    /// What the host puts before the content of the page, and behind it: HTML.
    pub around: (String, String),
    /// Whether the page must run no script of the theme, so that none is written for it.
    pub is_scriptless: bool,
    /// The time in milliseconds since 1970.
    pub now_ms: i64,
    /// The store's time zone, by its name in the IANA database.
    pub timezone: String,
}

/// What the host calls parts of lists.
#[derive(Debug, Clone, Copy)]
pub struct Labels {
    /// The link to the previous page.
    pub previous: &'static str,
    /// The link to the next page.
    pub next: &'static str,
    /// The collection of all products.
    pub all_products: &'static str,
    /// The order of a search.
    pub relevance: &'static str,
    /// The orders of a list: featured, best selling, and both directions of title, price and date.
    pub orders: [&'static str; 8],
    /// The titles of pages that are about nothing with a title of its own.
    pub titles: Titles,
    /// The statuses of orders, and what people call them.
    pub statuses: [(&'static str, &'static str); 14],
    /// The button that leads from a product to the checkout at once.
    pub buy_now: &'static str,
}

/// The titles of pages that are about nothing with a title of its own.
#[derive(Debug, Clone, Copy)]
pub struct Titles {
    /// The cart.
    pub cart: &'static str,
    /// A search.
    pub search: &'static str,
    /// All collections.
    pub collections: &'static str,
    /// The page for an unknown path.
    pub not_found: &'static str,
    /// The pages of an account.
    pub account: &'static str,
    /// An order, with `{number}` in place of its number.
    pub order: &'static str,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            previous: "Previous",
            next: "Next",
            all_products: "All products",
            relevance: "Relevance",
            orders: [
                "Featured",
                "Best selling",
                "Alphabetically, A-Z",
                "Alphabetically, Z-A",
                "Price, low to high",
                "Price, high to low",
                "Date, old to new",
                "Date, new to old",
            ],
            titles: Titles {
                cart: "Your Shopping Cart",
                search: "Search",
                collections: "Collections",
                not_found: "404 Not Found",
                account: "Account",
                order: "Order {number}",
            },
            statuses: [("", ""); 14],
            buy_now: "Buy it now",
        }
    }
}

/// A country of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Country {
    /// Its code (ISO 3166-1 alpha-2).
    pub code: String,
    /// Its English name, which forms send.
    pub name: String,
    /// Its name in the language of the page.
    pub label: String,
    /// The regions that its addresses name, each by its code and its name.
    pub regions: Vec<(String, String)>,
}

/// The outcome of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Posted {
    /// The type, as templates name it: `customer_login`.
    pub form: String,
    /// The id of what it is about, as of an address; empty for something new.
    pub subject: String,
    /// Messages by field; without one the form was posted successfully. The field `form` is the whole.
    pub errors: Vec<(String, String)>,
    /// What people call the fields at fault; of others, their names.
    pub names: Vec<(String, String)>,
    /// The values that were sent, to be shown again.
    pub values: Vec<(String, String)>,
}

/// A list of products: a collection's, or the results of a search.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The collection (`GET …/collections/{handle}`); null for a search.
    pub collection: Json,
    /// The products, of those that the filters admit: the first ones, or those from `offset` on.
    pub products: Vec<Json>,
    /// How many products are before the first one.
    pub offset: usize,
    /// How many products there are in all; as many as are here by default.
    pub total: Option<usize>,
    /// How many products there are in all without the filters, where that is known.
    pub unfiltered: Option<usize>,
    /// The filters: `[{param_name, label, type, values: [{value, label, count, active}]}]`; a `price_range`
    /// has `min`, `max` and `range_max` in place of values.
    pub filters: Json,
    /// The order that was asked for, as `price-ascending`.
    pub sort_by: String,
}

/// The page to render.
#[derive(Debug, Clone)]
pub enum Page {
    /// The home page.
    Index,
    /// All collections.
    Collections,
    /// A collection.
    Collection(Box<Listing>),
    /// A product: `GET …/products/{handle}`.
    Product(Box<Json>),
    /// Results of a search for these terms.
    Search {
        /// What was asked for; empty before anything was.
        terms: String,
        /// The products that were found.
        results: Box<Listing>,
        /// Whether they are suggestions, for the section `predictive-search`.
        predictive: bool,
    },
    /// The cart.
    Cart,
    /// A text: `GET …/policies/{handle}`, with `page.<suffix>` as its template where it has one.
    Text(Box<Json>),
    /// The page for an unknown path.
    NotFound,
    /// The page of a shop that is not open.
    Password,
    /// `customers/login`.
    Login,
    /// `customers/register`.
    Register,
    /// `customers/account`: the customer's orders.
    Account,
    /// `customers/order`: an order of `GET /v1/storefront/customer/orders/{id}`.
    Order(Box<Json>),
    /// `customers/addresses`.
    Addresses,
    /// `customers/activate_account`.
    ActivateAccount,
    /// `customers/reset_password`.
    ResetPassword,
    /// A blog, of which there is none yet.
    Blog,
    /// A gift card: `{code, balance, initial_value, expires_at, enabled}`.
    GiftCard(Box<Json>),
}

impl Page {
    /// The template's name: `product`, `customers/login`.
    pub fn template(&self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Collections => "list-collections",
            Self::Collection(_) => "collection",
            Self::Product(_) => "product",
            Self::Search { .. } => "search",
            Self::Cart => "cart",
            Self::Text(_) => "page",
            Self::NotFound => "404",
            Self::Password => "password",
            Self::Login => "customers/login",
            Self::Register => "customers/register",
            Self::Account => "customers/account",
            Self::Order(_) => "customers/order",
            Self::Addresses => "customers/addresses",
            Self::ActivateAccount => "customers/activate_account",
            Self::ResetPassword => "customers/reset_password",
            Self::Blog => "blog",
            Self::GiftCard(_) => "gift_card",
        }
    }

    /// The path below the shop's root.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Index | Self::NotFound => "/".to_owned(),
            Self::Collections => "/collections".to_owned(),
            Self::Collection(listing) => format!("/collections/{}", handle(&listing.collection)),
            Self::Product(product) => format!("/products/{}", handle(product)),
            Self::Search { .. } => "/search".to_owned(),
            Self::Cart => "/cart".to_owned(),
            Self::Text(text) => format!("/policies/{}", handle(text)),
            Self::Password => "/password".to_owned(),
            Self::Login => "/account/login".to_owned(),
            Self::Register => "/account/register".to_owned(),
            Self::Account => "/account".to_owned(),
            Self::Order(order) => format!("/account/orders/{}", text(order, "/id")),
            Self::Addresses => "/account/addresses".to_owned(),
            Self::ActivateAccount => "/account/activate".to_owned(),
            Self::ResetPassword => "/account/reset".to_owned(),
            Self::Blog => "/blogs/news".to_owned(),
            Self::GiftCard(_) => "/gift_cards".to_owned(),
        }
    }
}

impl Data {
    /// The path of the request below the root.
    pub(crate) fn path_of(&self, page: &Page) -> String {
        if self.path.is_empty() { page.path() } else { self.path.clone() }
    }

    /// A parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The country of a code.
    pub(crate) fn country(&self, code: &str) -> Option<&Country> {
        self.countries.iter().find(|country| country.code == code)
    }

    /// The store's time zone; UTC without one.
    pub(crate) fn time_zone(&self) -> TimeZone {
        TimeZone::get(&self.timezone).unwrap_or(TimeZone::UTC)
    }

    /// The store's currency, an ISO 4217 code.
    pub(crate) fn currency(&self) -> &str {
        self.store.get("currency").and_then(Json::as_str).unwrap_or("USD")
    }
}

/// The handle of an answer.
pub(crate) fn handle(of: &Json) -> &str {
    text(of, "/handle")
}

/// The text at a pointer, empty if there is none.
pub(crate) fn text<'j>(of: &'j Json, pointer: &str) -> &'j str {
    of.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// The items of the list at a pointer.
pub(crate) fn list<'j>(of: &'j Json, pointer: &str) -> &'j [Json] {
    of.pointer(pointer).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The width of an image over its height; of one that was not measured a square is assumed.
pub(crate) fn aspect_ratio(image: &Json) -> f64 {
    let side = |name: &str| image.get(name).and_then(Json::as_u64).filter(|side| *side > 0);
    let thousandths = |(width, height): (u64, u64)| {
        let rounded = width.saturating_mul(1_000).saturating_add(height.div_euclid(2));
        let ratio = rounded.checked_div(height)?;
        format!("{}.{:03}", ratio.div_euclid(1_000), ratio.rem_euclid(1_000)).parse().ok()
    };
    side("width").zip(side("height")).and_then(thousandths).unwrap_or(1.0)
}

/// The id of a product's image; of one that is hosted elsewhere, its place among the product's.
pub(crate) fn image_id(product: &Json, place: usize, image: &Json) -> Json {
    let stored = image.get("media_id").or_else(|| image.get("id")).filter(|id| !id.is_null());
    let place = place.saturating_add(1);
    stored.cloned().unwrap_or_else(|| format!("{}-{place}", text(product, "/id")).into())
}
