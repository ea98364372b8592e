//! How changes of a product and its variants are written.
//!
//! A transaction has at most 100 actions, and a product of 100 variants with SKUs and stock has
//! four times as many items. What shows a change — the product itself, its handle, its event, the
//! answer — is always one transaction, the last. The rest goes with it as far as it fits; the
//! surplus goes before it, each part under the condition that the product is still what was read:
//!
//! - A new product's surplus is invisible until the last transaction, because nothing leads to a
//!   variant but its product. When that transaction is refused, the surplus is taken back; when a
//!   crash prevents even that, only claims of SKUs are left over, and these are given up when
//!   somebody asks for them ([`release_orphans`]).
//! - A change's surplus runs ahead of the product by one transaction; when it is not followed,
//!   repeating the request completes it.

use std::collections::{BTreeSet, HashSet, VecDeque};

use commerce::event::{About, Event, Topic};
use commerce::id::{MediaId, ProductId, StoreId};
use commerce::inventory::Level;
use commerce::key;
use commerce::media;
use commerce::product::{self, COUNTED, Product, ProductView, Sellable, UniqueSku, Variant};
use commerce::store::Store;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::{MINUTE, Timestamp};
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::{Condition, Write};

/// Actions of one transaction.
const ACTIONS: usize = 100;
/// What the last transaction keeps free for all but [`Step`]s: product, handle and the one
/// before, category, event, idempotency record.
const RESERVED: usize = 6;

/// A part of a change that belongs to one variant: its actions stay together.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A new variant, with what checkouts need of it and its first stock.
    Add(Box<Variant>, Box<Sellable>, Vec<Level>),
    /// A variant at its next version, and the one before.
    Replace(Box<Variant>, Box<Variant>),
    /// What checkouts need of a variant, anew.
    Refresh(Box<Sellable>),
    /// A variant that goes.
    Drop(Box<Variant>),
    /// A stock level that goes with its variant.
    Close(Box<Level>),
    /// An image of the store that the product shows from now on.
    Show(StoreId, MediaId),
    /// An image of the store that the product shows no longer.
    Hide(StoreId, MediaId),
}

impl Step {
    /// Its actions.
    fn cost(&self) -> usize {
        match self {
            Self::Add(variant, _, levels) => {
                levels.len().saturating_add(if variant.sku.is_some() { 3 } else { 2 })
            }
            Self::Replace(..) | Self::Drop(_) => 3,
            Self::Refresh(_) | Self::Close(_) | Self::Show(..) | Self::Hide(..) => 1,
        }
    }

    fn put_into(&self, write: Write, now: Timestamp) -> Write {
        match self {
            Self::Add(variant, sellable, levels) => {
                let write = write
                    .create(variant.as_ref(), Code::VersionConflict)
                    .create(sellable.as_ref(), Code::VersionConflict);
                let write = claim(write, variant, now);
                let create = |write: Write, level| write.create(level, Code::VersionConflict);
                levels.iter().fold(write, create)
            }
            Self::Replace(variant, before) => {
                let write = write.replace(variant.as_ref(), Code::VersionConflict);
                match (&variant.sku, &before.sku) {
                    (after, before) if after == before => write,
                    // Another spelling of the same claim.
                    (Some(after), Some(before))
                        if after.to_lowercase() == before.to_lowercase() =>
                    {
                        write
                    }
                    _ => claim(release(write, before), variant, now),
                }
            }
            Self::Refresh(sellable) => {
                write.update(&sellable.key(), sellable.change(), Code::VersionConflict)
            }
            Self::Drop(variant) => {
                let unsold =
                    Condition::new("attribute_not_exists(was_ordered) OR was_ordered = :no")
                        .value(":no", false);
                let sellable = key::sellable(&variant.store_id, &variant.id);
                let write =
                    write.delete(&variant.key()).delete_if(&sellable, unsold, Code::ProductInUse);
                release(write, variant)
            }
            Self::Close(level) => {
                let idle =
                    Condition::new("committed = :none AND reserved = :none").value(":none", 0);
                write.delete_if(&level.key(), idle, Code::ProductInUse)
            }
            Self::Show(store, id) => {
                let detail = "One of the images is no longer there.";
                let gone = Problem::field("/images", "unknown_media", detail);
                media::hold(write, store, id, gone)
            }
            Self::Hide(store, id) => media::let_go(write, store, id),
        }
    }

