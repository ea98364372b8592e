//! The topics of events about stock locations.

use super::LocationView;

core_types::topics! {
    LOCATION_CREATED = "location.created", "location", Some("read_locations"), LocationView,
        "A stock location was created.";
    LOCATION_UPDATED = "location.updated", "location", Some("read_locations"), LocationView,
        "A stock location's data changed.";
    LOCATION_DEACTIVATED = "location.deactivated", "location", Some("read_locations"), LocationView,
        "A stock location was deactivated.";
    LOCATION_ACTIVATED = "location.activated", "location", Some("read_locations"), LocationView,
        "A stock location was activated again.";
}
