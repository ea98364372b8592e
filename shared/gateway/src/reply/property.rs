//! Properties of a reply beyond its status and shape: whether it may be stored, and what its `ETag` is.

use std::marker::PhantomData;

use super::Reply;
use crate::answer::Answer;
#[cfg(feature = "openapi")]
use crate::describe::Operation;

/// A property of a reply in addition to its status and body.
pub trait ReplyProperty: Send {
    /// Describes it for OpenAPI.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation);
}

/// The reply carries a credential: `Cache-Control: no-store` (RFC 6749 §5.1).
#[derive(Debug, Clone)]
pub struct Secret;

impl ReplyProperty for Secret {
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.stores_nothing();
    }
}

/// The `ETag` is derived from the content, so a client that has it is answered 304 (RFC 9110 §13.1.2).
#[derive(Debug, Clone)]
pub struct OfContent;

impl ReplyProperty for OfContent {
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.is_tagged = true;
    }
}

/// A part of the body can be requested (RFC 9110 §14).
#[derive(Debug, Clone)]
pub struct InParts;

impl ReplyProperty for InParts {
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.is_tagged = true;
        operation.answers_parts();
    }
}

/// A reply with a further property.
#[derive(Debug, Clone)]
pub struct WithProperty<M, R> {
    reply: R,
    mark: PhantomData<fn() -> M>,
}

/// A reply that must not be cached.
pub type NoStore<R> = WithProperty<Secret, R>;
/// A reply whose `ETag` is derived from its content.
pub type Tagged<R> = WithProperty<OfContent, R>;

/// A reply of which a part can be requested.
pub type Ranged<R> = WithProperty<InParts, R>;

impl<M, R> WithProperty<M, R> {
    pub(super) const fn new(reply: R) -> Self {
        Self { reply, mark: PhantomData }
    }
}

impl<R: Reply> NoStore<R> {
    /// Forbids caching of this reply.
    pub fn of(reply: R) -> Self {
        Self::new(reply.map(Answer::no_store))
    }
}

impl<R: Reply> Ranged<R> {
    /// Allows requests for a part of this reply.
    pub fn in_parts(reply: R) -> Self {
        Self::new(reply.map(Answer::ranged))
    }
}

impl<M: ReplyProperty, R: Reply> Reply for WithProperty<M, R> {
    fn as_answer(&self) -> &Answer {
        self.reply.as_answer()
    }

    fn into_answer(self) -> Answer {
        self.reply.into_answer()
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Self::new(self.reply.map(change))
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        R::describe(operation);
        M::describe(operation);
    }
}