    /// Takes back what adding a variant has written.
    fn take_back(&self, write: Write) -> Write {
        if let Self::Show(store, id) = self {
            return media::let_go(write, store, id);
        }
        let Self::Add(variant, sellable, levels) = self else { return write };
        let write = write.delete(&variant.key()).delete(&sellable.key());
        let write = release(write, variant);
        levels.iter().fold(write, |write, level| write.delete(&level.key()))
    }
}

/// Claims the variant's SKU, if it has one.
fn claim(write: Write, variant: &Variant, now: Timestamp) -> Write {
    write.also(UniqueSku::of(variant, now), |write, claim| {
        let taken = Code::SkuTaken.with("sku", claim.sku.as_str());
        write.create(&claim, taken)
    })
}

/// Gives the variant's SKU up, if it has one.
fn release(write: Write, variant: &Variant) -> Write {
    write.also(variant.sku.as_ref(), |write, sku| {
        let mine = Condition::new("variant_id = :variant").value(":variant", &variant.id);
        let key = UniqueSku::key_of(&variant.store_id, sku);
        write.delete_if(&key, mine, Code::VersionConflict)
    })
}

/// The steps, after those that say which of the store's images are shown: first, so that the last
/// transaction has them.
fn with_images(steps: Vec<Step>, before: Option<&Product>, after: Option<&Product>) -> Vec<Step> {
    let of = |product: Option<&Product>| -> BTreeSet<(StoreId, MediaId)> {
        let images = product.into_iter().flat_map(|product| {
            let own = product.images.iter().filter_map(|image| image.media_id.clone());
            own.map(|id| (product.store_id.clone(), id))
        });
        images.collect()
    };
    let (before, after) = (of(before), of(after));
    let shown = after.difference(&before).map(|(store, id)| Step::Show(store.clone(), id.clone()));
    let hidden = before.difference(&after).map(|(store, id)| Step::Hide(store.clone(), id.clone()));
    shown.chain(hidden).chain(steps).collect()
}

/// Cuts steps into transactions: the last one has room for `room` actions, those before for all
/// but one, which is their condition. The last is always there, and may be empty.
fn cut(steps: Vec<Step>, room: usize) -> (Vec<Vec<Step>>, Vec<Step>) {
    let mut steps = VecDeque::from(steps);
    let mut fill = |room: usize| {
        let (mut part, mut used) = (Vec::new(), 0_usize);
        while let Some(step) = steps.pop_front() {
            used = used.saturating_add(step.cost());
            if used > room && !part.is_empty() {
                steps.push_front(step);
                break;
            }
            part.push(step);
        }
        part
    };
    let last = fill(room);
    let mut before = Vec::new();
    loop {
        let part = fill(ACTIONS.saturating_sub(1));
        if part.is_empty() {
            return (before, last);
        }
        before.push(part);
    }
}

/// What an event says it is about.
fn about(product: &Product) -> About<'_> {
    let (store, entity) = (Some(&product.store_id), product.id.as_str());
    About { store, app: None, entity, version: product.version }
}

/// The answer that shows a product with its variants.
pub(crate) fn shown(product: &Product, variants: &[Variant]) -> Answer {
    Answer::ok(&ProductView::of(product, variants)).version(product.version)
}

/// Demands that the product's category exists.
fn categorized(write: Write, product: &Product) -> Write {
    write.also(product.category_id.as_ref(), |write, id| {
        let detail = "There is no such category on this store.";
        let unknown = Problem::field("/category_id", "unknown_category", detail);
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::category(&product.store_id, id), exists, unknown)
    })
}

