//! What the tests are written with: actors who use the system over HTTP and nothing else, and a
//! few ways to look behind it.
//!
//! - [`Gateway`]: a whole system for one test, in memory, on free ports, with its own clock.
//! - [`Client`], [`Input`], [`Reply`]: a request from its own network address, and its answer.
//! - [`Merchant`], [`Operator`], [`Developer`], [`Shop`]: people, and what they have set up.
//! - [`Browser`]: somebody at a shop's pages. [`Review`]: their checkout, before the button is pressed.
//! - [`Shopper`]: a customer of a store. [`Market`]: a store with things to sell.
//! - [`Receiver`], [`Names`]: the other side of webhooks, well-behaved or not.
//! - [`PolledQueue`]: a queue of a subscriber's own, who polls.
//! - [`Providers`]: Razorpay and Stripe on loopback, in whatever mood.
//! - [`ThemeShop`], [`ThemeSource`]: a store that tries a theme, and what the theme is made of.
//! - [`Mailbox`]: the mail that was sent.
//! - [`Process`]: the functions' code, a call at a time.
//! - [`routes`]: what the system declares.
//! - [`outgoing`]: where its requests to others may go.
//! - [`Deployed`]: the functions' binaries, each a process, over the same AWS.
//! - [`clock`]: durations and moments.
//! - [`race`], [`eventually`]: many at once, and what takes a moment.
#![expect(missing_docs, reason = "names of test helpers say what they are")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    reason = "tests fail by panicking"
)]

mod actors;
mod browser;
mod checkout;
mod client;
pub mod clock;
mod deliveries;
mod deployed;
pub mod documented;
mod engine;
mod evidence;
pub mod facets;
mod gateway;
mod mailbox;
mod market;
mod orders;
pub mod outgoing;
mod process;
mod products;
mod providers;
mod queue;
mod queues;
mod receiver;
mod reply;
mod routes;
mod shop;
mod shopper;
mod table;
mod themes;
mod trouble;
mod wait;

pub use self::providers::{DEMO_SUBDOMAIN, Providers, deliver};
pub use self::themes::{
    ThemeShop, ThemeSource, accept, account_theme, content_sha256, demo_theme, upload, zip,
};
pub use actors::{Developer, Merchant, Operator, PASSWORD, Store, open_as_is};
pub use browser::{Browser, Shown, sha256_base64};
pub use checkout::{ADDRESS_FIELDS, Review, with_address};
pub use client::{Client, Input, unique};
pub use core_types::event::EventGroup;
pub use deliveries::{PERMITS_OF_STORE, PERMITS_TO_HOST, Permit, Permits};
pub use deployed::Deployed;
pub use emulators::faults::{Fault, Faults};
pub use engine::{embedded_tests, engine_endpoint};
pub use evidence::{CANARY_STORE, Evidence, canary_merchant};
pub use gateway::Gateway;
pub use gateway::Instance;
pub use gateway::OPERATOR_EMAIL;
pub use gateway::Stored;
pub use local::Options;
pub use local::providers::{
    NewDispute, Options as ProviderOptions, Provider, ProviderCall, RAZORPAY_KEY_ID,
    RAZORPAY_SECRET, STRIPE_KEY_ID, STRIPE_SECRET, Trouble, Verdict, WEBHOOK_SECRET, Webhook,
};
pub use mailbox::{Mail, Mailbox};
pub use market::{Market, Placed, address, cart, inr, verify};
pub use orders::{OrderNumbers, no_store};
pub use process::{Process, delivery_message};
pub use products::{Copy, Removed};
pub use queue::{Polled, PolledQueue};
pub use receiver::{Behaviour, Names, Received, Receiver, service_hmac};
pub use reply::Reply;
pub use routes::{Route, routes};
pub use serde_json::{Value, json};
pub use shop::{Grant, PublishedApp, REDIRECT_URI, Shop, challenge, verifier};
pub use shopper::Shopper;
pub use trouble::is_troubled;
pub use wait::{eventually, race};
