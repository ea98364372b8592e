//! Pages of lists: `limit`, and a `cursor` that is opaque, authenticated and bound to the route,
//! the filter, the store and the principal (docs/conventions.md §3). A full walk meets every item
//! that is there throughout exactly once: a cursor names items, and never counts them.

mod body;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::types::AttributeValue;
use axum::extract::FromRequestParts;
use http::header;
use http::request::Parts;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::bridged;
use crate::budget;
use crate::budget::{Charge, Cost};
#[cfg(feature = "openapi")]
use crate::describe::{Operation, ParameterLocation};
use crate::reply::Page;
use crate::request::{Argument, Inbound, Raw, Reads, Validation};
use crypto::seal::SteadyKey;
use primitives::context::Context;
#[cfg(feature = "openapi")]
use primitives::fields::Int;
use primitives::problem::{Code, FieldError, Problem};
use primitives::size::{BRIDGED_PAGE_LIMIT, PAGE_LIMIT};
use services::Services;
use table::item::{Attributes, Element};
use table::{Listed, Query, ReadLimit, Scanned, cursor};

use body::{Body, Head, fitting};

/// The possible numbers of items of a page.
const LIMITS: RangeInclusive<u32> = 1..=100;
/// The number of items of a page by default.
const DEFAULT_LIMIT: u32 = 20;
/// The attribute of a cursor that names the first item of its walk.
const LEADER: &str = "leader";
/// Queries that a page over several partitions makes before it hands out a cursor: more than the
/// days of a month, so that a quiet month is one page.
const MAX_QUERIES: u32 = 40;

/// The requested page of a list; `E` has further members about the list as a whole ([`Paging::with_extras`]).
#[derive(Debug, Clone)]
pub struct Paging<E = ()> {
    limit: u32,
    /// The most bytes of its body.
    capacity: usize,
    start: Option<Attributes>,
    binding: String,
    path: String,
    query: Vec<(String, String)>,
    key: Option<SteadyKey>,
    extras: E,
    /// The item that the walk returns first, whatever the order of the others.
    leader: Option<String>,
    /// The cost of searching it.
    searching: u32,
}

impl<S: Sync> FromRequestParts<S> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

impl Argument for Paging {
    const READS: Reads = Reads::PAGING;

    /// A cursor of another list is an error, whether or not its filters are well formed.
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let inbound = validation.inbound;
        let requested = inbound.query_param("limit");
        let limit = requested.as_deref().map_or(Some(DEFAULT_LIMIT), |text| text.parse().ok());
        let limit = limit.filter(|limit| LIMITS.contains(limit));
        if limit.is_none() {
            let detail = "Must be an integer from 1 to 100.";
            validation.add(vec![FieldError::new("/limit", "out_of_range", detail)]);
        }
        let mut paging = Self::of(inbound, limit.unwrap_or(DEFAULT_LIMIT));
        if let Some(cursor) = inbound.query_param("cursor") {
            let keys = validation.app.secrets.keys().await?;
            paging.start = paging.open(&cursor, &keys.pages);
            paging.key = Some(keys.pages.clone());
            if paging.start.is_none() {
                validation.reject_cursor();
            }
        }
        inbound.insert(paging);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes::<Int<1, 100>>(ParameterLocation::Query, "limit", false);
        operation.takes::<String>(ParameterLocation::Query, "cursor", false);
        operation.rejects(&[Code::InvalidCursor, Code::ValidationFailed]);
    }
}

impl Paging {
    /// The first page.
    fn of(inbound: &Inbound, limit: u32) -> Self {
        let mut query: Vec<(String, String)> = form_urlencoded::parse(inbound.query.as_bytes())
            .filter(|(name, _)| name != "cursor")
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        query.sort();
        let filters: Vec<_> = query.iter().filter(|(name, _)| name != "limit").collect();
        let context = Context::current();
        let (principal, store) =
            context.map(|context| (context.principal(), context.store())).unwrap_or_default();
        let is_bridged = inbound.headers.contains_key(bridged::MARK);
        Self {
            limit,
            capacity: if is_bridged { BRIDGED_PAGE_LIMIT } else { PAGE_LIMIT },
            start: None,
            binding: json!([inbound.path, filters, principal, store]).to_string(),
            path: inbound.path.clone(),
            query,
            key: None,
            extras: (),
            leader: None,
            searching: Cost::searching(inbound),
        }
    }

