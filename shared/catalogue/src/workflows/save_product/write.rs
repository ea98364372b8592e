//! How changes of a product and its variants are written.
//!
//! A transaction has at most 100 actions, and a product of 100 variants with SKUs and stock has
//! four times as many items. Whatever can be rejected, and whatever shows a change, is one
//! transaction: the product, its handle, its category, the variant that is added, changed or
//! removed, SKUs, the images shown, the event, the answer. What does not fit beside it:
//!
//! - *A change* has only [`Chore`]s beyond that, which nothing rejects. They are left to a
//!   [`DeferredWork`], written with the change and done after it; a crash in between is mended by
//!   the sweep, and until then checkouts know the last variants of a large product as they were.
//! - *A removal* of more variants than fit begins by archiving the product: what was never ordered
//!   cannot be ordered then, for an order marks it under the condition that it is what the cart was
//!   priced by. So the transaction that removes the product needs to name no variant, and they are
//!   its deferred work. When it is rejected after all, the product stays, whole and archived.
//! - What does not fit of *a new product* is written before it, and is invisible, because nothing
//!   leads to a variant but its product. When the last transaction is rejected, that is taken back;
//!   when a crash prevents even that, only claims of SKUs are left over, and these are given up
//!   when somebody asks for them ([`release_orphans`]).

mod steps;

use gateway::idempotency::Commit;
use std::collections::HashSet;

use crate::product::{
    self, COUNTED, DeferredWork, Product, ProductSummary, ProductView, RemovedVariant, UniqueSku,
    Variant,
};
use crate::search::{self, Token};
use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{ProductId, StoreId};
use core_types::key;
use gateway::reply::{Created, Json, NoContent, Reply};
use identity::store::{self, Store};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Write};

use super::input::stocked_at;
pub use steps::{Chore, WriteStep};
use steps::{MovedSkus, ROOM, cost, cut, own_images};

/// What an event says it is about.
fn about(product: &Product) -> EventSubject<'_> {
    let (store, entity) = (Some(&product.store_id), product.id.as_str());
    EventSubject { store, app: None, entity, version: product.version }
}

