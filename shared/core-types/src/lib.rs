//! What every room stands on. It knows no noun, and names them only by their ids and keys.
//!
//! - Words: [`id`], [`money`], [`fields`] (what requests may say, parsed), [`scope`].
//! - [`key`]: every key of the table, a file per room.
//! - [`event`]: what happened, and how a noun declares its [`topics!`]; [`mail`]: what is written to
//!   people. Both are put out in the transaction of the change that they tell of.
//! - [`range`]: a range of time, as the day partitions that hold it.
//! - [`resource`]: what is shown with a version, and how a change of it is written and announced.
//! - [`pointer`]: where the item of an id is, when its key follows from something else.
//! - Why long work ended early: [`end_reason`].
//! - What two rooms share: [`image`], [`provider`], [`rating`].

pub mod end_reason;
pub mod event;
pub mod fields;
pub mod id;
pub mod image;
pub mod key;
pub mod mail;
pub mod money;
pub mod pointer;
pub mod provider;
pub mod range;
pub mod rating;
pub mod resource;
pub mod scope;
