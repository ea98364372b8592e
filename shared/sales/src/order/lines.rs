//! Cancelling and returning units of lines, without refunding them.
//!
//! Units that are not fulfilled are cancelled, fulfilled ones are returned. Payments for them can be
//! refunded before or after; what was not paid leaves the order's amounts ([`super::unsold`]).

mod view;

use catalogue::inventory::StockStep;
use core_types::event::{Event, Topic};
use core_types::id::{LocationId, OrderItemId};
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde_json::{Value, json};

use super::refund::RestockType;
use super::restock::RestockLocations;
use super::unsold::Credits;
use super::{FinancialStatus, Order, OrderAction, OrderChange, OrderItem, OrderView, Units};
use crate::order::{ORDER_LINES_CANCELLED, ORDER_LINES_RETURNED, ORDER_PAID};

/// Stock movements of units of lines.
type LineSteps = Vec<(StockStep, OrderItemId, Vec<Units>)>;

pub use view::{ChangedLine, LinesView};

/// Units of a line to cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelledLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
}

/// Units of a line to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
    /// Whether they become available again.
    pub restock: bool,
    /// The location where they are put back; by default where they were taken from.
    pub location_id: Option<LocationId>,
}

impl Order {
    /// Cancels units that are not fulfilled; all of them if none are named. Without `restock` they are taken
    /// out of stock.
    ///
    /// # Errors
    /// `invalid_state_transition`, `quantity_exceeds_remaining`; `unknown_order_item` and `duplicate` as
    /// errors of their fields.
    pub fn cancel_lines(
        &self,
        requested: Option<&[CancelledLine]>,
        restock: bool,
        reason: Option<String>,
        now: Timestamp,
    ) -> Result<(OrderChange, LinesView), Problem> {
        self.ensure(OrderAction::CancelLines)?;
        let all = || {
            let left = self.items.iter().filter(|item| item.remaining() > 0);
            left.map(|item| (item.id.clone(), item.remaining())).collect()
        };
        let wanted: Vec<(OrderItemId, u32)> = requested.map_or_else(all, |requested| {
            requested.iter().map(|line| (line.order_item_id.clone(), line.quantity)).collect()
        });
        self.ensure_units(&wanted, OrderItem::remaining)?;
        let (mut next, mut lines, mut steps) = (self.clone(), Vec::new(), Vec::new());
        let credits = next.release(&wanted, |item| &mut item.refundable_cancelled)?;
        for (id, quantity) in wanted {
            let Some(item) = next.items.iter_mut().find(|item| item.id == id) else { continue };
            let freed = item.cancel_units(quantity);
            let (restock_type, restocked_at) = if restock {
                steps.push((StockStep::ReleaseCommitted, id.clone(), freed.clone()));
                (RestockType::Cancel, freed)
            } else {
                item.discarded = item.discarded.saturating_add(quantity);
                steps.push((StockStep::WriteOff, id.clone(), freed));
                (RestockType::NoRestock, Vec::new())
            };
            lines.push(ChangedLine { order_item_id: id, quantity, restock_type, restocked_at });
        }
        let moves = (steps, credits);
        Ok(self.with_lines(&next, (lines, reason), moves, &ORDER_LINES_CANCELLED, now))
    }

