//! Resources: items that are shown with their version, and whose changes are announced as events.
//!
//! Most handlers that change one do the same: read it, compare `If-Match`, decide what it becomes,
//! replace it under its version, emit the event and answer, and all of that again when somebody
//! else was faster. [`change`] is that, for an item whose key the request tells:
//!
//! ```ignore
//! impl Resource for Order {
//!     type View = OrderView; // `impl From<&Order> for OrderView`, and `Example` for the catalogue
//!     fn about(&self) -> About<'_> { … }
//! }
//!
//! change::<Order>(&app, &key::order(&store.id, &id), if_match, &ORDER_CLOSED, |order, now| {
//!     order.close(now).map(Some) // `Ok(None)`: it is that already, and is answered as it is
//! })
//! .await // Result<Json<OrderView>, Problem>
//! ```
//!
//! [`change_with`] is the same for a change that writes more than the item itself. A handler that
//! reads or writes in another way writes that out, and uses the parts:
//!
//! ```ignore
//! app.table
//!     .write()
//!     .create(&order, Code::VersionConflict)
//!     .emit(order.event(&ORDER_CREATED, now))
//!     .answer(order.created(), now)
//!     .await
//! ```

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::reply::{Created, Json};
use gateway::request::IfMatch;
use gateway::table::{ReadConsistency, Write, retry_eventual_first};

use crate::event::{Event, EventSubject, Example, Topic};

/// An item that is shown with its version, and whose changes are announced.
pub trait Resource: Item {
    /// How it is shown: to who reads or changes it, and in its events.
    type View: Example + for<'a> From<&'a Self>;

    /// What an event says it is about.
    fn event_subject(&self) -> EventSubject<'_>;

    /// As it is shown.
    fn view(&self) -> Self::View {
        self.into()
    }

    /// 200: as it is shown, with its version as the `ETag`.
    fn to_response(&self) -> Json<Self::View> {
        Json::new(&self.view()).version(self.version())
    }

    /// 201: the same, of one that is new.
    fn created(&self) -> Created<Self::View> {
        Created::new(&self.view()).version(self.version())
    }

    /// Writes it in place of the version before, without what others count in it.
    fn replace(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace(self, rejected)
    }

    /// What has happened to it, with the resource as it is now.
    fn event(&self, topic: &Topic<Self::View>, now: Timestamp) -> Event {
        Event::new(topic, self.event_subject(), &self.view(), now)
    }
}

/// Reads an item that has to be there.
///
/// # Errors
/// `not_found`.
pub async fn load<T: Item>(app: &App, key: &Key) -> Result<T, Problem> {
    load_as(app, key, ReadConsistency::Strong).await
}

/// As [`load`], as it is or at an eventually consistent read.
///
/// # Errors
/// `not_found`.
pub async fn load_as<T: Item>(
    app: &App,
    key: &Key,
    consistency: ReadConsistency,
) -> Result<T, Problem> {
    app.table.get_as(key, consistency).await?.ok_or_else(|| Code::NotFound.into())
}

/// Changes a resource to what `next` makes of it, and announces that; or leaves it as it is where
/// `next` makes nothing of it. Answers with what it is now. It is decided over an eventually consistent read, which the
/// write demands to be true; what is rejected, or left as it is, and what somebody else changes at the
/// same moment, is read and decided again.
///
/// # Errors
/// `not_found`, `precondition_failed`; what `next` rejects with.
pub async fn change<R: Resource>(
    app: &App,
    key: &Key,
    if_match: IfMatch,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
) -> Result<Json<R::View>, Problem> {
    change_with(app, key, if_match, topic, next, |write, _, _| write).await
}

/// As [`change`], with what `extend` adds to the transaction: it is given the write that replaces
/// the resource, the resource before and after, and the time.
///
/// # Errors
/// As [`change`]; what the added actions reject with.
pub async fn change_with<R: Resource>(
    app: &App,
    key: &Key,
    if_match: IfMatch,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
    extend: impl Fn(Write, (&R, &R), Timestamp) -> Write,
) -> Result<Json<R::View>, Problem> {
    let (if_match, next, extend) = (&if_match, &next, &extend);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let before: R = load_as(app, key, consistency).await?;
        if_match.check(before.version())?;
        let Some(after) = next(&before, now)? else {
            consistency.ensure_strong()?;
            return Ok(before.to_response());
        };
        let write = after.replace(app.table.write(), Code::VersionConflict);
        extend(write, (&before, &after), now)
            .emit(after.event(topic, now))
            .answer(after.to_response(), now)
            .await
    })
    .await
}

/// Declares a view, and how it is made of its item: `impl From<&Item> for View`. A member without
/// a value is the item's field of the same name.
///
/// ```ignore
/// ground::view! {
///     /// A form submission as the store sees it.
///     FormSubmissionView of submission: FormSubmission {
///         /// The id.
///         id: FormSubmissionId,
///         /// What the store can do.
///         allowed_actions: Vec<&'static str> = submission.allowed_actions(),
///     }
/// }
/// ```
///
/// A view that shows more than its item knows names what else it is made of, and is made by
/// `View::of`:
///
/// ```ignore
/// ground::view! {
///     /// A store as its owner sees it.
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
            /// The view, made of the item and what else it shows.
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