/// Writes a new product with its variants.
pub(crate) async fn create(
    app: &App,
    (product, variants): (&Product, &[Variant]),
    steps: Vec<Step>,
    topic: &Topic<ProductView>,
    now: Timestamp,
) -> Result<Answer, Problem> {
    let steps = with_images(steps, None, Some(product));
    let (surplus, last) = cut(steps, ACTIONS.saturating_sub(RESERVED));
    let unborn = Condition::new("attribute_not_exists(PK)");
    let mut done: usize = 0;
    let outcome = async {
        for part in &surplus {
            let write =
                app.table.write().check(&product.key(), unborn.clone(), Code::VersionConflict);
            part.iter().fold(write, |write, step| step.put_into(write, now)).commit().await?;
            done = done.saturating_add(1);
        }
        let view = ProductView::of(product, variants);
        let write = app
            .table
            .write()
            .create(product, Code::VersionConflict)
            .create(&product.claim(now), Code::HandleTaken.with("handle", product.handle.as_str()));
        let write =
            last.iter().fold(categorized(write, product), |write, step| step.put_into(write, now));
        write
            .emit(Event::new(topic, about(product), &view, now))
            .answer(Answer::created(&view).version(product.version), now)
            .await
    }
    .await;
    if outcome.is_err() {
        for part in surplus.iter().take(done) {
            let write = part.iter().fold(app.table.write(), |write, step| step.take_back(write));
            if let Err(problem) = write.commit().await {
                tracing::warn!(cause = %problem, "variants of a refused product were left over");
            }
        }
    }
    outcome
}

/// A product before and after a change, with all its variants.
#[derive(Debug)]
pub(crate) struct Revision<'a> {
    /// The store.
    pub store: &'a Store,
    /// The product as it was read, and its variants.
    pub before: (&'a Product, &'a [Variant]),
    /// The product at its next version, and its variants, each changed one at its next version.
    pub after: (&'a Product, &'a [Variant]),
}

impl Revision<'_> {
    /// What the change does to what checkouts need, and to the variants that were there before
    /// and still are.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let (product_before, variants_before) = self.before;
        let (product, variants) = self.after;
        let mut steps = Vec::new();
        for before in variants_before {
            let Some(after) = variants.iter().find(|variant| variant.id == before.id) else {
                continue;
            };
            if after != before {
                steps.push(Step::Replace(Box::new(after.clone()), Box::new(before.clone())));
            }
            let sellable = product.sellable(after, self.store);
            if sellable != product_before.sellable(before, self.store) {
                steps.push(Step::Refresh(Box::new(sellable)));
            }
        }
        steps
    }

    /// Writes the change with these steps, and answers.
    pub(crate) async fn write(
        &self,
        app: &App,
        steps: Vec<Step>,
        topic: &Topic<ProductView>,
        answer: Answer,
        now: Timestamp,
    ) -> Result<Answer, Problem> {
        let (before, (product, variants)) = (self.before.0, self.after);
        let steps = with_images(steps, Some(before), Some(product));
        let (surplus, last) = cut(steps, ACTIONS.saturating_sub(RESERVED));
        for part in &surplus {
            let write = as_read(app.table.write(), before);
            part.iter().fold(write, |write, step| step.put_into(write, now)).commit().await?;
        }
        let everything = Condition::default();
        let mut write =
            app.table.write().replace_except(product, COUNTED, everything, Code::VersionConflict);
        if product.handle != before.handle {
            let taken = Code::HandleTaken.with("handle", product.handle.as_str());
            write = release_handle(write.create(&product.claim(now), taken), before, now);
        }
        if product.category_id != before.category_id {
            write = categorized(write, product);
        }
        last.iter()
            .fold(write, |write, step| step.put_into(write, now))
            .emit(Event::new(topic, about(product), &ProductView::of(product, variants), now))
            .answer(answer, now)
            .await
    }
}