    /// Adds members next to `data` and `page`, about the list as a whole.
    #[must_use]
    pub fn with_extras<E: Serialize>(self, extras: E) -> Paging<E> {
        Paging {
            extras,
            limit: self.limit,
            capacity: self.capacity,
            start: self.start,
            binding: self.binding,
            path: self.path,
            query: self.query,
            key: self.key,
            leader: self.leader,
            searching: self.searching,
        }
    }
}

impl<E: Serialize> Paging<E> {
    /// The number of requested items.
    pub fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// The position at which the page begins, for lists that run their queries themselves.
    pub fn start(&self) -> Option<Attributes> {
        self.start.clone()
    }

    /// The item that a list returns first, whatever the order of the others: the one that led it when the
    /// walk began, although another may be preferred by now.
    pub fn leader(&mut self, preferred: Option<String>) -> Option<String> {
        let text = |start: &Attributes| start.get(LEADER)?.as_s().ok().cloned();
        self.leader = self.start.as_ref().map_or(preferred, text);
        self.leader.clone()
    }

    /// The position at which a query continues.
    fn position(&self) -> Result<Option<Attributes>, Problem> {
        match &self.start {
            Some(start) if !cursor::is_of_query(start) => Err(Code::InvalidCursor.into()),
            start => Ok(start.clone()),
        }
    }

    /// Runs the query of a list whose views need further items. Read them, then call [`Paging::finish`].
    pub async fn read<T: Element>(
        &self,
        services: &Services,
        query: &Query,
        filter: impl Fn(&T) -> bool,
    ) -> Result<Scanned<T>, Problem> {
        services.table.page(query, self.limit(), self.position()?, filter).await
    }

    /// Runs a query and answers with the page of the items' views.
    pub async fn query<T: Element, V: Serialize>(
        self,
        services: &Services,
        query: &Query,
        filter: impl Fn(&T) -> bool,
        view: impl Fn(T) -> V,
    ) -> Result<Page<V, E>, Problem> {
        let found = self.read(services, query, filter).await?;
        self.finish(services, found, view).await
    }

    /// Runs several queries as one list, in their order, such as the days of a range. A cursor has the
    /// partition and the position in it. All queries share one budget: a filter that few items pass ends
    /// the page early, with a cursor.
    pub async fn query_many<T: Element, V: Serialize>(
        self,
        services: &Services,
        queries: &[Query],
        filter: impl Fn(&T) -> bool,
        view: impl Fn(T) -> V,
    ) -> Result<Page<V, E>, Problem> {
        let (first, mut start) = self.resume(queries)?;
        let mut found = Scanned::at(None);
        let mut left = MAX_QUERIES;
        for query in queries.iter().skip(first) {
            let beginning = || {
                let partition = AttributeValue::S(query.partition_key().to_owned());
                Attributes::from([(query.partition_name().to_owned(), partition)])
            };
            if left == 0 || ReadLimit::is_reached() {
                found.next = Some(beginning());
                break;
            }
            let wanted = self.limit().saturating_sub(found.items.len());
            // The page is full: check whether the next partition has anything to continue with.
            let full = wanted == 0;
            let page = services
                .table
                .page_within(query, wanted.max(1), start.take(), &filter, &mut left)
                .await?;
            if full {
                if page.items.is_empty() && page.next.is_none() {
                    continue;
                }
                found.next = Some(beginning());
                break;
            }
            found.extend(page);
            if found.next.is_some() {
                break;
            }
        }
        self.finish(services, found, view).await
    }

