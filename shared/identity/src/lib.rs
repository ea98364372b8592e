//! Who somebody is, and whose a store is.
//!
//! - An [`account`] is a [`merchant`]'s or a [`customer`]'s. [`authentication`] is what can be done
//!   with any of them: by [`password`], by a one-time code or a link ([`challenge`]), bounded by
//!   [`throttle`]; it begins a [`session`], and a merchant's may take a second factor ([`mfa`]).
//!   [`notifications`] are the mails about it.
//! - A [`store`] is a tenant, with its [`settings`]; [`storefront`] finds it by its subdomain. Its
//!   people are its [`member`]s.
//! - A customer's [`address`]es.

pub mod account;
pub mod address;
pub mod authentication;
pub mod challenge;
pub mod customer;
pub mod domain;
pub mod holder;
pub mod member;
pub mod merchant;
pub mod mfa;
pub mod notifications;
pub mod password;
pub mod session;
pub mod settings;
pub mod store;
pub mod storefront;
pub mod throttle;
