//! Selects the usable discounts of a cart, among its codes and the automatic ones.

use std::collections::{HashMap, HashSet};

use catalogue::collection::{self, Collection, CollectionProducts};
use catalogue::product::Product;
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::problem::{FieldError, Problem};
use services::Services;
use table::ReadConsistency;
use table::item::Key;

use super::super::input::Cart;
use super::LoadedItems;
use crate::discount::uses::UseCounter;
use crate::discount::{
    self, Discount, DiscountRejection, DiscountStatus, DiscountUsage, Shopper, ShopperIds,
    UniqueDiscountCode,
};
use crate::order::cart::violation;

/// The discounts to select from: the entries of the cart's codes, in their order, and the automatic
/// discounts.
pub(super) struct Candidates {
    pub(super) codes: Vec<Option<UniqueDiscountCode>>,
    pub(super) automatic: Vec<Discount>,
}

/// The usable discounts, before conditions on the lines are evaluated.
#[derive(Default)]
pub(super) struct UsableDiscounts {
    pub(super) named: Option<(usize, Discount)>,
    pub(super) automatic: Vec<Discount>,
    pub(super) collections: HashMap<ProductId, Vec<CollectionId>>,
}

/// Validates the discounts of a cart. A rejected code becomes a field error with the reason. Unknown codes
/// count towards the limit on attempts; beyond that limit no code is validated.
///
/// # Errors
/// `too_many_attempts`.
pub(super) async fn validate(
    services: &Services,
    store: &Store,
    (cart, shopper): (&Cart, &Shopper),
    found: Candidates,
    products: &[ProductId],
    consistency: ReadConsistency,
    field_errors: &mut Vec<FieldError>,
) -> Result<UsableDiscounts, Problem> {
    let now = services.clock.now();
    throttle(services, &store.id, cart, &found.codes, consistency).await?;
    let (codes, usable) =
        (&found.codes, |discount: &Discount| discount.status_at(now) == DiscountStatus::Active);
    let automatic: Vec<Discount> =
        found.automatic.iter().filter(|one| usable(one)).cloned().collect();
    if codes.is_empty() && automatic.is_empty() {
        return Ok(UsableDiscounts::default());
    }
    let shopper_ids = shopper.ids(&store.id);
    let is_counted = cart.dry_run || consistency == ReadConsistency::Strong;
    let reader = DiscountReader {
        services,
        store: &store.id,
        shopper_ids: &shopper_ids,
        consistency,
        is_counted,
    };
    let (named, automatic) = reader.usages(codes, automatic).await?;
    let mut given = UsableDiscounts::default();
    let mut seen = HashSet::new();
    for (position, standing) in named.into_iter().enumerate() {
        let code = cart.discount_codes.get(position);
        let validated = match standing {
            _ if !seen.insert(code) => Err(DiscountRejection::Duplicate),
            None => Err(DiscountRejection::Unknown),
            Some(standing) => standing.ensure(shopper, now).map(|()| standing.discount),
        };
        match validated {
            Ok(discount) if given.named.is_none() => given.named = Some((position, discount)),
            Ok(_) => reject(field_errors, position, DiscountRejection::NotCombinable),
            Err(rejection) => reject(field_errors, position, rejection),
        }
    }
    let automatic = automatic.into_iter().filter(|standing| standing.ensure(shopper, now).is_ok());
    given.automatic = automatic.map(|standing| standing.discount).collect();
    let discounts = given.named.iter().map(|(_, discount)| discount).chain(&given.automatic);
    let collections: HashSet<CollectionId> =
        discounts.flat_map(Discount::collections).cloned().collect();
    given.collections = reader.memberships(collections, products).await?;
    Ok(given)
}

fn reject(field_errors: &mut Vec<FieldError>, position: usize, rejection: DiscountRejection) {
    let pointer = format!("/discount_codes/{position}");
    field_errors.push(violation(&pointer, rejection.code(), rejection.detail()));
}

/// Counts unknown codes against the network that they came from.
///
/// # Errors
/// `too_many_attempts`.
async fn throttle(
    services: &Services,
    store: &StoreId,
    cart: &Cart,
    codes: &[Option<UniqueDiscountCode>],
    consistency: ReadConsistency,
) -> Result<(), Problem> {
    let is_attempt = !codes.is_empty() && !cart.has_known_codes;
    let Some(network) = cart.shopper_network.as_deref().filter(|_| is_attempt) else {
        return Ok(());
    };
    discount::ensure_try(services, store, network, consistency).await?;
    // A code that an eventually consistent read missed may exist.
    if consistency == ReadConsistency::Strong {
        for _ in codes.iter().filter(|code| code.is_none()) {
            discount::count_try(services, store, network).await?;
        }
    }
    Ok(())
}

