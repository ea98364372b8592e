//! Prices a cart at its store's current data.

mod discounts;
pub mod pickup;

use std::collections::HashMap;

use core_types::id::{LocationId, ProductId, VariantId};
use core_types::key;
use core_types::provider::ProviderName;
use identity::customer::Customer;
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Batch, ReadConsistency};

use super::input::{Cart, PricedCart};
use crate::discount::{Discount, DiscountCode, Shopper, UniqueDiscountCode};
use crate::gift_card::{self, GiftCard, GiftCardStatus};
use crate::order::cart;
use crate::order::payable;
use crate::order::pricing::{self, OfferedVariant, Rules, TaxRules};
use crate::payment::account::ProviderAccount;
use crate::payment::load;
use crate::payment::step;
use crate::pricing_document::{PricingDocument, PricingEntry};
use crate::shipping::ShippingZone;
use crate::tax::{TaxLocation, TaxRate};
use discounts::Candidates;

/// The items that one round trip reads.
const BATCH: usize = 100;

/// Prices a cart at the store's current data. `store` may be a few seconds old; it is read again in the same
/// round trip. An eventually consistent read, at half the cost, suffices if it finds no error.
///
/// Field errors are part of the result: `unknown_variant`, `amount_out_of_range`, `unknown_gift_card`,
/// `gift_card_expired`, `gift_card_disabled`, `gift_card_empty`, `currency_mismatch`, `duplicate`,
/// `payment_method_unavailable`, `amount_not_supported`.
///
/// # Errors
/// `too_many_attempts` if the shopper has tried too many unknown codes.
pub async fn price(services: &Services, store: &Store, cart: &Cart) -> Result<PricedCart, Problem> {
    // Each lookup of unknown gift card codes counts towards a limit, so the first one is strongly
    // consistent.
    if cart.gift_card_codes.is_empty() {
        let seen = price_as(services, store, cart, ReadConsistency::Eventual).await?;
        if seen.field_errors.is_empty() && seen.quote.ensure_stock().is_ok() {
            return Ok(seen);
        }
    }
    price_as(services, store, cart, ReadConsistency::Strong).await
}

/// Prices a cart over a read of this consistency, as [`price`] does.
pub(super) async fn price_as(
    services: &Services,
    store: &Store,
    cart: &Cart,
    consistency: ReadConsistency,
) -> Result<PricedCart, Problem> {
    let mut context = load_context(services, store, cart, consistency).await?;
    if context.store.online_locations != store.online_locations {
        // Its locations changed a moment ago: the levels at other locations apply.
        context = load_context(services, &context.store, cart, consistency).await?;
    }
    let mut field_errors = cart.field_errors.clone();
    let offered = context.offers.iter().filter_map(|offer| offer.sellable.as_ref());
    let products: Vec<ProductId> = offered.map(|sellable| sellable.product_id.clone()).collect();
    let candidates = Candidates { codes: context.codes, automatic: context.automatic };
    let shopper = &context.shopper;
    let given = discounts::validate(
        services,
        store,
        (cart, shopper),
        candidates,
        &products,
        consistency,
        &mut field_errors,
    )
    .await?;
    let mut of_cards = Vec::new();
    let cards = cards(services, &context.store, cart, &mut of_cards).await?;
    let PricingContext { store, settings, mut offers, accounts, zones, tax_rates, .. } = context;
    let taxes = TaxRules {
        rates: tax_rates,
        place: (!cart.is_exempt).then(|| cart.taxed_at(&store)),
        pickup: None,
        home: Some(TaxLocation::from(&store)),
        settings: settings.taxes.clone(),
    };
    let taxes = match pickup::chosen(&zones, cart.shipping_rate_id.as_ref()) {
        Some(rate) => pickup::load(services, (&store, rate), cart, taxes, &mut offers).await?,
        None => taxes,
    };
    let is_shopper = cart.shopper_network.is_some();
    let rules = Rules {
        zones,
        destination: cart.destination.clone(),
        shipping_rate_id: cart.shipping_rate_id.clone(),
        requires_rate: is_shopper && (!cart.dry_run || cart.is_saved),
        rounds_to: cart.rounds_to(&store),
        taxes,
        named: given.named,
        automatic: given.automatic,
        collections: given.collections,
    };
    let (lines, how) = (cart.lines.clone(), (&rules, !is_shopper));
    let quote = pricing::price(&store, lines, offers, cards, how, &mut field_errors);
    // A cart with errors has no total to pay.
    let due = (field_errors.is_empty() && of_cards.is_empty()).then_some(&quote.totals.due);
    let mut violation = payable::validate(&accounts, cart.payment.as_ref(), is_shopper, due);
    if violation.is_some() && cart.payment.is_none() {
        let accounts = load::accounts(services, &store).await?;
        violation = payable::validate(&accounts, None, is_shopper, due);
    }
    field_errors.extend(violation);
    field_errors.extend(of_cards);
    let (method, instructions) = payable::manual_method(&accounts, cart.payment.as_ref());
    Ok(PricedCart {
        store,
        settings,
        quote,
        zones: rules.zones,
        taxes: rules.taxes,
        method,
        instructions,
        field_errors,
    })
}

