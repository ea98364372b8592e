//! A policy as IAM evaluates it, as far as the template's policies go.

use std::collections::BTreeSet;
use std::fmt;

/// An action on a resource: `dynamodb:Query` on `Table/index/GSI1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// As IAM spells it.
    pub action: String,
    /// The resource by its name in the template; an index behind its table's.
    pub resource: String,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.resource)
    }
}

/// A permission as it was used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// What was used.
    pub permission: Permission,
    /// The pattern of its statement that a partition key was like, if that has a condition.
    pub leading_key: Option<String>,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.leading_key {
            Some(key) => write!(f, "{} {key}", self.permission),
            None => self.permission.fmt(f),
        }
    }
}

/// What the queues of all other accounts are called where the template gives them: a pattern of their ARNs,
/// on the condition that they are of another account.
pub const FOREIGN_QUEUES: &str = "arn:AWS::Partition:sqs:*:*:*";

/// What a statement of a policy allows, or denies: each of its actions on each of its resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// Whether it denies: that counts more than what any other allows.
    pub denies: bool,
    /// As IAM spells them.
    pub actions: BTreeSet<String>,
    /// The resources by their names in the template.
    pub resources: BTreeSet<String>,
    /// What partition keys must be like: `ForAllValues:StringLike` of `dynamodb:LeadingKeys`, which are
    /// those of the table for its items and of an index for a query of that. None without a condition.
    pub leading_keys: BTreeSet<String>,
}

impl Statement {
    /// Each of its actions on each of its resources.
    pub fn permissions(&self) -> BTreeSet<Permission> {
        let on = |resource: &String| {
            let with =
                |action: &String| Permission { action: action.clone(), resource: resource.clone() };
            self.actions.iter().map(with).collect::<Vec<_>>()
        };
        self.resources.iter().flat_map(on).collect()
    }

    /// Whether it is about this action on this resource, on some partition keys.
    pub(super) fn is_about(&self, permission: &Permission) -> bool {
        let Permission { action, resource } = permission;
        self.actions.contains(action) && self.resources.contains(resource)
    }

    /// Whether its condition takes these partition keys, all of them.
    pub(super) fn takes(&self, keys: &BTreeSet<&str>) -> bool {
        let is_like_one = |key: &&str| self.like(key).next().is_some();
        self.leading_keys.is_empty() || keys.iter().all(is_like_one)
    }

    /// How this was used on these partition keys.
    pub(super) fn uses(&self, permission: &Permission, keys: &BTreeSet<String>) -> BTreeSet<Use> {
        let with = |leading_key| Use { permission: permission.clone(), leading_key };
        if self.leading_keys.is_empty() {
            return [with(None)].into();
        }
        let patterns = keys.iter().flat_map(|key| self.like(key));
        patterns.map(|pattern| with(Some(pattern.to_owned()))).collect()
    }

    fn like<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let patterns = self.leading_keys.iter().map(String::as_str);
        patterns.filter(move |pattern| is_like(pattern, key))
    }
}

/// IAM's `StringLike`: `*` is like any text, also none, `?` like one character, and case matters.
pub fn is_like(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = pattern.get(first.len_utf8()..).unwrap_or_default();
    let mut after = text.chars();
    match (first, after.next()) {
        ('*', Some(_)) => is_like(rest, text) || is_like(pattern, after.as_str()),
        ('*', None) => is_like(rest, text),
        ('?', Some(_)) => is_like(rest, after.as_str()),
        (wanted, Some(found)) => wanted == found && is_like(rest, after.as_str()),
        (_, None) => false,
    }
}
