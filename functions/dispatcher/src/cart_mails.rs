//! The mail that follows from a cart that was left.

use catalogue::product::Sellable;
use core_types::event::Event;
use core_types::id::CartId;
use core_types::key;
use core_types::mail::MailContent;
use identity::customer::Customer;
use identity::domain::Domains;
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::Problem;
use sales::cart::Cart;
use sales::notifications::{NotificationKind, NotificationTexts, cart_mail};
use services::Services;
use table::item::{Item, Key};

/// To the customer: they left a cart, with the link that brings it back. None if it was changed or ordered
/// meanwhile, if they accept no marketing any more, or if the store has no page for it.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
pub(crate) async fn compose_cart_abandoned(
    services: &Services,
    event: &Event,
) -> Result<Option<MailContent>, Problem> {
    let ids = event.store_id.as_ref().zip(CartId::parse(&event.entity_id));
    let Some((store_id, id)) = ids else { return Ok(None) };
    let (store_key, cart_key) = (key::store(store_id), key::cart(store_id, &id));
    let (settings_key, domains_key) = (Settings::key_of(store_id), key::domains(store_id));
    let none = NotificationTexts::none(store_id, NotificationKind::CartAbandoned);
    let texts_key = none.key();
    let keys = [&store_key, &cart_key, &settings_key, &domains_key, &texts_key];
    let mut batch = services.table.get_many(&keys).await?;
    let (store, cart): (Option<Store>, Option<Cart>) =
        (batch.take(&store_key)?, batch.take(&cart_key)?);
    let settings: Option<Settings> = batch.take(&settings_key)?;
    let domains = Domains::of(store_id, batch.take(&domains_key)?);
    let texts = batch.take(&texts_key)?.unwrap_or(none);
    let page = settings.and_then(|settings| settings.notifications.cart_url);
    let base_url = &services.config.base_url;
    let page = page.filter(|page| domains.is_allowed_link(page.as_str(), base_url));
    let is_left = |cart: &Cart| cart.abandoned_at.is_some() && cart.version == event.entity_version;
    let Some(((store, cart), page)) = store.zip(cart.filter(is_left)).zip(page) else {
        return Ok(None);
    };
    let Some((account, goods)) = load_customer_and_goods(services, &cart).await? else {
        return Ok(None);
    };
    let link = cart.link(&page, &services.secrets.order_link_key().await?);
    let Some((to, link)) = Cart::reminder_address(&account).zip(link) else { return Ok(None) };
    cart_mail(&to, (&store, &texts), (&cart, &goods), &link).map(Some)
}

/// Loads the customer of a cart and what is in it, in one round trip.
async fn load_customer_and_goods(
    services: &Services,
    cart: &Cart,
) -> Result<Option<(Customer, Vec<Sellable>)>, Problem> {
    let Some(customer) = &cart.customer_id else { return Ok(None) };
    let account_key = key::customer(&cart.store_id, customer);
    let mut variants: Vec<Key> = Vec::new();
    for line in &cart.lines {
        let key = key::sellable(&cart.store_id, &line.variant_id);
        if !variants.contains(&key) {
            variants.push(key);
        }
    }
    let wanted: Vec<&Key> = std::iter::once(&account_key).chain(&variants).collect();
    let mut batch = services.table.get_many(&wanted).await?;
    let account: Option<Customer> = batch.take(&account_key)?;
    let mut goods = Vec::new();
    for key in &variants {
        goods.extend(batch.take::<Sellable>(key)?);
    }
    Ok(account.map(|account| (account, goods)))
}
