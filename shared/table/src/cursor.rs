//! Cursor positions in lists that are in memory as a whole, because they are short or sorted on request. A
//! page continues after an item, never after a count of items. So an item that is added or removed
//! meanwhile neither repeats nor hides another one (docs/conventions.md §3).

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::Scanned;
use crate::item::{Attributes, Key};
use primitives::problem::{Code, Problem};

/// The last returned item, of a list in its own order.
const LAST: &str = "last";
/// The item that was to come next.
const NEXT: &str = "next";
/// The number of returned items.
const RETURNED: &str = "shown";
/// The number of items that are not returned yet.
const LEFT: &str = "left";
/// The sort key of the last returned item, of a sorted list.
const AFTER: &str = "after";

/// The page of a list in its own order, from `start` on; `key` identifies its items.
///
/// # Errors
/// `invalid_cursor`.
pub fn part<T>(
    all: Vec<T>,
    limit: usize,
    start: Option<&Attributes>,
    key: impl Fn(&T) -> String,
) -> Result<Scanned<T>, Problem> {
    let keys: Vec<String> = all.iter().map(key).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let first = start.map_or(Ok(0), |position| resume(&keys, position))?;
    let mut found = Scanned::at(None);
    let returned = (first.saturating_add(1)..).take(limit);
    for (item, returned) in all.into_iter().skip(first).zip(returned) {
        found.push(item, position_at(&keys, returned));
    }
    Ok(found)
}

/// The position after this many items of a list in its own order; none at its end.
pub fn position_at(keys: &[&str], returned: usize) -> Option<Attributes> {
    let (last, next) = (keys.get(returned.checked_sub(1)?)?, keys.get(returned)?);
    let left = keys.len().saturating_sub(returned).to_string();
    let parts = [(LAST, *last), (NEXT, *next), (RETURNED, &returned.to_string()), (LEFT, &left)];
    Some(parts.map(|(name, text)| (name.to_owned(), AttributeValue::S(text.to_owned()))).into())
}

/// The number of items of the current list before a position in it.
///
/// The position names its two neighbours, and either of them is enough. If both were removed, the position
/// is found by the number of items before and after it. An item that the merchant moves past the position
/// is returned twice or not at all; no other is.
///
/// # Errors
/// `invalid_cursor`: it is a position in another kind of list.
pub fn resume(keys: &[&str], position: &Attributes) -> Result<usize, Problem> {
    let text = |name: &str| Some(position.get(name)?.as_s().ok()?.as_str());
    let count = |name: &str| text(name)?.parse::<usize>().ok();
    let parts = (text(LAST), text(NEXT), count(RETURNED), count(LEFT));
    let (Some(last), Some(next), Some(returned), Some(left)) = parts else {
        return Err(Code::InvalidCursor.into());
    };
    let index_of = |key: &str| keys.iter().position(|present| *present == key);
    let after_last = index_of(last).map(|index| index.saturating_add(1));
    let (before, remaining) = (returned.saturating_sub(1), left.saturating_sub(1));
    Ok(match (after_last, index_of(next)) {
        // An item was inserted between them, or one was moved: the counts decide.
        (Some(after_last), Some(next)) => {
            let off = |at: usize| {
                let rest = keys.len().saturating_sub(at);
                at.abs_diff(returned).saturating_add(rest.abs_diff(left))
            };
            if off(next) < off(after_last) { next } else { after_last }
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => before.min(keys.len().saturating_sub(remaining)),
    })
}

/// The page of a list that is in memory as a whole, by ascending `key`, after `start`. Its cursor has the
/// key of the last returned item.
///
/// # Errors
/// `invalid_cursor`.
pub fn sorted<T>(
    items: impl IntoIterator<Item = T>,
    limit: usize,
    start: Option<&Attributes>,
    key: impl Fn(&T) -> String,
) -> Result<Scanned<T>, Problem> {
    let after = start.map(key_before).transpose()?;
    let mut keyed: Vec<(String, T)> = items.into_iter().map(|item| (key(&item), item)).collect();
    keyed.retain(|(key, _)| after.is_none_or(|after| key.as_str() > after));
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let has_more = keyed.len() > limit;
    keyed.truncate(limit);
    let after = |key: &str| [(AFTER.to_owned(), AttributeValue::S(key.to_owned()))].into();
    let mut found = Scanned::at(None);
    for (key, item) in keyed {
        found.push(item, Some(after(&key)));
    }
    found.next = found.next.filter(|_| has_more);
    Ok(found)
}

/// The sort key of the item that a position is after.
fn key_before(position: &Attributes) -> Result<&str, Problem> {
    let key = position.get(AFTER).and_then(|text| text.as_s().ok());
    key.map(String::as_str).ok_or_else(|| Code::InvalidCursor.into())
}

/// A position of a walk that runs its queries itself: an item's key, and further values of the walk, by
/// name.
pub fn position_of<'a>(
    key: &Key,
    notes: impl IntoIterator<Item = (&'a str, String)>,
) -> Attributes {
    let mut position = key.attributes();
    let notes = notes.into_iter().map(|(name, text)| (name.to_owned(), AttributeValue::S(text)));
    position.extend(notes);
    position
}

/// The item's key of such a position, where a query continues; and the further values of the walk, by
/// name.
///
/// # Errors
/// `invalid_cursor`: it is a position in another kind of list.
pub fn recall<'a>(
    position: &'a Attributes,
    key: &[&str],
) -> Result<(Attributes, BTreeMap<&'a str, &'a str>), Problem> {
    let texts =
        position.iter().map(|(name, text)| Some((name.as_str(), text.as_s().ok()?.as_str())));
    let texts: Option<BTreeMap<_, _>> = texts.collect();
    let mut notes = texts.ok_or(Code::InvalidCursor)?;
    let mut start = Attributes::new();
    for name in key {
        let text = notes.remove(*name).ok_or(Code::InvalidCursor)?;
        start.insert((*name).to_owned(), AttributeValue::S(text.to_owned()));
    }
    Ok((start, notes))
}

