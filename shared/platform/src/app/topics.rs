//! Events about apps; for those about their publication, see [`publication`](super::publication).

use super::AppView;

core_types::topics! {
    APP_CREATED = "app.created", "app", None, AppView,
        "A developer created an app.";
    APP_UPDATED = "app.updated", "app", None, AppView,
        "A developer changed an app.";
    APP_SECRET_ROTATED = "app.secret_rotated", "app", None, AppView,
        "An app's client secret was rotated; the previous one works for another 24 hours.";
}