/// Reads discounts for one shopper.
struct DiscountReader<'a> {
    services: &'a Services,
    store: &'a StoreId,
    shopper_ids: &'a ShopperIds,
    consistency: ReadConsistency,
    /// Whether the use counters of named discounts are read: in a dry run, and after a rejection. Otherwise
    /// the order's transaction checks them.
    is_counted: bool,
}

impl DiscountReader<'_> {
    /// Loads the discounts of these codes and the uses of those and the automatic ones. Takes one round
    /// trip; none if no code is given and no automatic discount is limited.
    async fn usages(
        &self,
        codes: &[Option<UniqueDiscountCode>],
        automatic: Vec<Discount>,
    ) -> Result<(Vec<Option<DiscountUsage>>, Vec<DiscountUsage>), Problem> {
        let named = codes.iter().flatten().map(|code| &code.discount_id);
        let limited = automatic.iter().filter(|discount| is_limited(discount));
        let counted = named.clone().filter(|_| self.is_counted);
        let counted = counted.chain(limited.map(|discount| &discount.id));
        let counters = counted.flat_map(|id| {
            let theirs = self
                .shopper_ids
                .0
                .iter()
                .map(|shopper_ids| key::discount_uses_by(self.store, id, shopper_ids));
            std::iter::once(key::discount_uses(self.store, id, 0)).chain(theirs)
        });
        let discounts = named.map(|id| key::discount(self.store, id));
        let keys: Vec<Key> = discounts.chain(counters).collect();
        let mut found = LoadedItems(Vec::new());
        if !keys.is_empty() {
            found = LoadedItems::read(
                self.services,
                &keys.iter().collect::<Vec<_>>(),
                self.consistency,
            )
            .await?;
        }
        let mut of_codes = Vec::new();
        for code in codes {
            let Some(code) = code else {
                of_codes.push(None);
                continue;
            };
            let discount: Option<Discount> =
                found.take(&key::discount(self.store, &code.discount_id))?;
            of_codes.push(match discount {
                Some(discount) => Some(self.usage(&mut found, discount)?),
                None => None,
            });
        }
        let standings = automatic.into_iter().map(|one| self.usage(&mut found, one));
        Ok((of_codes, standings.collect::<Result<_, _>>()?))
    }

    fn usage(&self, found: &mut LoadedItems, discount: Discount) -> Result<DiscountUsage, Problem> {
        let mut used = |key: &Key| {
            Ok::<_, Problem>(found.take::<UseCounter>(key)?.map_or(0, |counter| counter.used()))
        };
        let all = used(&key::discount_uses(self.store, &discount.id, 0))?;
        let mut theirs = 0;
        for shopper_ids in &self.shopper_ids.0 {
            theirs =
                theirs.max(used(&key::discount_uses_by(self.store, &discount.id, shopper_ids))?);
        }
        Ok(DiscountUsage { discount, used: all, used_by_shopper: theirs })
    }

    /// Finds the collections of each product, among the given ones. Manual collections list their products;
    /// for automated ones the products are read.
    async fn memberships(
        &self,
        collections: HashSet<CollectionId>,
        products: &[ProductId],
    ) -> Result<HashMap<ProductId, Vec<CollectionId>>, Problem> {
        let mut inside: HashMap<ProductId, Vec<CollectionId>> = HashMap::new();
        if collections.is_empty() {
            return Ok(inside);
        }
        let keys = |id: &CollectionId| {
            [key::collection(self.store, id), key::collection_members(self.store, id)]
        };
        let wanted: Vec<Key> = collections.iter().flat_map(keys).collect();
        let mut found =
            LoadedItems::read(self.services, &wanted.iter().collect::<Vec<_>>(), self.consistency)
                .await?;
        let mut automated = Vec::new();
        for id in collections {
            let [at, members] = keys(&id);
            let Some(collection) = found.take::<Collection>(&at)? else { continue };
            if !collection.is_manual() {
                automated.push(collection);
                continue;
            }
            let members: Option<CollectionProducts> = found.take(&members)?;
            let listed = members.map(|members| members.product_ids).unwrap_or_default();
            for product in products.iter().filter(|product| listed.contains(product)) {
                inside.entry(product.clone()).or_default().push(id.clone());
            }
        }
        if automated.is_empty() {
            return Ok(inside);
        }
        let wanted: HashSet<Key> =
            products.iter().map(|product| key::product(self.store, product)).collect();
        let mut found =
            LoadedItems::read(self.services, &wanted.iter().collect::<Vec<_>>(), self.consistency)
                .await?;
        for at in &wanted {
            let Some(product) = found.take::<Product>(at)? else { continue };
            let held = automated.iter().filter(|collection| {
                collection::matches_rules(&collection.rules, collection.mode, &product)
            });
            let ids = held.map(|collection| collection.id.clone());
            inside.entry(product.id.clone()).or_default().extend(ids);
        }
        Ok(inside)
    }
}

fn is_limited(discount: &Discount) -> bool {
    discount.usage_limit.is_some() || discount.per_customer_limit.is_some()
}