/// Whether a query can continue at a position: it is an item's, and not one of this module.
pub fn is_of_query(position: &Attributes) -> bool {
    position.contains_key("PK")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a list two at a time; `change` changes the list after each page.
    fn walk(list: &str, change: impl Fn(&str) -> String) -> String {
        let (mut list, mut start, mut seen) = (list.to_owned(), None, String::new());
        loop {
            let page = part(list.chars().collect(), 2, start.as_ref(), char::to_string).unwrap();
            seen.extend(&page.items);
            match page.next {
                None => return seen,
                next => start = next,
            }
            list = change(&list);
        }
    }

    #[test]
    fn inserted_and_deleted_items_hide_and_repeat_no_others() {
        let without = |removed: &'static str| {
            move |list: &str| {
                list.chars().filter(|item| !removed.contains(*item)).collect::<String>()
            }
        };
        assert_eq!(walk("abcdefg", str::to_owned), "abcdefg");
        for (removed, seen) in [
            ("a", "abcdefg"),
            ("b", "abcdefg"),
            ("ab", "abcdefg"),
            ("c", "abdefg"),
            ("bc", "abdefg"),
            ("abc", "abdefg"),
            ("abcd", "abefg"),
            ("abcdefg", "ab"),
        ] {
            assert_eq!(walk("abcdefg", without(removed)), seen, "without {removed}");
        }
        let put = |list: &str| if list.contains('x') { list.into() } else { format!("x{list}") };
        assert_eq!(walk("abcdefg", put), "abcdefg");
        let between = |list: &str| list.replace("bc", "bxc");
        assert_eq!(walk("abcdefg", between), "abxcdefg");
        // The next one moves to the top, and then the last returned one does.
        assert_eq!(walk("abcde", |list| list.replace("abcde", "cabde")), "abde");
        assert_eq!(walk("abcde", |list| list.replace("abcde", "bacde")), "abcde");
        // The last returned one and its predecessor are removed, and one is added.
        let swapped = |list: &str| list.replace("ab", "") + "x";
        assert_eq!(&walk("abc", swapped)[..3], "abc");
    }

    #[test]
    fn a_position_of_another_kind_of_list_is_rejected() {
        let position = position_at(&["a", "b"], 1).unwrap();
        assert!(sorted(["a"], 1, Some(&position), |item| (*item).to_owned()).is_err());
        let sorted = sorted(["a", "b"], 1, None, |item| (*item).to_owned()).unwrap();
        assert!(resume(&["a"], &sorted.next.unwrap()).is_err());
        assert!(
            !is_of_query(&position)
                && position_at(&["a"], 1).is_none()
                && position_at(&[], 0).is_none()
        );
    }

    #[test]
    fn a_sorted_list_continues_after_its_last_returned_item() {
        let page = |items: &str, start: Option<&Attributes>| {
            sorted(items.chars().collect::<Vec<_>>(), 2, start, char::to_string).unwrap()
        };
        let first = page("dbac", None);
        assert_eq!(first.items, ['a', 'b']);
        let position = first.next.unwrap();
        assert!(!is_of_query(&position));
        let last = page("dbac", Some(&position));
        assert_eq!((last.items, last.next), (vec!['c', 'd'], None));
        assert!(page("ba", None).next.is_none(), "it is whole");
        assert!(page("ba", Some(&position)).items.is_empty());
    }

    #[test]
    fn a_cursor_stores_position_and_notes() {
        let key = Key::new("P", "S");
        let position = position_of(&key, [("seen", "7".to_owned())]);
        assert!(is_of_query(&position));
        let (start, notes) = recall(&position, &["PK", "SK"]).unwrap();
        assert_eq!(start, key.attributes());
        assert_eq!(notes, BTreeMap::from([("seen", "7")]));
        let code = |position: &Attributes| recall(position, &["PK", "SK"]).unwrap_err().code;
        assert_eq!(code(&position_at(&["a", "b"], 1).unwrap()), Code::InvalidCursor);
        let mut odd = position;
        odd.insert("seen".into(), AttributeValue::Bool(true));
        assert_eq!(code(&odd), Code::InvalidCursor);
    }
}
