//! The search for products that have all terms of a query, page by page.
//!
//! One word leads: its tokens are read in order, words of titles first. With several words, the first ones
//! are looked up beforehand. The word with the fewest products leads, and the product sets of
//! the other terms filter its tokens before any summary is read.
//!
//! A term that may be written as one word (`wi-fi`) begins with its first word either way, which leads for both.
//! If that word has too many products, the joined word leads, and afterwards another one of the term.

use std::collections::{HashMap, HashSet};

use core_types::id::{ProductId, StoreId};
use core_types::key;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::problem::{Code, Problem};
use services::Services;
use table::ReadLimit;
use table::item::{Attributes, Item, Key};
use table::{Query, ReadConsistency, Scanned, cursor};

use super::{Rank, Token, begins_one, have, matches, tokens};
use crate::product::{ProductSummary, summaries};
use crate::words::{Term, terms};

/// The words that are looked up; further ones are checked on the summary (our choice).
const FILTER_WORDS: usize = 4;
/// The most products in each rank that a lookup reads of a word (our choice).
const MAX_WORD_PRODUCTS: usize = 200;
/// Tokens of the leading word that one round trip reads, if other words filter them.
const TOKENS_PER_TRIP: usize = 400;
/// Tokens that a page reads at most, once it has results, and until then (our choice).
const MAX_TOKENS: (usize, usize) = (500, 2_000);
/// Tokens whose summaries one round trip reads.
const BATCH: usize = 100;
/// The attributes of a cursor that store its [`Lead`].
const NOTES: [&str; 3] = ["word", "then", "after"];

/// A search in the products of a store.
#[derive(Debug, Clone)]
pub struct Search {
    store: StoreId,
    /// The terms of the query, the longest first; none of them is implied by another.
    terms: Vec<Term>,
}

/// A word that was looked up, with its tokens.
struct IndexedWord {
    word: String,
    tokens: Vec<(String, ProductId)>,
    /// Whether these are all of its tokens.
    is_whole: bool,
}

/// The word whose tokens are read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lead {
    word: String,
    /// The word that leads afterwards: it finds the products that do not have this joined one.
    then: Option<String>,
    /// The joined word that has led before: its products are passed over.
    after: Option<String>,
}

/// The progress of a search: the products found so far, and the tokens read.
#[derive(Debug, Default)]
struct SearchProgress {
    products: Vec<(ProductSummary, Attributes)>,
    /// The number of tokens that were read.
    read: usize,
    /// The position at which the search continues, if it ended at a bound.
    rest: Option<Attributes>,
}

impl Search {
    /// The search for the words of a text; none if it has no word.
    pub fn of(store: &StoreId, text: &str) -> Option<Self> {
        let mut all = terms(text);
        all.sort();
        all.dedup();
        // Every product with a term has words that begin with its first word.
        let is_implied = |term: &Term| {
            let implies = |other: &Term| {
                other != term
                    && other
                        .words
                        .first()
                        .zip(term.words.first())
                        .is_some_and(|(other, own)| other.starts_with(own.as_str()))
            };
            term.joined.is_none() && all.iter().any(implies)
        };
        let mut terms: Vec<Term> = all.iter().filter(|term| !is_implied(term)).cloned().collect();
        let length = |term: &Term| term.words.iter().map(|word| word.chars().count()).max();
        terms.sort_by_key(|term| std::cmp::Reverse(length(term)));
        (!terms.is_empty()).then(|| Self { store: store.clone(), terms })
    }