    /// Returns fulfilled units.
    ///
    /// # Errors
    /// `invalid_state_transition`, `quantity_exceeds_remaining`; `unknown_order_item` and `duplicate` as
    /// errors of their fields.
    pub fn return_lines(
        &self,
        requested: &[ReturnedLine],
        reason: Option<String>,
        now: Timestamp,
    ) -> Result<(OrderChange, LinesView), Problem> {
        self.ensure(OrderAction::ReturnLines)?;
        let wanted: Vec<_> =
            requested.iter().map(|line| (line.order_item_id.clone(), line.quantity)).collect();
        self.ensure_units(&wanted, OrderItem::returnable)?;
        let (mut next, mut lines, mut steps) = (self.clone(), Vec::new(), Vec::new());
        let credits = next.release(&wanted, |item| &mut item.refundable_returned)?;
        for line in requested {
            let (id, quantity) = (line.order_item_id.clone(), line.quantity);
            let Some(item) = next.items.iter_mut().find(|item| item.id == id) else { continue };
            let left_from = item.return_units(quantity);
            let requested = line.location_id.as_ref().filter(|_| !left_from.is_empty());
            let (restock_type, restocked_at) = match (line.restock, requested) {
                (false, _) => {
                    item.discarded = item.discarded.saturating_add(quantity);
                    (RestockType::NoRestock, Vec::new())
                }
                (true, None) => (RestockType::Return, left_from),
                (true, Some(requested)) => {
                    let location_id = requested.clone();
                    (RestockType::Return, vec![Units { location_id, quantity }])
                }
            };
            steps.push((StockStep::Restock, id.clone(), restocked_at.clone()));
            lines.push(ChangedLine { order_item_id: id, quantity, restock_type, restocked_at });
        }
        let moves = (steps, credits);
        Ok(self.with_lines(&next, (lines, reason), moves, &ORDER_LINES_RETURNED, now))
    }

    /// Releases the buyer from units that are cancelled or returned: those of an order that is not paid are not
    /// sold, and those of a paid one can be refunded, which `owed` counts. Returns the credits of its gift cards.
    fn release(
        &mut self,
        wanted: &[(OrderItemId, u32)],
        owed: fn(&mut OrderItem) -> &mut u32,
    ) -> Result<Credits, Problem> {
        if self.recalculates_on_removal() {
            return self.unsell(wanted);
        }
        for (id, quantity) in wanted {
            for item in self.items.iter_mut().filter(|item| item.id == *id) {
                let unpaid = item.waive(*quantity);
                let owed = owed(item);
                *owed = owed.saturating_add(unpaid);
            }
        }
        Ok(Credits::new())
    }

