//! The topics of gift cards.

use super::{GiftCardMoved, GiftCardView};

core_types::topics! {
    GIFT_CARD_CREATED = "gift_card.created", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card was issued; events do not contain its code.";
    GIFT_CARD_UPDATED = "gift_card.updated", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card's data changed.";
    GIFT_CARD_DISABLED = "gift_card.disabled", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card was disabled.";
    GIFT_CARD_ENABLED = "gift_card.enabled", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card was enabled again.";
    GIFT_CARD_CREDITED = "gift_card.credited", "gift_card", Some("read_gift_cards"), GiftCardMoved,
        "The merchant credited a gift card.";
    GIFT_CARD_DEBITED = "gift_card.debited", "gift_card", Some("read_gift_cards"), GiftCardMoved,
        "The merchant debited a gift card.";
}
