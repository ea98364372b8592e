//! What a page is rendered from. Everything is asked for at once, and only what the theme's settings and the page refer to.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;
use http::Method;
use identity::storefront::CACHE_TIME;
use serde_json::{Value, json};
use services::Services;
use shop_theme::{Data, Labels, Page, Posted, Theme, Titles};

use crate::cart::{Cart, lines};
use crate::contact::POSTED;
use crate::countries;
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::values::{items, list, text, with};
use crate::visit::Visit;
use crate::words::Words;

/// The most collections and products of a page that settings refer to.
const MOST: usize = 12;
/// Products of a collection that a section shows.
const LIMIT: usize = 50;

/// What every page has without asking. Its location is the path with its query.
pub(super) fn bare(visit: &Visit, location: &str) -> Data {
    let (path, query) = location.split_once('?').unwrap_or((location, ""));
    let store = visit.store();
    Data {
        store: json!({
            "name": store.name, "currency": store.currency, "locale": store.locale,
            "subdomain": store.subdomain, "country": store.country,
        }),
        origin: visit.origin.clone(),
        path: path.to_owned(),
        query: Fields::of_query(query.as_bytes()).pairs().to_vec(),
        countries: countries::all(visit.words()),
        labels: labels(visit.words()),
        amounts: crate::amounts::style(store.locale.as_str(), store.currency.as_str()),
        now_ms: visit.shops.app.clock.now().millis(),
        timezone: store.timezone.as_str().to_owned(),
        ..Data::default()
    }
}

fn labels(words: &Words) -> Labels {
    let pages = &words.pages;
    Labels {
        previous: pages.previous,
        next: pages.next,
        all_products: pages.all_products,
        relevance: pages.relevance,
        orders: [
            pages.featured,
            pages.best_selling,
            pages.from_a,
            pages.from_z,
            pages.cheapest,
            pages.dearest,
            pages.oldest,
            pages.newest,
        ],
        titles: Titles {
            cart: words.cart,
            search: pages.search,
            collections: pages.collections,
            not_found: pages.no_page,
            account: words.account,
            order: words.order_number,
        },
        statuses: words.statuses(),
        buy_now: pages.buy_now,
    }
}

/// A product as themes' scripts read it.
pub(crate) fn product_json(visit: &Visit, product: &Value) -> Value {
    shop_theme::product_json(product, &bare(visit, &visit.location))
}

/// The data of the visitor's own cart, for the page that is asked for.
///
/// # Errors
/// 503.
pub(super) async fn of_visitor(visit: &Visit) -> Result<Data, Fault> {
    let cart = visit.load_cart().await?;
    Ok(of_cart(visit, &visit.location, cart.as_ref()).await)
}

/// What a cart's JSON is made from.
pub(super) async fn of_cart(visit: &Visit, location: &str, cart: Option<&Cart>) -> Data {
    let mut data = bare(visit, location);
    if let Some(cart) = cart {
        data.cart = cart.json.clone();
        data.products = products_of(visit, cart).await;
    }
    data
}

/// The products of a cart's lines, for their handles and options.
async fn products_of(visit: &Visit, cart: &Cart) -> Vec<Value> {
    let ids: BTreeSet<&str> = lines(&cart.json)
        .iter()
        .filter_map(|line| line.pointer("/merchandise/product_id").and_then(Value::as_str))
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    products_by_id(visit, &ids).await.unwrap_or_default()
}

/// Products by their ids, as lists have them.
///
/// # Errors
/// 503.
pub(crate) async fn products_by_id(visit: &Visit, ids: &[&str]) -> Result<Vec<Value>, Fault> {
    let found = storefront::products_by_id(&visit.shops.app, visit.store(), ids).await?;
    Ok(found.into_iter().map(|product| visit.with_own_urls(&product)).collect())
}

/// Loads what a page needs, beside what it has of the cart.
///
/// # Errors
/// 429, 503.
pub(super) async fn load(
    visit: &Visit,
    theme: &Theme,
    page: &Page,
    carts: Data,
) -> Result<Data, Fault> {
    let names = shop_theme::references(theme, page);
    let (charged, shell, customer) =
        tokio::join!(visit.charge(), Box::pin(Shell::of(visit)), Box::pin(customer(visit)));
    charged?;
    let Shell { store, menus, collections: known } = (*shell?).clone();
    let is_named = |collection: &&Value| names.collections.contains(text(collection, "handle"));
    let wanted: Vec<Value> = known.iter().filter(is_named).take(MOST).cloned().collect();
    let shows_all =
        names.collections.contains("all") || matches!(page, Page::Collections | Page::NotFound);
    let shows_all = shows_all || wanted.is_empty() && matches!(page, Page::Index);
    let (filled, products) = tokio::join!(
        join_all(wanted.iter().map(|collection| products_in(visit, collection))),
        named_products(visit, &names.products, shows_all),
    );
    let texts = texts(page);
    let mut collections: Vec<(Value, Vec<Value>)> = wanted.into_iter().zip(filled).collect();
    let is_loaded = |handle: &str, all: &[(Value, Vec<Value>)]| {
        all.iter().any(|(collection, _)| text(collection, "handle") == handle)
    };
    for collection in known {
        if !is_loaded(text(&collection, "handle"), &collections) {
            collections.push((collection, Vec::new()));
        }
    }
    let mut data =
        Data { store, menus, collections, texts, customer, header: header(visit), ..carts };
    data.products.extend(products);
    if let Page::Product(product) = page {
        data.recommendations =
            product.get("related").and_then(Value::as_array).cloned().unwrap_or_default();
    }
    let posted = data.query.iter().find_map(|(name, value)| {
        let form = name.strip_suffix(POSTED).filter(|_| value == "true")?;
        Some(Posted { form: form.to_owned(), ..Posted::default() })
    });
    data.form = posted;
    let page = data.query.iter().find(|(name, _)| name == "page");
    data.page = page.and_then(|(_, number)| number.parse().ok()).unwrap_or(1);
    Ok(data)
}

