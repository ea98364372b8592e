//! Themes: the appearance of a storefront, made by a developer and customized by a merchant.
//!
//! - A developer uploads a [`package`]: a zip that is read under bounds. All its [`finding`]s are reported
//!   at once. Its [`manifest`] describes it, and its [`file`]s are named by their digests.
//! - A theme's [`schema`] declares its settings; [`settings`] validates and sanitizes their values.
//! - A published draft is a [`release`]; before that, a [`preview`] shows it.
//! - A store needs an [`entitlement`] to install a paid theme.
//!
//! These are pure: bytes and values come in, decisions go out. Stored items are:
//!
//! - a [`theme`] with its versions, each an [`upload`]ed package whose files are its [`contents`];
//! - on a store an [`installed`] theme, its [`draft`], what was [`published`], and the preview
//!   [`session`]s;
//! - a store's licence for a theme ([`theme_license`]), granted by a [`purchase`].

mod archive;
mod canonical_json;
pub mod contents;
pub mod draft;
pub mod entitlement;
pub mod file;
pub mod finding;
pub mod findings;
pub mod installed;
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
pub mod theme_license;
pub mod upload;
