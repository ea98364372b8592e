//! The storefront's own pages: the store, its menus and its policies.

use axum::extract::State;
use catalogue::navigation::{Menu, MenuView};
use catalogue::policy::{Policy, PolicyHandle, PolicySummary, PolicyView};
use core_types::fields::{Handle, Subdomain};
use core_types::id::StoreId;
use core_types::key;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::Path;
use identity::store::Contact;
use identity::store::branding::BrandingView;
use identity::storefront::StorefrontView;
use primitives::problem::{Code, Problem};
use sales::payment::account::{MethodView, ProviderAccount};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use services::Services;
use table::item;
use table::item::{Attributes, FromItem, Item};
use table::{Query, ReadConsistency};
use themes::published;

use crate::viewer::{PreviewToken, Viewer};

/// The maximum number of policies and provider accounts of a store.
const MAX_FIXTURES: usize = PolicyHandle::ALL.len().saturating_add(ProviderName::ALL.len());

/// A policy or a provider account, for the store's page. They are adjacent in the store's partition, from
/// `POL#…` to `PPR#…`, so that one short query reads them.
enum Fixture {
    Policy(Box<Policy>),
    PaymentProvider(Box<ProviderAccount>),
    Other,
}

impl FromItem for Fixture {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        Ok(match item::kind(&attributes) {
            Policy::KIND => Self::Policy(Box::new(item::parse(attributes)?)),
            ProviderAccount::KIND => Self::PaymentProvider(Box::new(item::parse(attributes)?)),
            _ => Self::Other,
        })
    }
}

/// A storefront with the data of its home page.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StorePage {
    #[serde(flatten)]
    storefront: StorefrontView,
    /// The contact details of the store.
    contact: Contact,
    /// The branding: logo, colors and texts.
    branding: BrandingView,
    /// The handles of its menus.
    navigation: Vec<Handle>,
    /// Its published policies, without their text.
    policies: Vec<PolicySummary>,
    /// The enabled payment methods.
    payment_methods: Vec<Offered>,
    /// The values of the theme's settings; null if nothing is published.
    theme_settings: Option<Map<String, Value>>,
}

/// A payment method.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StorefrontPaymentMethod")]
struct Offered {
    /// The payment provider.
    provider: ProviderName,
    /// The manual method to choose at checkout.
    method: Option<Handle>,
    /// The name of the manual method.
    name: Option<String>,
}

/// `GET /v1/storefront/{subdomain}` (`getStorefront`): Get a storefront.
///
/// The response has everything that the home page needs. A paused store is returned with its status.
///
/// # Errors
/// `storefront_not_found`; `invalid_or_expired_token`, also for another store's; `preview_expired`.
pub(crate) async fn get_store(
    caller: Viewer,
    State(app): State<App>,
    _: PreviewToken,
) -> Result<Json<StorePage>, Problem> {
    let store = caller.store();
    let last = format!("{}\u{7f}", key::PAYMENT_PROVIDERS);
    let query = in_store(&store.id).between("POL#", last);
    let mut page = StorePage {
        storefront: caller.view(),
        contact: store.contact.clone(),
        branding: BrandingView::of(&store.branding, &app.config.base_url, &store.subdomain),
        navigation: store.menus.iter().cloned().collect(),
        policies: Vec::new(),
        payment_methods: Vec::new(),
        theme_settings: None,
    };
    let (fixtures, settings) =
        tokio::try_join!(app.table.all::<Fixture>(&query, MAX_FIXTURES), settings(&app, &caller))?;
    page.theme_settings = settings;
    let mut accounts = vec![ProviderAccount::manual(store)];
    for fixture in fixtures {
        match fixture {
            Fixture::Policy(policy) if policy.published => {
                page.policies.push(PolicySummary::from(&*policy));
            }
            Fixture::PaymentProvider(account) => {
                accounts.retain(|other| other.provider != account.provider);
                accounts.push(*account);
            }
            Fixture::Policy(_) | Fixture::Other => {}
        }
    }
    accounts.retain(ProviderAccount::is_offered);
    accounts.sort_by_key(|account| account.provider);
    let methods = accounts.iter().flat_map(MethodView::all_of);
    page.payment_methods = methods
        .map(|MethodView { provider, method, name, .. }| Offered { provider, method, name })
        .collect();
    Ok(Json::new(&page).cached(caller.keeping()))
}

/// The theme's settings for this viewer.
async fn settings(
    services: &Services,
    viewer: &Viewer,
) -> Result<Option<Map<String, Value>>, Problem> {
    if let Some(session) = &viewer.preview {
        return Ok(Some(session.content.settings.clone()));
    }
    let live = published::live(services, viewer.store()).await?;
    Ok(live.map(|release| release.content.settings))
}

/// An eventually consistent query of a store's partition.
fn in_store(store: &StoreId) -> Query {
    Query::partition(key::store(store).pk).with_consistency(ReadConsistency::Eventual)
}

/// `GET /v1/storefront/{subdomain}/navigation` (`listStorefrontMenus`): List menus of a storefront.
///
/// Items whose target is not published are left out.
///
/// # Errors
/// `storefront_not_found`.
pub(crate) async fn list_menus(
    caller: Viewer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<MenuView>, Problem> {
    let query = in_store(&caller.store().id).begins_with("NAV#");
    let answer = paging.query(&app, &query, |_| true, |menu: Menu| MenuView::from(&menu)).await?;
    Ok(answer.cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/navigation/{handle}` (`getStorefrontMenu`): Get a menu of a storefront.
///
/// Items whose target is not published are left out.
///
/// # Errors
/// `storefront_not_found`, `not_found`.
pub(crate) async fn get_menu(
    caller: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, Handle)>,
) -> Result<Json<MenuView>, Problem> {
    let key = key::navigation(&caller.store().id, handle.as_str());
    let menu: Menu = app.table.peek(&key).await?.ok_or(Code::NotFound)?;
    Ok(Json::new(&MenuView::from(&menu)).cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/policies` (`listStorefrontPolicies`): List published policies of a storefront.
///
/// Their text is left out.
///
/// # Errors
/// `storefront_not_found`.
pub(crate) async fn list_policies(
    caller: Viewer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<PolicySummary>, Problem> {
    let query = in_store(&caller.store().id).begins_with("POL#");
    let mut policies = app.table.all::<Policy>(&query, PolicyHandle::ALL.len()).await?;
    policies.retain(|policy| policy.published);
    let views = policies.iter().map(PolicySummary::from).collect();
    let answer = paging.slice(&app, views, |policy| policy.id.to_string()).await?;
    Ok(answer.cached(caller.keeping()))
}

/// `GET /v1/storefront/{subdomain}/policies/{handle}` (`getStorefrontPolicy`):
/// Get a published policy of a storefront.
///
/// The text is sanitized HTML.
///
/// # Errors
/// `storefront_not_found`; `not_found`, also for an unpublished policy.
pub(crate) async fn get_policy(
    caller: Viewer,
    State(app): State<App>,
    Path((_, handle)): Path<(Subdomain, PolicyHandle)>,
) -> Result<Json<PolicyView>, Problem> {
    let key = key::policy(&caller.store().id, handle.as_str());
    let policy: Option<Policy> = app.table.peek(&key).await?;
    let policy = policy.filter(|policy| policy.published).ok_or(Code::NotFound)?;
    Ok(Json::new(&PolicyView::from(&policy)).cached(caller.keeping()))
}
