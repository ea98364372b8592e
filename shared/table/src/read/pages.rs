//! Pages of lists: the items that pass a filter, and the position of the next page, which may be inside an
//! item with several elements.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{Query, position_of};
use crate::Listed;
use crate::Table;
use crate::TableUse;
use crate::item;
use crate::item::{Attributes, Element, Key};
use primitives::context::Context;
use primitives::problem::{Code, Problem};

/// The maximum reads of a request for one page. It is stored in the [`Context`]; without it there is no
/// limit.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimit {
    /// The page ends once the request has read more, in tenths of a capacity unit.
    pub capacity_tenths: u64,
}

impl ReadLimit {
    /// Whether the page of the current request has to end.
    pub fn is_reached() -> bool {
        let Some(context) = Context::current() else { return false };
        let Some(limit) = context.get::<Self>() else { return false };
        context.get().is_some_and(|used: TableUse| used.capacity_tenths > limit.capacity_tenths)
    }
}

/// The attribute of a position that counts the elements returned of its item, if the page ended inside
/// it.
const WITHIN: &str = "within";

/// The result of reading a page of a list.
#[derive(Debug)]
pub struct Scanned<T> {
    /// The items that passed the filter, at most `limit`.
    pub items: Vec<T>,
    /// The position at which to continue, if there may be more.
    pub next: Option<Attributes>,
    /// The position after each item, if the page has to end there; none at the end of the list.
    after: Vec<Option<Attributes>>,
}

impl<T> Scanned<T> {
    /// An empty result of a list that begins here.
    pub fn at(start: Option<Attributes>) -> Self {
        Self { items: Vec::new(), next: start, after: Vec::new() }
    }

    /// Adds an item, with the position after it.
    pub fn push(&mut self, item: T, after: Option<Attributes>) {
        self.items.push(item);
        self.after.push(after.clone());
        self.next = after;
    }

    /// Appends the result of a later query.
    pub fn extend(&mut self, more: Self) {
        self.items.extend(more.items);
        self.after.extend(more.after);
        self.next = more.next;
    }

    /// Maps the items; those without a result are left out.
    pub fn filter_map<U>(self, mut change: impl FnMut(T) -> Option<U>) -> Scanned<U> {
        let next = self.next.clone();
        let mapped = self.into_pairs().filter_map(|(item, after)| Some((change(item)?, after)));
        let (items, after) = mapped.unzip();
        Scanned { items, next, after }
    }

    /// Adds the elements of an item, except for those already `returned`, until the page is full. Returns
    /// whether the item has more elements.
    fn fill(
        &mut self,
        held: Vec<T>,
        returned: usize,
        after: &Attributes,
        limit: usize,
        filter: impl Fn(&T) -> bool,
    ) -> Option<bool> {
        let all = held.len();
        for (count, element) in (1..).zip(held).skip(returned) {
            if !filter(&element) {
                continue;
            }
            let mut position = after.clone();
            if count < all {
                position.insert(WITHIN.to_owned(), AttributeValue::S(count.to_string()));
            }
            self.push(element, Some(position));
            if self.items.len() >= limit {
                return Some(count < all);
            }
        }
        None
    }

    /// The items, each with the position after it.
    pub fn into_pairs(self) -> impl Iterator<Item = (T, Option<Attributes>)> {
        self.items.into_iter().zip(self.after)
    }
}

impl Query {
    /// The elements of an item, in the order of the list.
    fn listed<T: Element>(&self, holder: Option<T::Container>) -> Vec<T> {
        let mut held = holder.map(T::held_by).unwrap_or_default();
        if self.newest_first {
            held.reverse();
        }
        held
    }
}

impl Table {
    /// A page: up to `limit` items or elements that pass `filter`, from `start` on. Its reads count for
    /// the cost of the list.
    pub async fn page<T: Element>(
        &self,
        query: &Query,
        limit: usize,
        start: Option<Attributes>,
        filter: impl Fn(&T) -> bool,
    ) -> Result<Scanned<T>, Problem> {
        let mut left = query.trips;
        self.page_within(query, limit, start, filter, &mut left).await
    }