/// The answer that shows a product with its variants.
pub fn to_response(product: &Product, variants: &[Variant]) -> Json<ProductView> {
    Json::new(&ProductView::of(product, variants)).version(product.version)
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

/// The card of a new product that is made in these steps.
fn summary((product, variants): (&Product, &[Variant]), steps: &[WriteStep]) -> ProductSummary {
    let levels = steps.iter().flat_map(WriteStep::levels);
    ProductSummary::of(product, variants).stocked(stocked_at(levels))
}

/// Writes a new product with its variants.
pub async fn create(
    (app, store): (&Services, &Store),
    (product, variants): (&Product, &[Variant]),
    steps: Vec<WriteStep>,
    topic: &Topic<ProductView>,
    now: Timestamp,
) -> Result<Created<ProductView>, Problem> {
    let shown = own_images(product).into_iter();
    let shown = shown.map(|id| WriteStep::Show(product.store_id.clone(), id));
    let words =
        search::rows(&ProductSummary::of(product, variants)).into_iter().map(WriteStep::Word);
    let all: Vec<WriteStep> = shown.chain(steps).chain(words).collect();
    let (ahead, last) = cut(all.clone(), ROOM);
    let kept = MovedSkus::default();
    let unborn = Condition::new("attribute_not_exists(PK)");
    let mut done: usize = 0;
    let outcome = async {
        for part in &ahead {
            let write =
                app.table.write().check(&product.key(), unborn.clone(), Code::VersionConflict);
            part.iter()
                .fold(write, |write, step| step.put_into(write, &kept, now))
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
        let write = last
            .iter()
            .fold(categorized(write, product), |write, step| step.put_into(write, &kept, now));
        store::keep_currency(write, store)
            .emit(Event::new(topic, about(product), &view, now))
            .answer(Created::new(&view).version(product.version), now)
            .await
    }
    .await;
    if outcome.is_err() {
        for part in ahead.iter().take(done) {
            // A reply may be lost of a product that is there.
            let write =
                app.table.write().check(&product.key(), unborn.clone(), Code::VersionConflict);
            let write = part.iter().fold(write, |write, step| step.take_back(write));
            if let Err(problem) = write.commit().await {
                tracing::warn!(cause = %problem, "variants of a rejected product were left over");
            }
        }
    }
    outcome
}

/// A product before and after a change, with all its variants.
#[derive(Debug)]
pub struct Revision<'a> {
    /// The product as it was read, and its variants.
    pub before: (&'a Product, &'a [Variant]),
    /// The product at its next version, and its variants, each changed one at its next version.
    pub after: (&'a Product, &'a [Variant]),
}

impl Revision<'_> {
    /// What the change does to the variants that were there before and still are, and which images
    /// it shows.
    fn steps(&self) -> impl Iterator<Item = WriteStep> {
        let ((product_before, variants_before), (product, variants)) = (self.before, self.after);
        let was_shown = own_images(product_before);
        let shown = own_images(product).into_iter().filter(move |id| !was_shown.contains(id));
        let shown = shown.map(|id| WriteStep::Show(product.store_id.clone(), id));
        let replaced = variants_before.iter().filter_map(|before| {
            // A place among the others is the product's own to say.
            let changed =
                |after: &&Variant| after.id == before.id && after.version != before.version;
            let after = variants.iter().find(changed)?;
            Some(WriteStep::Replace(Box::new(after.clone()), Box::new(before.clone())))
        });
        shown.chain(replaced)
    }

    /// What the change does to what checkouts need, which images it hides, and what it is found by.
    fn chores(&self) -> impl Iterator<Item = Chore> {
        let ((product_before, variants_before), (product, variants)) = (self.before, self.after);
        let is_shown = own_images(product);
        let hidden =
            own_images(product_before).into_iter().filter(move |id| !is_shown.contains(id));
        let hidden = hidden.map(|id| Chore::Hide(product.store_id.clone(), id));
        let refreshed = variants_before.iter().filter_map(|before| {
            let after = variants.iter().find(|after| after.id == before.id)?;
            let sellable = product.sellable(after);
            let differs = sellable != product_before.sellable(before);
            differs.then(|| Chore::Refresh(Box::new(sellable)))
        });
        hidden.chain(refreshed).chain(self.words())
    }

    /// The words that the product is found by from now on, and no longer.
    fn words(&self) -> impl Iterator<Item = Chore> + use<> {
        let rows = |(product, variants)| search::rows(&ProductSummary::of(product, variants));
        let (before, after) = (rows(self.before), rows(self.after));
        let gone: Vec<Token> = before.difference(&after).cloned().collect();
        let new: Vec<Token> = after.difference(&before).cloned().collect();
        let gone = gone.into_iter().map(|token| Chore::Word(token, false));
        gone.chain(new.into_iter().map(|token| Chore::Word(token, true)))
    }

    /// The transaction that decides the change, with these steps and chores besides; and what it
    /// leaves to do.
    ///
    /// # Errors
    /// `change_too_large`: it touches more than fits into one transaction.
    fn decide(
        &self,
        services: &Services,
        (steps, chores): (Vec<WriteStep>, Vec<Chore>),
        topic: &Topic<ProductView>,
        now: Timestamp,
    ) -> Result<(Write, Option<DeferredWork>), Problem> {
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
            write = categorized(write, product);
        }
        let steps: Vec<WriteStep> = steps.into_iter().chain(self.steps()).collect();
        let mut chores: Vec<Chore> = chores.into_iter().chain(self.chores()).collect();
        let room = ROOM.saturating_sub(cost(&steps)).min(chores.len());
        let later = chores.split_off(room);
        // What the variants had in stock that go is the card's no longer.
        let goes = steps.iter().any(|step| matches!(step, WriteStep::Drop(_)));
        if cost(&steps) > ROOM {
            return Err(Code::ChangeTooLarge.into());
        }
        let moved = MovedSkus::of(&steps);
        let write = steps.iter().fold(write, |write, step| step.put_into(write, &moved, now));
        let write = chores.iter().fold(write, |write, chore| chore.put_into(write));
        let deferred = (goes || !later.is_empty()).then(|| {
            let mut deferred = DeferredWork { stock_went: goes, ..DeferredWork::of(product, now) };
            for chore in later {
                chore.defer_to(&mut deferred);
            }
            deferred
        });
        let view = ProductView::of(product, variants);
        let write = write
            .also(deferred.as_ref(), |write, left| write.create(left, Code::VersionConflict))
            .emit(Event::new(topic, about(product), &view, now));
        Ok((write, deferred))
    }

    /// Writes the change with these steps and chores besides its own, and answers.
    pub async fn write<R: Reply>(
        &self,
        services: &Services,
        more: (Vec<WriteStep>, Vec<Chore>),
        topic: &Topic<ProductView>,
        reply: R,
        now: Timestamp,
    ) -> Result<R, Problem> {
        self.write_with(services, more, (topic, |write| write), reply, now).await
    }

    /// The same, with what `extend` adds to the transaction.
    pub async fn write_with<R: Reply>(
        &self,
        services: &Services,
        more: (Vec<WriteStep>, Vec<Chore>),
        (topic, extend): (&Topic<ProductView>, impl FnOnce(Write) -> Write),
        reply: R,
        now: Timestamp,
    ) -> Result<R, Problem> {
        let (write, deferred) = self.decide(services, more, topic, now)?;
        let reply = extend(write).answer(reply, now).await?;
        finish(services, deferred).await;
        Ok(reply)
    }

    /// Writes a change that is not yet the answer.
    pub async fn commit(
        &self,
        services: &Services,
        topic: &Topic<ProductView>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let (write, deferred) = self.decide(services, (Vec::new(), Vec::new()), topic, now)?;
        write.commit().await?;
        finish(services, deferred).await;
        Ok(())
    }
}

