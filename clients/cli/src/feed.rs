//! A list that grows, polled: each item once, the oldest first, also over a lost connection and a restart.
//!
//! Lists have their newest item first, and an item may appear in them a moment after a newer one. So each poll reads
//! what is newer than the newest known item, and [`Feed::overlap`] before it, and skips the ids that it knows.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::{Client, next_cursor};
use crate::failure::Failure;
use crate::request::Request;
use crate::time;

/// How often a list is polled.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// Every so many polls read the whole overlap; the others end at a page without news.
const DEEP: u32 = 10;
/// Lists reach back 30 days; an older beginning is left out of the request.
const REACH: SignedDuration = SignedDuration::from_hours(29 * 24);
const PAGE: &str = "100";

/// Where a feed was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// When the newest known item was created, in RFC 3339.
    pub newest: Option<String>,
    /// The known items of the overlap, and when each was created.
    pub seen: BTreeMap<String, String>,
}

/// A list that is polled.
#[derive(Debug)]
pub struct Feed {
    /// The list, with its filters.
    request: Request,
    /// Nothing before this is read.
    from: Option<String>,
    overlap: SignedDuration,
    /// Whether an item that has changed is news.
    counts_changes: bool,
    position: Position,
    polls: u32,
}

impl Feed {
    /// A feed of all items.
    pub fn new(request: Request, overlap: SignedDuration) -> Self {
        let position = Position::default();
        Self { request, from: None, overlap, counts_changes: false, position, polls: 0 }
    }

    /// The same, in which an item that has changed comes again.
    pub fn with_changes(self) -> Self {
        Self { counts_changes: true, ..self }
    }

    /// A feed of what happened since.
    pub fn since(self, from: Timestamp) -> Self {
        Self { from: Some(time::text(from)), ..self }
    }

    /// A feed that goes on where one was.
    pub fn at(self, position: Position) -> Self {
        Self { from: self.begin(&position), position, ..self }
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The feed of what happens from now on.
    pub async fn skipping_the_past(mut self, client: &Client<'_>) -> Result<Self, Failure> {
        self.position.newest = self.newest(client).await?;
        self.from = self.begin(&self.position);
        for item in self.poll(client).await? {
            self.done(&item);
        }
        Ok(self)
    }

    /// When the newest item was created.
    async fn newest(&self, client: &Client<'_>) -> Result<Option<String>, Failure> {
        let mut cursor: Option<String> = None;
        loop {
            let mut page = self.request.clone().query("limit", "1");
            page.query.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
            let page = client.json(&page).await?;
            if let Some(item) = page.pointer("/data/0") {
                return Ok(Some(created_at(item).to_owned()));
            }
            // An empty page is no end of a list.
            match next_cursor(&page) {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(None),
            }
        }
    }

    fn begin(&self, position: &Position) -> Option<String> {
        let newest = position.newest.as_deref()?;
        time::before(newest, self.overlap).map(time::text)
    }

    /// What is new, the oldest first. It stays new until [`Feed::done`].
    pub async fn poll(&mut self, client: &Client<'_>) -> Result<Vec<Value>, Failure> {
        let is_deep = self.polls.is_multiple_of(DEEP);
        let mut request = self.request.clone().query("limit", PAGE);
        if let Some(since) = self.since_parameter() {
            request = request.query("since", since);
        }
        let mut news = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut page = request.clone();
            page.query.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
            let page = client.json(&page).await?;
            let items = page.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
            let (is_empty, before) = (items.is_empty(), news.len());
            news.extend(items.into_iter().filter(|item| self.is_new(item)));
            let goes_on = is_deep || is_empty || news.len() > before;
            match next_cursor(&page) {
                Some(next) if goes_on => cursor = Some(next.to_owned()),
                _ => break,
            }
        }
        self.polls = self.polls.wrapping_add(1);
        news.reverse();
        // Stable: items of one moment stay in the order of the list.
        news.sort_by(|one, other| created_at(one).cmp(created_at(other)));
        Ok(news)
    }

