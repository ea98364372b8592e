//! The parts of a product's change, and their distribution over transactions.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::Released;
use crate::inventory::Level;
use crate::product::{
    Barcode, DeferredWork, Product, RemovedVariant, Sellable, UniqueSku, Variant,
};
use crate::search::Token;
use core_types::id::{MediaId, StoreId, VariantId};
use core_types::image;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::item::Item;
use table::{Condition, Write};

/// The most actions of one transaction.
pub(super) const ACTIONS: usize = 100;
/// Actions of a transaction that are not [`WriteStep`]s or [`Chore`]s: product, summary, handle, the
/// previous handle or the store's currency lock, category, deferred work, event, idempotency record, and
/// the row of an import.
const RESERVED: usize = 9;
/// The actions left for steps and chores.
pub(super) const MAX_ACTIONS: usize = ACTIONS.saturating_sub(RESERVED);

/// A part of a change that may be rejected; its actions are in the same transaction.
#[derive(Debug, Clone)]
pub enum WriteStep {
    /// Adds a variant, with its sellable and its first stock.
    Add(Box<Variant>, Box<Sellable>, Vec<Level>),
    /// Replaces a variant: its next version, and the previous one.
    Replace(Box<Variant>, Box<Variant>),
    /// Removes a variant that was never ordered; or whose orders had all ended while its sellable was at this
    /// version.
    Drop(Box<Variant>, Option<u64>),
    /// Takes a reference to media of the store, as an image of the product.
    Show(StoreId, MediaId),
    /// Adds a search word of a new product.
    Word(Token),
}

/// A part of a change that cannot be rejected, and may be deferred.
#[derive(Debug, Clone)]
pub enum Chore {
    /// Deletes a level of a removed variant.
    Close(Box<Level>),
    /// Releases the reference to media that the product no longer uses.
    Hide(StoreId, MediaId),
    /// Updates the sellable of a variant.
    Refresh(Box<Sellable>),
    /// Adds a search word if true, or removes it.
    Word(Token, bool),
}

impl WriteStep {
    /// The step that removes a variant.
    pub fn remove(variant: Variant, released: &Released) -> Self {
        let version = released.get(&variant.id).copied();
        Self::Drop(Box::new(variant), version)
    }

    /// The number of its actions.
    pub(super) fn action_count(&self) -> usize {
        match self {
            Self::Add(variant, _, levels) => {
                let claims = [variant.sku.is_some(), variant.barcode.is_some()];
                let claims = claims.into_iter().filter(|claims| *claims).count();
                levels.len().saturating_add(claims).saturating_add(2)
            }
            Self::Replace(variant, before) => {
                let relabelled: usize = if variant.barcode == before.barcode { 0 } else { 2 };
                let renamed: usize = if variant.sku == before.sku { 0 } else { 2 };
                relabelled.saturating_add(renamed).saturating_add(1)
            }
            Self::Drop(variant, _) if variant.barcode.is_some() => 4,
            Self::Drop(..) => 3,
            Self::Show(..) | Self::Word(_) => 1,
        }
    }

    /// The first stock that it adds.
    pub(super) fn levels(&self) -> &[Level] {
        if let Self::Add(_, _, levels) = self { levels } else { &[] }
    }

