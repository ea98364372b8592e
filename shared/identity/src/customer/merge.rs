//! Merges the data of another account of the same person into an account.

use std::collections::BTreeSet;

use core_types::fields::MAX_METADATA;
use primitives::clock::Timestamp;

use super::save::{MAX_NOTE, MAX_WORDS};
use super::{Customer, MAX_FORMER_EMAILS};
use crate::address::MAX_ADDRESSES;

/// The union of both lists, in the order of the first one, then of the second.
fn united(first: &[String], second: &[String]) -> Vec<String> {
    let new = second.iter().filter(|word| !first.contains(word));
    first.iter().chain(new).cloned().collect()
}

/// Both notes, one below the other.
fn joined_notes(first: Option<&str>, second: Option<&str>) -> Option<String> {
    let notes: Vec<&str> = first.into_iter().chain(second).collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

impl Customer {
    /// The account with the data of another account of the same person. Where both have a value,
    /// this one's stays: a consent was given for an address, an exemption for a person who proved
    /// it. Orders, addresses and wishes are counted by the steps that move them.
    #[must_use]
    pub fn absorbing(&self, other: &Self, now: Timestamp) -> Self {
        let own = |entry: &(&String, &String)| !self.metadata.contains_key(entry.0);
        let new = other.metadata.iter().filter(own);
        let metadata = self.metadata.iter().chain(new);
        let reached = if self.phone.is_some() { self } else { other };
        Self {
            name: self.name.clone().or_else(|| other.name.clone()),
            phone: reached.phone.clone(),
            phone_e164: reached.phone_e164.clone(),
            tags: united(&self.tags, &other.tags),
            groups: united(&self.groups, &other.groups),
            note: joined_notes(self.note.as_deref(), other.note.as_deref()),
            metadata: metadata.map(|(name, text)| (name.clone(), text.clone())).collect(),
            former_emails: united(&self.former_emails, &other.proven_emails()),
            ..self.changed(now)
        }
    }

    /// The fields that would exceed their maximum, or be lost, if the other account were merged into this one;
    /// `most_wishes` is the maximum of a wishlist.
    pub fn fields_over_limit_if_merged(
        &self,
        other: &Self,
        most_wishes: u32,
    ) -> BTreeSet<&'static str> {
        let both = self.absorbing(other, self.updated_at);
        let addresses = self.addresses_count.saturating_add(other.addresses_count);
        let wishes = self.wishes_count.saturating_add(other.wishes_count);
        let note = both.note.as_ref().map_or(0, |note| note.chars().count());
        let found = [
            ("addresses", addresses > MAX_ADDRESSES),
            ("wishes", wishes > most_wishes),
            ("tags", both.tags.len() > MAX_WORDS),
            ("groups", both.groups.len() > MAX_WORDS),
            ("note", note > MAX_NOTE),
            ("metadata", both.metadata.len() > MAX_METADATA),
            ("former_emails", both.former_emails.len() > MAX_FORMER_EMAILS),
            // Nobody could sign in any more.
            ("email", self.email.is_none() && other.email.is_some()),
        ];
        found.into_iter().filter_map(|(what, is_too_much)| is_too_much.then_some(what)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cleo;
    use super::*;

    fn words(prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{prefix}{number}")).collect()
    }

    #[test]
    fn values_of_the_remaining_account_win() {
        let now = Timestamp::from_millis(0);
        let stays = Customer {
            tags: vec!["vip".into(), "eu".into()],
            note: Some("tall".into()),
            metadata: [("erp".to_owned(), "1".to_owned())].into(),
            ..cleo(now)
        };
        let goes = Customer {
            name: Some("Clio".into()),
            tags: vec!["eu".into(), "b2b".into()],
            note: Some("kind".into()),
            metadata: [("erp".to_owned(), "2".to_owned()), ("crm".to_owned(), "3".to_owned())]
                .into(),
            accepts_marketing: true,
            tax_exempt: true,
            orders_count: 4,
            former_emails: vec!["old@example.com".into()],
            ..cleo(now)
        };
        let both = stays.absorbing(&goes, now);
        assert_eq!(both.name.as_deref(), Some("Cleo"));
        assert_eq!(both.tags, ["vip", "eu", "b2b"]);
        assert_eq!(both.note.as_deref(), Some("tall\nkind"));
        let metadata: Vec<_> = both.metadata.values().map(String::as_str).collect();
        assert_eq!(metadata, ["3", "1"]);
        assert!(!both.accepts_marketing && !both.tax_exempt);
        assert_eq!((both.orders_count, both.version), (0, 2));
        assert_eq!(both.former_emails, ["cleo@example.com", "old@example.com"]);
        let nameless = Customer { name: None, ..stays };
        assert_eq!(nameless.absorbing(&goes, now).name.as_deref(), Some("Clio"));
    }

    #[test]
    fn every_exceeded_maximum_is_reported() {
        let now = Timestamp::from_millis(0);
        let full = |prefix: &str| Customer {
            tags: words(prefix, 26),
            groups: words(prefix, 25),
            note: Some("n".repeat(1_000)),
            metadata: words(prefix, 26).into_iter().map(|name| (name, String::new())).collect(),
            addresses_count: 26,
            wishes_count: 250,
            former_emails: words(prefix, 10),
            ..cleo(now)
        };
        let found = full("a").fields_over_limit_if_merged(&full("b"), 500);
        let expected = ["addresses", "former_emails", "metadata", "note", "tags"];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
        assert!(cleo(now).fields_over_limit_if_merged(&cleo(now), 500).is_empty());
        let called = Customer { email: None, ..cleo(now) };
        assert!(cleo(now).fields_over_limit_if_merged(&called, 500).is_empty());
        assert_eq!(called.fields_over_limit_if_merged(&cleo(now), 500), ["email"].into());
    }
}