    /// Requires that each line has that many units, as counted by `have`.
    fn ensure_units(
        &self,
        wanted: &[(OrderItemId, u32)],
        have: fn(&OrderItem) -> u32,
    ) -> Result<(), Problem> {
        let items = self.requested_items(wanted.iter().map(|(id, _)| id))?;
        let pairs = wanted.iter().zip(items).filter(|((_, quantity), item)| *quantity > have(item));
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

    /// The change to `next`, with the event about its lines. If nothing is outstanding any more, the order
    /// is announced as paid.
    fn with_lines(
        &self,
        next: &Self,
        (lines, reason): (Vec<ChangedLine>, Option<String>),
        (units, cards): (LineSteps, Credits),
        topic: &Topic<LinesView>,
        now: Timestamp,
    ) -> (OrderChange, LinesView) {
        let order = next.changed(now);
        let view = LinesView { lines, reason, order: OrderView::from(&order) };
        let event = Event::new(topic, order.event_subject(), &view, now);
        let is_paid_by_it =
            !self.outstanding().is_zero() && order.financial_status == FinancialStatus::Paid;
        let change =
            OrderChange { units, cards, lines_event: Some(event), ..OrderChange::new(self, order) };
        (if is_paid_by_it { change.announced(&ORDER_PAID) } else { change }, view)
    }
}

impl OrderItem {
    /// Waives those of the cancelled or returned units that were not refunded, and returns their number.
    /// They need not be paid, and payments for them can be refunded.
    fn waive(&mut self, quantity: u32) -> u32 {
        let unpaid = quantity.saturating_sub(self.refunded_only());
        self.waived = self.waived.saturating_add(unpaid).min(self.sold());
        unpaid
    }
}

impl LinesView {
    /// The locations where units are put back.
    pub fn restock_locations(&self) -> RestockLocations {
        let lines = self.lines.iter();
        RestockLocations::of_lines(lines.map(|line| (line.restock_type, &*line.restocked_at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::fulfillment::{FulfillmentLine, WantedFulfillment};
    use crate::order::tests::{NOW, order, paid};

    /// A paid order: both units of the first line are fulfilled, that of the second is not.
    fn half_fulfilled() -> Order {
        let order = paid(&order());
        let line = FulfillmentLine { order_item_id: order.items[0].id.clone(), quantity: 2 };
        let wanted = WantedFulfillment { items: Some(vec![line]), ..WantedFulfillment::default() };
        order.fulfill(wanted, NOW).unwrap().0
    }

    fn cancelled(order: &Order, position: usize, quantity: u32) -> [CancelledLine; 1] {
        [CancelledLine { order_item_id: order.items[position].id.clone(), quantity }]
    }

    fn units(view: &LinesView) -> Vec<(&OrderItemId, u32)> {
        view.lines.iter().map(|line| (&line.order_item_id, line.quantity)).collect()
    }

    #[test]
    fn all_unfulfilled_units_are_cancelled_if_no_line_is_named() {
        let order = half_fulfilled();
        let (_, view) = order.cancel_lines(None, true, None, NOW).unwrap();
        assert_eq!(units(&view), [(&order.items[1].id, 1)]);
        let (_, all) =
            paid(&crate::order::tests::order()).cancel_lines(None, true, None, NOW).unwrap();
        let quantities: Vec<_> = all.lines.iter().map(|line| line.quantity).collect();
        assert_eq!(quantities, [2, 1]);
    }

    #[test]
    fn no_more_units_are_cancelled_than_remain() {
        let order = paid(&order());
        assert!(order.cancel_lines(Some(&cancelled(&order, 0, 2)), true, None, NOW).is_ok());
        let rejected =
            order.cancel_lines(Some(&cancelled(&order, 0, 3)), true, None, NOW).unwrap_err();
        assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
    }

    #[test]
    fn returned_units_are_put_back_at_the_named_location_or_their_own() {
        let order = half_fulfilled();
        let elsewhere = LocationId::derive(&["elsewhere"]);
        let line = |position: usize, restock, location_id: Option<&LocationId>| ReturnedLine {
            order_item_id: order.items[position].id.clone(),
            quantity: 1,
            restock,
            location_id: location_id.cloned(),
        };
        let locations = |line: ReturnedLine| {
            let (change, view) = order.return_lines(&[line], None, NOW).unwrap();
            assert_eq!(change.lines_event.unwrap().name, "order.lines_returned");
            assert_eq!(change.order.items[0].returned, 1);
            assert_eq!(change.order.items[1], order.items[1]);
            assert_eq!(
                change.units,
                [(
                    StockStep::Restock,
                    order.items[0].id.clone(),
                    view.lines[0].restocked_at.clone()
                )]
            );
            let at = view.lines[0].restocked_at.iter();
            at.map(|units| units.location_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(locations(line(0, true, Some(&elsewhere))), std::slice::from_ref(&elsewhere));
        assert_eq!(locations(line(0, true, None)), [LocationId::derive(&["warehouse"])]);
        assert!(locations(line(0, false, Some(&elsewhere))).is_empty());
        let rejected = order.return_lines(&[line(1, true, None)], None, NOW).unwrap_err();
        assert_eq!(rejected.code, Code::QuantityExceedsRemaining);
        let (cancelled, _) = order.cancel_lines(None, true, None, NOW).unwrap();
        assert_eq!(cancelled.lines_event.unwrap().name, "order.lines_cancelled");
    }

    #[test]
    fn cancelling_the_outstanding_units_makes_an_order_paid() {
        let open = order();
        let id = core_types::id::PaymentId::derive(&["one"]);
        let part = core_types::money::sample(20_000);
        let receipt =
            crate::order::IncomingPayment { payment_id: &id, provider: "stripe", amount: &part };
        let partly = open.apply_payment(receipt, NOW).unwrap().unwrap().order;
        let is_paid_by = |order: &Order, position| {
            let requested = cancelled(order, position, 1);
            let (change, _) = order.cancel_lines(Some(&requested), true, None, NOW).unwrap();
            change.announces(&ORDER_PAID)
        };
        assert!(is_paid_by(&partly, 1), "5,000 were left");
        assert!(!is_paid_by(&paid(&open), 1), "it was paid before");
        let confirmed = open.confirm(NOW).unwrap().order;
        assert!(!is_paid_by(&confirmed, 1), "20,000 are left");
    }
}
