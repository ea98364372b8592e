//! The nouns of the platform and their rules: one file per noun, each from its type to its rules,
//! its item and its view. A rule is a pure method that takes `now`; every key is spelled in
//! [`key`]; what happened is announced by [`event`].

pub mod account;
pub mod address;
pub mod app;
pub mod app_review;
pub mod blob;
pub mod caller;
pub mod category;
pub mod challenge;
pub mod collection;
pub mod customer;
pub mod delivery;
pub mod developer;
pub mod event;
pub mod fields;
pub mod form;
pub mod gift_card;
pub mod grant;
pub mod id;
pub mod installation;
pub mod inventory;
pub mod key;
pub mod location;
pub mod mail;
pub mod media;
pub mod merchant;
pub mod money;
pub mod navigation;
pub mod order;
pub mod password;
pub mod payment;
pub mod policy;
pub mod product;
pub mod review;
pub mod scope;
pub mod session;
pub mod settings;
pub mod shelf;
pub mod store;
pub mod storefront;
pub mod submission;
pub mod subscription;
pub mod throttle;
pub mod usage;
pub mod wishlist;