    pub(super) fn put_into(&self, write: Write, moved: &MovedSkus, now: Timestamp) -> Write {
        match self {
            Self::Add(variant, sellable, levels) => {
                let write = write
                    .create(variant.as_ref(), Code::VersionConflict)
                    .create(sellable.as_ref(), Code::VersionConflict);
                let write = moved
                    .claim(write, variant, now)
                    .when_some(Barcode::of(variant), |write, barcode| write.put(&barcode));
                let create = |write: Write, level| write.create(level, Code::VersionConflict);
                levels.iter().fold(write, create)
            }
            Self::Replace(variant, before) => {
                let any = Condition::default();
                let conflict = Code::VersionConflict;
                let write = write.replace_except(variant.as_ref(), Variant::STOCK, any, conflict);
                let write = relabel(write, variant, before);
                match (&variant.sku, &before.sku) {
                    (after, before) if after == before => write,
                    // Only the case changed: the claim is the same.
                    (Some(after), Some(before))
                        if after.to_lowercase() == before.to_lowercase() =>
                    {
                        write
                    }
                    _ => moved.claim(moved.release(write, before), variant, now),
                }
            }
            Self::Drop(variant, released) => {
                let unsold = "attribute_not_exists(was_ordered) OR was_ordered = :no";
                let unsold = match released {
                    None => Condition::new(unsold),
                    Some(version) => Condition::new(format!("{unsold} OR #version = :released"))
                        .name("#version", "version")
                        .value(":released", version),
                };
                let unsold = unsold.value(":no", false);
                let sellable = key::sellable(&variant.store_id, &variant.id);
                let write = write.delete(&variant.key()).delete_if(
                    &sellable,
                    unsold,
                    Code::ProductHasOrders,
                );
                unlabel(release(write, variant), variant)
            }
            Self::Show(store, id) => {
                let detail = "One of the images has been deleted.";
                let unknown_media = Problem::field("/images", "unknown_media", detail);
                image::hold(write, store, id, unknown_media)
            }
            Self::Word(token) => write.put(token),
        }
    }

    /// Reverts the writes of this step; steps that change existing variants are not reverted.
    pub(super) fn revert(&self, write: Write) -> Write {
        let (variant, sellable, levels) = match self {
            Self::Show(store, id) => return image::release(write, store, id),
            Self::Word(token) => return write.delete(&token.key()),
            Self::Add(variant, sellable, levels) => (variant, sellable, levels),
            Self::Replace(..) | Self::Drop(..) => return write,
        };
        let write = write.delete(&variant.key()).delete(&sellable.key());
        let write = unlabel(release(write, variant), variant);
        levels.iter().fold(write, |write, level| write.delete(&level.key()))
    }
}

impl Chore {
    pub(super) fn put_into(&self, write: Write) -> Write {
        match self {
            Self::Close(level) => {
                let idle =
                    Condition::new("committed = :none AND reserved = :none").value(":none", 0);
                write.delete_if(&level.key(), idle, Code::ProductHasOrders)
            }
            Self::Hide(store, id) => image::release(write, store, id),
            Self::Refresh(sellable) => {
                write.update(&sellable.key(), sellable.change(), Code::VersionConflict)
            }
            Self::Word(token, true) => write.put(token),
            Self::Word(token, false) => write.delete(&token.key()),
        }
    }

    /// Adds it to deferred work. Sellables need no entry: all deferred work refreshes them.
    pub(super) fn defer_to(self, deferred: &mut DeferredWork) {
        match self {
            Self::Hide(_, id) => deferred.images.push(id),
            Self::Close(level) => {
                if deferred.variants.iter().all(|removed| removed.id != level.variant_id) {
                    deferred.variants.push(RemovedVariant {
                        id: level.variant_id,
                        sku: None,
                        barcode: None,
                    });
                }
            }
            Self::Word(token, _) => deferred.words.push(token),
            Self::Refresh(_) => {}
        }
    }
}

/// SKUs that one variant releases and another claims in the same change, with their previous variants. A
/// transaction may not touch a claim twice, so the claim is replaced.
#[derive(Debug, Default)]
pub(super) struct MovedSkus(HashMap<String, VariantId>);

impl MovedSkus {
    /// The SKUs that these steps move.
    pub(super) fn of(steps: &[WriteStep]) -> Self {
        let sku = |variant: &Variant| variant.sku.as_ref().map(|sku| sku.to_lowercase());
        let (mut given, mut taken) = (HashMap::new(), HashSet::new());
        for step in steps {
            match step {
                WriteStep::Replace(variant, before) if sku(variant) != sku(before) => {
                    given.extend(sku(before).map(|sku| (sku, before.id.clone())));
                    taken.extend(sku(variant));
                }
                WriteStep::Add(variant, ..) => taken.extend(sku(variant)),
                _ => {}
            }
        }
        given.retain(|sku, _| taken.contains(sku));
        Self(given)
    }

