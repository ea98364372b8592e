//! Walks over several partitions, which continue where they stopped, perhaps in another process.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use super::Query;
use crate::Table;
use crate::item::{Attributes, Element};
use primitives::problem::Problem;

/// The most queries of one page of a walk; then the page ends early, with a position.
const MAX_QUERIES: u32 = 40;

/// The position of a walk: a partition, and the last item in it. It is stored with the work that walks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WalkPosition(BTreeMap<String, String>);

impl WalkPosition {
    /// The beginning of a partition.
    fn beginning(query: &Query) -> Self {
        let name = query.partition_name().to_owned();
        Self([(name, query.partition_key().to_owned())].into())
    }

    /// After an item: all parts of keys are texts.
    fn after(position: &Attributes) -> Self {
        let text = |(name, value): (&String, &AttributeValue)| {
            Some((name.clone(), value.as_s().ok()?.clone()))
        };
        Self(position.iter().filter_map(text).collect())
    }

    /// The sort key, in its index, of the last item read; none at the beginning of a partition.
    pub fn last(&self) -> Option<&str> {
        let is_sort_key = |name: &str| name.starts_with("GSI") && name.ends_with("SK");
        let found = self.0.iter().find(|(name, _)| is_sort_key(name));
        found.map(|(_, key)| key.as_str())
    }

    fn is_in(&self, query: &Query) -> bool {
        self.0.get(query.partition_name()).is_some_and(|name| name == query.partition_key())
    }

    /// The key after which a query continues; none at the beginning of its partition.
    fn start(&self) -> Option<Attributes> {
        let text =
            |(name, text): (&String, &String)| (name.clone(), AttributeValue::S(text.clone()));
        self.0.contains_key("PK").then(|| self.0.iter().map(text).collect())
    }
}

impl Table {
    /// A page of a walk over queries, in their order: up to `limit` elements that pass `filter`, from
    /// `place` on, and the next position; none at the walk's end. A page that is not the last may be
    /// empty.
    ///
    /// # Errors
    /// 503 when the table cannot be reached; `internal` of a place in another walk.
    pub async fn walk<T: Element>(
        &self,
        queries: &[Query],
        limit: usize,
        place: Option<&WalkPosition>,
        filter: impl Fn(&T) -> bool,
    ) -> Result<(Vec<T>, Option<WalkPosition>), Problem> {
        let first = place.map_or(Some(0), |place| queries.iter().position(|it| place.is_in(it)));
        let first =
            first.ok_or_else(|| Problem::internal("a cursor position belongs to another walk"))?;
        let (mut start, mut left) = (place.and_then(WalkPosition::start), MAX_QUERIES);
        let mut found = Vec::new();
        for query in queries.iter().skip(first) {
            let wanted = limit.saturating_sub(found.len());
            if wanted == 0 || left == 0 {
                return Ok((found, Some(WalkPosition::beginning(query))));
            }
            let query = query.clone().without_read_limit();
            let page = self.page_within(&query, wanted, start.take(), &filter, &mut left).await?;
            found.extend(page.items);
            if let Some(next) = page.next {
                return Ok((found, Some(WalkPosition::after(&next))));
            }
        }
        Ok((found, None))
    }
}