    /// A page of the products that have all terms and for which `admits` holds, words of titles first. The
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
        let start = start.as_ref().map(|start| self.resume(start)).transpose()?;
        let words = self.load_filters(services).await?;
        let is_first = start.is_none();
        let (mut lead, mut position) = match start {
            Some((lead, position)) => (lead, Some(position)),
            None => (self.choose(&words), None),
        };
        let mut found = SearchProgress::default();
        loop {
            let then = lead.then.clone();
            let filters = self.filters(&words, &lead);
            let from = (&lead, position.take());
            // A term that no product has finds nothing, whatever leads.
            if filters.iter().any(HashSet::is_empty) {
                break;
            }
            self.walk(services, from, (limit, &filters), &mut found, &admits).await?;
            let Some(word) = then.filter(|_| found.continues(limit)) else { break };
            lead = Lead { after: Some(lead.word), ..Lead::of(&word) };
        }
        // An empty first page is the last one.
        found.rest = found.rest.filter(|_| !(is_first && found.products.is_empty()));
        Ok(found.cut(limit))
    }

    /// Reads the tokens of the leading word, until the page is full or has read enough.
    async fn walk(
        &self,
        services: &Services,
        (lead, start): (&Lead, Option<Key>),
        (limit, filters): (usize, &[HashSet<ProductId>]),
        found: &mut SearchProgress,
        admits: impl Fn(&ProductSummary) -> bool,
    ) -> Result<(), Problem> {
        let takes = |row: &Token| {
            let id = row.product();
            id.is_some_and(|id| filters.iter().all(|products| products.contains(&id)))
        };
        let word = lead.word.as_str();
        let mut position = start.unwrap_or_else(|| self.beginning(Rank::Title, word));
        for rank in [Rank::Title, Rank::Other] {
            if rank == Rank::Title && position.sk.starts_with(Rank::Other.as_str()) {
                continue;
            }
            if rank == Rank::Other && position.sk.starts_with(Rank::Title.as_str()) {
                position = self.beginning(rank, word);
            }
            loop {
                let missing = limit.saturating_sub(found.products.len()).saturating_add(1);
                let mut query = self.query(rank, word);
                if !filters.is_empty() {
                    query = query.with_scan_limit(TOKENS_PER_TRIP, 1);
                }
                let rows = missing.min(BATCH);
                let is_under_way = position.sk != beginning(rank, word);
                let at = is_under_way.then(|| cursor::position_of(&position, []));
                let page: Scanned<Token> = services.table.page(&query, rows, at, takes).await?;
                let rows_read = if filters.is_empty() { page.items.len() } else { TOKENS_PER_TRIP };
                found.read = found.read.saturating_add(rows_read);
                found.products.extend(self.validate(services, lead, &page.items, &admits).await?);
                if found.products.len() > limit {
                    return Ok(());
                }
                let Some(next) = page.next else { break };
                position = key_of(&next)?;
                if found.read >= found.max_tokens() || ReadLimit::is_reached() {
                    found.rest = Some(lead.position(&position));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The candidates for products with all terms: the products of the term with the fewest, if these are
    /// at most `limit`. The caller must check them ([`Search::matches`]).
    ///
    /// # Errors
    /// 503.
    pub async fn matching_if_few(
        &self,
        services: &Services,
        limit: usize,
    ) -> Result<Option<Vec<ProductId>>, Problem> {
        let words = self.load_words(services, limit).await?;
        let all = self.terms.iter().filter_map(|term| candidates(&words, term));
        let fewest = all.filter(|all| all.len() <= limit).min_by_key(HashSet::len);
        Ok(fewest.map(|all| all.into_iter().collect()))
    }

    /// Whether a product has all terms.
    pub fn matches(&self, summary: &ProductSummary) -> bool {
        matches(summary, &self.terms)
    }

    /// All words, the longest first.
    fn words(&self) -> Vec<&String> {
        let mut words: Vec<&String> = self.terms.iter().flat_map(|term| &term.words).collect();
        words.sort_by_key(|word| (std::cmp::Reverse(word.chars().count()), *word));
        words.dedup();
        words
    }

    /// Looks up the words before a page is read; nothing for a single word.
    async fn load_filters(&self, services: &Services) -> Result<Vec<IndexedWord>, Problem> {
        if self.words().len() < 2 {
            Ok(Vec::new())
        } else {
            self.load_words(services, MAX_WORD_PRODUCTS).await
        }
    }

    /// The tokens of each of the first words, at most `limit` in each rank.
    async fn load_words(
        &self,
        services: &Services,
        limit: usize,
    ) -> Result<Vec<IndexedWord>, Problem> {
        stream::iter(self.words().into_iter().take(FILTER_WORDS).cloned())
            .map(|word| async move {
                let (mut tokens, mut is_whole) = (Vec::new(), true);
                for rank in [Rank::Title, Rank::Other] {
                    let query = self.query(rank, &word);
                    let page: Scanned<Token> =
                        services.table.page(&query, limit, None, |_: &Token| true).await?;
                    is_whole &= page.next.is_none();
                    let token = |row: &Token| Some((row.word()?.1.to_owned(), row.product()?));
                    tokens.extend(page.items.iter().filter_map(token));
                }
                Ok(IndexedWord { word, tokens, is_whole })
            })
            .buffered(FILTER_WORDS)
            .try_collect()
            .await
    }

    /// The leading word of a first page: of those that every product with its term has a token of, the one with
    /// the fewest products, or else the rarest or the longest of all.
    fn choose(&self, words: &[IndexedWord]) -> Lead {
        let rarest = |all: &mut dyn Iterator<Item = &IndexedWord>| {
            let rarest = all.filter(|words| words.is_whole).min_by_key(|words| words.count());
            rarest.map(|words| words.word.clone())
        };
        let mut complete = words.iter().filter(|words| self.first_of(&words.word).is_some());
        let word = rarest(&mut complete).or_else(|| rarest(&mut words.iter()));
        let word = word.or_else(|| self.words().first().map(|word| (*word).clone()));
        let word = word.unwrap_or_default();
        let term = self.terms.iter().find(|term| term.words.contains(&word));
        match term.and_then(|term| term.joined.as_ref()) {
            Some(joined) if self.first_of(&word).is_none() => {
                Lead { then: Some(word), ..Lead::of(joined) }
            }
            _ => Lead::of(&word),
        }
    }

    /// The term whose first word this is.
    fn first_of(&self, word: &String) -> Option<&Term> {
        self.terms.iter().find(|term| term.words.first() == Some(word))
    }

    /// The products of each term, as far as all of them are known. Those of the leading word are read anyway.
    fn filters(&self, words: &[IndexedWord], lead: &Lead) -> Vec<HashSet<ProductId>> {
        let is_other = |term: &&Term| term.joined.is_some() || !term.words.contains(&lead.word);
        let others = self.terms.iter().filter(is_other);
        others.filter_map(|term| candidates(words, term)).collect()
    }

    /// The leading word and the position that a cursor names.
    fn resume(&self, start: &Attributes) -> Result<(Lead, Key), Problem> {
        let position = key_of(start)?;
        let (_, notes) = cursor::recall(start, &["PK", "SK"])?;
        let [word, then, after] = NOTES.map(|name| notes.get(name).map(|word| (*word).to_owned()));
        let is_own = |word: &String| {
            self.terms
                .iter()
                .any(|term| term.words.contains(word) || term.joined.as_ref() == Some(word))
        };
        let is_at = |word: &String| {
            key::search_words(&self.store, word) == position.pk
                && [Rank::Title, Rank::Other]
                    .iter()
                    .any(|rank| position.sk.starts_with(&beginning(*rank, word)))
        };
        let are_own = [&then, &after].into_iter().flatten().all(is_own);
        let word = word.filter(|word| is_own(word) && is_at(word) && are_own);
        let word = word.ok_or(Code::InvalidCursor)?;
        Ok((Lead { word, then, after }, position))
    }

    fn query(&self, rank: Rank, word: &str) -> Query {
        let partition = key::search_words(&self.store, word);
        Query::partition(partition)
            .begins_with(beginning(rank, word))
            .with_consistency(ReadConsistency::Eventual)
    }

    /// The position before the first token of a word in a rank.
    fn beginning(&self, rank: Rank, word: &str) -> Key {
        Key::new(key::search_words(&self.store, word), beginning(rank, word))
    }

    /// The summaries of those tokens of the leading word that are the first match of their product, if
    /// it has all terms.
    async fn validate(
        &self,
        services: &Services,
        lead: &Lead,
        rows: &[Token],
        admits: impl Fn(&ProductSummary) -> bool,
    ) -> Result<Vec<(ProductSummary, Attributes)>, Problem> {
        let ids: Vec<ProductId> = rows.iter().filter_map(Token::product).collect();
        let found = summaries(services, &self.store, &ids).await?.into_iter();
        let mut found: HashMap<ProductId, ProductSummary> =
            found.map(|summary| (summary.id().clone(), summary)).collect();
        let validate = |row: &Token| {
            let id = row.product()?;
            let summary = found.get(&id)?;
            let own = tokens(summary);
            let is_passed = lead.after.as_ref().is_some_and(|joined| begins_one(&own, joined));
            let is_found = row.is_first_of(&own, &lead.word)
                && !is_passed
                && have(&own, &self.terms)
                && admits(summary);
            // Each product has only one first match.
            let summary = is_found.then(|| found.remove(&id)).flatten()?;
            Some((summary, lead.position(&row.key())))
        };
        Ok(rows.iter().filter_map(validate).collect())
    }
}

impl IndexedWord {
    /// The number of its products.
    fn count(&self) -> usize {
        self.tokens.iter().map(|(_, id)| id).collect::<HashSet<_>>().len()
    }
}

impl Lead {
    fn of(word: &str) -> Self {
        Self { word: word.to_owned(), then: None, after: None }
    }

    /// The position at one of its tokens.
    fn position(&self, key: &Key) -> Attributes {
        let words = [Some(&self.word), self.then.as_ref(), self.after.as_ref()];
        let notes = NOTES.into_iter().zip(words);
        cursor::position_of(key, notes.filter_map(|(name, word)| Some((name, word?.clone()))))
    }
}

impl SearchProgress {
    /// Whether the page has room, and has not ended at a bound.
    fn continues(&self, limit: usize) -> bool {
        self.products.len() <= limit && self.rest.is_none()
    }

    /// The most tokens that the page may have read.
    fn max_tokens(&self) -> usize {
        if self.products.is_empty() { MAX_TOKENS.1 } else { MAX_TOKENS.0 }
    }

    /// The page of at most `limit` products; it continues after them, or else from `rest`.
    fn cut(mut self, limit: usize) -> Scanned<ProductSummary> {
        let has_more = self.products.len() > limit;
        self.products.truncate(limit);
        let mut page = Scanned::at(None);
        for (summary, position) in self.products {
            page.push(summary, Some(position));
        }
        if !has_more {
            page.next = self.rest;
        }
        page
    }
}

/// All products that may have a term; none if they are not known. Every one of them has its first word.
fn candidates(words: &[IndexedWord], term: &Term) -> Option<HashSet<ProductId>> {
    let whole = |word: &String| words.iter().find(|words| words.is_whole && words.word == *word);
    let first = whole(term.words.first()?)?;
    let products = |words: &IndexedWord| words.tokens.iter().map(|(_, id)| id.clone()).collect();
    let others: Vec<HashSet<ProductId>> =
        term.words.iter().skip(1).filter_map(whole).map(products).collect();
    let has_all = |(word, id): &&(String, ProductId)| {
        let is_joined =
            term.joined.as_ref().is_some_and(|joined| word.starts_with(joined.as_str()));
        is_joined || others.iter().all(|products| products.contains(id))
    };
    Some(first.tokens.iter().filter(has_all).map(|(_, id)| id.clone()).collect())
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