    fn owner(&self, variant: &Variant) -> Option<&VariantId> {
        variant.sku.as_ref().and_then(|sku| self.0.get(&sku.to_lowercase()))
    }

    /// Claims the variant's SKU, if it has one.
    fn claim(&self, write: Write, variant: &Variant, now: Timestamp) -> Write {
        write.when_some(UniqueSku::of(variant, now), |write, claim| {
            let taken = Code::SkuTaken.with("sku", claim.sku.as_str());
            match self.owner(variant) {
                Some(owner) => write.put_if(&claim, held_by(owner), taken),
                None => write.create(&claim, taken),
            }
        })
    }

    /// Releases the variant's SKU, if it has one and no other variant claims it.
    fn release(&self, write: Write, variant: &Variant) -> Write {
        if self.owner(variant).is_some() { write } else { release(write, variant) }
    }
}

fn held_by(variant: &VariantId) -> Condition {
    Condition::new("variant_id = :variant").value(":variant", variant)
}

/// Releases the variant's SKU, if it has one.
fn release(write: Write, variant: &Variant) -> Write {
    write.when_some(variant.sku.as_ref(), |write, sku| {
        let key = UniqueSku::key_of(&variant.store_id, sku);
        write.delete_if(&key, held_by(&variant.id), Code::VersionConflict)
    })
}

/// Replaces the lookup item of a variant's barcode, if the barcode changed.
fn relabel(write: Write, variant: &Variant, before: &Variant) -> Write {
    let (was, is) = (Barcode::of(before), Barcode::of(variant));
    if was == is {
        return write;
    }
    let write = write.when_some(was, |write, barcode| write.delete(&barcode.key()));
    write.when_some(is, |write, barcode| write.put(&barcode))
}

/// Deletes the lookup item of a variant's barcode.
fn unlabel(write: Write, variant: &Variant) -> Write {
    write.when_some(Barcode::of(variant), |write, barcode| write.delete(&barcode.key()))
}

/// The media of the store that the product uses as images.
pub(super) fn own_images(product: &Product) -> BTreeSet<MediaId> {
    product.images.iter().filter_map(|image| image.media_id.clone()).collect()
}

/// Splits steps into transactions, in order of execution. The last has at most `room` actions and may be
/// empty; each of the others has one action less than the limit, for its condition.
pub(super) fn cut(steps: Vec<WriteStep>, room: usize) -> (Vec<Vec<WriteStep>>, Vec<WriteStep>) {
    let mut steps = VecDeque::from(steps);
    let mut fill = |room: usize| {
        let (mut part, mut used) = (Vec::new(), 0_usize);
        while let Some(step) = steps.pop_front() {
            used = used.saturating_add(step.action_count());
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

/// The number of actions of these steps.
pub(super) fn action_count(steps: &[WriteStep]) -> usize {
    steps.iter().map(WriteStep::action_count).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(number: usize) -> WriteStep {
        WriteStep::Show(StoreId::derive(&[]), MediaId::derive(&[&number.to_string()]))
    }

    #[test]
    fn no_steps_are_one_empty_transaction() {
        let (before, last) = cut(Vec::new(), 94);
        assert!(before.is_empty() && last.is_empty());
    }

    #[test]
    fn steps_beyond_the_last_transaction_go_into_earlier_ones() {
        let (before, last) = cut((0..94).map(show).collect(), 94);
        assert_eq!((before.len(), last.len()), (0, 94));
        let (before, last) = cut((0..300).map(show).collect(), 94);
        let sizes: Vec<usize> = before.iter().map(Vec::len).collect();
        assert_eq!((sizes, last.len()), (vec![99, 99, 8], 94));
    }
}
