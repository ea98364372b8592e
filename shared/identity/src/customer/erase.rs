//! Removing what an account holds.

use gateway::app::App;
use gateway::item::Item;
use gateway::problem::Problem;
use gateway::table::{Query, Write};

use super::Customer;

/// Items of a customer that are looked at together when they leave.
const AT_ONCE: usize = 1_000;
/// How often, so that what takes for ever ends anyway.
const ROUNDS: u32 = 10;
/// Actions of one transaction.
const TOGETHER: usize = 100;

/// Removes everything of a customer's but the account itself and what `kept` begins sort keys.
///
/// # Errors
/// 503.
pub async fn erase_belongings(app: &App, account: &Customer, kept: &str) -> Result<(), Problem> {
    let own = account.key();
    for _ in 0..ROUNDS {
        let mut keys = app.table.keys(&Query::partition(own.pk.clone()), AT_ONCE).await?;
        let all = keys.len();
        keys.retain(|key| *key != own && (kept.is_empty() || !key.sk.starts_with(kept)));
        for together in keys.chunks(TOGETHER) {
            let write = together.iter().fold(app.table.write(), Write::delete);
            write.commit().await?;
        }
        if all < AT_ONCE {
            break;
        }
    }
    Ok(())
}
