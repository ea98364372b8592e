//! Items of the table and their keys.

mod joined;
mod octets;
mod packed;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use primitives::clock::Timestamp;
use primitives::problem::Problem;

pub use octets::Octets;
pub use packed::{Packing, unpacked};
pub use primitives_macros::Item;

/// The attributes of an item.
pub type Attributes = HashMap<String, AttributeValue>;

/// The primary key of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Partition key.
    pub pk: String,
    /// Sort key.
    pub sk: String,
}

impl Key {
    /// A key of these two parts.
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    /// The key as attributes.
    pub fn attributes(&self) -> Attributes {
        [("PK", &self.pk), ("SK", &self.sk)]
            .map(|(name, value)| (name.to_owned(), AttributeValue::S(value.clone())))
            .into()
    }

    pub(crate) fn of(attributes: &Attributes) -> Option<Self> {
        let part = |name| attributes.get(name)?.as_s().ok().cloned();
        Some(Self { pk: part("PK")?, sk: part("SK")? })
    }
}

/// A partition of a secondary index: a list of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPartition {
    /// The index.
    pub index: Index,
    /// Its partition key.
    pub pk: String,
}

impl IndexPartition {
    /// A partition of an index.
    pub const fn new(index: Index, pk: String) -> Self {
        Self { index, pk }
    }

    /// An entry in it.
    pub fn entry(self, sk: impl Into<String>) -> (Index, Key) {
        (self.index, Key::new(self.pk, sk))
    }
}

/// A secondary index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// First list order.
    Gsi1,
    /// Second list order.
    Gsi2,
    /// Sparse, keys only: work that is due.
    Gsi3,
    /// Third list order.
    Gsi4,
    /// Keys only: lists that are written far more often than read. An entry never changes, and a page reads
    /// its items by their keys.
    Gsi5,
    /// Keys only: the second order of such lists.
    Gsi6,
    /// Fourth list order.
    Gsi7,
}

impl Index {
    /// All indexes, in the order of the table definition.
    pub const ALL: [Self; 7] =
        [Self::Gsi1, Self::Gsi2, Self::Gsi3, Self::Gsi4, Self::Gsi5, Self::Gsi6, Self::Gsi7];

    /// Whether it is keys-only.
    pub const fn is_keys_only(self) -> bool {
        matches!(self, Self::Gsi3 | Self::Gsi5 | Self::Gsi6)
    }

    /// The name in the table definition.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gsi1 => "GSI1",
            Self::Gsi2 => "GSI2",
            Self::Gsi3 => "GSI3",
            Self::Gsi4 => "GSI4",
            Self::Gsi5 => "GSI5",
            Self::Gsi6 => "GSI6",
            Self::Gsi7 => "GSI7",
        }
    }

    /// The attributes of its partition and sort key.
    pub const fn key_names(self) -> (&'static str, &'static str) {
        match self {
            Self::Gsi1 => ("GSI1PK", "GSI1SK"),
            Self::Gsi2 => ("GSI2PK", "GSI2SK"),
            Self::Gsi3 => ("GSI3PK", "GSI3SK"),
            Self::Gsi4 => ("GSI4PK", "GSI4SK"),
            Self::Gsi5 => ("GSI5PK", "GSI5SK"),
            Self::Gsi6 => ("GSI6PK", "GSI6SK"),
            Self::Gsi7 => ("GSI7PK", "GSI7SK"),
        }
    }
}

/// A struct that is stored as one item. It alone builds its keys.
pub trait Item: Serialize + DeserializeOwned + Send + Sync {
    /// The `entity` attribute.
    const KIND: &'static str;

    /// The packing, which saves write units; unpacked by default.
    const PACKING: Option<Packing> = None;

    /// Whether it has [`Octets`], which JSON cannot hold: such an item is read from its attributes, and never
    /// packed. Every other item is read as JSON, packed or not, so that a function contains one deserializer
    /// for each type.
    const HAS_OCTETS: bool = false;

    /// The primary key.
    fn key(&self) -> Key;

    /// Counts writes; 1 when created. [`crate::Write::replace`] requires the previous one.
    fn version(&self) -> u64;

    /// Keys in the secondary indexes.
    fn indexes(&self) -> Vec<(Index, Key)> {
        Vec::new()
    }

    /// When DynamoDB may delete the item (`ttl`): for cleanup only, never for validity.
    fn forget_at(&self) -> Option<Timestamp> {
        None
    }
}

/// An element of a list: an item, or one of several in an item. A page may end inside an item, and the next
/// page continues there.
pub trait Element: Sized + Send {
    /// The item that contains it.
    type Container: Item;

    /// The elements of an item, in ascending order. An item's elements never change.
    fn held_by(holder: Self::Container) -> Vec<Self>;
}

impl<T: Item> Element for T {
    type Container = Self;

    fn held_by(holder: Self) -> Vec<Self> {
        vec![holder]
    }
}

/// The result type of a query: one kind of item, or an enum of several.
pub trait FromItem: Sized {
    /// Reads it from an item's attributes, whose kind [`kind`] tells.
    ///
    /// # Errors
    /// The item is of another kind, or cannot be read.
    fn from_item(attributes: Attributes) -> Result<Self, Problem>;
}

impl<T: Item> FromItem for T {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        parse(attributes)
    }
}

/// The kind of an item: its [`Item::KIND`].
pub fn kind(attributes: &Attributes) -> &str {
    let kind = attributes.get("entity").and_then(|kind| kind.as_s().ok());
    kind.map_or("", String::as_str)
}

/// An item's attributes with its keys.
pub(crate) fn attributes<T: Item>(item: &T) -> Result<Attributes, Problem> {
    written(item).map(|(all, _)| all)
}

/// The attributes of an item's key, and of its keys in indexes.
fn keys_of(key: &Key, indexes: Vec<(Index, Key)>) -> Attributes {
    let mut keys = key.attributes();
    for (index, key) in indexes {
        let (pk, sk) = index.key_names();
        keys.insert(pk.into(), AttributeValue::S(key.pk));
        keys.insert(sk.into(), AttributeValue::S(key.sk));
    }
    keys
}

/// An item's attributes with its keys, and the names of its absent attributes.
///
/// DynamoDB distinguishes an absent attribute from a NULL one; conditions and sparse indexes need the former.
pub(crate) fn written<T: Item>(item: &T) -> Result<(Attributes, Vec<String>), Problem> {
    let keys = keys_of(&item.key(), item.indexes());
    let (mut all, absent) = match T::PACKING {
        None => present(serde_dynamo::to_item(item).map_err(Problem::internal)?),
        Some(packing) => packed::attributes(item, packing, &keys)?,
    };
    all.extend(keys);
    all.insert("entity".into(), AttributeValue::S(T::KIND.into()));
    if let Some(time) = item.forget_at() {
        all.insert("ttl".into(), AttributeValue::N(time.seconds().to_string()));
    }
    Ok((all, absent))
}

/// The present attributes, and the names of the absent ones.
fn present(mut all: Attributes) -> (Attributes, Vec<String>) {
    let absent = all.extract_if(|_, value| value.is_null()).map(|(name, _)| name).collect();
    (all, absent)
}

/// Reads an item from its attributes.
pub fn parse<T: Item>(attributes: Attributes) -> Result<T, Problem> {
    let key = Key::of(&attributes);
    let read = if T::HAS_OCTETS {
        serde_dynamo::from_item(attributes).map_err(Problem::internal)
    } else {
        packed::read(attributes)
    };
    read.map_err(|problem| Problem::internal(format!("item {key:?} as {}: {problem}", T::KIND)))
}
