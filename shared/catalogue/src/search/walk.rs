//! The search for products that have all words of a query, page by page.
//!
//! One word leads: its tokens are read in order, words of titles first. With several words, the first ones
//! are looked up beforehand. The word with the fewest products leads, and the product sets of
//! the others filter its tokens before any summary is read.

use std::collections::{HashMap, HashSet};

use core_types::id::{ProductId, StoreId};
use core_types::key;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::problem::{Code, Problem};
use services::Services;
use table::ReadLimit;
use table::item::{Attributes, Item, Key};
use table::{Query, ReadConsistency, Scanned, cursor};

use super::{Rank, Token, answers, have, tokens};
use crate::product::{ProductSummary, summaries};
use crate::words::words;

/// The words that are looked up; further ones are checked on the summary (our choice).
const LOOKED_UP: usize = 4;
/// The most products in each rank that a lookup reads of a word (our choice).
const FEW: usize = 200;
/// Tokens of the leading word that one round trip reads, if other words filter them.
const AHEAD: usize = 400;
/// Tokens that a page reads at most, once it has results, and until then (our choice).
const MOST: (usize, usize) = (500, 2_000);
/// Tokens whose summaries one round trip reads.
const BATCH: usize = 100;

/// A search in the products of a store.
#[derive(Debug, Clone)]
pub struct Search {
    store: StoreId,
    /// The folded words of the query, the longest first; none of them begins another.
    words: Vec<String>,
}

/// A word that was looked up, with its products.
struct Known {
    word: String,
    products: HashSet<ProductId>,
    /// Whether these are all of its products.
    is_whole: bool,
}

impl Search {
    /// The search for the words of a text; none if it has no word.
    pub fn of(store: &StoreId, text: &str) -> Option<Self> {
        let mut all = words(text);
        all.sort();
        all.dedup();
        let is_prefix = |word: &String| {
            all.iter().any(|other| other != word && other.starts_with(word.as_str()))
        };
        let mut words: Vec<String> = all.iter().filter(|word| !is_prefix(word)).cloned().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        (!words.is_empty()).then(|| Self { store: store.clone(), words })
    }