/// Removes a product with everything about it.
pub(crate) async fn remove(
    app: &App,
    (product, variants): (&Product, &[Variant]),
    steps: Vec<Step>,
    topic: &Topic<ProductView>,
    now: Timestamp,
) -> Result<Answer, Problem> {
    let steps = with_images(steps, Some(product), None);
    let (surplus, last) = cut(steps, ACTIONS.saturating_sub(RESERVED));
    for part in &surplus {
        let write = as_read(app.table.write(), product);
        part.iter().fold(write, |write, step| step.put_into(write, now)).commit().await?;
    }
    let gone = Product { version: product.version.saturating_add(1), ..product.clone() };
    let unchanged = Condition::new("#version = :read AND was_ordered = :no")
        .name("#version", "version")
        .value(":read", product.version)
        .value(":no", false);
    let write = app.table.write().delete_if(&product.key(), unchanged, Code::VersionConflict);
    last.iter()
        .fold(release_handle(write, product, now), |write, step| step.put_into(write, now))
        .emit(Event::new(topic, about(&gone), &ProductView::of(&gone, variants), now))
        .answer(Answer::no_content(), now)
        .await
}

/// Demands that the product is what was read.
fn as_read(write: Write, product: &Product) -> Write {
    let unchanged = Condition::new("#version = :read")
        .name("#version", "version")
        .value(":read", product.version);
    write.check(&product.key(), unchanged, Code::VersionConflict)
}

/// Gives the product's handle up.
fn release_handle(write: Write, product: &Product, now: Timestamp) -> Write {
    let mine = Condition::new("product_id = :product").value(":product", &product.id);
    write.delete_if(&product.claim(now).key(), mine, Code::VersionConflict)
}

/// Gives up claims of these SKUs that a creation left over which never came to its end: a minute
/// old, and of products that do not exist. Says whether there were any.
pub(crate) async fn release_orphans(
    app: &App,
    store: &StoreId,
    skus: &[&str],
    now: Timestamp,
) -> Result<bool, Problem> {
    let keys: Vec<Key> = skus.iter().map(|sku| UniqueSku::key_of(store, sku)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut claims = Vec::new();
    for key in &keys {
        let claim: Option<UniqueSku> = batch.take(key)?;
        claims.extend(claim.filter(|claim| claim.created_at.plus(MINUTE) < now));
    }
    let owners: HashSet<&ProductId> = claims.iter().map(|claim| &claim.product_id).collect();
    let owners: Vec<ProductId> = owners.into_iter().cloned().collect();
    let alive = product::get_many(app, store, &owners).await?;
    claims.retain(|claim| alive.iter().all(|product| product.id != claim.product_id));
    let release = |write: Write, claim: &UniqueSku| {
        let same = Condition::new("variant_id = :variant").value(":variant", &claim.variant_id);
        write.delete_if(&claim.key(), same, Code::VersionConflict)
    };
    claims.iter().fold(app.table.write(), release).commit().await?;
    Ok(!claims.is_empty())
}

#[cfg(test)]
mod tests {
    use commerce::id::{LocationId, VariantId};

    use super::*;

    fn close(number: usize) -> Step {
        let now = Timestamp::from_millis(0);
        let variant = VariantId::derive(&[&number.to_string()]);
        let (store, location) = (StoreId::derive(&[]), LocationId::derive(&[]));
        Step::Close(Box::new(Level::open(&store, &variant, &location, 0, now)))
    }

    #[test]
    fn nothing_to_do_is_one_transaction() {
        let (before, last) = cut(Vec::new(), 94);
        assert!(before.is_empty() && last.is_empty());
    }

    #[test]
    fn what_does_not_fit_into_the_last_transaction_goes_before_it() {
        let (before, last) = cut((0..94).map(close).collect(), 94);
        assert_eq!((before.len(), last.len()), (0, 94));
        let (before, last) = cut((0..300).map(close).collect(), 94);
        let sizes: Vec<usize> = before.iter().map(Vec::len).collect();
        assert_eq!((sizes, last.len()), (vec![99, 99, 8], 94));
    }
}