    /// The query to continue with, and its position.
    fn resume(&self, queries: &[Query]) -> Result<(usize, Option<Attributes>), Problem> {
        let Some(start) = &self.start else { return Ok((0, None)) };
        let is_here = |query: &Query| {
            let partition = start.get(query.partition_name()).and_then(|name| name.as_s().ok());
            partition.is_some_and(|name| name == query.partition_key())
        };
        let first = queries.iter().position(is_here).ok_or(Code::InvalidCursor)?;
        // The beginning of a partition has no sort key.
        let in_partition = start.contains_key("SK").then(|| start.clone());
        Ok((first, in_partition))
    }

    /// Answers with a page that was read elsewhere. It ends early, with a cursor, if more items would be
    /// too large to send; it has at least one item.
    pub async fn finish<T, V: Serialize>(
        mut self,
        services: &Services,
        found: Scanned<T>,
        view: impl Fn(T) -> V,
    ) -> Result<Page<V, E>, Problem> {
        let (data, next) = fitting(found, self.capacity, view);
        if self.key.is_none() && next.is_some() {
            self.key = Some(services.secrets.keys().await?.pages.clone());
        }
        let leader = self.leader.take().map(|id| (LEADER.to_owned(), AttributeValue::S(id)));
        let next = next.map(|position| position.into_iter().chain(leader).collect());
        let next = next.and_then(|position| self.seal(&position));
        Ok(Page::of(self.respond(data, next)))
    }

    /// Answers with a slice of a list that is in memory as a whole, in its own order; `key` identifies its
    /// items.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn slice<V: Serialize>(
        self,
        services: &Services,
        all: Vec<V>,
        key: impl Fn(&V) -> String,
    ) -> Result<Page<V, E>, Problem> {
        let found = self.slice_unfinished(all, key)?;
        self.finish(services, found, |item| item).await
    }

    /// The slice of such a list, for example of ids, to be read and then [`Paging::finish`]ed.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub fn slice_unfinished<T>(
        &self,
        all: Vec<T>,
        key: impl Fn(&T) -> String,
    ) -> Result<Scanned<T>, Problem> {
        cursor::part(all, self.limit(), self.start.as_ref(), key)
    }

    fn respond(self, data: Vec<Box<RawValue>>, next: Option<String>) -> Answer {
        if let Some(context) = Context::current() {
            budget::record_actual_cost(self.cost(&context, data.len()));
        }
        let next_cursor = next.as_deref();
        let page = Head { limit: self.limit, has_more: next.is_some(), next_cursor };
        let answer = Answer::ok(&Body { data, page, extras: &self.extras });
        match next {
            None => answer,
            Some(cursor) => {
                let query = form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(&self.query)
                    .append_pair("cursor", &cursor)
                    .finish();
                let link = format!("<{}?{query}>; rel=\"next\"", self.path);
                answer.header(header::LINK, &link)
            }
        }
    }

    /// The cost of a page with this many items. Reads that found little are not refunded; reads beyond the
    /// charge are charged afterwards ([`budget`]).
    fn cost(&self, context: &Context, returned: usize) -> u32 {
        let read: Listed = context.get().unwrap_or_default();
        let items = u32::try_from(returned.max(read.items)).unwrap_or(u32::MAX);
        let cost = Cost::list(items).max(read.queries).saturating_add(self.searching);
        cost.min(context.get::<Charge>().map_or(u32::MAX, |charge| charge.requested()))
    }

    /// The position, sealed for the list that it belongs to: keys contain more than views do. Equal
    /// positions have equal cursors, so that a page with a next one revalidates.
    fn seal(&self, position: &Attributes) -> Option<String> {
        let keys: BTreeMap<&str, &str> = position
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_s().ok()?.as_str())))
            .collect();
        let position = serde_json::to_vec(&keys).ok()?;
        Some(self.key.as_ref()?.seal(&position, self.binding.as_bytes()))
    }

    fn open(&self, cursor: &str, key: &SteadyKey) -> Option<Attributes> {
        let position = key.open(cursor, self.binding.as_bytes()).ok()?;
        let keys: BTreeMap<String, String> = serde_json::from_slice(&position).ok()?;
        Some(keys.into_iter().map(|(name, text)| (name, AttributeValue::S(text))).collect())
    }
}