impl Cart {
    /// The place of taxation: the destination, else the billing address, else the store's country.
    fn taxed_at(&self, store: &Store) -> TaxLocation {
        let known = self.destination.as_ref().or(self.billed_at.as_ref());
        known.cloned().unwrap_or_else(|| TaxLocation::from(store))
    }

    /// The step that its amount due is rounded to. A shopper who has not chosen a provider may choose any; a
    /// merchant who has not takes the exact amount.
    fn rounds_to(&self, store: &Store) -> i64 {
        let chosen = self.payment.as_ref().map(|payment| payment.provider);
        match chosen {
            Some(provider) => step(provider, &store.currency),
            None if self.shopper_network.is_some() => {
                let steps = ProviderName::ALL.iter().map(|one| step(*one, &store.currency));
                steps.max().unwrap_or(1)
            }
            None => 1,
        }
    }
}

/// The data that a cart is priced with, from one read.
struct PricingContext {
    store: Store,
    settings: Settings,
    offers: Vec<OfferedVariant>,
    accounts: Vec<ProviderAccount>,
    zones: Vec<ShippingZone>,
    tax_rates: Vec<TaxRate>,
    automatic: Vec<Discount>,
    codes: Vec<Option<UniqueDiscountCode>>,
    shopper: Shopper,
}

/// Reads the store, its settings, its account with the chosen payment provider (or the manual one that every
/// store has), its shipping zones, tax rates and discounts, and the stock of each line. Takes one round trip
/// per hundred items.
async fn load_context(
    services: &Services,
    store: &Store,
    cart: &Cart,
    consistency: ReadConsistency,
) -> Result<PricingContext, Problem> {
    let of_variant = |variant: &VariantId| {
        let level = |at: &LocationId| key::level(&store.id, variant, at);
        let levels: Vec<_> = store.online_locations.iter().map(level).collect();
        (variant.clone(), key::sellable(&store.id, variant), levels)
    };
    let mut variants: Vec<&VariantId> = Vec::new();
    for line in &cart.lines {
        if !variants.contains(&&line.variant_id) {
            variants.push(&line.variant_id);
        }
    }
    let keys: Vec<_> = variants.into_iter().map(of_variant).collect();
    let (store_key, untouched) = (store.key(), Settings::of(store));
    let settings_key = untouched.key();
    let chosen = cart.payment.as_ref().map_or(ProviderName::Manual, |payment| payment.provider);
    let account_key = key::payment_provider(&store.id, chosen.as_str());
    let documents = (
        key::shipping_zones(&store.id),
        key::tax_rates(&store.id, cart.taxed_at(store).country.as_str()),
        key::automatic_discounts(&store.id),
    );
    // A pickup is taxed where the store is, and prices for those who pay no tax lose the store's own.
    let at_home = key::tax_rates(&store.id, store.country.as_str());
    let at_home = Some(at_home).filter(|key| *key != documents.1);
    let unique = |code: &DiscountCode| key::unique_discount_code(&store.id, code.as_str());
    let codes: Vec<Key> = cart.discount_codes.iter().map(unique).collect();
    // A shopper whom an earlier order may have disqualified from a discount is read again.
    let account = cart.shopper.account.as_ref().filter(|_| consistency == ReadConsistency::Strong);
    let account = account.map(|(id, _)| key::customer(&store.id, id));
    let of_lines =
        keys.iter().flat_map(|(_, sellable, levels)| std::iter::once(sellable).chain(levels));
    let of_store =
        [&store_key, &settings_key, &account_key, &documents.0, &documents.1, &documents.2];
    let wanted =
        of_store.into_iter().chain(&at_home).chain(&codes).chain(account.as_ref()).chain(of_lines);
    let mut found = LoadedItems::read(services, &wanted.collect::<Vec<_>>(), consistency).await?;
    let mut known = HashMap::new();
    for (variant, sellable, levels) in &keys {
        let mut offer = OfferedVariant { sellable: found.take(sellable)?, levels: Vec::new() };
        for level in levels {
            offer.levels.extend(found.take(level)?);
        }
        known.insert(variant, offer);
    }
    let offer = |line: &cart::CartLine| known.get(&line.variant_id).cloned().unwrap_or_default();
    let offers = cart.lines.iter().map(offer).collect();
    let settings = found.take(&settings_key)?.unwrap_or(untouched);
    let mut accounts = Vec::new();
    accounts.extend(found.take::<ProviderAccount>(&account_key)?);
    let store: Store = found.take(&store_key)?.ok_or(Code::StorefrontNotFound)?;
    if accounts.iter().all(|account| account.provider != ProviderName::Manual) {
        accounts.push(ProviderAccount::manual(&store));
    }
    let mut shopper = cart.shopper.clone();
    if let Some(key) = &account {
        let known: Option<Customer> = found.take(key)?;
        shopper = Shopper::of(known.as_ref(), None);
    }
    let mut tax_rates = found.entries(&documents.1)?;
    if let Some(key) = &at_home {
        tax_rates.extend(found.entries(key)?);
    }
    Ok(PricingContext {
        store,
        settings,
        offers,
        accounts,
        zones: found.entries(&documents.0)?,
        tax_rates,
        automatic: found.entries(&documents.2)?,
        codes: codes.iter().map(|code| found.take(code)).collect::<Result<_, _>>()?,
        shopper,
    })
}

