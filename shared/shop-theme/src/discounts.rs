//! The discounts of a cart or an order, as themes read them: one of some lines reduces these lines, one of the whole
//! reduces the total alone.

use serde_json::{Value as Json, json};

use crate::data::{list, text};
use crate::money::Money;

/// The discounts of a cart or an order.
#[derive(Clone, Copy)]
pub(crate) struct Discounts<'a> {
    all: &'a [Json],
    money: Money,
}

impl<'a> Discounts<'a> {
    /// Those of a cart or an order.
    pub(crate) fn of(priced: &'a Json, money: Money) -> Self {
        Self { all: list(priced, "/discounts"), money }
    }

    /// What reduces a line of its own, each with its amount.
    pub(crate) fn on_line(self, goods: &Json) -> Vec<(&'a Json, i64)> {
        let known = self.all.iter().filter(|discount| is_of_lines(discount));
        let of_line = known.map(|discount| (discount, self.part_of(discount, goods)));
        of_line.filter(|(_, amount)| *amount != 0).collect()
    }

    /// What reduces the whole, as applications.
    pub(crate) fn on_whole(self, lines: &[&Json]) -> Vec<Json> {
        self.applications(lines, |discount| !is_of_lines(discount))
    }

    /// All applications, those of lines included.
    pub(crate) fn on_all(self, lines: &[&Json]) -> Vec<Json> {
        self.applications(lines, |_| true)
    }

    fn applications(self, lines: &[&Json], is_wanted: impl Fn(&Json) -> bool) -> Vec<Json> {
        let wanted = self.all.iter().filter(|discount| is_wanted(discount));
        let with_sum = wanted.map(|discount| {
            let parts = lines.iter().map(|goods| self.part_of(discount, goods));
            (discount, parts.fold(0, i64::saturating_add))
        });
        // What reduces shipping is for the checkout, where shipping is added.
        let reducing = with_sum.filter(|(_, amount)| *amount != 0);
        reducing.map(|(discount, amount)| application(discount, amount)).collect()
    }

    /// The part of a discount on a line.
    fn part_of(self, discount: &Json, goods: &Json) -> i64 {
        let id = discount.get("discount_id");
        let parts = list(goods, "/discounts").iter();
        let own = parts.filter(|part| part.get("discount_id") == id);
        let amounts = own.filter_map(|part| Some(self.money.cents(part.get("amount")?)));
        amounts.fold(0, i64::saturating_add)
    }
}

fn is_of_lines(discount: &Json) -> bool {
    text(discount, "/class") == "product"
}

/// The part of a discount on a line, as an allocation.
pub(crate) fn allocation((discount, amount): (&Json, i64)) -> Json {
    json!({"amount": amount, "discount_application": application(discount, amount)})
}

fn application(discount: &Json, amount: i64) -> Json {
    let kind = if discount.get("code").is_some_and(Json::is_string) {
        "discount_code"
    } else {
        "automatic"
    };
    let selection = if is_of_lines(discount) { "entitled" } else { "all" };
    json!({
        "type": kind,
        "key": discount.get("discount_id"),
        "title": discount.get("title"),
        "code": discount.get("code"),
        "description": discount.get("title"),
        "value": amount.to_string(),
        "value_type": "fixed_amount",
        "allocation_method": "across",
        "target_selection": selection,
        "target_type": "line_item",
        "total_allocated_amount": amount,
    })
}
