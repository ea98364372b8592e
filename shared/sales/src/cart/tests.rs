//! Rules of carts.

use core_types::id::{CartId, CustomerId, OrderId, StoreId, VariantId};
use primitives::clock::{HOUR, Timestamp};
use primitives::fields::Int;
use primitives::problem::Code;

use super::reminder::{ABANDONED_AFTER, ReminderStep};
use super::*;
use crate::order::MAX_LINES;
use crate::order::cart::LineInput;

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn cart() -> Cart {
    Cart {
        id: CartId::derive(&["cart"]),
        store_id: StoreId::derive(&["store"]),
        token_digest: Some("digest".into()),
        customer_id: None,
        guest: None,
        status: CartStatus::Open,
        lines: Vec::new(),
        discount_codes: Vec::new(),
        gift_cards: Vec::new(),
        buyer: CartBuyer::default(),
        currency: core_types::event::sample::<Currency>("INR"),
        order_id: None,
        remind_at: None,
        abandoned_at: None,
        created_at: NOW,
        updated_at: NOW,
        expires_at: NOW.plus(RETENTION),
        version: 1,
    }
}

fn input(variant: &str, quantity: i64) -> LineInput {
    let variant_id = VariantId::derive(&[variant]);
    LineInput { variant_id, quantity: Int(quantity), properties: None, metadata: None }
}

fn quantities(cart: &Cart) -> Vec<u32> {
    cart.lines.iter().map(|line| line.quantity).collect()
}

#[test]
fn equal_lines_are_merged_up_to_the_limit_of_an_order() {
    let two = cart().with_added(vec![input("a", 2), input("b", 1), input("a", 3)]).unwrap();
    assert_eq!(quantities(&two), [5, 1]);
    let more = two.clone().with_added(vec![input("b", 4)]).unwrap();
    assert_eq!(quantities(&more), [5, 5]);
    let error = more.with_added(vec![input("c", 1), input("a", 995)]).unwrap_err();
    assert_eq!(error.errors()[0].pointer, "/lines/1/quantity");
    let many = (0..=MAX_LINES).map(|n| input(&n.to_string(), 1)).collect();
    let error = cart().with_lines(many).unwrap_err();
    assert_eq!(
        (error.errors()[0].pointer.as_str(), error.code),
        ("/lines", Code::ValidationFailed)
    );
}

#[test]
fn a_line_keeps_its_id_with_its_variant_and_properties() {
    let before = cart().with_added(vec![input("a", 2), input("b", 1)]).unwrap();
    let id = before.lines[0].id(&before.id);
    let after = before.clone().with_line(&id, Some(7), None).unwrap();
    assert_eq!((quantities(&after), after.lines[0].id(&after.id)), (vec![7, 1], id.clone()));
    let without = after.with_line(&id, Some(0), None).unwrap();
    assert_eq!(quantities(&without), [1]);
    assert_eq!(without.with_line(&id, Some(1), None).unwrap_err().code, Code::NotFound);
}

#[test]
fn merged_carts_add_up_to_the_limits() {
    let own = cart().with_added(vec![input("a", 990), input("b", 1)]).unwrap();
    let theirs = (0..50).map(|n| input(&n.to_string(), 1)).take(38);
    let theirs = cart().with_added(theirs.chain([input("a", 20)]).collect()).unwrap();
    let both = own.merged(&theirs, NOW);
    assert_eq!((both.lines.len(), both.lines[0].quantity, both.version), (MAX_LINES, 999, 2));
    let more = cart().with_added(vec![input("x", 1)]).unwrap();
    assert_eq!(both.merged(&more, NOW).lines.len(), MAX_LINES);
}

#[test]
fn a_converted_cart_has_its_order_and_nothing_else() {
    let cart = cart().with_added(vec![input("a", 1)]).unwrap();
    let order = OrderId::derive(&["order"]);
    let converted = cart.converted(&order, NOW.plus(HOUR));
    assert!(cart.ensure_open().is_ok());
    assert_eq!(converted.ensure_open().unwrap_err().code, Code::CartConverted);
    assert!(converted.lines.is_empty() && converted.indexes().is_empty());
    assert_eq!(converted.buyer, CartBuyer::default());
}

#[test]
fn a_cart_is_left_after_an_hour_without_change_and_once() {
    let full = cart().with_added(vec![input("a", 1)]).unwrap();
    assert_eq!(full.next_reminder(NOW), None, "a guest's");
    let own = Cart { customer_id: Some(CustomerId::derive(&["cleo"])), ..full };
    let due = own.next_reminder(NOW);
    assert_eq!(due, Some(NOW.plus(ABANDONED_AFTER)));
    let later = Cart { remind_at: due, ..own }.changed(NOW.plus(HOUR / 2));
    assert_eq!(later.next_reminder(NOW.plus(HOUR / 2)), due, "the mark stays");
    let at = NOW.plus(ABANDONED_AFTER);
    assert_eq!(later.reminder(None, at), ReminderStep::Wait(at.plus(HOUR / 2)));
    assert_eq!(later.reminder(None, at.plus(HOUR)), ReminderStep::Forget);
}
