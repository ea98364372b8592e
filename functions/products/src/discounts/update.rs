//! The changes of a discount.

use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Int, Patch, Text};
use primitives::input::request;
use primitives::problem::FieldError;
use sales::discount::{CombinesWith, Discount, Minimum, Targets};

use super::input::{CombinesWithRequest, MinimumRequest, TargetsRequest, ValueRequest};

/// The highest usage limit of a discount.
pub(super) const MAX_USES: i64 = 1_000_000_000;
/// The detail of the error for setting a limit on a discount without one.
const NO_SUCH_LIMIT: &str = "The discount was created without a limit, and none can be added.";

/// The changes of a discount. Its code and its kind cannot be changed.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The title that shoppers see, 1 to 200 characters.
    title: Option<Text<1, 200>>,
    /// The value, which replaces the current one as a whole.
    value: Option<ValueRequest>,
    /// The lines to which it applies; `null` for all of them.
    applies_to: Patch<TargetsRequest>,
    /// The minimum of these lines, before the discount; `null` removes it.
    minimum: Patch<MinimumRequest>,
    /// The classes of other discounts that it may be used with, which replace the current ones; `null` for all.
    combines_with: Patch<CombinesWithRequest>,
    /// Whether it is only for customers with an account who have not ordered yet.
    first_order_only: Option<Flag>,
    /// The number of orders that may use it. `null` removes the limit permanently: a discount without a
    /// limit cannot get one.
    usage_limit: Patch<Int<1, MAX_USES>>,
    /// The number of orders of each customer that may use it; `null` removes the limit.
    per_customer_limit: Patch<Int<1, MAX_USES>>,
    /// When it starts.
    starts_at: Option<Timestamp>,
    /// When it ends; `null` for never.
    ends_at: Patch<Timestamp>,
}

impl UpdateRequest {
    /// The discount with these changes, at its current version.
    pub(super) fn apply(
        self,
        before: &Discount,
        store: &Store,
        field_errors: &mut Vec<FieldError>,
    ) -> Discount {
        let mut wanted = before.clone();
        wanted.title = self.title.map_or(wanted.title, String::from);
        if let Some(value) = self.value {
            wanted.value = value.read(before.value.kind(), store, field_errors);
        }
        wanted.applies_to = match self.applies_to {
            Patch::Keep => wanted.applies_to,
            Patch::Clear => Targets::default(),
            Patch::Set(targets) => Targets::from(targets),
        };
        wanted.minimum = match self.minimum {
            Patch::Keep => wanted.minimum,
            Patch::Clear => Minimum::default(),
            Patch::Set(minimum) => minimum.read(store, field_errors),
        };
        wanted.combines_with = match self.combines_with {
            Patch::Keep => wanted.combines_with,
            Patch::Clear => CombinesWith::default(),
            Patch::Set(input) => CombinesWith::from(input),
        };
        wanted.first_order_only =
            self.first_order_only.map_or(wanted.first_order_only, |flag| flag.0);
        match self.usage_limit {
            Patch::Keep => {}
            Patch::Set(uses) if before.usage_limit.is_some() => {
                wanted.usage_limit = limit(Some(uses));
            }
            // Uses without a limit are spread over several counters, which cannot enforce one.
            Patch::Set(_) => {
                field_errors.push(FieldError::new("/usage_limit", "not_applicable", NO_SUCH_LIMIT));
            }
            Patch::Clear => wanted.usage_limit = None,
        }
        match self.per_customer_limit {
            Patch::Keep => {}
            Patch::Set(uses) => wanted.per_customer_limit = limit(Some(uses)),
            Patch::Clear => wanted.per_customer_limit = None,
        }
        wanted.starts_at = self.starts_at.unwrap_or(wanted.starts_at);
        self.ends_at.apply(&mut wanted.ends_at);
        wanted
    }
}

pub(super) fn limit(uses: Option<Int<1, MAX_USES>>) -> Option<u32> {
    uses.and_then(|uses| u32::try_from(uses.0).ok())
}
