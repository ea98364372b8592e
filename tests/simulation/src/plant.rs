//! Bugs that the simulation plants below or beside the system, to show that it would find them.

mod carts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use emulators::TABLE;
use serde_json::Value;

use crate::background::attribute;
use crate::run::Run;
use crate::step::Trouble;
use crate::world::World;
use carts::Stored;

/// A class of bugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    /// The provider has not made a refund that it has confirmed.
    LostRefund,
    /// A use of a code is counted twice.
    DoubledUse,
    /// A unit is reserved for nobody once an order is cancelled.
    LeakedUnit,
    /// An event is stored, and never delivered.
    SkippedEvent,
    /// Two events of one entity arrive in the wrong order.
    SwappedEvents,
    /// A debit of a gift card is repeated.
    DoubledDebit,
    /// What a guest has paid is counted wrong.
    MiscountedSpending,
    /// A cart that has become an order is ordered again.
    DoubledConversion,
    /// A cart that has become an order is changed.
    ChangedConversion,
    /// An order has another total than its cart was shown with.
    ChangedTotal,
    /// An order is placed whatever total the shopper expects.
    IgnoredTotal,
    /// A guest's cart loses its lines when it is merged into the customer's.
    LostLines,
    /// A cart is there at every store.
    SharedCart,
}

impl Plant {
    /// Every class.
    pub const ALL: [Self; 13] = [
        Self::LostRefund,
        Self::DoubledUse,
        Self::LeakedUnit,
        Self::SkippedEvent,
        Self::SwappedEvents,
        Self::DoubledDebit,
        Self::MiscountedSpending,
        Self::DoubledConversion,
        Self::ChangedConversion,
        Self::ChangedTotal,
        Self::IgnoredTotal,
        Self::LostLines,
        Self::SharedCart,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::LostRefund => "lost-refund",
            Self::DoubledUse => "doubled-use",
            Self::LeakedUnit => "leaked-unit",
            Self::SkippedEvent => "skipped-event",
            Self::SwappedEvents => "swapped-events",
            Self::DoubledDebit => "doubled-debit",
            Self::MiscountedSpending => "miscounted-spending",
            Self::DoubledConversion => "doubled-conversion",
            Self::ChangedConversion => "changed-conversion",
            Self::ChangedTotal => "changed-total",
            Self::IgnoredTotal => "ignored-total",
            Self::LostLines => "lost-lines",
            Self::SharedCart => "shared-cart",
        }
    }
}

impl FromStr for Plant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|plant| plant.name() == text);
        found.ok_or_else(|| format!("`{text}` is none of {names}"))
    }
}

/// A bug, and whether it has struck.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) plant: Option<Plant>,
    has_struck: bool,
    /// Carts as they were when they were ordered first, by their ids.
    ordered: BTreeMap<String, Stored>,
}

impl Planted {
    pub(crate) fn of(plant: Option<Plant>) -> Self {
        Self { plant, has_struck: false, ordered: BTreeMap::new() }
    }
}

impl Run<'_> {
    /// The planted bug strikes, once there is something to strike.
    pub(crate) async fn plant(&self) {
        let plant = {
            let planted = self.planted.borrow();
            if planted.has_struck { None } else { planted.plant }
        };
        let world = &self.world;
        let has_struck = match plant {
            Some(Plant::DoubledUse) if self.model.borrow().coded > 0 => {
                world.change(|item| attribute(item, "SK").starts_with("USE#"), &[("used", 1)]).await
            }
            Some(Plant::LeakedUnit) if self.model.borrow().cancelled > 0 => {
                let is_level = |item: &Value| attribute(item, "SK").starts_with("LVL#");
                world.change(is_level, &[("available", -1), ("reserved", 1)]).await
            }
            Some(Plant::DoubledDebit) => {
                let is_debited = |item: &Value| {
                    item.get("version").and_then(Value::as_u64).unwrap_or(0) > 1
                        && item.get("balance").is_some()
                };
                world.change(is_debited, &[("balance.amount", -1)]).await
            }
            Some(Plant::MiscountedSpending) => {
                world.change(|item| attribute(item, "entity") == "guest", &[("spent", 1)]).await
            }
            Some(Plant::SkippedEvent) => world.skip_event().await,
            _ => false,
        };
        if has_struck {
            self.planted.borrow_mut().has_struck = true;
        }
    }
}

impl World {
    /// The items for which this is true, as JSON.
    async fn items(&self, is_meant: impl Fn(&Value) -> bool) -> Vec<Value> {
        let scanned = self.embedded.dynamodb().scan().table_name(TABLE).send().await;
        let items = scanned.ok().and_then(|page| page.items).unwrap_or_default().into_iter();
        let json = items.filter_map(|item| Some(Value::from(table::item::unpacked(item).ok()?)));
        json.filter(is_meant).collect()
    }

    /// Adds to attributes of the first item for which this is true, as a repeated write would.
    async fn change(&self, is_meant: impl Fn(&Value) -> bool, by: &[(&str, i64)]) -> bool {
        let Some(item) = self.items(is_meant).await.into_iter().next() else { return false };
        let mut update = self.embedded.dynamodb().update_item().table_name(TABLE);
        for name in ["PK", "SK"] {
            update = update.key(name, AttributeValue::S(attribute(&item, name).to_owned()));
        }
        let mut terms = Vec::new();
        for (number, (path, by)) in by.iter().enumerate() {
            let mut place = String::new();
            for (depth, name) in path.split('.').enumerate() {
                update = update.expression_attribute_names(format!("#{number}_{depth}"), name);
                let dot = if depth == 0 { "" } else { "." };
                let _ = write!(place, "{dot}#{number}_{depth}");
            }
            let by = AttributeValue::N(by.to_string());
            update = update.expression_attribute_values(format!(":{number}"), by);
            terms.push(format!("{place} = {place} + :{number}"));
        }
        update.update_expression(format!("SET {}", terms.join(", "))).send().await.is_ok()
    }

    /// Loses an event that was not handed out yet, and what the stream would say of it.
    async fn skip_event(&self) -> bool {
        let is_pending = |item: &Value| attribute(item, "GSI3PK").starts_with("DUE#EVT");
        let Some(item) = self.items(is_pending).await.into_iter().next() else { return false };
        while self.stream(u64::MAX, false, Trouble::None).await > 0 {}
        let mut delete = self.embedded.dynamodb().delete_item().table_name(TABLE);
        for name in ["PK", "SK"] {
            delete = delete.key(name, AttributeValue::S(attribute(&item, name).to_owned()));
        }
        delete.send().await.is_ok()
    }
}
