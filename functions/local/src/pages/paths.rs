//! The paths of the pages.

/// The start page.
pub const START: &str = "/_local/";
/// What signs an account in.
pub(super) const TOKENS: &str = "/_local/tokens";
/// The latest requests.
pub(super) const ACTIVITY: &str = "/_local/activity";
/// The latest events.
pub(super) const EVENTS: &str = "/_local/activity/events";
/// The mailbox.
pub(super) const MAIL: &str = "/_local/mail";
/// The forms by which a store is opened and filled.
pub(super) const SELL: &str = "/_local/store/sell";
/// The orders of a store.
pub(super) const ORDERS: &str = "/_local/store/orders";
/// Its webhook subscriptions.
pub(super) const WEBHOOKS: &str = "/_local/store/webhooks";
/// Its apps.
pub(super) const APPS: &str = "/_local/store/apps";
/// The operations of the API; one is below it by its id.
pub(super) const REFERENCE: &str = "/_local/reference";
/// The documents; one is below it by its name.
pub(super) const DOCUMENTS: &str = "/_local/docs/";
/// The operators' pages.
pub(super) const OPERATIONS: &str = "/_local/operations";
/// The style sheet.
pub(crate) const STYLE: &str = "/_local/assets/style.css";
/// The script.
pub(super) const SCRIPT: &str = "/_local/assets/script.js";