/// Loads what every page has, while the page itself is loaded; [`load`] says what failed.
pub(super) async fn prefetch(visit: &Visit) {
    if visit.preview().is_none() {
        let _ = Shell::of(visit).await;
    }
}

/// What every page of a shop has, and a merchant rarely changes.
#[derive(Debug, Clone)]
struct Shell {
    /// What the home page has: contact, branding, policies, payment methods.
    store: Value,
    menus: Vec<Value>,
    collections: Vec<Value>,
}

impl Shell {
    /// That of a shop, up to [`CACHE_TIME`] old, as its store is. A preview has its own.
    ///
    /// # Errors
    /// 503.
    async fn of(visit: &Visit) -> Result<Arc<Self>, Fault> {
        let (services, now): (&Services, _) = (&visit.shops.app, visit.shops.app.clock.now());
        let is_shared = visit.preview().is_none();
        let name = visit.store().id.as_str();
        if let Some(known) = services.cache.get(name, now).filter(|_| is_shared) {
            return Ok(known);
        }
        let (store, menus, collections, settings) = tokio::join!(
            visit.get(""),
            visit.get("/navigation?limit=50"),
            visit.get("/collections?limit=100"),
            visit.settings()
        );
        let (menus, collections) = (items(&menus?), items(&collections?));
        let store = with_titles(store?, visit.words());
        let store = with(store, "taxes_included", settings?.taxes.prices_include_tax);
        let shell = Arc::new(Self { store, menus, collections });
        if is_shared {
            services.cache.insert(name, Arc::clone(&shell), now, CACHE_TIME);
        }
        Ok(shell)
    }
}

/// The store, with the titles of its policies in its language.
fn with_titles(store: Value, words: &Words) -> Value {
    let policies = list(&store, "policies").iter().cloned();
    let policies: Vec<Value> = policies.map(|policy| words.with_title(policy)).collect();
    with(store, "policies", policies)
}

/// The signed-in customer; null for anybody else.
async fn customer(visit: &Visit) -> Value {
    if !visit.has_session() {
        return Value::Null;
    }
    let call = visit.call_at(Method::GET, "/v1/storefront/customer/me".to_owned());
    visit.send(call.free()).await.map(|answer| answer.json()).unwrap_or_default()
}

/// Fills in the collections of the store, without their products, and its texts.
///
/// # Errors
/// 503.
pub(super) async fn fill_shell(
    visit: &Visit,
    data: &mut Data,
    (collections, texts): (bool, bool),
) -> Result<(), Fault> {
    let shell = Shell::of(visit).await?;
    if collections {
        let all = shell.collections.iter().cloned();
        data.collections = all.map(|collection| (collection, Vec::new())).collect();
    }
    if texts {
        data.store = shell.store.clone();
    }
    Ok(())
}

async fn products_in(visit: &Visit, collection: &Value) -> Vec<Value> {
    let handle = segment(text(collection, "handle"));
    let path = format!("/products?collection={handle}&limit={LIMIT}");
    visit.get(&path).await.map(|page| items(&page)).unwrap_or_default()
}

/// The products that settings name, and the newest ones where a section shows them all.
async fn named_products(visit: &Visit, handles: &BTreeSet<String>, shows_all: bool) -> Vec<Value> {
    let mut found = Vec::new();
    if shows_all {
        let page = visit.get(&format!("/products?limit={LIMIT}")).await;
        found.extend(page.map(|page| items(&page)).unwrap_or_default());
    }
    let asked = handles.iter().take(MOST);
    let asked = asked.map(|handle| {
        let path = format!("/products/{}", segment(handle));
        async move { visit.get(&path).await.ok() }
    });
    found.extend(join_all(asked).await.into_iter().flatten());
    found
}

/// The text of a page of texts.
fn texts(page: &Page) -> Vec<Value> {
    match page {
        Page::Text(text) => vec![(**text).clone()],
        _ => Vec::new(),
    }
}

/// What the head of each page has for the platform: a preview is not for search engines.
fn header(visit: &Visit) -> String {
    let robots = "<meta name=\"robots\" content=\"noindex\">";
    visit.preview().map(|_| robots.to_owned()).unwrap_or_default()
}
