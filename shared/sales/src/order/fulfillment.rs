//! Fulfilments: shipping units of an order's lines from the locations of their stock.

mod topics;
mod view;

use catalogue::inventory::{StockStep, StockSteps};
use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{FulfillmentId, LocationId, OrderId, OrderItemId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::fields::Violation;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use table::Write;
use table::item::Item;

use super::restock::RestockLocations;
use super::{Order, OrderAction, OrderItem, Units, stock};

pub use topics::*;
pub use view::FulfillmentView;

primitives::string_enum! {
    /// The status of a fulfilment.
    FulfillmentState {
        /// Shipped, on its way.
        Shipped = "shipped",
        /// Delivered to the customer.
        Delivered = "delivered",
        /// Cancelled; its units are to be fulfilled again.
        Cancelled = "cancelled",
    }
}

/// Units of a line in a fulfilment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FulfillmentLine {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The number of units.
    pub quantity: u32,
}

/// Fulfilled units of a line, taken from one location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FulfilledUnits {
    /// The line, by its id in the order's `items`.
    pub order_item_id: OrderItemId,
    /// The location.
    pub location_id: LocationId,
    /// The number of units.
    pub quantity: u32,
}

/// The tracking details of a parcel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tracking {
    /// The carrier's tracking number.
    pub number: Option<String>,
    /// The carrier's name.
    pub company: Option<String>,
    /// The tracking page.
    pub url: Option<String>,
}

