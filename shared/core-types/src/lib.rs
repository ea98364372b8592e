//! The vocabulary that all domain crates share. It has no noun, and names nouns only by their ids and keys.
//!
//! - Values: [`id`], [`money`], [`fields`] (parsed fields of requests), [`scope`].
//! - [`key`]: every key of the table, one file per domain crate.
//! - [`event`]: events, and how a noun declares its [`topics!`]; [`mail`]: outgoing mails. Both are written
//!   in the transaction of the change that they report.
//! - [`range`]: a range of time and its day partitions.
//! - [`resource`]: versioned objects of the API, and how a change of one is written and emitted.
//! - [`pointer`]: lookup items, for objects whose key does not follow from their id.
//! - [`fold`]: text as it is compared.
//! - [`end_reason`]: why long work ended early.
//! - Shared by two domain crates: [`image`], [`provider`], [`rating`].

pub mod end_reason;
pub mod event;
pub mod fields;
pub mod fold;
pub mod id;
pub mod image;
pub mod key;
pub mod lookup_item;
pub mod mail;
pub mod money;
pub mod provider;
pub mod range;
pub mod rating;
pub mod resource;
pub mod scope;
