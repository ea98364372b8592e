//! The app platform.
//!
//! - A [`developer`] publishes an [`app`]: operators review its [`submission`]s, stores write
//!   [`app_review`]s, and [`usage`] is counted.
//! - An [`installation`] is an app on a store; a [`grant`] is an authorization from which its tokens are
//!   issued.
//! - [`review`]: the requests by which operators decide about submissions.
//! - [`actor`]: who acts on a store; [`authority`]: the principal of long work, and the check that it may still
//!   do the work.

pub mod actor;
pub mod app;
pub mod app_review;
pub mod authority;
pub mod developer;
pub mod grant;
pub mod installation;
pub mod review;
pub mod submission;
pub mod usage;
