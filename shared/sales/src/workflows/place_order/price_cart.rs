//! What a cart comes to, over what its store says at this moment.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, FieldError, Problem};
use gateway::table::{Batch, Sight};
use ground::id::LocationId;
use ground::key;
use ground::provider::ProviderName;
use identity::settings::Settings;
use identity::store::Store;

use super::{Cart, Priced};
use crate::gift_card::{self, GiftCard, GiftCardStatus};
use crate::order::cart;
use crate::order::payable;
use crate::order::pricing::{self, Offer};
use crate::payment::account::ProviderAccount;
use crate::payment::load;

/// Items that one round trip reads.
const BATCH: usize = 100;

/// Prices a cart over what the store says now. The store that is given may be a few seconds old;
/// it is read again in the same round trip: at half the price, where nothing that is seen so speaks
/// against the cart. What the store refuses of it is among its faults:
/// `unknown_variant`, `amount_out_of_range`, `unknown_gift_card`, `gift_card_expired`,
/// `gift_card_disabled`, `gift_card_empty`, `currency_mismatch`, `duplicate`,
/// `payment_method_unavailable`, `amount_not_supported`.
///
/// # Errors
/// `too_many_attempts`, when the shopper has named too many codes that there are not.
pub async fn price(app: &App, store: &Store, cart: &Cart) -> Result<Priced, Problem> {
    // Who names the codes of gift cards is counted by each look at them.
    if cart.gift_card_codes.is_empty() {
        let seen = price_as(app, store, cart, Sight::Glance).await?;
        if seen.faults.is_empty() && seen.quote.demand_stock().is_ok() {
            return Ok(seen);
        }
    }
    price_as(app, store, cart, Sight::Settled).await
}

/// As [`price`].
pub(super) async fn price_as(
    app: &App,
    store: &Store,
    cart: &Cart,
    sight: Sight,
) -> Result<Priced, Problem> {
    let mut context = look(app, store, cart, sight).await?;
    if context.store.online_locations != store.online_locations {
        // Its locations changed a moment ago: other levels than those that were read count.
        context = look(app, &context.store, cart, sight).await?;
    }
    let PricingContext { store, settings, offers, accounts } = context;
    let mut faults = cart.faults.clone();
    let mut of_cards = Vec::new();
    let cards = cards(app, &store, cart, &mut of_cards).await?;
    let lines = cart.lines.clone();
    let quote = pricing::price(&store, lines, offers, cards, cart.everything, &mut faults);
    // The total of a cart that is not sound is nobody's to pay.
    let due = (faults.is_empty() && of_cards.is_empty()).then_some(&quote.totals.due);
    let is_shopper = cart.shopper_network.is_some();
    let mut fault = payable::judge(&accounts, cart.payment.as_ref(), is_shopper, due);
    if fault.is_some() && cart.payment.is_none() {
        let accounts = load::accounts(app, &store).await?;
        fault = payable::judge(&accounts, None, is_shopper, due);
    }
    faults.extend(fault);
    faults.extend(of_cards);
    Ok(Priced { store, settings, quote, faults })
}

/// What a cart is priced over: one look at its store and its lines.
struct PricingContext {
    store: Store,
    settings: Settings,
    offers: Vec<Offer>,
    accounts: Vec<ProviderAccount>,
}

/// The store, its settings, its account with the payment provider that is chosen (or the one that
/// every store has), and what is there of each line: one round trip for a hundred items.
async fn look(
    app: &App,
    store: &Store,
    cart: &Cart,
    sight: Sight,
) -> Result<PricingContext, Problem> {
    let of_line = |line: &cart::CartLine| {
        let level = |at: &LocationId| key::level(&store.id, &line.variant_id, at);
        let levels: Vec<_> = store.online_locations.iter().map(level).collect();
        (key::sellable(&store.id, &line.variant_id), levels)
    };
    let keys: Vec<_> = cart.lines.iter().map(of_line).collect();
    let (store_key, untouched) = (store.key(), Settings::of(store));
    let settings_key = untouched.key();
    let chosen = cart.payment.as_ref().map_or(ProviderName::Manual, |payment| payment.provider);
    let account_key = key::payment_provider(&store.id, chosen.as_str());
    let of_lines =
        keys.iter().flat_map(|(sellable, levels)| std::iter::once(sellable).chain(levels));
    let of_store = [&store_key, &settings_key, &account_key].into_iter();
    let wanted: Vec<&Key> = of_store.chain(of_lines).collect();
    let mut batches = Vec::new();
    match sight {
        Sight::Glance => batches.push(app.table.glance(&wanted).await?),
        Sight::Settled => {
            for chunk in wanted.chunks(BATCH) {
                batches.push(app.table.get_many(chunk).await?);
            }
        }
    }
    let mut offers = Vec::new();
    for (sellable, levels) in &keys {
        let mut offer = Offer { sellable: find(&mut batches, sellable)?, levels: Vec::new() };
        for level in levels {
            offer.levels.extend(find(&mut batches, level)?);
        }
        offers.push(offer);
    }
    let settings = find(&mut batches, &settings_key)?.unwrap_or(untouched);
    let mut accounts = Vec::new();
    accounts.extend(find::<ProviderAccount>(&mut batches, &account_key)?);
    let store: Store = find(&mut batches, &store_key)?.ok_or(Code::StoreNotFound)?;
    if accounts.iter().all(|account| account.provider != ProviderName::Manual) {
        accounts.push(ProviderAccount::manual(&store));
    }
    Ok(PricingContext { store, settings, offers, accounts })
}

/// The item of a key, in whichever batch it came.
fn find<T: Item>(batches: &mut [Batch], key: &Key) -> Result<Option<T>, Problem> {
    for batch in batches {
        if let Some(found) = batch.take(key)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The cards of these codes. Whoever names a code that is no card's has tried one out: it counts
/// as if they had asked for its balance, and who has tried too often is told nothing of any code.
async fn cards(
    app: &App,
    store: &Store,
    cart: &Cart,
    faults: &mut Vec<FieldError>,
) -> Result<Vec<GiftCard>, Problem> {
    let (now, codes) = (app.clock.now(), &cart.gift_card_codes);
    let guesser = cart.shopper_network.as_deref().filter(|_| !codes.is_empty());
    if let Some(network) = guesser {
        gift_card::demand_lookup(app, &store.id, network).await?;
    }
    let found = gift_card::find(app, &store.id, codes).await?;
    for network in found.iter().filter(|card| card.is_none()).filter_map(|_| guesser) {
        gift_card::count_lookup(app, &store.id, network).await?;
    }
    let mut usable = Vec::<GiftCard>::new();
    for (position, card) in found.into_iter().enumerate() {
        let fault = match card {
            None => ("unknown_gift_card", "There is no such gift card."),
            Some(card) if usable.iter().any(|known| known.id == card.id) => {
                ("duplicate", "Name each gift card once.")
            }
            Some(card) => match card.status_at(now) {
                GiftCardStatus::Disabled => ("gift_card_disabled", "This gift card is disabled."),
                GiftCardStatus::Expired => ("gift_card_expired", "This gift card has expired."),
                GiftCardStatus::Active if card.balance.currency != store.currency => {
                    ("currency_mismatch", "This gift card is in another currency.")
                }
                GiftCardStatus::Active if card.balance.is_zero() => {
                    ("gift_card_empty", "There is nothing left on this gift card.")
                }
                GiftCardStatus::Active => {
                    usable.push(card);
                    continue;
                }
            },
        };
        let pointer = format!("/gift_card_codes/{position}");
        faults.push(cart::fault(&pointer, fault.0, fault.1));
    }
    Ok(usable)
}