    /// Remembers that an item was processed.
    pub fn done(&mut self, item: &Value) {
        let at = created_at(item).to_owned();
        self.position.seen.insert(self.key(item), at.clone());
        if self.position.newest.as_deref().is_none_or(|newest| *newest < *at) {
            self.position.newest = Some(at);
        }
        if let Some(begin) = self.begin(&self.position) {
            // One that is created at the same time stays.
            self.position.seen.retain(|_, at| *at >= begin);
        }
    }

    fn is_new(&self, item: &Value) -> bool {
        let is_early = self.from.as_deref().is_some_and(|from| created_at(item) < from);
        !is_early && !self.position.seen.contains_key(&self.key(item))
    }

    fn key(&self, item: &Value) -> String {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        match item.get("version").filter(|_| self.counts_changes) {
            Some(version) => format!("{id} {version}"),
            None => id.to_owned(),
        }
    }

    fn since_parameter(&self) -> Option<String> {
        let overlap = self.begin(&self.position);
        let since = std::cmp::max(overlap, self.from.clone())?;
        let earliest = Timestamp::now().checked_sub(REACH).ok()?;
        let is_near = since.parse::<Timestamp>().is_ok_and(|since| since > earliest);
        is_near.then_some(since)
    }
}

/// When an item was created: RFC 3339 in UTC, which is ordered as a text.
pub fn created_at(item: &Value) -> &str {
    let first = ["created_at", "started_at"].into_iter().find_map(|name| item.get(name));
    first.and_then(Value::as_str).unwrap_or_default()
}

/// Whether a type is among these patterns: `order.*`, `order.paid`, `*`. No pattern is every type.
pub fn admits(patterns: &[String], name: &str) -> bool {
    let is_one = |pattern: &String| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => pattern == name,
    };
    patterns.is_empty() || patterns.iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn feed() -> Feed {
        Feed::new(Request::get("/v1/operations/outbox"), SignedDuration::from_secs(60))
    }

    fn event(id: &str, at: &str) -> Value {
        json!({"id": id, "created_at": format!("2026-01-01T00:{at}.000Z"), "version": 1})
    }

    #[test]
    fn an_item_is_new_once() {
        let mut feed = feed();
        let one = event("evt_1", "00:00");
        assert!(feed.is_new(&one));
        feed.done(&one);
        assert!(!feed.is_new(&one));
        // A late one, of before.
        assert!(feed.is_new(&event("evt_0", "00:00")));
    }

    #[test]
    fn what_is_older_than_the_overlap_is_forgotten_and_not_read_again() {
        let mut feed = feed();
        feed.done(&event("evt_1", "00:00"));
        feed.done(&event("evt_2", "02:00"));
        assert_eq!(feed.position.seen.keys().collect::<Vec<_>>(), ["evt_2"]);
        let later = Feed::new(Request::get("/"), feed.overlap).at(feed.position.clone());
        assert!(!later.is_new(&event("evt_1", "00:00")));
        assert!(!later.is_new(&event("evt_2", "02:00")));
        assert!(later.is_new(&event("evt_3", "01:30")));
    }

    #[test]
    fn a_changed_item_comes_again_where_changes_count() {
        let mut feed = feed().with_changes();
        let mut delivery = event("dlv_1", "00:00");
        feed.done(&delivery);
        delivery["version"] = json!(2);
        assert!(feed.is_new(&delivery));
    }

    #[test]
    fn a_pattern_is_a_type_or_a_group_of_types() {
        let patterns = ["order.*".to_owned(), "product.created".to_owned()];
        let found = ["order.paid", "product.created", "product.updated", "orders"];
        assert_eq!(found.map(|name| admits(&patterns, name)), [true, true, false, false]);
        assert!(admits(&[], "anything"));
    }
}
