//! The mail that brings a gift card.

use core_types::fields::Locale;
use core_types::key;
use core_types::mail::{GiftCardDelivery, MailContent};
use primitives::clock::DAY;
use primitives::problem::Problem;
use services::Services;
use table::item::Item;

use super::draft::{Draft, MailingStore};
use super::kind::NotificationKind;
use super::style::Style;
use super::template::TemplateValues;
use super::texts::NotificationTexts;
use crate::gift_card::{GiftCard, GiftCardCode, GiftCardStatus, LastDay, Recipient};

/// The mail that brings a gift card to its recipient. Besides the merchant's response, only this mail has
/// the code. It is rendered when it is sent.
pub fn gift_card(to: &Recipient, card: &GiftCard, code: &GiftCardCode) -> MailContent {
    let mail = MailContent::new(&to.email, "", String::new(), DAY.saturating_mul(7));
    let news = GiftCardDelivery { id: card.id.clone(), code: code.reveal().to_owned() };
    MailContent { gift_card: Some(news), ..mail.from_store(Some(&card.store_id)) }
}

/// The draft of a gift card's mail; without the giver's message while the store's owner has not proven their address. One
/// read.
///
/// None if the card can no longer be spent, or its recipient was redacted.
///
/// # Errors
/// 503, `internal`.
pub(super) async fn draft(
    services: &Services,
    mail: MailContent,
    news: &GiftCardDelivery,
    from: MailingStore<'_>,
) -> Result<Option<Draft>, Problem> {
    let store = from.store;
    let card_key = key::gift_card(&store.id, &news.id);
    let none = NotificationTexts::none(&store.id, NotificationKind::GiftCard);
    let texts_key = none.key();
    let mut found = services.table.get_many(&[&card_key, &texts_key]).await?;
    let (card, texts) = (found.take::<GiftCard>(&card_key)?, found.take(&texts_key)?);
    let texts = texts.filter(|_| from.is_proven).unwrap_or(none);
    let now = services.clock.now();
    let Some(card) = card.filter(|card| card.status_at(now) == GiftCardStatus::Active) else {
        return Ok(None);
    };
    let Some(to) = &card.recipient else { return Ok(None) };
    let values = |language: &Locale| values((from, language), &card, to, &news.code);
    let content = texts.render(None, &store.locale, values)?.to(mail);
    Ok(Some(Draft::of(content)))
}

/// Whether a character ends a line (UAX #14, mandatory breaks).
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn values(
    (from, language): (MailingStore<'_>, &Locale),
    card: &GiftCard,
    to: &Recipient,
    code: &str,
) -> TemplateValues {
    // Whatever ends a line, the next one is indented: no line of the message passes for one of the mail's.
    let quoted = |message: &String| {
        let message = message.replace("\r\n", "\n");
        let lines: Vec<_> = message.split(ends_line).map(|line| format!("    {line}")).collect();
        lines.join("\n")
    };
    let known = [
        ("shop", Some(from.name())),
        ("value", Some(Style::of(language).money(&card.initial_value))),
        ("code", Some(code.to_owned())),
        ("message", to.message.as_ref().filter(|_| from.is_proven).map(quoted)),
        ("expires_on", card.expires_on.as_ref().map(LastDay::as_str).map(str::to_owned)),
    ];
    let fields = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
    TemplateValues::from(fields.collect::<Vec<_>>())
}