    /// A page of the products that have all words and for which `admits` holds, words of titles first. The
    /// number of tokens read is bounded; at the bound the page ends early, with a cursor unless it is
    /// an empty first page.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn page(
        &self,
        services: &Services,
        limit: usize,
        start: Option<Attributes>,
        admits: impl Fn(&ProductSummary) -> bool,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        let known = self.look_up(services).await?;
        let (word, start) = self.lead(&known, start.as_ref())?;
        let others: Vec<&HashSet<ProductId>> = known
            .iter()
            .filter(|known| known.is_whole && known.word != word)
            .map(|known| &known.products)
            .collect();
        let takes = |row: &Token| {
            let id = row.product();
            id.is_some_and(|id| others.iter().all(|products| products.contains(&id)))
        };
        let is_first = start.is_none();
        let (mut found, mut read, mut rest) = (Vec::new(), 0_usize, None);
        let mut position = start.unwrap_or_else(|| self.beginning(Rank::Title, word));
        'ranks: for rank in [Rank::Title, Rank::Other] {
            if rank == Rank::Title && position.sk.starts_with(Rank::Other.as_str()) {
                continue;
            }
            if rank == Rank::Other && position.sk.starts_with(Rank::Title.as_str()) {
                position = self.beginning(rank, word);
            }
            loop {
                let missing = limit.saturating_sub(found.len()).saturating_add(1);
                let mut query = self.query(rank, word);
                if !others.is_empty() {
                    query = query.looking_ahead(AHEAD, 1);
                }
                let rows = missing.min(BATCH);
                let is_under_way = position.sk != beginning(rank, word);
                let at = is_under_way.then(|| cursor::position_of(&position, []));
                let page: Scanned<Token> = services.table.page(&query, rows, at, takes).await?;
                let rows_read = if others.is_empty() { page.items.len() } else { AHEAD };
                read = read.saturating_add(rows_read);
                found.extend(self.validate(services, (word, &page.items), &admits).await?);
                if found.len() > limit {
                    break 'ranks;
                }
                let Some(next) = page.next else { break };
                position = key_of(&next)?;
                let most = if found.is_empty() { MOST.1 } else { MOST.0 };
                if read >= most || ReadLimit::is_reached() {
                    rest = Some(position.clone());
                    break 'ranks;
                }
            }
        }
        // An empty first page is the last one.
        let rest = rest.filter(|_| !(is_first && found.is_empty()));
        Ok(cut(found, limit, rest))
    }

    /// The candidates for products with all words: the products of the word with the fewest, if these are
    /// at most `most`. The caller must check them ([`Search::is_answered_by`]).
    ///
    /// # Errors
    /// 503.
    pub async fn few(
        &self,
        services: &Services,
        most: usize,
    ) -> Result<Option<Vec<ProductId>>, Problem> {
        let mut known = self.known(services, most).await?;
        known.retain(|known| known.is_whole && known.products.len() <= most);
        let fewest = known.into_iter().min_by_key(|known| known.products.len());
        Ok(fewest.map(|known| known.products.into_iter().collect()))
    }

    /// Whether a product has all words.
    pub fn is_answered_by(&self, summary: &ProductSummary) -> bool {
        answers(summary, &self.words)
    }

    /// Looks up the words before a page is read; nothing for a single word.
    async fn look_up(&self, services: &Services) -> Result<Vec<Known>, Problem> {
        if self.words.len() < 2 { Ok(Vec::new()) } else { self.known(services, FEW).await }
    }

    /// The products of each of the first words, at most `most` in each rank.
    async fn known(&self, services: &Services, most: usize) -> Result<Vec<Known>, Problem> {
        stream::iter(self.words.iter().take(LOOKED_UP).cloned())
            .map(|word| async move {
                let (mut products, mut is_whole) = (HashSet::new(), true);
                for rank in [Rank::Title, Rank::Other] {
                    let query = self.query(rank, &word);
                    let page: Scanned<Token> =
                        services.table.page(&query, most, None, |_: &Token| true).await?;
                    is_whole &= page.next.is_none();
                    products.extend(page.items.iter().filter_map(Token::product));
                }
                Ok(Known { word, products, is_whole })
            })
            .buffered(LOOKED_UP)
            .try_collect()
            .await
    }

    /// The leading word, and the position to continue from. A cursor names both; a first page begins with
    /// the word with the fewest products.
    fn lead(
        &self,
        known: &[Known],
        start: Option<&Attributes>,
    ) -> Result<(&str, Option<Key>), Problem> {
        let longest = self.words.first().ok_or(Code::InvalidCursor)?;
        let Some(start) = start else {
            let whole = known.iter().filter(|known| known.is_whole);
            let fewest = whole.min_by_key(|known| known.products.len());
            let led = fewest.and_then(|known| self.words.iter().find(|word| **word == known.word));
            return Ok((led.unwrap_or(longest), None));
        };
        let position = key_of(start)?;
        let is_at = |word: &&String| {
            key::search_words(&self.store, word) == position.pk
                && [Rank::Title, Rank::Other]
                    .iter()
                    .any(|rank| position.sk.starts_with(&beginning(*rank, word)))
        };
        let led = self.words.iter().find(is_at).ok_or(Code::InvalidCursor)?;
        Ok((led, Some(position)))
    }

    fn query(&self, rank: Rank, word: &str) -> Query {
        let partition = key::search_words(&self.store, word);
        Query::partition(partition)
            .begins_with(beginning(rank, word))
            .seen(ReadConsistency::Eventual)
    }

    /// The position before the first token of a word in a rank.
    fn beginning(&self, rank: Rank, word: &str) -> Key {
        Key::new(key::search_words(&self.store, word), beginning(rank, word))
    }

    /// The summaries of those tokens of the leading word that are the first match of their product, if
    /// it has the other words too.
    async fn validate(
        &self,
        services: &Services,
        (word, rows): (&str, &[Token]),
        admits: impl Fn(&ProductSummary) -> bool,
    ) -> Result<Vec<(ProductSummary, Key)>, Problem> {
        let ids: Vec<ProductId> = rows.iter().filter_map(Token::product).collect();
        let found = summaries(services, &self.store, &ids).await?.into_iter();
        let mut found: HashMap<ProductId, ProductSummary> =
            found.map(|summary| (summary.id().clone(), summary)).collect();
        let validate = |row: &Token| {
            let id = row.product()?;
            let summary = found.get(&id)?;
            let own = tokens(summary);
            let is_found =
                row.is_first_of(&own, word) && have(&own, &self.words) && admits(summary);
            // Each product has only one first match.
            is_found.then(|| found.remove(&id)).flatten().map(|summary| (summary, row.key()))
        };
        Ok(rows.iter().filter_map(validate).collect())
    }
}

/// The prefix of the sort keys of a word in a rank.
fn beginning(rank: Rank, word: &str) -> String {
    format!("{rank}#{word}")
}

/// The key that a position names.
fn key_of(position: &Attributes) -> Result<Key, Problem> {
    let (start, _) = cursor::recall(position, &["PK", "SK"])?;
    let part = |name: &str| start.get(name).and_then(|text| text.as_s().ok()).cloned();
    let key = part("PK").zip(part("SK")).map(|(pk, sk)| Key { pk, sk });
    key.ok_or_else(|| Code::InvalidCursor.into())
}

/// The page of at most `limit` products; it continues after them, or else from `rest`.
fn cut(
    mut found: Vec<(ProductSummary, Key)>,
    limit: usize,
    rest: Option<Key>,
) -> Scanned<ProductSummary> {
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut page = Scanned::at(None);
    for (summary, key) in found {
        page.push(summary, Some(cursor::position_of(&key, [])));
    }
    if !has_more {
        page.next = rest.map(|key| cursor::position_of(&key, []));
    }
    page
}
