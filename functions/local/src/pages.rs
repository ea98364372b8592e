//! The pages of the local system below `/_local/`: what it has, what happens in it, and how it is used. They
//! are rendered here, with one style sheet and one script of their own, and load nothing from other hosts. A
//! deployment has none of them.
//!
//! What they show of stores they request from the API, as the demo's accounts. No budget is charged for that.

mod activity;
mod desk;
mod documents;
mod events;
mod guard;
mod layout;
mod mail;
mod operations;
mod reference;
mod start;
mod store;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::response::Redirect;
use axum::routing::{get, post};
use services::Endpoints;
use services::config::Config;

use crate::activity::Activity;
use desk::Desk;
pub(crate) use layout::{STYLE_PATH, error};
pub use start::PATH as START;

/// Where the parts of the system are.
#[derive(Debug, Clone)]
pub(crate) struct Whereabouts {
    /// The base URL of the API.
    pub(crate) url: String,
    /// Whether others reach the system; then nothing private is shown.
    pub(crate) is_public: bool,
    /// The data directory; none in memory.
    pub(crate) data: Option<PathBuf>,
    /// The directory of mails; none if a server sends them.
    pub(crate) mails: Option<PathBuf>,
    /// Names and values of what a client of the emulators needs.
    pub(crate) endpoints: Vec<(&'static str, String)>,
}

impl Whereabouts {
    /// Those of a system with these settings.
    pub(crate) fn new(
        (url, is_public): (&str, bool),
        data: Option<PathBuf>,
        config: &Config,
        aws: &Endpoints,
    ) -> Self {
        let services = [
            ("DynamoDB", aws.dynamodb.clone()),
            ("SQS", aws.sqs.clone()),
            ("Secrets Manager", aws.secrets_manager.clone()),
            ("Razorpay", Some(config.payment_base_urls.razorpay.clone())),
            ("Stripe", Some(config.payment_base_urls.stripe.clone())),
        ];
        let endpoints = services.into_iter().filter_map(|(name, url)| Some((name, url?)));
        Self {
            url: url.to_owned(),
            is_public,
            data,
            mails: config.mail.directory.clone(),
            endpoints: endpoints.collect(),
        }
    }
}

/// What the pages are made of.
pub(crate) struct Site {
    pub(crate) desk: Desk,
    pub(crate) activity: Arc<Activity>,
    pub(crate) whereabouts: Whereabouts,
}

/// The routes of the pages, over this API.
pub(crate) fn router(api: Router, activity: Arc<Activity>, whereabouts: Whereabouts) -> Router {
    let is_public = whereabouts.is_public;
    let site = Arc::new(Site { desk: Desk::new(api), activity, whereabouts });
    let start = || async { Redirect::temporary(START) };
    let open = Router::new()
        .route("/", get(start))
        .route("/_local", get(start))
        .route(START, get(start::show))
        .route(STYLE_PATH, get(layout::style))
        .route(layout::SCRIPT_PATH, get(layout::script))
        .route(reference::PATH, get(reference::show))
        .route(&format!("{}/{{operation}}", reference::PATH), get(reference::show_operation))
        .route("/_local/docs", get(|| async { Redirect::temporary(reference::PATH) }))
        .route(documents::PATH, get(documents::index))
        .route(&format!("{}{{name}}", documents::PATH), get(documents::show));
    let private = Router::new()
        .route(start::TOKENS, post(start::create_token))
        .route(mail::PATH, get(mail::list))
        .route(&format!("{}/{{id}}", mail::PATH), get(mail::show))
        .route(&format!("{}/{{id}}/html", mail::PATH), get(mail::html))
        .route(activity::PATH, get(activity::list))
        .route(&format!("{}/{{request_id}}", activity::PATH), get(activity::show))
        .route(events::PATH, get(events::show))
        .route("/_local/store/{noun}", get(store::show))
        .route(operations::PATH, get(operations::index))
        .route(&format!("{}/{{*path}}", operations::PATH), get(operations::show));
    let private =
        private.layer(axum::middleware::from_fn_with_state(Arc::clone(&site), guard::admit));
    let all = if is_public { open } else { open.merge(private) };
    all.with_state(site)
}
