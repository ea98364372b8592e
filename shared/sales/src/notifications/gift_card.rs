//! The mail that brings a gift card.

use gateway::clock::DAY;
use ground::mail::{MailContent, unlinked};
use identity::store::Store;

use crate::gift_card::{GiftCard, GiftCardCode, LastDay, Recipient};

/// A gift card for its recipient: the only place besides the merchant's answer that says the
/// code.
pub fn gift_card(
    to: &Recipient,
    store: &Store,
    card: &GiftCard,
    code: &GiftCardCode,
) -> MailContent {
    let quoted = |message: &String| {
        let lines = message.lines().map(|line| format!("    {}", unlinked(line)));
        let lines: Vec<_> = lines.collect();
        format!("With these words:\n\n{}\n\n", lines.join("\n"))
    };
    let words = to.message.as_ref().map(quoted).unwrap_or_default();
    let end = card.expires_on.as_ref().map(LastDay::as_str);
    let end = end.map(|day| format!("It is good until {day}.\n")).unwrap_or_default();
    let text = format!(
        "You have a gift card for the shop\n\n    {}\n\nIt is worth {} {}.\n\n{words}\
         Code: {}\n\n{end}Whoever has the code can spend it: keep it to yourself.\n",
        unlinked(&store.name),
        card.initial_value.decimal(),
        card.initial_value.currency,
        code.reveal(),
    );
    let mail = MailContent::new(&to.email, "You have a gift card", text, DAY.saturating_mul(7));
    MailContent { gift_card: Some(card.id.clone()), ..mail.from_store(Some(&store.id)) }
}
