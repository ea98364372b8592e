//! The app platform, and who calls it.
//!
//! - A [`developer`] publishes an [`app`]: a [`submission`] is reviewed by operators, an
//!   [`app_review`] written by stores, and [`usage`] counted.
//! - An [`installation`] is an app on a store; a [`grant`] is what its tokens come of.
//! - [`review`]: what operators say of what developers propose.
//! - [`authority`]: who long work acts for, and whether they still may.
//! - [`caller`]: the first argument of every handler, and so who may call it; [`cross_origin`]: from
//!   which web pages.

pub mod app;
pub mod app_review;
pub mod authority;
pub mod caller;
pub mod cross_origin;
pub mod developer;
pub mod grant;
pub mod installation;
pub mod review;
pub mod submission;
pub mod usage;
