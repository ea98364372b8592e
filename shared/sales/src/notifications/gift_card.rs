//! The mail that brings a gift card.

use gateway::clock::DAY;
use gateway::problem::Problem;
use ground::mail::MailContent;
use identity::store::Store;

use super::template::Values;
use super::texts::NotificationTexts;
use crate::gift_card::{GiftCard, GiftCardCode, LastDay, Recipient};

/// A gift card for its recipient, in the store's words: the only place besides the merchant's answer that
/// says the code.
///
/// # Errors
/// `internal`.
pub fn gift_card(
    to: &Recipient,
    texts: &NotificationTexts,
    (store, card): (&Store, &GiftCard),
    code: &GiftCardCode,
) -> Result<MailContent, Problem> {
    let quoted = |message: &String| {
        let lines: Vec<_> = message.lines().map(|line| format!("    {line}")).collect();
        lines.join("\n")
    };
    let worth = &card.initial_value;
    let known = [
        ("shop", Some(store.name.clone())),
        ("value", Some(format!("{} {}", worth.decimal(), worth.currency))),
        ("code", Some(code.reveal().to_owned())),
        ("message", to.message.as_ref().map(quoted)),
        ("expires_on", card.expires_on.as_ref().map(LastDay::as_str).map(str::to_owned)),
    ];
    let values: Values =
        known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let said = texts.render(None, &store.locale, &values)?;
    let mail = MailContent::new(&to.email, "", String::new(), DAY.saturating_mul(7));
    let mail = said.to(mail.from_store(Some(&store.id)));
    Ok(MailContent { gift_card: Some(card.id.clone()), ..mail })
}
