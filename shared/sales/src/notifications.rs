//! Mails about orders, carts, gift cards, disputes and customers' accounts: in the store's texts, if it has one for
//! the reader's language, otherwise in built-in ones of that language, if there are any.
//!
//! A mail is rendered once, when it is queued. A gift card's, which may be sent days later, is rendered when
//! it is sent; and so is one about an account, so that the time of its request does not show whether there is one.

mod account;
mod alerts;
mod built_in;
mod carriers;
mod cart;
mod dispute;
mod draft;
mod gift_card;
mod html;
mod kind;
mod order;
mod style;
mod tags;
mod template;
mod texts;

use core_types::mail::MailContent;
use primitives::problem::Problem;
use services::Services;

pub use alerts::{data_request_alert, message_alert, order_alert};
pub use carriers::may_be_followed;
pub use cart::cart_mail;
pub use dispute::dispute_opened;
pub use draft::{Draft, MailingStore};
pub use gift_card::gift_card;
pub use kind::{NotificationKind, Placeholder, PlaceholderList, PlaceholderPosition};
pub use order::{OrderNews, order_mail};
pub use template::{MailTemplate, RenderedMail, TemplateFields, TemplateValues};
pub use texts::*;

/// Drafts a mail whose text is written at sending; returns any other mail unchanged. `store` sends it.
///
/// None if there is nothing to say any more: the gift card can no longer be spent, its recipient was redacted,
/// or the store no longer exists. Makes one read for such a mail, none for others.
///
/// # Errors
/// 503, `internal`.
pub async fn draft(
    services: &Services,
    mut mail: MailContent,
    store: Option<MailingStore<'_>>,
) -> Result<Option<Draft>, Problem> {
    match (mail.account.take(), mail.gift_card.clone(), store) {
        (None, None, _) => Ok(Some(Draft::of(mail))),
        (_, _, None) => Ok(None),
        (Some(news), _, Some(store)) => {
            account::draft(services, mail, &news, store).await.map(Some)
        }
        (None, Some(card), Some(store)) => gift_card::draft(services, mail, &card, store).await,
    }
}
