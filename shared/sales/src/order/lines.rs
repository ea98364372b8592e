//! A line's way out that does not depend on money: units that have not left are called off, units
//! that have left come back. What was paid for them goes back by a refund, before or after; what
//! was not paid need not be paid any more.

mod view;

use catalogue::inventory::Step;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::event::Event;
use ground::id::{LocationId, OrderItemId};
use serde_json::{Value, json};

use super::refund::RestockType;
use super::restock::Targets;
use super::{FinancialStatus, Order, OrderAction, OrderItem, OrderView, Units, stock};
use crate::order::{ORDER_LINES_CANCELLED, ORDER_LINES_RETURNED, ORDER_PAID};

pub use view::{ChangedLine, LinesView};

/// Units of a line that are called off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelledLine {
    /// The line.
    pub order_item_id: OrderItemId,
    /// How many units of it.
    pub quantity: u32,
}

/// Units of a line that come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedLine {
    /// The line.
    pub order_item_id: OrderItemId,
    /// How many units of it.
    pub quantity: u32,
    /// Whether they can be sold again.
    pub restock: bool,
    /// Where they come back to; where they left from, unless said otherwise.
    pub location_id: Option<LocationId>,
}

/// An order of which units were called off, or came back.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The order at its next version.
    pub order: Order,
    /// Its lines, in the order they were named.
    pub lines: Vec<ChangedLine>,
    /// Units that leave the stock for good, by line: called off, and not to be sold again.
    gone: Vec<(OrderItemId, Vec<Units>)>,
    /// Whether units came back.
    is_return: bool,
    /// Whether what was paid is all that is to be paid now.
    is_paid_by_it: bool,
}

impl Order {
    /// Calls units off that have not left; all of them when none are named. Without `restock` they
    /// are not in stock any more.
    ///
    /// # Errors
    /// `invalid_state_transition`, `quantity_exceeds_remaining`; `unknown_order_item` and
    /// `duplicate` as faults of their fields.
    pub fn cancel_lines(
        &self,
        named: Option<&[CancelledLine]>,
        restock: bool,
        now: Timestamp,
    ) -> Result<Changed, Problem> {
        self.demand(OrderAction::CancelLines)?;
        let all = || {
            let left = self.items.iter().filter(|item| item.remaining() > 0);
            left.map(|item| (item.id.clone(), item.remaining())).collect()
        };
        let wanted: Vec<(OrderItemId, u32)> = named.map_or_else(all, |named| {
            named.iter().map(|line| (line.order_item_id.clone(), line.quantity)).collect()
        });
        self.demand_units(&wanted, OrderItem::remaining)?;
        let (mut next, mut lines, mut gone) = (self.clone(), Vec::new(), Vec::new());
        for (id, quantity) in wanted {
            let Some(item) = next.items.iter_mut().find(|item| item.id == id) else { continue };
            let unpaid = item.unsettled(quantity);
            item.owed_cancelled = item.owed_cancelled.saturating_add(unpaid);
            let freed = item.call_off(quantity);
            let (restock_type, restocked_at) = if restock {
                (RestockType::Cancel, freed)
            } else {
                item.discarded = item.discarded.saturating_add(quantity);
                gone.push((id.clone(), freed));
                (RestockType::NoRestock, Vec::new())
            };
            lines.push(ChangedLine { order_item_id: id, quantity, restock_type, restocked_at });
        }
        Ok(self.with_lines(&next, lines, gone, now))
    }

