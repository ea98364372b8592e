//! The mails that tell a store's owner of something new, if the store wants them and the owner has proven their address.

use core_types::event::Event;
use core_types::key;
use core_types::mail::MailContent;
use identity::merchant::Merchant;
use identity::settings::{Notifications, Settings};
use identity::store::Store;
use primitives::problem::Problem;
use sales::notifications::{data_request_alert, message_alert, order_alert};
use sales::order::Order;
use serde_json::{Map, Value};
use services::Services;

/// To the owner: an order. Takes a read only if the store wants it.
pub(crate) async fn about_order(
    services: &Services,
    (store, settings): (&Store, &Notifications),
    order: &Order,
) -> Result<Option<MailContent>, Problem> {
    let owner = owner(services, store, settings).await?;
    Ok(owner.map(|owner| order_alert(&owner.email, store, order)))
}

/// To the owner: a form that somebody has sent.
pub(crate) async fn about_message(
    services: &Services,
    event: &Event,
) -> Result<Option<MailContent>, Problem> {
    let Some((store, owner)) = store_and_owner(services, event).await? else { return Ok(None) };
    let data = data_of(event);
    let form = data.get("form").and_then(Value::as_str).unwrap_or_default();
    let fields = data.get("fields").and_then(Value::as_object);
    let fields = fields.into_iter().flatten();
    let values = fields.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    Ok(Some(message_alert(&owner.email, &store, (form, &event.entity_id), values)))
}

/// To the owner: a customer's request for a copy of their data.
pub(crate) async fn about_data_request(
    services: &Services,
    event: &Event,
) -> Result<Option<MailContent>, Problem> {
    let Some((store, owner)) = store_and_owner(services, event).await? else { return Ok(None) };
    let data = data_of(event);
    let export = data.get("export_id").and_then(Value::as_str).unwrap_or_default();
    Ok(Some(data_request_alert(&owner.email, &store, export)))
}

fn data_of(event: &Event) -> Map<String, Value> {
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    body.get("data").and_then(Value::as_object).cloned().unwrap_or_default()
}

async fn store_and_owner(
    services: &Services,
    event: &Event,
) -> Result<Option<(Store, Merchant)>, Problem> {
    let Some(id) = &event.store_id else { return Ok(None) };
    let (store_key, settings_key) = (key::store(id), Settings::key_of(id));
    let mut batch = services.table.get_many(&[&store_key, &settings_key]).await?;
    let (store, settings): (Option<Store>, Option<Settings>) =
        (batch.take(&store_key)?, batch.take(&settings_key)?);
    let Some((store, settings)) = store.zip(settings) else { return Ok(None) };
    let owner = owner(services, &store, &settings.notifications).await?;
    Ok(owner.map(|owner| (store, owner)))
}

/// The owner who is to be told. The store's contact address is not used: it could be anybody's.
async fn owner(
    services: &Services,
    store: &Store,
    settings: &Notifications,
) -> Result<Option<Merchant>, Problem> {
    if !settings.owner_alerts {
        return Ok(None);
    }
    let owner: Option<Merchant> = services.table.get(&key::merchant(&store.owner_id)).await?;
    Ok(owner.filter(|owner| owner.email_verified))
}
