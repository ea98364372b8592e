//! The app platform, and the callers of commerce.
//!
//! - A [`developer`] publishes an [`app`]: operators review its [`submission`]s, stores write
//!   [`app_review`]s, and [`usage`] is counted.
//! - An [`installation`] is an app on a store; a [`grant`] is an authorization from which its tokens are
//!   issued.
//! - [`review`]: the requests by which operators decide about submissions.
//! - [`authority`]: the principal of long work, and the check that it may still do the work.
//! - [`caller`]: the first argument of every handler, which says who may call it; [`cross_origin`]: the
//!   routes that any web page may call.

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
