//! Savings of discounts, their eligibility, and the document of automatic ones.

use core_types::event::sample;
use core_types::fields::Email;
use core_types::id::CustomerId;
use primitives::fields::FromText;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn money(amount: i64) -> Money {
    Money { amount, currency: sample("INR") }
}

fn product(name: &str) -> ProductId {
    ProductId::derive(&[name])
}

fn goods(name: &str, price: i64, quantity: u32) -> DiscountableLine {
    let subtotal = money(price).times(quantity).unwrap();
    DiscountableLine {
        product_id: product(name),
        collection_ids: Vec::new(),
        quantity,
        price: money(price),
        left: subtotal.clone(),
        subtotal,
        requires_shipping: true,
    }
}

fn of(names: &[&str]) -> Targets {
    let product_ids = names.iter().map(|name| product(name)).collect();
    Targets { product_ids, collection_ids: Vec::new() }
}

pub(crate) fn discount(value: DiscountValue, applies_to: Targets) -> Discount {
    Discount {
        id: DiscountId::derive(&["discount"]),
        store_id: StoreId::derive(&["store"]),
        title: "Less".into(),
        code: None,
        value,
        applies_to,
        minimum: Minimum::default(),
        combines_with: CombinesWith::default(),
        first_order_only: false,
        usage_limit: None,
        per_customer_limit: None,
        starts_at: NOW,
        ends_at: None,
        disabled: false,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

fn saved(discount: &Discount, cart: &[DiscountableLine]) -> Result<Vec<i64>, DiscountRejection> {
    let saving = discount.saving(cart, &sample("INR"))?;
    Ok(saving.lines.iter().map(|line| line.amount).collect())
}

#[test]
fn percentages_and_amounts_are_allocated_to_the_rest_of_their_lines() {
    let mut cart = vec![goods("a", 100, 1), goods("b", 100, 1), goods("c", 100, 1)];
    let tenth = DiscountValue::Percentage { basis_points: 1_000 };
    assert_eq!(saved(&discount(tenth.clone(), of(&[])), &cart), Ok(vec![10, 10, 10]));
    assert_eq!(saved(&discount(tenth, of(&["b"])), &cart), Ok(vec![0, 10, 0]));
    let fifty = |amount| discount(DiscountValue::Fixed { amount: money(amount) }, of(&["a", "c"]));
    assert_eq!(saved(&fifty(25), &cart), Ok(vec![13, 0, 12]));
    cart[0].left = money(10);
    assert_eq!(saved(&fifty(1_000), &cart), Ok(vec![10, 0, 100]), "never more than is left");
}

#[test]
fn the_cheapest_units_are_got_and_no_unit_is_both_bought_and_got() {
    let bundle = |buy_quantity, get_quantity, get, max_uses| DiscountValue::BuyXGetY {
        buy_quantity,
        get_quantity,
        basis_points: 10_000,
        get,
        max_uses,
    };
    let cart = [goods("dear", 900, 2), goods("cheap", 100, 4)];
    let any = discount(bundle(2, 1, of(&[]), None), of(&[]));
    assert_eq!(saved(&any, &cart), Ok(vec![0, 200]));
    let once = discount(bundle(2, 1, of(&[]), Some(1)), of(&[]));
    assert_eq!(saved(&once, &cart), Ok(vec![0, 100]));
    // Buying a dear one gives a cheap one; buying cheap ones gives a dear one.
    let across = discount(bundle(1, 1, of(&["cheap"]), None), of(&["dear"]));
    assert_eq!(saved(&across, &cart), Ok(vec![0, 200]));
    let back = discount(bundle(4, 1, of(&["dear"]), None), of(&["cheap"]));
    assert_eq!(saved(&back, &cart), Ok(vec![900, 0]));
    let five = discount(bundle(5, 1, of(&["dear"]), None), of(&["cheap"]));
    assert_eq!(saved(&five, &cart), Err(DiscountRejection::MinimumNotMet));
    // The two dear units cannot be both bought and got.
    let same = discount(bundle(2, 1, of(&["dear"]), None), of(&["dear"]));
    assert_eq!(saved(&same, &cart), Err(DiscountRejection::MinimumNotMet));
    let half = DiscountValue::BuyXGetY {
        buy_quantity: 1,
        get_quantity: 1,
        basis_points: 3_333,
        get: of(&[]),
        max_uses: None,
    };
    let odd = [goods("a", 101, 2)];
    assert_eq!(saved(&discount(half, of(&[])), &odd), Ok(vec![34]));
    let many = [goods("a", 1, 999), goods("b", 1, 999)];
    assert_eq!(saved(&discount(bundle(999, 999, of(&[]), None), of(&[])), &many), Ok(vec![999, 0]));
}

#[test]
fn a_minimum_is_required_of_the_targeted_lines_before_discounts() {
    let mut cart = vec![goods("a", 500, 2), goods("b", 500, 1)];
    let mut tenth = discount(DiscountValue::Percentage { basis_points: 1_000 }, of(&["a"]));
    tenth.minimum = Minimum { subtotal: Some(money(1_001)), quantity: None };
    assert_eq!(saved(&tenth, &cart), Err(DiscountRejection::MinimumNotMet));
    tenth.minimum = Minimum { subtotal: Some(money(1_000)), quantity: Some(2) };
    cart[0].left = money(500);
    assert_eq!(saved(&tenth, &cart), Ok(vec![50, 0]));
    tenth.minimum.quantity = Some(3);
    assert_eq!(saved(&tenth, &cart), Err(DiscountRejection::MinimumNotMet));
    assert_eq!(saved(&tenth, &cart[1..]), Err(DiscountRejection::NotApplicable));
}

#[test]
fn free_shipping_requires_a_line_that_needs_shipping() {
    let free = discount(
        DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() },
        of(&[]),
    );
    let mut cart = vec![goods("a", 500, 1)];
    assert!(free.saving(&cart, &sample("INR")).unwrap().free_shipping);
    cart[0].requires_shipping = false;
    assert_eq!(saved(&free, &cart), Err(DiscountRejection::NotApplicable));
}

#[test]
fn a_discount_applies_to_eligible_shoppers_within_its_window() {
    let hour = std::time::Duration::from_hours(1);
    let standing = |change: fn(&mut Discount), used, by| {
        let mut discount = discount(
            DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() },
            of(&[]),
        );
        change(&mut discount);
        DiscountUsage { discount, used, used_by_shopper: by }
    };
    let account =
        |orders| Shopper { account: Some((CustomerId::derive(&["cleo"]), orders)), email: None };
    let guest = Shopper { account: None, email: Some(Email::from_text("A@example.com").unwrap()) };
    let plain = standing(|_| {}, 9, 9);
    assert_eq!(plain.ensure(&guest, NOW), Ok(()));
    assert_eq!(plain.ensure(&guest, Timestamp::from_millis(0)), Err(DiscountRejection::NotStarted));
    let over = standing(|discount| discount.ends_at = Some(NOW), 0, 0);
    assert_eq!(over.ensure(&guest, NOW), Err(DiscountRejection::Expired));
    let off = standing(|discount| discount.disabled = true, 0, 0);
    assert_eq!(off.ensure(&guest, NOW.plus(hour)), Err(DiscountRejection::Disabled));
    let limited = |used| standing(|discount| discount.usage_limit = Some(2), used, 0);
    assert_eq!(limited(1).ensure(&guest, NOW), Ok(()));
    assert_eq!(limited(2).ensure(&guest, NOW), Err(DiscountRejection::UsedUp));
    let own = |by| standing(|discount| discount.per_customer_limit = Some(1), 0, by);
    assert_eq!(own(1).ensure(&guest, NOW), Err(DiscountRejection::UsedByCustomer));
    let first = standing(|discount| discount.first_order_only = true, 0, 0);
    assert_eq!(first.ensure(&account(0), NOW), Ok(()));
    assert_eq!(first.ensure(&account(1), NOW), Err(DiscountRejection::NotFirstOrder));
    assert_eq!(first.ensure(&guest, NOW), Err(DiscountRejection::NotFirstOrder));
    let store = StoreId::derive(&["store"]);
    let again =
        Shopper { email: Some(Email::from_text("a@EXAMPLE.com").unwrap()), ..guest.clone() };
    assert_eq!(guest.ids(&store), again.ids(&store));
    let proven = Shopper { email: guest.email.clone(), ..account(0) };
    assert_eq!(proven.ids(&store).0[1..], guest.ids(&store).0, "of one address");
    assert_eq!(account(0).ids(&store).0, proven.ids(&store).0[..1]);
    assert_ne!(guest.ids(&store), guest.ids(&StoreId::derive(&["other"])));
}

#[test]
fn ended_automatic_discounts_are_removed_from_the_document() {
    let mut document =
        PricingDocument::empty(key::automatic_discounts(&StoreId::derive(&["store"])));
    for n in 0..MAX_AUTOMATIC {
        let id = DiscountId::derive(&[&n.to_string()]);
        document = document.with(Discount {
            id,
            ..discount(
                DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() },
                of(&[]),
            )
        });
    }
    let more = discount(
        DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() },
        of(&[]),
    );
    assert_eq!(listed(&document, &more, false, NOW).unwrap_err().code, Code::DiscountLimit);
    document.entries[3].ends_at = Some(NOW);
    let next = listed(&document, &more, false, NOW).unwrap().unwrap();
    assert_eq!(next.entries.len(), MAX_AUTOMATIC);
    let removed = listed(&next, &more, true, NOW).unwrap().unwrap();
    assert!(removed.entry(more.id.as_str()).is_err());
    let coded = Discount { code: Some(sample("CODE")), ..more };
    assert_eq!(listed(&document, &coded, false, NOW).unwrap(), None);
}
