//! The replies of handlers as types: the status, the body's shape, and whether it may be cached. A reply is
//! serialized when it is made ([`Answer`]), so that the transaction of the write can store it in an
//! idempotency record.

use std::marker::PhantomData;

use http::{HeaderName, StatusCode, header};
use serde::Serialize;

use crate::answer::{Answer, CacheControl};
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::request::Described;

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

impl Reply for NoContent {
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
    fn describe(operation: &mut Operation) {
        operation.answers_nothing(StatusCode::NO_CONTENT.as_u16());
    }
}

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

impl<M, R> WithProperty<M, R> {
    const fn new(reply: R) -> Self {
        Self { reply, mark: PhantomData }
    }
}

impl<R: Reply> NoStore<R> {
    /// Forbids caching of this reply.
    pub fn of(reply: R) -> Self {
        Self::new(reply.map(Answer::no_store))
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

/// 200 with a body that is not JSON; the content type is the stored one.
#[derive(Debug, Clone)]
pub struct File(Answer);

impl File {
    /// A reply with these bytes.
    pub fn new(content_type: &str, bytes: Vec<u8>) -> Self {
        Self(Answer::bytes(content_type, bytes))
    }
}

impl Reply for File {
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
    fn describe(operation: &mut Operation) {
        operation.answers_bytes(StatusCode::OK.as_u16());
    }
}

/// A kind of text that is not JSON.
pub trait TextType {
    /// Its media type.
    const MEDIA_TYPE: &'static str;
    /// The `Content-Type` with its parameters.
    const CONTENT_TYPE: &'static str;
}

/// An HTML page.
#[derive(Debug, Clone, Copy)]
pub struct Html;

impl TextType for Html {
    const MEDIA_TYPE: &'static str = "text/html";
    const CONTENT_TYPE: &'static str = "text/html; charset=utf-8";
}

/// A signed statement as a compact JWS (RFC 7515 §9.2.1).
#[derive(Debug, Clone, Copy)]
pub struct Jose;

impl TextType for Jose {
    const MEDIA_TYPE: &'static str = "application/jose";
    const CONTENT_TYPE: &'static str = Self::MEDIA_TYPE;
}

/// 200 with a text of this type.
#[derive(Debug, Clone)]
pub struct TextOf<T> {
    answer: Answer,
    kind: PhantomData<fn() -> T>,
}

impl<T: TextType> TextOf<T> {
    /// A reply with this text.
    pub fn new(text: String) -> Self {
        let answer = Answer::bytes(T::CONTENT_TYPE, text.into_bytes());
        Self { answer, kind: PhantomData }
    }
}

impl<T: TextType> Reply for TextOf<T> {
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
        operation.answers_text(StatusCode::OK.as_u16(), T::MEDIA_TYPE);
    }
}