/// Does at once what a change has left to do. The change is made: what fails stays due.
async fn finish(services: &Services, deferred: Option<DeferredWork>) {
    let Some(deferred) = deferred else { return };
    match deferred.execute(services).await {
        // The sweep was faster.
        Err(problem) if problem.code == Code::VersionConflict => {}
        Err(problem) => tracing::warn!(cause = %problem, "left to the sweep"),
        Ok(()) => {}
    }
}

/// What it takes to remove these variants.
fn drops(variants: &[Variant]) -> Vec<WriteStep> {
    variants.iter().map(|variant| WriteStep::Drop(Box::new(variant.clone()))).collect()
}

/// Whether a product of these variants is removed in one transaction; otherwise it is to be
/// archived before.
pub fn go_at_once(variants: &[Variant]) -> bool {
    cost(&drops(variants)) <= ROOM
}

/// Removes a product with everything about it. One whose variants do not [`go_at_once`] must be
/// archived, with all that checkouts need of it, and never ordered.
pub async fn remove(
    services: &Services,
    (product, variants): (&Product, &[Variant]),
    topic: &Topic<ProductView>,
    now: Timestamp,
) -> Result<NoContent, Problem> {
    let gone = product.changed(now);
    let write = services.table.write().delete_unchanged(product, Code::VersionConflict);
    let write = write.delete(&key::summary(&product.store_id, &product.id));
    let steps = if go_at_once(variants) { drops(variants) } else { Vec::new() };
    let kept = MovedSkus::default();
    let write = steps.iter().fold(write, |write, step| step.put_into(write, &kept, now));
    let deferred = DeferredWork {
        images: own_images(product).into_iter().collect(),
        variants: variants.iter().map(RemovedVariant::from).collect(),
        words: search::rows(&ProductSummary::of(product, variants)).into_iter().collect(),
        ..DeferredWork::of(&gone, now)
    };
    let answer = release_handle(write, product, now)
        .create(&deferred, Code::VersionConflict)
        .emit(Event::new(topic, about(&gone), &ProductView::of(&gone, variants), now))
        .answer(NoContent::default(), now)
        .await?;
    finish(services, Some(deferred)).await;
    Ok(answer)
}

/// Gives the product's handle up.
fn release_handle(write: Write, product: &Product, now: Timestamp) -> Write {
    let mine = Condition::new("product_id = :product").value(":product", &product.id);
    write.delete_if(&product.claim(now).key(), mine, Code::VersionConflict)
}

/// Gives up claims of these SKUs that a creation left over which never came to its end: a minute
/// old, and of products that do not exist. Says whether there were any.
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
