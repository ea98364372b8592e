//! Accounts, sign-in, stores and their members.
//!
//! - An [`account`] belongs to a [`merchant`] or a [`customer`]. [`authentication`] is common to
//!   both: by [`password`], by a one-time code or a link ([`challenge`]), bounded by [`throttle`].
//!   It begins a [`session`]; merchants may enable a second factor ([`mfa`]). [`notifications`] are
//!   the mails about it.
//! - A [`store`] is a tenant, with its [`settings`]; [`storefront`] finds it by its subdomain. Its
//!   people are its [`member`]s.
//! - [`address`]es of customers, checkouts and locations; [`phone`] numbers in E.164.

pub mod account;
pub mod address;
pub mod authentication;
pub mod challenge;
pub mod challenge_subject;
pub mod customer;
pub mod domain;
pub mod member;
pub mod merchant;
pub mod mfa;
pub mod notifications;
pub mod password;
pub mod phone;
pub mod session;
pub mod settings;
pub mod store;
pub mod storefront;
pub mod throttle;
