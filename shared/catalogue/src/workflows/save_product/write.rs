//! The transactions that write a product and its variants.
//!
//! A transaction has at most 100 actions, and a product of 100 variants with SKUs and stock has four
//! times as many items. Every write that can be rejected or that makes a change visible is in one
//! transaction: the product, its handle and category, the variant that is added, changed or removed,
//! SKUs, the images used, the event, the response. For the writes beyond its limit:
//!
//! - *A change* has only [`Chore`]s, which cannot be rejected. They become a [`DeferredWork`], which is
//!   written with the change and executed after it. After a crash the sweep executes it; until then
//!   checkouts use the old data of the last variants of a large product.
//! - *A deletion* of more variants than fit begins by archiving the product. Then variants that were never
//!   ordered cannot be ordered any more, because an order marks them on condition of the version that the
//!   cart was priced by. So the transaction that deletes the product names no variant; they are its
//!   deferred work. If that transaction is rejected, the product stays complete, and archived.
//! - *A new product*: the writes that do not fit are made before, and are invisible, because variants are
//!   found by their product only. If the last transaction is rejected, they are reverted. If a crash
//!   prevents this, only SKU claims have an effect; they are released when another product needs
//!   them ([`release_orphans`]).

mod steps;

use std::collections::{HashMap, HashSet};

use crate::inventory::Level;
use crate::product::{
    self, COUNTED, DeferredWork, Product, ProductSummary, ProductView, RemovedVariant, UniqueSku,
    Variant,
};
use crate::search::{self, Token};
use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{LocationId, ProductId, StoreId, VariantId};
use core_types::key;
use identity::store::{self, Store};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{CommitOnly, Completion, Condition, Write};

use super::input::stocked_at;
pub use steps::{Chore, WriteStep};
use steps::{MAX_ACTIONS, MovedSkus, action_count, cut, own_images};

/// The subject of events about a product.
fn event_subject(product: &Product) -> EventSubject<'_> {
    let (store, entity) = (Some(&product.store_id), product.id.as_str());
    EventSubject { store, app: None, entity, version: product.version }
}

/// Ensures that the product's category exists.
fn require_category(write: Write, product: &Product) -> Write {
    write.when_some(product.category_id.as_ref(), |write, id| {
        let detail = "There is no such category in the store.";
        let unknown = Problem::field("/category_id", "unknown_category", detail);
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::category(&product.store_id, id), exists, unknown)
    })
}

/// The summary of a new product that is created by these steps. Stock of discontinued variants is none that
/// shoppers see.
fn summary((product, variants): (&Product, &[Variant]), steps: &[WriteStep]) -> ProductSummary {
    let is_removed = |level: &&Level| {
        variants.iter().any(|variant| variant.id == level.variant_id && variant.discontinued)
    };
    let levels = steps.iter().flat_map(WriteStep::levels).filter(|level| !is_removed(level));
    ProductSummary::of(product, variants).stocked(stocked_at(levels))
}

/// Writes a new product with its variants.
pub async fn create<C: Completion<ProductView>>(
    (app, store): (&Services, &Store),
    (product, variants): (&Product, &[Variant]),
    steps: Vec<WriteStep>,
    topic: &Topic<ProductView>,
    completion: &C,
    now: Timestamp,
) -> Result<C::Output, Problem> {
    let images = own_images(product).into_iter();
    let images = images.map(|id| WriteStep::Show(product.store_id.clone(), id));
    let words =
        search::rows(&ProductSummary::of(product, variants)).into_iter().map(WriteStep::Word);
    let all: Vec<WriteStep> = images.chain(steps).chain(words).collect();
    let (ahead, last) = cut(all.clone(), MAX_ACTIONS);
    let no_moves = MovedSkus::default();
    let absent = Condition::new("attribute_not_exists(PK)");
    let mut done: usize = 0;
    let outcome = async {
        for part in &ahead {
            let write =
                app.table.write().check(&product.key(), absent.clone(), Code::VersionConflict);
            part.iter()
                .fold(write, |write, step| step.put_into(write, &no_moves, now))
                .commit()
                .await?;
            done = done.saturating_add(1);
        }
        let view = ProductView::of(product, variants);
        let write = app
            .table
            .write()
            .create(product, Code::VersionConflict)
            .create(&summary((product, variants), &all), Code::VersionConflict)
            .create(&product.claim(now), Code::HandleTaken.with("handle", product.handle.as_str()));
        let write = last.iter().fold(require_category(write, product), |write, step| {
            step.put_into(write, &no_moves, now)
        });
        let write = store::lock_currency(write, store).emit(Event::new(
            topic,
            event_subject(product),
            &view,
            now,
        ));
        completion.commit(write, &view, now).await
    }
    .await;
    if outcome.is_err() {
        for part in ahead.iter().take(done) {
            // The product may exist after all, if only the reply of its transaction was lost.
            let write =
                app.table.write().check(&product.key(), absent.clone(), Code::VersionConflict);
            let write = part.iter().fold(write, |write, step| step.revert(write));
            if let Err(problem) = write.commit().await {
                let product = product.id.as_str();
                tracing::warn!(
                    cause = %problem, product,
                    "variants of a rejected product not deleted"
                );
            }
        }
    }
    outcome
}

