//! The transaction that begins a merge: it deletes the source account and adds its data to the remaining one.

use std::collections::BTreeSet;

use catalogue::wishlist::MAX_WISHES;
use core_types::event::Event;
use core_types::id::{CustomerId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use identity::customer::{CUSTOMER_UPDATED, Customer};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use sales::order::guest::GuestOrders;
use services::Services;
use table::item::Item;
use table::{Condition, Query, Write};

use super::{CUSTOMER_MERGED, CustomerMerged, Merge, MergeStatus};
use crate::redaction::Redaction;

/// The most items of pending guest orders of one account that are moved.
const MAX_GUEST_ORDERS: usize = 20;
/// The most former merges into the source account that are moved in the transaction.
const MAX_MERGES: usize = 20;

/// The two customers of a merge with the related items, as they were read.
struct Both {
    stays: Customer,
    goes: Customer,
    redactions: Vec<Redaction>,
    former: Vec<Merge>,
    works: Vec<GuestOrders>,
}

/// Prepares the transaction that merges `source` into `customer`, or resumes a failed merge. Returns the
/// merge without a transaction if it has begun already.
///
/// # Errors
/// `not_found`; `same_customer` and `unknown_customer` as field errors of `/source_id`;
/// `customers_not_mergeable`, with `reasons`. The transaction is rejected with `version_conflict`.
pub async fn begin(
    services: &Services,
    store: &StoreId,
    (customer, source): (&CustomerId, &CustomerId),
    by: &str,
    now: Timestamp,
) -> Result<(Merge, Option<Write>), Problem> {
    if customer == source {
        let detail = "A customer cannot be merged into themselves.";
        return Err(Problem::field("/source_id", "same_customer", detail));
    }
    let merge = Merge::of(store, (customer, source), by, now);
    let keys = [key::customer(store, customer), key::customer(store, source), merge.key()];
    let redactions = [customer, source].map(|id| key::redaction(&Redaction::id_of(store, id)));
    let all: Vec<_> = keys.iter().chain(&redactions).collect();
    let mut batch = services.table.get_many(&all).await?;
    let [stays, goes] = [batch.take(&keys[0])?, batch.take(&keys[1])?];
    let stays: Customer = stays.ok_or(Code::NotFound)?;
    let before: Option<Merge> = batch.take(&keys[2])?;
    let goes: Customer = match (goes, before) {
        (Some(goes), _) => goes,
        (None, Some(before)) if before.status == MergeStatus::Failed => {
            let resumed = before.resumed(now);
            let write = services.table.write().replace(&resumed, Code::VersionConflict);
            return Ok((resumed, Some(write)));
        }
        (None, Some(before)) => return Ok((before, None)),
        (None, None) => {
            let detail = "There is no such customer in the store.";
            return Err(Problem::field("/source_id", "unknown_customer", detail));
        }
    };
    let redactions = [batch.take(&redactions[0])?, batch.take(&redactions[1])?];
    let redactions = redactions.into_iter().flatten().collect();
    // Read after the account: a concurrent write of a related item changes the account's version.
    let alongside = Query::partition(goes.key().pk).begins_with(key::GUEST_ORDERS);
    let (former, works) = tokio::try_join!(
        Merge::all_into(services, store, source),
        services.table.all(&alongside, MAX_GUEST_ORDERS)
    )?;
    let both = Both { stays, goes, redactions, former, works };
    let reasons = both.reasons();
    if !reasons.is_empty() {
        return Err(Code::CustomersNotMergeable.with("reasons", Vec::from_iter(reasons)));
    }
    let write = both.write(services.table.write(), &merge, now);
    Ok((merge, Some(write)))
}

impl Both {
    /// The reasons why they cannot be merged.
    fn reasons(&self) -> BTreeSet<&'static str> {
        let mut reasons = self.stays.fields_over_limit_if_merged(&self.goes, MAX_WISHES);
        if self.redactions.iter().any(|redaction| !redaction.is_over()) {
            reasons.insert("redaction");
        }
        if self.former.iter().any(|merge| merge.status != MergeStatus::Succeeded) {
            reasons.insert("merge");
        }
        if self.former.len() > MAX_MERGES {
            reasons.insert("merges");
        }
        reasons
    }

    fn write(&self, write: Write, merge: &Merge, now: Timestamp) -> Write {
        let (goes, stays) = (&self.goes, self.stays.absorbing(&self.goes, now));
        let merged =
            CustomerMerged { id: stays.id.clone(), source_id: goes.id.clone(), merged_at: now };
        let write = stays
            .replace(write, Code::VersionConflict)
            .delete_unchanged(goes, Code::VersionConflict);
        let write = goes
            .release(write)
            .create(merge, Code::VersionConflict)
            .emit(stays.event(&CUSTOMER_UPDATED, now))
            .emit(Event::new(&CUSTOMER_MERGED, stays.event_subject(), &merged, now));
        let ids = [&stays.id, &goes.id];
        let write = ids.iter().fold(write, |write, id| self.require_unredacted(write, merge, id));
        let write = self.former.iter().fold(write, |write, former| {
            let moved = Merge { customer_id: stays.id.clone(), ..former.changed(now) };
            write.delete_unchanged(former, Code::VersionConflict).put(&moved)
        });
        self.works.iter().fold(write, |write, work| {
            let moved = GuestOrders { customer_id: stays.id.clone(), ..work.clone() };
            write.delete(&work.key()).put(&moved)
        })
    }

    /// Adds the condition that no redaction was requested in the meantime.
    fn require_unredacted(&self, write: Write, merge: &Merge, customer: &CustomerId) -> Write {
        let id = Redaction::id_of(&merge.store_id, customer);
        let known = self.redactions.iter().find(|redaction| redaction.id == id);
        let condition = known.map_or_else(
            || Condition::new("attribute_not_exists(PK)"),
            |redaction| Condition::is_at(redaction.version),
        );
        write.check(&key::redaction(&id), condition, Code::VersionConflict)
    }
}
