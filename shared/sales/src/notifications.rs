//! What is mailed about what was sold: in the store's words, where it has some for the reader's language,
//! and else in those that are built in. A mail is written once, and says what was so then; one that brings
//! a gift card, which may be sent days later, finds its words when it is sent.

mod built_in;
mod carriers;
mod dispute;
mod gift_card;
mod kind;
mod order;
mod template;
mod texts;

pub use carriers::may_be_followed;
pub use dispute::dispute_opened;
pub use gift_card::{gift_card, worded};
pub use kind::{NotificationKind, Place, Placeholder};
pub use order::{OrderNews, about_order};
pub use template::{Rendered, Values, Wording};
pub use texts::*;
