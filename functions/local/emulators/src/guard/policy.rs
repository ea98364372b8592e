//! IAM policies, as far as the template uses them.

use std::collections::BTreeSet;
use std::fmt;

/// An action on a resource: `dynamodb:Query` on `Table/index/GSI1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// The action, by IAM's name.
    pub action: String,
    /// The resource by its name in the template; for an index, after the table's: `Table/index/GSI1`.
    pub resource: String,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.resource)
    }
}

/// A use of a permission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The permission.
    pub permission: Permission,
    /// The leading-key pattern that a partition key matched, if the statement has a condition.
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

/// The name of the queues of all other accounts in the template: a pattern of their ARNs, on the condition
/// that they belong to another account.
pub const FOREIGN_QUEUES: &str = "arn:AWS::Partition:sqs:*:*:*";

/// A statement of a policy, which allows or denies each of its actions on each of its resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// Whether it denies, which overrides all statements that allow.
    pub denies: bool,
    /// The actions, by IAM's names.
    pub actions: BTreeSet<String>,
    /// The resources by their names in the template.
    pub resources: BTreeSet<String>,
    /// The patterns that partition keys must match: `ForAllValues:StringLike` of `dynamodb:LeadingKeys`. They
    /// are the table's partition keys for items, and an index's for a query of the index. Empty without a
    /// condition.
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

    /// Whether it has this action and this resource, regardless of partition keys.
    pub(super) fn is_about(&self, permission: &Permission) -> bool {
        let Permission { action, resource } = permission;
        self.actions.contains(action) && self.resources.contains(resource)
    }

    /// Whether all of these partition keys meet its condition.
    pub(super) fn takes(&self, keys: &BTreeSet<&str>) -> bool {
        let is_like_one = |key: &&str| self.like(key).next().is_some();
        self.leading_keys.is_empty() || keys.iter().all(is_like_one)
    }

    /// The uses of a permission with these partition keys.
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

/// IAM's `StringLike`: `*` matches any text, also an empty one, `?` matches one character; case matters.
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