/// A product before and after a change, with all its variants.
#[derive(Debug)]
pub struct Revision<'a> {
    /// The product as read, and its variants.
    pub before: (&'a Product, &'a [Variant]),
    /// The product at its next version, and its variants; each changed one is at its next version.
    pub after: (&'a Product, &'a [Variant]),
}

impl Revision<'_> {
    /// The steps that replace changed variants, and that take references to newly used images.
    fn steps(&self) -> impl Iterator<Item = WriteStep> {
        let ((product_before, variants_before), (product, variants)) = (self.before, self.after);
        let used_before = own_images(product_before);
        let new = own_images(product).into_iter().filter(move |id| !used_before.contains(id));
        let new = new.map(|id| WriteStep::Show(product.store_id.clone(), id));
        let replaced = variants_before.iter().filter_map(|before| {
            // By version: a variant that only shifted is unchanged, as the product stores the order.
            let changed =
                |after: &&Variant| after.id == before.id && after.version != before.version;
            let after = variants.iter().find(changed)?;
            Some(WriteStep::Replace(Box::new(after.clone()), Box::new(before.clone())))
        });
        new.chain(replaced)
    }

    /// The chores of the change: refreshed sellables, released images, and search words.
    fn chores(&self) -> impl Iterator<Item = Chore> {
        let ((product_before, variants_before), (product, variants)) = (self.before, self.after);
        let used = own_images(product);
        let released = own_images(product_before).into_iter().filter(move |id| !used.contains(id));
        let released = released.map(|id| Chore::Hide(product.store_id.clone(), id));
        let refreshed = variants_before.iter().filter_map(|before| {
            let after = variants.iter().find(|after| after.id == before.id)?;
            let sellable = product.sellable(after);
            let differs = sellable != product_before.sellable(before);
            differs.then(|| Chore::Refresh(Box::new(sellable)))
        });
        released.chain(refreshed).chain(self.words())
    }

    /// The locations of variants that are offered again; none if no variant was discontinued or is offered
    /// again.
    fn reoffered(&self) -> Option<Vec<LocationId>> {
        let (before, after) = (self.before.1, self.after.1);
        let was_gone = |variant: &&Variant| {
            let known = before.iter().find(|known| known.id == variant.id);
            known.is_some_and(|known| known.discontinued != variant.discontinued)
        };
        let changed: Vec<&Variant> = after.iter().filter(was_gone).collect();
        let offered = changed.iter().filter(|variant| !variant.discontinued);
        let at = offered.flat_map(|variant| &variant.stocked_at).cloned().collect();
        (!changed.is_empty()).then_some(at)
    }

    /// The chores for the search words that the change adds and removes.
    fn words(&self) -> impl Iterator<Item = Chore> + use<> {
        let rows = |(product, variants)| search::rows(&ProductSummary::of(product, variants));
        let (before, after) = (rows(self.before), rows(self.after));
        let removed: Vec<Token> = before.difference(&after).cloned().collect();
        let added: Vec<Token> = after.difference(&before).cloned().collect();
        let removed = removed.into_iter().map(|token| Chore::Word(token, false));
        removed.chain(added.into_iter().map(|token| Chore::Word(token, true)))
    }

    /// The transaction that decides the change, including these additional steps and chores, its deferred
    /// work, and the product after it.
    ///
    /// # Errors
    /// `change_too_large`: its steps do not fit into one transaction.
    fn decide(
        &self,
        services: &Services,
        (steps, chores): (Vec<WriteStep>, Vec<Chore>),
        topic: &Topic<ProductView>,
        now: Timestamp,
    ) -> Result<(Write, Option<DeferredWork>, ProductView), Problem> {
        let (before, (product, variants)) = (self.before.0, self.after);
        let everything = Condition::default();
        let mut write = services.table.write().replace_except(
            product,
            COUNTED,
            everything,
            Code::VersionConflict,
        );
        write = ProductSummary::of(product, variants).put_into(write);
        if product.handle != before.handle {
            let taken = Code::HandleTaken.with("handle", product.handle.as_str());
            write = release_handle(write.create(&product.claim(now), taken), before, now);
        } else if product.outline() != before.outline() {
            let claim = key::unique_product_handle(&product.store_id, product.handle.as_str());
            write = write.update(&claim, product.reclaim(), Code::VersionConflict);
        }
        if product.category_id != before.category_id {
            write = require_category(write, product);
        }
        let steps: Vec<WriteStep> = steps.into_iter().chain(self.steps()).collect();
        let mut chores: Vec<Chore> = chores.into_iter().chain(self.chores()).collect();
        let free_actions = MAX_ACTIONS.saturating_sub(action_count(&steps)).min(chores.len());
        let later = chores.split_off(free_actions);
        // The summary still has the stock of variants that shoppers do not see any more.
        let removes = steps.iter().any(|step| matches!(step, WriteStep::Drop(..)));
        let reoffered = self.reoffered();
        let stock_went = removes || reoffered.is_some();
        if action_count(&steps) > MAX_ACTIONS {
            return Err(Code::ChangeTooLarge.into());
        }
        let moved = MovedSkus::of(&steps);
        let write = steps.iter().fold(write, |write, step| step.put_into(write, &moved, now));
        let write = chores.iter().fold(write, |write, chore| chore.put_into(write));
        let deferred = (stock_went || !later.is_empty()).then(|| {
            let stocked_at = reoffered.unwrap_or_default();
            let mut deferred =
                DeferredWork { stock_went, stocked_at, ..DeferredWork::of(product, now) };
            for chore in later {
                chore.defer_to(&mut deferred);
            }
            deferred
        });
        let view = ProductView::of(product, variants);
        let write = write
            .when_some(deferred.as_ref(), |write, work| write.create(work, Code::VersionConflict))
            .emit(Event::new(topic, event_subject(product), &view, now));
        Ok((write, deferred, view))
    }

    /// Writes the change with these additional steps and chores.
    pub async fn write<C: Completion<ProductView>>(
        &self,
        services: &Services,
        more: (Vec<WriteStep>, Vec<Chore>),
        topic: &Topic<ProductView>,
        completion: &C,
        now: Timestamp,
    ) -> Result<C::Output, Problem> {
        self.write_with(services, more, (topic, |write| write), completion, now).await
    }

    /// As [`Revision::write`]; `extend` adds actions to the transaction.
    pub async fn write_with<C: Completion<ProductView>>(
        &self,
        services: &Services,
        more: (Vec<WriteStep>, Vec<Chore>),
        (topic, extend): (&Topic<ProductView>, impl FnOnce(Write) -> Write),
        completion: &C,
        now: Timestamp,
    ) -> Result<C::Output, Problem> {
        let (write, deferred, view) = self.decide(services, more, topic, now)?;
        let output = completion.commit(extend(write), &view, now).await?;
        finish(services, deferred).await;
        Ok(output)
    }

    /// Writes a change that is not the last one of its workflow.
    pub async fn commit(
        &self,
        services: &Services,
        topic: &Topic<ProductView>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        self.write(services, (Vec::new(), Vec::new()), topic, &CommitOnly, now).await
    }
}

