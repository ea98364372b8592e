//! The replies of handlers as types: the status, the body's shape, and whether it may be cached. A reply is
//! serialized when it is made ([`Answer`]), so that the transaction of the write can store it in an
//! idempotency record.

/// Makes a type that only wraps an [`Answer`] a [`Reply`].
macro_rules! reply_of_answer {
    ($name:ident, |$operation:ident| $describe:expr) => {
        impl Reply for $name {
            fn as_answer(&self) -> &Answer {
                &self.0
            }

            fn into_answer(self) -> Answer {
                self.0
            }

            fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
                Self(change(self.0))
            }

            #[cfg(feature = "openapi")]
            fn describe($operation: &mut Operation) {
                $describe;
            }
        }
    };
}

mod content;
mod property;

use std::marker::PhantomData;

use http::{HeaderName, StatusCode, header};
use serde::Serialize;

use crate::answer::{Answer, CacheControl};
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::request::Described;

pub use content::{File, Found, Html, Jose, TextOf, TextType};
pub use property::{
    InParts, NoStore, OfContent, Ranged, ReplyProperty, Secret, Tagged, WithProperty,
};

/// A successful answer of a handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it answers",
    note = "a handler answers `Result<Json<View>, Problem>`, or `Created<_>`, `Accepted<_>`, `NoContent`, `Page<_>`, `NoStore<_>`, `Either<_, _>`, `File`"
)]
pub trait Reply: Sized + Send {
    /// The answer as it is sent.
    fn as_answer(&self) -> &Answer;

    /// Turns it into the answer that is sent.
    fn into_answer(self) -> Answer;

    /// Changes status and headers, not the shape.
    #[must_use]
    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self;

    /// Describes the answer for OpenAPI.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation);
}

/// A JSON body of this shape, with this status.
#[derive(Debug, Clone)]
pub struct Typed<const STATUS: u16, T> {
    answer: Answer,
    shape: PhantomData<fn() -> T>,
}

/// 200 with a JSON body.
pub type Json<T> = Typed<200, T>;
/// 201 with a JSON body.
pub type Created<T> = Typed<201, T>;
/// 202 with a JSON body: the requested work has begun.
pub type Accepted<T> = Typed<202, T>;

impl<const STATUS: u16, T: Serialize> Typed<STATUS, T> {
    /// A reply with this body.
    pub fn new(body: &T) -> Self {
        let status = StatusCode::from_u16(STATUS).unwrap_or_default();
        Self { answer: Answer::json(status, body), shape: PhantomData }
    }
}

impl<const STATUS: u16, T> Typed<STATUS, T> {
    /// Sets this version as the `ETag`: [`Answer::version`].
    #[must_use]
    pub fn version(self, version: u64) -> Self {
        Self { answer: self.answer.version(version), ..self }
    }

    /// Sets who may cache it: [`Answer::cached`].
    #[must_use]
    pub fn cached(self, cache_control: impl Into<CacheControl>) -> Self {
        Self { answer: self.answer.cached(cache_control), ..self }
    }

    /// Sets a header.
    #[must_use]
    pub fn header(self, name: HeaderName, value: &str) -> Self {
        Self { answer: self.answer.header(name, value), ..self }
    }

    /// Lets the client store it and revalidate by this digest: `private, no-cache` with an `ETag`.
    pub fn tagged(self, digest: &str) -> Tagged<Self> {
        let revalidated = self.header(header::CACHE_CONTROL, "private, no-cache");
        WithProperty::new(revalidated.header(header::ETAG, &format!("\"{digest}\"")))
    }

    /// Forbids caching: `no-store`.
    pub fn no_store(self) -> NoStore<Self> {
        WithProperty::new(Self { answer: self.answer.no_store(), ..self })
    }
}

impl<const STATUS: u16, T: Described> Reply for Typed<STATUS, T> {
    fn as_answer(&self) -> &Answer {
        &self.answer
    }

    fn into_answer(self) -> Answer {
        self.answer
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Self { answer: change(self.answer), ..self }
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.answers::<T>(STATUS);
    }
}

/// A body with a JSON media type of its own.
pub trait Document {
    /// `application/…+json`.
    const MEDIA_TYPE: &'static str;
}

/// 200 with a [`Document`].
#[derive(Debug, Clone)]
pub struct DocumentOf<T> {
    answer: Answer,
    shape: PhantomData<fn() -> T>,
}

impl<T: Serialize + Document> DocumentOf<T> {
    /// A reply with this document and `Cache-Control`.
    pub fn new(body: &T, cache_control: &str) -> Self {
        let answer = Answer::json(StatusCode::OK, body)
            .header(header::CONTENT_TYPE, T::MEDIA_TYPE)
            .header(header::CACHE_CONTROL, cache_control);
        Self { answer, shape: PhantomData }
    }
}

impl<T: Described + Document> Reply for DocumentOf<T> {
    fn as_answer(&self) -> &Answer {
        &self.answer
    }

    fn into_answer(self) -> Answer {
        self.answer
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Self { answer: change(self.answer), ..self }
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.answers_as::<T>(StatusCode::OK.as_u16(), T::MEDIA_TYPE);
    }
}

/// 204.
#[derive(Debug, Clone)]
pub struct NoContent(Answer);

impl Default for NoContent {
    fn default() -> Self {
        Self(Answer::no_content())
    }
}

reply_of_answer!(NoContent, |operation| operation.answers_nothing(StatusCode::NO_CONTENT.as_u16()));

/// 200 with a page of a list: `{data, page}` and a `Link` when there is a next page. `E` has the further
/// members about the list as a whole.
#[derive(Debug, Clone)]
pub struct Page<T, E = ()> {
    answer: Answer,
    shape: PhantomData<fn() -> (T, E)>,
}

impl<T, E> Page<T, E> {
    pub(crate) fn of(answer: Answer) -> Self {
        Self { answer, shape: PhantomData }
    }

    /// Sets who may cache it: [`Answer::cached`].
    #[must_use]
    pub fn cached(self, cache_control: impl Into<CacheControl>) -> Self {
        Self { answer: self.answer.cached(cache_control), ..self }
    }

    /// Sets a header.
    #[must_use]
    pub fn header(self, name: HeaderName, value: &str) -> Self {
        Self { answer: self.answer.header(name, value), ..self }
    }
}

impl<T: Described, E: Described> Reply for Page<T, E> {
    fn as_answer(&self) -> &Answer {
        &self.answer
    }

    fn into_answer(self) -> Answer {
        self.answer
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        Self { answer: change(self.answer), ..self }
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.answers_page::<T, E>();
    }
}

/// One reply or the other.
#[derive(Debug, Clone)]
pub enum Either<A, B> {
    /// The first.
    Left(A),
    /// The second.
    Right(B),
}

impl<A: Reply, B: Reply> Reply for Either<A, B> {
    fn as_answer(&self) -> &Answer {
        match self {
            Self::Left(reply) => reply.as_answer(),
            Self::Right(reply) => reply.as_answer(),
        }
    }

    fn into_answer(self) -> Answer {
        match self {
            Self::Left(reply) => reply.into_answer(),
            Self::Right(reply) => reply.into_answer(),
        }
    }

    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        match self {
            Self::Left(reply) => Self::Left(reply.map(change)),
            Self::Right(reply) => Self::Right(reply.map(change)),
        }
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        A::describe(operation);
        B::describe(operation);
    }
}
