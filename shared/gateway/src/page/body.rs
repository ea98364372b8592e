//! The body of a page: as many items as fit into a response, each serialized once.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use primitives::size::{WIDEST, escaped_len};
use table::Scanned;
use table::item::Attributes;

/// The JSON body of a page; `E` has the members about the list as a whole.
#[derive(Serialize)]
pub(super) struct Body<'a, E: Serialize> {
    pub(super) data: Vec<Box<RawValue>>,
    pub(super) page: Head<'a>,
    #[serde(flatten)]
    pub(super) extras: E,
}

/// The position of a page in its list.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    pub(super) limit: u32,
    pub(super) has_more: bool,
    pub(super) next_cursor: Option<&'a str>,
}

/// The views of as many items as fit into a response, and the position after them.
pub(super) fn fitting<T, V: Serialize>(
    found: Scanned<T>,
    capacity: usize,
    view: impl Fn(T) -> V,
) -> (Vec<Box<RawValue>>, Option<Attributes>) {
    let next = found.next.clone();
    let (mut data, mut last) = (Vec::new(), None);
    let mut taken = Taken::default();
    for (item, after) in found.into_pairs() {
        // Views are plain structs of ours: writing one cannot fail but by running out of memory.
        let json = to_raw_value(&view(item)).unwrap_or_default();
        if !taken.adds(&data, &json, capacity) && last.is_some() {
            return (data, last);
        }
        data.push(json);
        last = after;
    }
    (data, next)
}

/// The size of items in the body, each with its comma.
#[derive(Default)]
struct Taken {
    /// The upper bound of their bytes.
    most: usize,
    /// Their exact bytes, once the upper bound is too large: few pages are so long.
    counted: Option<usize>,
}

impl Taken {
    /// Adds an item after these. Returns whether it fits.
    fn adds(&mut self, before: &[Box<RawValue>], item: &RawValue, capacity: usize) -> bool {
        let widest = item.get().len().saturating_mul(WIDEST).saturating_add(1);
        self.most = self.most.saturating_add(widest);
        if self.most <= capacity {
            return true;
        }
        let size = |item: &RawValue| escaped_len(item.get().as_bytes()).saturating_add(1);
        let all = || before.iter().map(|item| size(item)).fold(0, usize::saturating_add);
        let counted = self.counted.unwrap_or_else(all);
        let counted = counted.saturating_add(size(item));
        self.counted = Some(counted);
        counted <= capacity
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;
    use primitives::size::PAGE_LIMIT;

    /// The number of items on a page, for items of these sizes in bytes, and whether there is another page.
    fn page_of_sizes(sizes: &[usize]) -> (usize, bool) {
        let mut found = Scanned::at(None);
        for (number, size) in sizes.iter().enumerate() {
            // Two quotes, escaped, and a comma.
            let text = "x".repeat(size.saturating_sub(5));
            let position = [(number.to_string(), AttributeValue::Bool(true))].into();
            found.push(text, Some(position));
        }
        found.next = None;
        let (data, next) = fitting(found, PAGE_LIMIT, |text| text);
        let after = data.len().saturating_sub(1).to_string();
        assert!(next.as_ref().is_none_or(|position| position.contains_key(&after)));
        (data.len(), next.is_some())
    }

    #[test]
    fn a_page_ends_where_more_would_be_too_much() {
        let half = PAGE_LIMIT / 2;
        assert_eq!(page_of_sizes(&[half, half]), (2, false));
        assert_eq!(page_of_sizes(&[half, half + 1]), (1, true));
        assert_eq!(page_of_sizes(&[half, half, 5]), (2, true));
        assert_eq!(page_of_sizes(&[1000, PAGE_LIMIT - 1000]), (2, false));
        assert_eq!(
            page_of_sizes(&[1000, PAGE_LIMIT - 999]),
            (1, true),
            "what came first is counted, too"
        );
        assert_eq!(page_of_sizes(&[PAGE_LIMIT + 1, 5]), (1, true), "one is always shown");
        assert_eq!(page_of_sizes(&[PAGE_LIMIT + 1]), (1, false));
    }

    #[test]
    fn the_extras_of_a_list_stand_alongside_its_items() {
        #[derive(Serialize)]
        struct Extras {
            unread: u32,
        }
        fn written(extras: impl Serialize) -> String {
            let page = Head { limit: 2, has_more: true, next_cursor: Some("c") };
            let data = vec![to_raw_value(&[1]).unwrap()];
            serde_json::to_string(&Body { data, page, extras }).unwrap()
        }
        let plain = r#"{"data":[[1]],"page":{"limit":2,"has_more":true,"next_cursor":"c"}"#;
        assert_eq!(written(()), format!("{plain}}}"));
        assert_eq!(written(Extras { unread: 3 }), format!(r#"{plain},"unread":3}}"#));
    }
}