    /// Takes units back that have left.
    ///
    /// # Errors
    /// `invalid_state_transition`, `quantity_exceeds_remaining`; `unknown_order_item` and
    /// `duplicate` as faults of their fields.
    pub fn return_lines(&self, named: &[ReturnedLine], now: Timestamp) -> Result<Changed, Problem> {
        self.demand(OrderAction::ReturnLines)?;
        let wanted: Vec<_> =
            named.iter().map(|line| (line.order_item_id.clone(), line.quantity)).collect();
        self.demand_units(&wanted, OrderItem::returnable)?;
        let (mut next, mut lines) = (self.clone(), Vec::new());
        for line in named {
            let (id, quantity) = (line.order_item_id.clone(), line.quantity);
            let Some(item) = next.items.iter_mut().find(|item| item.id == id) else { continue };
            let unpaid = item.unsettled(quantity);
            item.owed_returned = item.owed_returned.saturating_add(unpaid);
            let left_from = item.take_back(quantity);
            let named = line.location_id.as_ref().filter(|_| !left_from.is_empty());
            let (restock_type, restocked_at) = match (line.restock, named) {
                (false, _) => {
                    item.discarded = item.discarded.saturating_add(quantity);
                    (RestockType::NoRestock, Vec::new())
                }
                (true, None) => (RestockType::Return, left_from),
                (true, Some(named)) => {
                    let location_id = named.clone();
                    (RestockType::Return, vec![Units { location_id, quantity }])
                }
            };
            lines.push(ChangedLine { order_item_id: id, quantity, restock_type, restocked_at });
        }
        Ok(Changed { is_return: true, ..self.with_lines(&next, lines, Vec::new(), now) })
    }

    /// Whether the lines have so many units each.
    fn demand_units(
        &self,
        wanted: &[(OrderItemId, u32)],
        have: fn(&OrderItem) -> u32,
    ) -> Result<(), Problem> {
        let known = self.items_named(wanted.iter().map(|(id, _)| id))?;
        let pairs = wanted.iter().zip(known).filter(|((_, quantity), item)| *quantity > have(item));
        let excess: Vec<Value> = pairs
            .map(|((_, quantity), item)| {
                json!({"order_item_id": item.id, "requested": quantity, "remaining": have(item)})
            })
            .collect();
        if excess.is_empty() {
            Ok(())
        } else {
            Err(Code::QuantityExceedsRemaining.with("items", excess))
        }
    }

    fn with_lines(
        &self,
        next: &Self,
        lines: Vec<ChangedLine>,
        gone: Vec<(OrderItemId, Vec<Units>)>,
        now: Timestamp,
    ) -> Changed {
        let order = next.changed(now);
        let was_due = !self.outstanding().is_zero();
        let is_paid_by_it = was_due && order.financial_status == FinancialStatus::Paid;
        Changed { order, lines, gone, is_return: false, is_paid_by_it }
    }
}

impl OrderItem {
    /// Of so many units that will not leave, or come back, how many no money went back for: they
    /// need not be paid, and what was paid for them can be refunded.
    fn unsettled(&mut self, quantity: u32) -> u32 {
        let unpaid = quantity.saturating_sub(self.refunded_only());
        self.waived = self.waived.saturating_add(unpaid).min(self.quantity);
        unpaid
    }
}

impl Changed {
    /// Where units come back to. What is called off never left its location.
    pub fn targets(&self) -> Targets {
        let mut targets = Targets::default();
        for (place, line) in self.lines.iter().enumerate().filter(|_| self.is_return) {
            for units in &line.restocked_at {
                let pointer = format!("/items/{place}/location_id");
                targets.add(&units.location_id, Some(pointer));
            }
        }
        targets
    }

    /// What happened, and the order as it is now.
    pub fn view(&self, reason: Option<String>) -> LinesView {
        LinesView { lines: self.lines.clone(), reason, order: OrderView::from(&self.order) }
    }

