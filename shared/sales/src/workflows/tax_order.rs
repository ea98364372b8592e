//! Taxes an unpaid order again after its shipping address has changed.

use std::collections::HashMap;

use catalogue::product::Sellable;
use core_types::id::VariantId;
use core_types::key;
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

use crate::order::pricing::TaxRules;
use crate::order::{ORDER_UPDATED, Order, OrderChange};
use crate::pricing_document::PricingDocument;
use crate::tax::{TaxLocation, TaxRate};

/// The change to an order with another shipping address: with the tax of it, if that is in another place and nothing
/// is paid; otherwise with the tax as it is. Takes one round trip if it is taxed again, else none.
///
/// # Errors
/// 503.
pub async fn taxed(
    services: &Services,
    store: &Store,
    before: &Order,
    order: Order,
) -> Result<OrderChange, Problem> {
    let place = order.other_tax_place().filter(|_| order.can_be_taxed_anew());
    let Some(place) = place else {
        return Ok(OrderChange::new(before, order).announced(&ORDER_UPDATED));
    };
    let settings_key = Settings::key_of(&store.id);
    let rates_key = key::tax_rates(&store.id, place.country.as_str());
    let home_key = key::tax_rates(&store.id, store.country.as_str());
    let of_item = |id: &VariantId| key::sellable(&store.id, id);
    let mut sellable_keys: Vec<Key> = Vec::new();
    for item in &order.items {
        let key = of_item(&item.variant_id);
        if !sellable_keys.contains(&key) {
            sellable_keys.push(key);
        }
    }
    let mut wanted = vec![&settings_key, &rates_key];
    wanted.extend((home_key != rates_key).then_some(&home_key));
    wanted.extend(&sellable_keys);
    let mut found = services.table.get_many(&wanted).await?;
    let settings: Settings = found.take(&settings_key)?.unwrap_or_else(|| Settings::of(store));
    let mut rates = Vec::new();
    for key in [&rates_key, &home_key] {
        let document: Option<PricingDocument<TaxRate>> = found.take(key)?;
        rates.extend(document.into_iter().flat_map(|document| document.entries));
    }
    let mut sellables = HashMap::new();
    for key in &sellable_keys {
        let sellable: Option<Sellable> = found.take(key)?;
        sellables.extend(sellable.map(|one| (one.variant_id.clone(), one)));
    }
    let rules = TaxRules {
        rates,
        place: Some(place),
        pickup: None,
        home: Some(TaxLocation::from(store)),
        settings: settings.taxes,
    };
    let (order, cards) =
        order.taxed_by(rules, &sellables).unwrap_or_else(|| (order.clone(), Vec::new()));
    Ok(OrderChange::of_new_tax(before, order, cards))
}