/// A shipment of units of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "fulfillment", key = key::fulfillment(&self.store_id, &self.order_id, &self.id))]
#[item(packed)]
pub struct Fulfillment {
    /// The id: `ful_` and 32 hexadecimal digits.
    pub id: FulfillmentId,
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// The status.
    pub status: FulfillmentState,
    /// The lines in it.
    pub items: Vec<FulfillmentLine>,
    /// The locations that its tracked units were taken from. A fulfilment from before lines could have
    /// several locations has none here; its units come from each line's only location.
    #[serde(default)]
    pub taken: Vec<FulfilledUnits>,
    /// The location that it ships from, if the request named one.
    pub location_id: Option<LocationId>,
    /// The tracking details.
    pub tracking: Tracking,
    /// Whether the customer is notified.
    pub notify_customer: bool,
    /// When it was delivered.
    pub delivered_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it was shipped.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Resource for Fulfillment {
    type View = FulfillmentView;

    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// The event is part of its order's timeline.
    fn event(&self, topic: &Topic<FulfillmentView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

/// A requested fulfilment.
#[derive(Debug, Clone, Default)]
pub struct WantedFulfillment {
    /// Units by line; everything that remains if none are named.
    pub items: Option<Vec<FulfillmentLine>>,
    /// Ship only units at this location.
    pub location_id: Option<LocationId>,
    /// The tracking details.
    pub tracking: Tracking,
    /// Whether the customer is notified.
    pub notify_customer: bool,
}

impl Order {
    /// The order after fulfilling these lines, and the fulfilment.
    ///
    /// # Errors
    /// `order_not_fulfillable`, `nothing_to_fulfill`, `quantity_exceeds_remaining`,
    /// `insufficient_committed`; `unknown_order_item` and `duplicate` as errors of their fields.
    pub fn fulfill(
        &self,
        wanted: WantedFulfillment,
        now: Timestamp,
    ) -> Result<(Self, Fulfillment), Problem> {
        if !self.allows(OrderAction::Fulfill) {
            return Err(self.why_not_fulfillable());
        }
        let lines = match &wanted.items {
            Some(lines) => self.requested_lines(lines, wanted.location_id.as_ref())?,
            None => self.all_lines(wanted.location_id.as_ref())?,
        };
        let mut next = self.clone();
        let mut taken = Vec::new();
        for line in &lines {
            if let Some(item) = next.items.iter_mut().find(|item| item.id == line.order_item_id) {
                let units = item.fulfill_units(line.quantity, wanted.location_id.as_ref());
                taken.extend(units.into_iter().map(|units| FulfilledUnits {
                    order_item_id: line.order_item_id.clone(),
                    location_id: units.location_id,
                    quantity: units.quantity,
                }));
            }
        }
        let fulfillment = Fulfillment {
            id: FulfillmentId::mint(now),
            store_id: self.store_id.clone(),
            order_id: self.id.clone(),
            status: FulfillmentState::Shipped,
            items: lines,
            taken,
            location_id: wanted.location_id,
            tracking: wanted.tracking,
            notify_customer: wanted.notify_customer,
            delivered_at: None,
            cancelled_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        Ok((next.changed(now), fulfillment))
    }

    fn why_not_fulfillable(&self) -> Problem {
        let open = self.status == super::OrderStatus::Open;
        let code = if open && self.is_firm() && self.remaining() == 0 {
            Code::NothingToFulfill
        } else {
            Code::OrderNotFulfillable
        };
        code.with("current", self.status.as_str())
            .with("financial_status", self.financial_status.as_str())
            .with("on_hold", self.on_hold)
            .with("allowed_actions", self.allowed_actions())
    }

    fn all_lines(&self, location: Option<&LocationId>) -> Result<Vec<FulfillmentLine>, Problem> {
        let line = |item: &OrderItem| FulfillmentLine {
            order_item_id: item.id.clone(),
            quantity: item.remaining_at(location),
        };
        let is_there = |line: &FulfillmentLine| line.quantity > 0;
        let lines: Vec<_> = self.items.iter().map(line).filter(is_there).collect();
        if lines.is_empty() { Err(Code::NothingToFulfill.into()) } else { Ok(lines) }
    }

    fn requested_lines(
        &self,
        requested: &[FulfillmentLine],
        location: Option<&LocationId>,
    ) -> Result<Vec<FulfillmentLine>, Problem> {
        let known = self.requested_items(requested.iter().map(|line| &line.order_item_id))?;
        let (mut excess, mut elsewhere) = (Vec::new(), Vec::new());
        for (line, item) in requested.iter().zip(known) {
            if line.quantity > item.remaining() {
                excess.push(json!({"order_item_id": item.id, "requested": line.quantity,
                    "remaining": item.remaining()}));
            } else if line.quantity > item.remaining_at(location) {
                elsewhere.push(json!({"order_item_id": item.id, "location_id": item.location_id,
                    "remaining_there": item.remaining_at(location)}));
            }
        }
        if !excess.is_empty() {
            return Err(Code::QuantityExceedsRemaining.with("items", excess));
        }
        if !elsewhere.is_empty() {
            return Err(Code::InsufficientCommitted.with("items", elsewhere));
        }
        if requested.is_empty() {
            Err(Code::NothingToFulfill.into())
        } else {
            Ok(requested.to_vec())
        }
    }

    /// The lines with these ids, in their order.
    ///
    /// # Errors
    /// `unknown_order_item` and `duplicate` as errors of `/items/<n>/order_item_id`.
    pub(super) fn requested_items<'a>(
        &self,
        ids: impl Iterator<Item = &'a OrderItemId>,
    ) -> Result<Vec<&OrderItem>, Problem> {
        let (mut found, mut errors) = (Vec::<&OrderItem>::new(), Vec::new());
        for (position, id) in ids.enumerate() {
            let violation = match self.item(id) {
                Some(item) if found.iter().any(|known| known.id == item.id) => {
                    Violation::new("duplicate", "Another entry of the request has this line.")
                }
                Some(item) => {
                    found.push(item);
                    continue;
                }
                None => Violation::new("unknown_order_item", "There is no such line in the order."),
            };
            let pointer = format!("/items/{position}/order_item_id");
            errors.push(FieldError::at(pointer, violation));
        }
        if errors.is_empty() { Ok(found) } else { Err(Problem::invalid(errors)) }
    }

    /// The order without the units of a fulfilment, and the cancelled fulfilment. A closed order is
    /// reopened.
    ///
    /// # Errors
    /// `invalid_state_transition`: it is delivered or cancelled already, the order has ended, or units of it
    /// were returned.
    pub fn cancel_fulfillment(
        &self,
        fulfillment: &Fulfillment,
        now: Timestamp,
    ) -> Result<(Self, Fulfillment), Problem> {
        if fulfillment.status != FulfillmentState::Shipped || self.is_over() {
            return Err(fulfillment.rejects());
        }
        let mut next = self.clone();
        for line in &fulfillment.items {
            let found = next.items.iter_mut().find(|item| item.id == line.order_item_id);
            let item = found.ok_or_else(|| {
                Problem::internal("a fulfilment has a line that its order does not have")
            })?;
            if item.returnable() < line.quantity {
                return Err(fulfillment.rejects());
            }
            item.unfulfill_units(line.quantity, &fulfillment.units_of(item));
        }
        if next.status == super::OrderStatus::Closed {
            next.status = super::OrderStatus::Open;
            next.closed_at = None;
        }
        let cancelled = Fulfillment {
            status: FulfillmentState::Cancelled,
            cancelled_at: Some(now),
            ..fulfillment.changed(now)
        };
        Ok((next.changed(now), cancelled))
    }
}

impl Fulfillment {
    /// The actions that its status allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            FulfillmentState::Shipped => vec!["update", "deliver", "cancel"],
            FulfillmentState::Delivered => vec!["update"],
            FulfillmentState::Cancelled => Vec::new(),
        }
    }

    /// The error for an action that the fulfilment's status does not allow.
    pub fn rejects(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The locations that the units of a line in it were taken from.
    fn units_of(&self, item: &OrderItem) -> Vec<Units> {
        let of_line = self.taken.iter().filter(|taken| taken.order_item_id == item.id);
        let units = |taken: &FulfilledUnits| Units {
            location_id: taken.location_id.clone(),
            quantity: taken.quantity,
        };
        let known: Vec<Units> = of_line.map(units).collect();
        let only = item.location_id.as_ref().filter(|_| self.taken.is_empty());
        let mut lines = self.items.iter();
        let line = lines.find(|line| line.order_item_id == item.id);
        match (only, line) {
            (Some(location_id), Some(line)) => {
                vec![Units { location_id: location_id.clone(), quantity: line.quantity }]
            }
            _ => known,
        }
    }

    /// The locations that its units were taken from, each once.
    pub fn restock_locations(&self, order: &Order) -> RestockLocations {
        let mut locations = RestockLocations::default();
        for units in order.items.iter().flat_map(|item| self.units_of(item)) {
            locations.add(&units.location_id, None);
        }
        locations
    }

    /// The fulfilment at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The fulfilment as delivered.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn delivered(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != FulfillmentState::Shipped {
            return Err(self.rejects());
        }
        let status = FulfillmentState::Delivered;
        Ok(Self { status, delivered_at: Some(now), ..self.changed(now) })
    }