    /// As [`Table::page`], with at most `left` queries, which it subtracts from: several partitions share
    /// one budget. Without any left it returns nothing, and its next position is `start`.
    pub async fn page_within<T: Element>(
        &self,
        query: &Query,
        limit: usize,
        start: Option<Attributes>,
        filter: impl Fn(&T) -> bool,
        left: &mut u32,
    ) -> Result<Scanned<T>, Problem> {
        let mut scanned = Scanned::at(start);
        if *left > 0 && self.rest(query, limit, &mut scanned, &filter, left).await? {
            return Ok(scanned);
        }
        while *left > 0 {
            *left = left.saturating_sub(1);
            let ahead = limit.max(query.ahead);
            let (mut found, mut next) = self.query_once(query, ahead, scanned.next.take()).await?;
            if query.names_only() && found.len() > ahead {
                // The row that says that there are more is not worth a read.
                found.truncate(ahead);
                next = found.last().map(|row| position_of(query.index, row));
            }
            let all = found.len();
            let last = all.saturating_sub(1);
            let mut items = self.named(query, &found).await?;
            for (position, attributes) in found.into_iter().enumerate() {
                let after = position_of(query.index, &attributes);
                let parsed: Option<T::Container> = match &mut items {
                    None if query.matches_suffix(&attributes) => Some(item::parse(attributes)?),
                    None => None,
                    Some(items) => Key::of(&attributes).map_or(Ok(None), |key| items.take(&key))?,
                };
                let held = query.listed(parsed);
                if let Some(rest) = scanned.fill(held, 0, &after, limit, &filter) {
                    Listed::count(1, position.saturating_add(1));
                    let more = rest || position < last || next.is_some();
                    scanned.next = scanned.next.filter(|_| more);
                    return Ok(scanned);
                }
            }
            Listed::count(1, all);
            scanned.next = next;
            if scanned.next.is_none() || (!query.is_unlimited && ReadLimit::is_reached()) {
                break;
            }
        }
        Ok(scanned)
    }

    /// Adds the rest of an item that the previous page ended in. Returns whether the page is full with it.
    async fn rest<T: Element>(
        &self,
        query: &Query,
        limit: usize,
        scanned: &mut Scanned<T>,
        filter: impl Fn(&T) -> bool,
        left: &mut u32,
    ) -> Result<bool, Problem> {
        let Some(after) = &mut scanned.next else { return Ok(false) };
        let Some(AttributeValue::S(returned)) = after.remove(WITHIN) else { return Ok(false) };
        let (Ok(returned), Some(key)) = (returned.parse(), Key::of(after)) else {
            return Err(Code::InvalidCursor.into());
        };
        let after = after.clone();
        Listed::count(1, 1);
        let held = query.listed(self.get_many_eventually(&[&key]).await?.take(&key)?);
        let Some(rest) = scanned.fill(held, returned, &after, limit, filter) else {
            scanned.next = Some(after);
            return Ok(false);
        };
        if !rest {
            *left = left.saturating_sub(1);
            let (more, _) = self.query_once(query, 1, Some(after)).await?;
            scanned.next = scanned.next.take().filter(|_| !more.is_empty());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages over items with this many elements each: the numbers of the elements of each page, and
    /// whether the last item has more.
    fn pages(items: &[&[u32]], limit: usize) -> Vec<(Vec<u32>, bool)> {
        let after = |item: usize| [("PK".to_owned(), AttributeValue::S(item.to_string()))].into();
        let (mut found, mut item, mut returned) = (Vec::new(), 0_usize, 0);
        while item < items.len() {
            let mut page = Scanned::at(None);
            let mut rest = None;
            while rest.is_none() && item < items.len() {
                rest = page.fill(items[item].to_vec(), returned, &after(item), limit, |n| *n != 0);
                returned = 0;
                item = item.saturating_add(1);
            }
            if rest == Some(true) {
                let position = page.next.as_ref().unwrap();
                returned = position[WITHIN].as_s().unwrap().parse().unwrap();
                item = position["PK"].as_s().unwrap().parse().unwrap();
            }
            found.push((page.items, rest == Some(true)));
        }
        found
    }

    #[test]
    fn a_page_may_end_inside_an_item_and_the_next_continues_there() {
        let all: [&[u32]; 3] = [&[1, 2, 3], &[4], &[5, 6]];
        assert_eq!(pages(&all, 2), [(vec![1, 2], true), (vec![3, 4], false), (vec![5, 6], false)]);
        assert_eq!(pages(&all, 4), [(vec![1, 2, 3, 4], false), (vec![5, 6], false)]);
        assert_eq!(pages(&all, 5), [(vec![1, 2, 3, 4, 5], true), (vec![6], false)]);
        assert_eq!(pages(&all, 9), [(vec![1, 2, 3, 4, 5, 6], false)]);
    }

    #[test]
    fn filtered_items_are_on_no_page_and_fill_none() {
        let all: [&[u32]; 2] = [&[0, 1, 0, 2], &[0, 3]];
        assert_eq!(pages(&all, 1), [(vec![1], true), (vec![2], false), (vec![3], false)]);
        assert_eq!(pages(&[&[1, 0]], 1), [(vec![1], true), (vec![], false)]);
    }

    #[test]
    fn a_page_that_ends_early_continues_after_its_last_item() {
        let after: Attributes = [("PK".to_owned(), AttributeValue::S("x".to_owned()))].into();
        let mut page = Scanned::at(None);
        assert_eq!(page.fill(vec![1, 2, 3], 1, &after, 9, |_| true), None);
        let within = |position: Option<Attributes>| {
            let within = position.unwrap().remove(WITHIN);
            within.map(|within| within.as_s().unwrap().clone())
        };
        let positions: Vec<_> = page.into_pairs().map(|(item, at)| (item, within(at))).collect();
        assert_eq!(positions, [(2, Some("2".to_owned())), (3, None)]);
    }
}