/// Executes deferred work right after its change. The change is committed, so work that fails is left
/// to the sweep.
async fn finish(services: &Services, deferred: Option<DeferredWork>) {
    let Some(deferred) = deferred else { return };
    let product = deferred.product_id.clone();
    match deferred.execute(services).await {
        // The sweep was faster.
        Err(problem) if problem.code == Code::VersionConflict => {}
        Err(problem) => {
            tracing::warn!(
                cause = %problem, product = product.as_str(),
                "deferred work of a product failed; the sweep retries it"
            );
        }
        Ok(()) => {}
    }
}

/// The variants whose orders have all ended, by the version of the sellable at which that was found.
pub type Released = HashMap<VariantId, u64>;

/// The steps that remove these variants.
fn drops(variants: &[Variant], released: &Released) -> Vec<WriteStep> {
    variants.iter().map(|variant| WriteStep::remove(variant.clone(), released)).collect()
}

/// Whether a product with these variants can be deleted in one transaction; otherwise it must be
/// archived first.
pub fn go_at_once(variants: &[Variant]) -> bool {
    action_count(&drops(variants, &Released::new())) <= MAX_ACTIONS
}

/// Deletes a product with all of its items. Unless its variants [`go_at_once`], it must be archived, with
/// refreshed sellables, and without orders that have not ended. The outcome is the product at its last version.
pub async fn remove<C: Completion<ProductView>>(
    services: &Services,
    (product, variants): (&Product, &[Variant]),
    released: &Released,
    topic: &Topic<ProductView>,
    completion: &C,
    now: Timestamp,
) -> Result<C::Output, Problem> {
    let deleted = product.changed(now);
    let write = services.table.write().delete_unchanged(product, Code::VersionConflict);
    let write = write.delete(&key::summary(&product.store_id, &product.id));
    let steps = if go_at_once(variants) { drops(variants, released) } else { Vec::new() };
    let no_moves = MovedSkus::default();
    let write = steps.iter().fold(write, |write, step| step.put_into(write, &no_moves, now));
    let deferred = DeferredWork {
        images: own_images(product).into_iter().collect(),
        variants: variants.iter().map(RemovedVariant::from).collect(),
        words: search::rows(&ProductSummary::of(product, variants)).into_iter().collect(),
        ..DeferredWork::of(&deleted, now)
    };
    let view = ProductView::of(&deleted, variants);
    let write = release_handle(write, product, now)
        .create(&deferred, Code::VersionConflict)
        .emit(Event::new(topic, event_subject(&deleted), &view, now));
    let output = completion.commit(write, &view, now).await?;
    finish(services, Some(deferred)).await;
    Ok(output)
}