    /// The fulfilment with other tracking details.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn tracked(&self, tracking: Tracking, now: Timestamp) -> Result<Self, Problem> {
        if self.status == FulfillmentState::Cancelled {
            return Err(self.rejects());
        }
        Ok(Self { tracking, ..self.changed(now) })
    }
}

/// Takes the units of a fulfilment out of stock, in the transaction that writes it.
pub fn fulfill_stock(write: Write, order: &Order, of: &Fulfillment, now: Timestamp) -> Write {
    let mut steps = StockSteps::new(&order.store_id, &order.id);
    for item in &order.items {
        for units in of.units_of(item) {
            let missing = json!({"order_item_id": item.id, "location_id": units.location_id});
            let rejected = Code::InsufficientCommitted.with("items", vec![missing]);
            let at = (&item.variant_id, &units.location_id);
            steps.add(StockStep::Fulfill, at, units.quantity, rejected);
        }
    }
    steps.write(write, now)
}

/// Puts the units of a fulfilment back into stock as committed, in the transaction that cancels it.
pub fn return_stock(write: Write, order: &Order, of: &Fulfillment, now: Timestamp) -> Write {
    let mut steps = StockSteps::new(&order.store_id, &order.id);
    for item in &order.items {
        stock::step_all(&mut steps, StockStep::UndoFulfillment, item, &of.units_of(item));
    }
    steps.write(write, now)
}
