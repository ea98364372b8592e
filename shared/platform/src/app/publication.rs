//! Events about the publication, suspension and deletion of apps.

use super::AppView;

core_types::topics! {
    APP_PUBLISHED = "app.published", "app", None, AppView,
        "An app was published in the catalogue.";
    APP_UNPUBLISHED = "app.unpublished", "app", None, AppView,
        "An app was unpublished from the catalogue; installations keep working.";
    APP_SUSPENDED_BY_PLATFORM = "app.suspended_by_platform", "app", None, AppView,
        "An operator suspended an app, on every store.";
    APP_RESUMED_BY_PLATFORM = "app.resumed_by_platform", "app", None, AppView,
        "An operator reinstated a suspended app.";
    APP_DELETED = "app.deleted", "app", None, AppView,
        "A developer deleted an app.";
}
