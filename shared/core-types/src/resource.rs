//! Resources: versioned objects of the API whose changes emit events.
//!
//! Most requests that change a resource do the same: read it, compare the version that the caller expects,
//! decide the change, replace it under its version, emit the event, and repeat all of that after a conflict.
//! [`change`] does so for an item whose key follows from the request:
//!
//! ```ignore
//! impl Resource for Order {
//!     type View = OrderView; // `impl From<&Order> for OrderView`, and `Example` for the catalogue
//!     fn event_subject(&self) -> EventSubject<'_> { … }
//! }
//!
//! change(services, &key, expected, &ORDER_CLOSED, |order: &Order, now| order.close(now).map(Some), completion).await
//! ```
//!
//! The [`Completion`] of its caller commits the transaction: `replies::change` is the same for a handler, and
//! answers with the resource. [`change_with`] is for a change that writes more than the item itself. Whoever
//! reads or writes in another way uses the parts directly:
//!
//! ```ignore
//! let write = services.table.write().create(&order, Code::VersionConflict);
//! completion.commit(write.emit(order.event(&ORDER_CREATED, now)), &order, now).await
//! ```

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::item::{Item, Key};
use table::{Completion, ReadConsistency, Write, retry_eventual_first};

use crate::event::{Event, EventSubject, Example, Topic};

/// An item that is represented with its version, and whose changes emit events.
pub trait Resource: Item {
    /// Its representation, in the data of its events too.
    type View: Example + for<'a> From<&'a Self>;

    /// The subject of its events.
    fn event_subject(&self) -> EventSubject<'_>;

    /// The view of this item.
    fn view(&self) -> Self::View {
        self.into()
    }

    /// Adds the write that replaces the version before, except members that others count in it.
    fn replace(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace(self, rejected)
    }

    /// The event of a change, with the resource after the change as its data.
    fn event(&self, topic: &Topic<Self::View>, now: Timestamp) -> Event {
        Event::new(topic, self.event_subject(), &self.view(), now)
    }
}

/// Loads an item, by a strongly consistent read.
///
/// # Errors
/// `not_found`.
pub async fn load<T: Item>(services: &Services, key: &Key) -> Result<T, Problem> {
    load_with_consistency(services, key, ReadConsistency::Strong).await
}

/// As [`load`], with this consistency.
///
/// # Errors
/// `not_found`.
pub async fn load_with_consistency<T: Item>(
    services: &Services,
    key: &Key,
    consistency: ReadConsistency,
) -> Result<T, Problem> {
    services.table.get_as(key, consistency).await?.ok_or_else(|| Code::NotFound.into())
}

/// Changes a resource to the result of `next` and emits the event, or leaves it unchanged when `next` returns
/// none. The outcome is the resulting resource. The first decision uses an eventually consistent read, which
/// the write's condition verifies. A rejection, an unchanged resource or a conflict is read strongly and
/// decided again.
///
/// # Errors
/// `not_found`, `precondition_failed`; the problems of `next`.
pub async fn change<R: Resource, C: Completion<R>>(
    services: &Services,
    key: &Key,
    expected: ExpectedVersion,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let extend = |write, _: (&R, &R), _| write;
    change_with(services, key, expected, topic, next, extend, completion).await
}

/// As [`change`], with more writes in the transaction. `extend` gets the write that replaces the resource,
/// the resource before and after, and the time.
///
/// # Errors
/// As [`change`]; the problems of the added writes.
pub async fn change_with<R: Resource, C: Completion<R>>(
    services: &Services,
    key: &Key,
    expected: ExpectedVersion,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
    extend: impl Fn(Write, (&R, &R), Timestamp) -> Write,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (next, extend) = (&next, &extend);
    retry_eventual_first(|consistency| async move {
        let now = services.clock.now();
        let before: R = load_with_consistency(services, key, consistency).await?;
        expected.check(before.version())?;
        let Some(after) = next(&before, now)? else {
            consistency.ensure_strong()?;
            return Ok(completion.unchanged(&before));
        };
        let write = after.replace(services.table.write(), Code::VersionConflict);
        let write = extend(write, (&before, &after), now).emit(after.event(topic, now));
        completion.commit(write, &after, now).await
    })
    .await
}

/// Declares a view and its conversion from an item: `impl From<&Item> for View`. A member without a value is
/// the item's field of the same name.
///
/// ```ignore
/// core_types::view! {
///     /// A form submission, for the store.
///     FormSubmissionView of submission: FormSubmission {
///         /// The id.
///         id: FormSubmissionId,
///         /// The actions that its status allows.
///         allowed_actions: Vec<&'static str> = submission.allowed_actions(),
///     }
/// }
/// ```
///
/// A view that needs more than its item names the further sources, and is built by `View::of`:
///
/// ```ignore
/// core_types::view! {
///     /// A store, for its owner.
///     StoreView of (store: Store, base_url: &str) { … }
/// }
/// ```
#[macro_export]
macro_rules! view {
    (
        $(#[$meta:meta])*
        $name:ident of $item:ident: $source:ty { $($fields:tt)* }
    ) => {
        $crate::view!(@struct [$(#[$meta])*] $name { $($fields)* });

        impl From<&$source> for $name {
            fn from($item: &$source) -> Self {
                $crate::view!(@made $item { $($fields)* })
            }
        }
    };
    (
        $(#[$meta:meta])*
        $name:ident of ($item:ident: $source:ty, $($given:ident: $kind:ty),+) { $($fields:tt)* }
    ) => {
        $crate::view!(@struct [$(#[$meta])*] $name { $($fields)* });

        impl $name {
            /// Builds the view of the item and the further sources.
            pub fn of($item: &$source, $($given: $kind),+) -> Self {
                $crate::view!(@made $item { $($fields)* })
            }
        }
    };
    (
        @struct [$(#[$meta:meta])*] $name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty $(= $value:expr)?,)*
        }
    ) => {
        #[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }
    };
    (
        @made $item:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty $(= $value:expr)?,)*
        }
    ) => {
        Self { $($field: $crate::view!(@value $item $field $(= $value)?),)* }
    };
    (@value $item:ident $field:ident) => {
        $item.$field.clone()
    };
    (@value $item:ident $field:ident = $value:expr) => {
        $value
    };
}
