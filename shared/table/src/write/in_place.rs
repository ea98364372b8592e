//! Writes of a whole item in place, without the attributes that other writes count in.

use super::{Change, Condition};
use crate::item;
use crate::item::{Attributes, Index, Item};
use primitives::problem::Problem;

/// The change that sets or removes every attribute of an item but its key and `counted`, if the
/// stored one is the version before and meets `and`.
pub(super) fn everything_but<T: Item>(
    item: &T,
    counted: &[&str],
    and: Condition,
) -> Result<Change, Problem> {
    let (written, absent) = item::written(item)?;
    Ok(set_all(written, &absent, item.version(), counted, and))
}

fn set_all(
    written: Attributes,
    absent: &[String],
    version: u64,
    counted: &[&str],
    and: Condition,
) -> Change {
    let mut condition = and;
    condition.text = match condition.text.as_str() {
        "" => "#version = :before".to_owned(),
        more => format!("#version = :before AND ({more})"),
    };
    condition = condition.name("#version", "version").value(":before", version.saturating_sub(1));
    let (mut set, mut remove) = (Vec::new(), Vec::new());
    let indexes = Index::ALL.map(Index::key_names);
    let keys = indexes.iter().flat_map(|(pk, sk)| [*pk, *sk]).chain(["ttl"]);
    let absent = absent.iter().map(String::as_str).chain(keys);
    let mut absent: Vec<&str> =
        absent.filter(|name| !written.contains_key(*name) && !counted.contains(name)).collect();
    absent.sort_unstable();
    for (position, name) in absent.into_iter().enumerate() {
        condition = condition.name(&format!("#r{position}"), name);
        remove.push(format!("#r{position}"));
    }
    for (position, (name, value)) in written.into_iter().enumerate() {
        if name == "PK" || name == "SK" || name == "version" || counted.contains(&name.as_str()) {
            continue;
        }
        condition = condition.name(&format!("#s{position}"), &name);
        condition.values.insert(format!(":s{position}"), value);
        set.push(format!("#s{position} = :s{position}"));
    }
    set.push("#version = :now".to_owned());
    condition = condition.value(":now", version);
    let mut update = format!("SET {}", set.join(", "));
    if !remove.is_empty() {
        update = format!("{update} REMOVE {}", remove.join(", "));
    }
    Change { update, condition }
}