/// Items that were read together.
pub(super) struct LoadedItems(Vec<Batch>);

impl LoadedItems {
    /// Reads items, a hundred in a round trip.
    pub(super) async fn read(
        services: &Services,
        keys: &[&Key],
        consistency: ReadConsistency,
    ) -> Result<Self, Problem> {
        let mut batches = Vec::new();
        match consistency {
            ReadConsistency::Eventual => {
                batches.push(services.table.get_many_eventually(keys).await?);
            }
            ReadConsistency::Strong => {
                for chunk in keys.chunks(BATCH) {
                    batches.push(services.table.get_many(chunk).await?);
                }
            }
        }
        Ok(Self(batches))
    }

    /// Takes the item of a key out of whichever batch has it.
    pub(super) fn take<T: Item>(&mut self, key: &Key) -> Result<Option<T>, Problem> {
        for batch in &mut self.0 {
            if let Some(found) = batch.take(key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The entries of the document at a key.
    fn entries<E: PricingEntry>(&mut self, key: &Key) -> Result<Vec<E>, Problem> {
        Ok(self
            .take::<PricingDocument<E>>(key)?
            .map(|document| document.entries)
            .unwrap_or_default())
    }
}

/// Finds the usable gift cards of the cart's codes. An unknown code counts towards the limit on balance
/// look-ups; beyond that limit no code is looked up.
async fn cards(
    services: &Services,
    store: &Store,
    cart: &Cart,
    field_errors: &mut Vec<FieldError>,
) -> Result<Vec<GiftCard>, Problem> {
    let (now, codes) = (services.clock.now(), &cart.gift_card_codes);
    let saved = gift_card::load(services, &store.id, &cart.gift_card_ids).await?;
    let guesser = cart.shopper_network.as_deref().filter(|_| !codes.is_empty());
    if let Some(network) = guesser {
        gift_card::ensure_lookup(services, &store.id, network).await?;
    }
    let found = gift_card::find(services, &store.id, codes).await?;
    for network in found.iter().filter(|card| card.is_none()).filter_map(|_| guesser) {
        gift_card::count_lookup(services, &store.id, network).await?;
    }
    let mut usable = Vec::<GiftCard>::new();
    for (position, card) in found.into_iter().chain(saved).enumerate() {
        let violation = match card {
            None => ("unknown_gift_card", "There is no such gift card."),
            Some(card) if usable.iter().any(|known| known.id == card.id) => {
                ("duplicate", "Another entry has this gift card.")
            }
            Some(card) => match card.status_at(now) {
                GiftCardStatus::Disabled => ("gift_card_disabled", "This gift card is disabled."),
                GiftCardStatus::Expired => ("gift_card_expired", "This gift card has expired."),
                GiftCardStatus::Active if card.balance.currency != store.currency => {
                    ("currency_mismatch", "This gift card is in another currency.")
                }
                GiftCardStatus::Active if card.balance.is_zero() => {
                    ("gift_card_empty", "The gift card has no balance left.")
                }
                GiftCardStatus::Active => {
                    usable.push(card);
                    continue;
                }
            },
        };
        let pointer = format!("/gift_card_codes/{position}");
        field_errors.push(cart::violation(&pointer, violation.0, violation.1));
    }
    Ok(usable)
}
