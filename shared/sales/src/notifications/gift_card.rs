//! The mail that brings a gift card.

use core_types::key;
use core_types::mail::{GiftCardDelivery, MailContent, on_one_line};
use identity::store::Store;
use primitives::clock::DAY;
use primitives::problem::Problem;
use services::Services;
use table::item::Item;

use super::kind::NotificationKind;
use super::template::TemplateValues;
use super::texts::NotificationTexts;
use crate::gift_card::{GiftCard, GiftCardCode, GiftCardStatus, LastDay, Recipient};

/// The mail that brings a gift card to its recipient. Besides the merchant's response, only this mail has
/// the code. [`render`] renders it when it is sent.
pub fn gift_card(to: &Recipient, card: &GiftCard, code: &GiftCardCode) -> MailContent {
    let mail = MailContent::new(&to.email, "", String::new(), DAY.saturating_mul(7));
    let news = GiftCardDelivery { id: card.id.clone(), code: code.reveal().to_owned() };
    MailContent { gift_card: Some(news), ..mail.from_store(Some(&card.store_id)) }
}

/// Renders the mail of a gift card with the store's current text; returns any other mail unchanged.
///
/// None if the card can no longer be spent, or its recipient was redacted. Makes one read for a gift card,
/// none for other mails.
///
/// # Errors
/// 503, `internal`.
pub async fn render(
    services: &Services,
    mail: MailContent,
) -> Result<Option<MailContent>, Problem> {
    let (Some(store_id), Some(news)) = (&mail.store_id, &mail.gift_card) else {
        return Ok(Some(mail));
    };
    let (store_key, card_key) = (key::store(store_id), key::gift_card(store_id, &news.id));
    let none = NotificationTexts::none(store_id, NotificationKind::GiftCard);
    let texts_key = none.key();
    let mut found = services.table.get_many(&[&store_key, &card_key, &texts_key]).await?;
    let (store, card) = (found.take::<Store>(&store_key)?, found.take::<GiftCard>(&card_key)?);
    let texts = found.take(&texts_key)?.unwrap_or(none);
    let now = services.clock.now();
    let can_be_spent = |card: &GiftCard| card.status_at(now) == GiftCardStatus::Active;
    let Some((store, card)) = store.zip(card.filter(can_be_spent)) else { return Ok(None) };
    let Some(to) = &card.recipient else { return Ok(None) };
    let rendered = texts.render(None, &store.locale, &values(&store, &card, to, &news.code))?;
    Ok(Some(rendered.to(mail)))
}

/// Whether a character ends a line (UAX #14, mandatory breaks).
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn values(store: &Store, card: &GiftCard, to: &Recipient, code: &str) -> TemplateValues {
    // Whatever ends a line, the next one is indented: no line of the message passes for one of the mail's.
    let quoted = |message: &String| {
        let message = message.replace("\r\n", "\n");
        let lines: Vec<_> = message.split(ends_line).map(|line| format!("    {line}")).collect();
        lines.join("\n")
    };
    let worth = &card.initial_value;
    let known = [
        ("shop", Some(on_one_line(&store.name))),
        ("value", Some(format!("{} {}", worth.decimal(), worth.currency))),
        ("code", Some(code.to_owned())),
        ("message", to.message.as_ref().map(quoted)),
        ("expires_on", card.expires_on.as_ref().map(LastDay::as_str).map(str::to_owned)),
    ];
    let fields = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
    TemplateValues::from(fields.collect::<Vec<_>>())
}
