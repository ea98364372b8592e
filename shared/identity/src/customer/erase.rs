//! Removes an account and its items.

use core_types::event::Event;
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Query, Write};

use super::{CUSTOMER_DELETED, Customer, CustomerDeleted};

/// The number of a customer's items that are read per round.
const AT_ONCE: usize = 1_000;
/// The maximum number of rounds, so that the loop ends.
const ROUNDS: u32 = 10;
/// The maximum number of actions in one transaction.
const TOGETHER: usize = 100;

/// Adds the removal of the account itself: releases what identifies it and emits the event. Rejected if the
/// account does not exist, and with `version_conflict` if its address has changed.
pub fn remove(write: Write, account: &Customer, rejected: Code, now: Timestamp) -> Write {
    let deleted = CustomerDeleted { id: account.id.clone(), deleted_at: now };
    account
        .release(write.delete_if(&account.key(), Condition::exists(), rejected))
        .emit(Event::new(&CUSTOMER_DELETED, account.event_subject(), &deleted, now))
}

/// Removes all items of a customer except the account itself, the records of accounts merged into
/// it, and items whose sort key begins with `except`.
///
/// # Errors
/// 503.
pub async fn erase_items_except(
    services: &Services,
    account: &Key,
    except: &str,
) -> Result<(), Problem> {
    let own = account.clone();
    for _ in 0..ROUNDS {
        let mut keys = services.table.keys(&Query::partition(own.pk.clone()), AT_ONCE).await?;
        let all = keys.len();
        keys.retain(|key| {
            let is_excepted = !except.is_empty() && key.sk.starts_with(except);
            *key != own && !key.sk.starts_with(key::MERGES) && !is_excepted
        });
        for together in keys.chunks(TOGETHER) {
            let write = together.iter().fold(services.table.write(), Write::delete);
            write.commit().await?;
        }
        if all < AT_ONCE {
            break;
        }
    }
    Ok(())
}