/// Releases the product's handle.
fn release_handle(write: Write, product: &Product, now: Timestamp) -> Write {
    let mine = Condition::new("product_id = :product").value(":product", &product.id);
    write.delete_if(&product.claim(now).key(), mine, Code::VersionConflict)
}

/// Releases claims of these SKUs that crashed creations left over: more than a minute old, of products
/// that do not exist. Returns whether there were any.
pub async fn release_orphans(
    services: &Services,
    store: &StoreId,
    skus: &[&str],
    now: Timestamp,
) -> Result<bool, Problem> {
    let keys: Vec<Key> = skus.iter().map(|sku| UniqueSku::key_of(store, sku)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut claims = Vec::new();
    for key in &keys {
        let claim: Option<UniqueSku> = batch.take(key)?;
        claims.extend(claim.filter(|claim| claim.created_at.plus(MINUTE) < now));
    }
    let owners: HashSet<&ProductId> = claims.iter().map(|claim| &claim.product_id).collect();
    let owners: Vec<ProductId> = owners.into_iter().cloned().collect();
    let alive = product::get_many(services, store, &owners).await?;
    claims.retain(|claim| alive.iter().all(|product| product.id != claim.product_id));
    let release = |write: Write, claim: &UniqueSku| {
        write.delete_if(&claim.key(), claim.still_its(), Code::VersionConflict)
    };
    claims.iter().fold(services.table.write(), release).commit().await?;
    Ok(!claims.is_empty())
}
