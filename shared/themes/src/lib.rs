//! Themes: what a storefront looks like, made by one party and arranged by another.
//!
//! - A developer uploads a [`package`]: a zip that is read under bounds, with every [`finding`] at
//!   once. What is in it is said by its [`manifest`]; its [`file`]s are named by their digests.
//! - What a merchant may set is the theme's [`schema`]; what they did set is checked and made safe by
//!   [`settings`].
//! - A published arrangement is a [`release`]; before that it is looked at through a [`preview`].
//! - Who may install a theme that costs something says its [`license`].
//!
//! None of these reads or writes anything: bytes and values come in, decisions go out. What is kept:
//!
//! - a [`theme`] with its versions, each an [`upload`]ed package whose files are its [`contents`];
//! - on a store an [`installed`] theme, its [`draft`], what was [`published`], and the preview
//!   [`session`]s;
//! - what a store is [`licensed`] for, by a [`purchase`].

mod archive;
pub mod contents;
pub mod draft;
pub mod file;
pub mod finding;
pub mod findings;
pub mod installed;
pub mod license;
pub mod licensed;
pub mod manifest;
pub mod package;
pub mod preview;
pub mod published;
pub mod purchase;
pub mod release;
pub mod schema;
pub mod session;
pub mod settings;
pub mod status;
pub mod theme;
pub mod upload;