    /// Adds the change to a transaction: the order, its stock, its events.
    pub fn write(&self, write: Write, view: &LinesView, now: Timestamp) -> Write {
        let order = &self.order;
        let step = if self.is_return { Step::Restock } else { Step::ReleaseCommitted };
        let write = write.replace(order, Code::VersionConflict);
        let stocked = self.lines.iter().map(|line| (&line.order_item_id, &line.restocked_at, step));
        let gone = self.gone.iter().map(|(id, units)| (id, units, Step::Fulfil));
        let write = stocked.chain(gone).fold(write, |write, (id, units, step)| {
            let Some(item) = order.item(id) else { return write };
            stock::step_all(write, step, (order, item), units, now)
        });
        let topic = if self.is_return { &ORDER_LINES_RETURNED } else { &ORDER_LINES_CANCELLED };
        write
            .emit(Event::new(topic, order.about(), view, now))
            .also(self.is_paid_by_it.then_some(()), |write, ()| {
                write.emit(Event::new(&ORDER_PAID, order.about(), &view.order, now))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::fulfillment::{FulfillmentLine, Wanted};
    use crate::order::tests::{NOW, order, paid};

    /// Both units of the first line have left; that of the second has not.
    fn half_left() -> Order {
        let order = paid(&order());
        let line = FulfillmentLine { order_item_id: order.items[0].id.clone(), quantity: 2 };
        let wanted = Wanted { items: Some(vec![line]), ..Wanted::default() };
        order.fulfill(wanted, NOW).unwrap().0
    }

    fn cancelled(order: &Order, place: usize, quantity: u32) -> [CancelledLine; 1] {
        [CancelledLine { order_item_id: order.items[place].id.clone(), quantity }]
    }

    fn units(changed: &Changed) -> Vec<(&OrderItemId, u32)> {
        changed.lines.iter().map(|line| (&line.order_item_id, line.quantity)).collect()
    }

    #[test]
    fn all_that_has_not_left_is_called_off_when_no_line_is_named() {
        let order = half_left();
        let changed = order.cancel_lines(None, true, NOW).unwrap();
        assert_eq!(units(&changed), [(&order.items[1].id, 1)]);
        let all = paid(&crate::order::tests::order()).cancel_lines(None, true, NOW).unwrap();
        let quantities: Vec<_> = all.lines.iter().map(|line| line.quantity).collect();
        assert_eq!(quantities, [2, 1]);
    }

    #[test]
    fn as_many_units_as_there_are_are_called_off_and_not_one_more() {
        let order = paid(&order());
        assert!(order.cancel_lines(Some(&cancelled(&order, 0, 2)), true, NOW).is_ok());
        let refused = order.cancel_lines(Some(&cancelled(&order, 0, 3)), true, NOW).unwrap_err();
        assert_eq!(refused.code, Code::QuantityExceedsRemaining);
    }

    #[test]
    fn a_return_goes_where_it_is_said_and_only_then_has_a_target() {
        let order = half_left();
        let elsewhere = LocationId::derive(&["elsewhere"]);
        let line = |place: usize, restock, location_id: Option<&LocationId>| ReturnedLine {
            order_item_id: order.items[place].id.clone(),
            quantity: 1,
            restock,
            location_id: location_id.cloned(),
        };
        let places = |line: ReturnedLine| {
            let changed = order.return_lines(&[line], NOW).unwrap();
            assert!(changed.is_return);
            assert_eq!(changed.order.items[0].returned, 1);
            assert_eq!(changed.order.items[1], order.items[1]);
            let at = changed.lines[0].restocked_at.iter();
            at.map(|units| units.location_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(places(line(0, true, Some(&elsewhere))), std::slice::from_ref(&elsewhere));
        assert_eq!(places(line(0, true, None)), [LocationId::derive(&["shelf"])]);
        assert!(places(line(0, false, Some(&elsewhere))).is_empty());
        let refused = order.return_lines(&[line(1, true, None)], NOW).unwrap_err();
        assert_eq!(refused.code, Code::QuantityExceedsRemaining);
        let called_off = order.cancel_lines(None, true, NOW).unwrap();
        assert!(!called_off.is_return);
    }

    #[test]
    fn an_order_is_paid_by_calling_off_what_was_left_to_pay_and_only_then() {
        let open = order();
        let id = ground::id::PaymentId::derive(&["one"]);
        let part = ground::money::sample(20_000);
        let receipt = crate::order::Receipt { payment_id: &id, provider: "stripe", amount: &part };
        let partly = open.apply_payment(receipt, NOW).unwrap().unwrap().order;
        let is_paid_by = |order: &Order, place| {
            let named = cancelled(order, place, 1);
            order.cancel_lines(Some(&named), true, NOW).unwrap().is_paid_by_it
        };
        assert!(is_paid_by(&partly, 1), "5,000 were left");
        assert!(!is_paid_by(&paid(&open), 1), "it was paid before");
        let confirmed = open.confirm(NOW).unwrap().order;
        assert!(!is_paid_by(&confirmed, 1), "20,000 are left");
    }
}
