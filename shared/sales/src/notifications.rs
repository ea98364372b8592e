//! Mails about orders, carts, gift cards and disputes: in the store's texts, if it has one for the reader's
//! language, otherwise in built-in English ones.
//!
//! A mail is rendered once, when it is queued. A gift card's, which may be sent days later, is rendered when
//! it is sent.

mod built_in;
mod carriers;
mod cart;
mod dispute;
mod gift_card;
mod html;
mod kind;
mod order;
mod tags;
mod template;
mod texts;

pub use carriers::may_be_followed;
pub use cart::cart_mail;
pub use dispute::dispute_opened;
pub use gift_card::{gift_card, render};
pub use kind::{NotificationKind, Placeholder, PlaceholderList, PlaceholderPosition};
pub use order::{OrderNews, order_mail};
pub use template::{MailTemplate, RenderedMail, TemplateFields, TemplateValues};
pub use texts::*;
