//! The nouns of the platform and their rules: one file per noun, each from its type to its rules,
//! its item and its view. A rule is a pure method that takes `now`; every key is spelled in
//! [`key`]; what happened is announced by [`event`].

pub mod app;
pub mod app_review;
pub mod caller;
pub mod challenge;
pub mod delivery;
pub mod developer;
pub mod event;
pub mod fields;
pub mod grant;
pub mod id;
pub mod installation;
pub mod key;
pub mod mail;
pub mod merchant;
pub mod navigation;
pub mod policy;
pub mod scope;
pub mod session;
pub mod settings;
pub mod store;
pub mod submission;
pub mod subscription;
pub mod throttle;
pub mod usage;
