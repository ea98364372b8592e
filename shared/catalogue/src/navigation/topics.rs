//! The topics of events about navigation menus.

use core_types::event::{EXAMPLE_TIME, Example, sample};

use super::{MenuItem, MenuItemKind, MenuView};

core_types::topics! {
    NAVIGATION_UPDATED = "navigation.updated", "navigation", Some("read_content"), MenuView,
        "A navigation menu was created or changed.";
    NAVIGATION_DELETED = "navigation.deleted", "navigation", Some("read_content"), MenuView,
        "A navigation menu was deleted.";
}

impl Example for MenuView {
    fn example() -> Self {
        Self {
            id: sample("main"),
            handle: sample("main"),
            items: vec![MenuItem {
                title: sample("Refunds"),
                kind: MenuItemKind::Policy,
                reference: Some(sample("refund")),
                url: None,
                children: Vec::new(),
            }],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
