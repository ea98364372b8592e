//! Rules of gift cards.

use core_types::fields::Currency;
use core_types::id::{MerchantId, OrderId};
use identity::store::NewStore;
use primitives::fields::FromText;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn money(amount: i64) -> Money {
    Money::new(amount, &Currency::from_text("INR").unwrap()).unwrap()
}

fn card(expires_on: Option<&str>) -> GiftCard {
    card_at("UTC", expires_on)
}

fn card_at(zone: &str, expires_on: Option<&str>) -> GiftCard {
    let timezone = Some(serde_json::from_value(zone.into()).unwrap());
    let new_store = NewStore { timezone, ..NewStore::sample() };
    let store = Store::create(&MerchantId::mint(NOW), new_store, NOW);
    let issue = NewGiftCard {
        initial_value: money(1_000),
        expires_on: expires_on.map(|day| LastDay::from_text(day).unwrap()),
        customer_id: None,
        recipient: None,
        note: None,
    };
    let code = GiftCardCode::from_text("SUMMER2026X").unwrap();
    GiftCard::issue(&store, issue, &code, &MacKey::generate(), NOW)
}

#[test]
fn a_balance_is_never_below_zero() {
    let card = card(None);
    let empty = card.debited(&money(1_000), NOW).unwrap();
    assert_eq!((empty.balance.amount, empty.version), (0, 2));
    assert_eq!(empty.debited(&money(1), NOW).unwrap_err().code, Code::InsufficientBalance);
    assert_eq!(empty.credited(&money(5), NOW).unwrap().balance.amount, 5);
    let full = card.credited(&money(core_types::money::MAX_AMOUNT), NOW);
    assert_eq!(full.unwrap_err().code, Code::ValidationFailed);
}

#[test]
fn a_card_can_be_spent_to_the_end_of_its_last_day() {
    let card = card(Some("2026-01-31"));
    let end = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
    let before = Timestamp::from_millis(end.millis() - 1);
    assert_eq!(card.status_at(before), GiftCardStatus::Active);
    assert_eq!(card.status_at(end), GiftCardStatus::Expired);
    assert_eq!(card.debited(&money(1), end).unwrap_err().code, Code::GiftCardExpired);
    for bad in ["2026-02-30", "26-01-31", "2026-1-31", "tomorrow", "2026-01-31T00:00:00Z"] {
        assert!(LastDay::from_text(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_last_day_ends_where_the_store_is() {
    let end = |zone, day| card_at(zone, Some(day)).expires_at.unwrap();
    for (zone, day, expected) in [
        ("Asia/Kolkata", "2026-01-31", "2026-01-31T18:30:00Z"),
        ("America/New_York", "2026-07-31", "2026-08-01T04:00:00Z"),
        // Clocks go forward at midnight, so the next day begins at one.
        ("America/Sao_Paulo", "2018-11-03", "2018-11-04T03:00:00Z"),
        // As stored before zones were validated.
        ("Nowhere/Land", "2026-01-31", "2026-02-01T00:00:00Z"),
    ] {
        assert_eq!(end(zone, day), Timestamp::parse(expected).unwrap(), "{zone}");
    }
}

#[test]
fn a_disabled_card_stays_disabled() {
    let disabled = card(None).disabled(NOW).unwrap();
    assert_eq!(disabled.disabled(NOW).unwrap_err().code, Code::GiftCardDisabled);
    assert_eq!(disabled.credited(&money(1), NOW).unwrap_err().code, Code::GiftCardDisabled);
    assert_eq!(disabled.debited(&money(1), NOW).unwrap_err().code, Code::GiftCardDisabled);
}

#[test]
fn spellings_of_a_code_are_one_card_within_a_store() {
    let (mac, store) = (MacKey::generate(), StoreId::mint(NOW));
    let hmac = |store: &StoreId, text: &str| {
        GiftCard::code_hmac(&mac, store, &GiftCardCode::from_text(text).unwrap())
    };
    assert_eq!(hmac(&store, "holiday-2026"), hmac(&store, "H0L1DAY2O26"));
    assert_ne!(hmac(&store, "HOLIDAY2026"), hmac(&StoreId::mint(NOW), "HOLIDAY2026"));
}

#[test]
fn disabling_a_card_sets_its_time_and_raises_the_version() {
    let later = NOW.plus(std::time::Duration::from_secs(1));
    let off = card(None).disabled(later).unwrap();
    assert_eq!((off.status, off.disabled_at), (GiftCardStatus::Disabled, Some(later)));
    assert_eq!((off.updated_at, off.version()), (later, 2));
    assert_eq!(off.disabled(later).unwrap_err().code, Code::GiftCardDisabled);
}

#[test]
fn an_entry_names_the_order_that_moved_the_money() {
    let card = card(None);
    let order = OrderId::derive(&["o"]);
    let kind = GiftCardEntryKind::Redeemed;
    let entry = GiftCardEntry::new((&card.store_id, &card.id), kind, &money(1), NOW);
    assert_eq!(entry.order_id, None);
    assert_eq!(entry.of_order(&order).order_id, Some(order));
    assert_eq!(GiftCardEntryKind::ALL.iter().filter(|kind| kind.is_debit()).count(), 2);
}

#[test]
fn a_last_day_reads_as_it_was_written() {
    assert_eq!(LastDay::from_text(" 2027-12-31 ").unwrap().as_str(), "2027-12-31");
}
