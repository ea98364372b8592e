//! What a handler answers, said by its type: the status, the body's shape, and whether it may be
//! stored. A reply is written as soon as it is made ([`Answer`]), so that an idempotency record can
//! keep it in the transaction that it reports.

use std::marker::PhantomData;

use http::{HeaderName, StatusCode, header};
use serde::Serialize;

use crate::answer::{Answer, Keeping};
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

    /// The answer as it is sent.
    fn into_answer(self) -> Answer;

    /// The same reply with another head.
    #[must_use]
    fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self;

    /// Says what it looks like.
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
/// 202 with a JSON body: what was asked for is begun.
pub type Accepted<T> = Typed<202, T>;

impl<const STATUS: u16, T: Serialize> Typed<STATUS, T> {
    /// This body.
    pub fn new(body: &T) -> Self {
        let status = StatusCode::from_u16(STATUS).unwrap_or_default();
        Self { answer: Answer::json(status, body), shape: PhantomData }
    }
}

impl<const STATUS: u16, T> Typed<STATUS, T> {
    /// With this version as its `ETag`: [`Answer::version`].
    #[must_use]
    pub fn version(self, version: u64) -> Self {
        Self { answer: self.answer.version(version), ..self }
    }

    /// For whoever may keep it: [`Answer::cached`].
    #[must_use]
    pub fn cached(self, keeping: impl Into<Keeping>) -> Self {
        Self { answer: self.answer.cached(keeping), ..self }
    }

    /// With this header.
    #[must_use]
    pub fn header(self, name: HeaderName, value: &str) -> Self {
        Self { answer: self.answer.header(name, value), ..self }
    }

    /// For the asker to keep, and to ask whether it is still what this digest names.
    pub fn tagged(self, digest: &str) -> Tagged<Self> {
        let kept = self.header(header::CACHE_CONTROL, "private, no-cache");
        Marked::new(kept.header(header::ETAG, &format!("\"{digest}\"")))
    }

    /// For nobody to keep.
    pub fn no_store(self) -> NoStore<Self> {
        Marked::new(Self { answer: self.answer.no_store(), ..self })
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

/// A body whose media type is a kind of JSON of its own.
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
    /// This document, for anybody to keep as the header says.
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

/// 200 with a page of a list: `{data, page}` and, when it goes on, a `Link`. `E` is what the list
/// says about itself as a whole, beside them.
#[derive(Debug, Clone)]
pub struct Page<T, E = ()> {
    answer: Answer,
    shape: PhantomData<fn() -> (T, E)>,
}

impl<T, E> Page<T, E> {
    pub(crate) fn of(answer: Answer) -> Self {
        Self { answer, shape: PhantomData }
    }

    /// For whoever may keep it: [`Answer::cached`].
    #[must_use]
    pub fn cached(self, keeping: impl Into<Keeping>) -> Self {
        Self { answer: self.answer.cached(keeping), ..self }
    }

    /// With this header.
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

/// What a type says of a reply beside its status and its body.
pub trait Mark: Send {
    /// Says it of the operation.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation);
}

/// It carries a credential: `Cache-Control: no-store` (RFC 6749 §5.1).
#[derive(Debug, Clone)]
pub struct Secret;

impl Mark for Secret {
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.stores_nothing();
    }
}

/// Its `ETag` says what it shows, so that whoever has it is told so: 304 (RFC 9110 §13.1.2).
#[derive(Debug, Clone)]
pub struct OfContent;

impl Mark for OfContent {
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.is_tagged = true;
    }
}

/// A reply with a mark.
#[derive(Debug, Clone)]
pub struct Marked<M, R> {
    reply: R,
    mark: PhantomData<fn() -> M>,
}

/// A reply that nobody may keep.
pub type NoStore<R> = Marked<Secret, R>;
/// A reply that is tagged by its content.
pub type Tagged<R> = Marked<OfContent, R>;

impl<M, R> Marked<M, R> {
    const fn new(reply: R) -> Self {
        Self { reply, mark: PhantomData }
    }
}

impl<R: Reply> NoStore<R> {
    /// This reply, for nobody to keep.
    pub fn of(reply: R) -> Self {
        Self::new(reply.map(Answer::no_store))
    }
}

impl<M: Mark, R: Reply> Reply for Marked<M, R> {
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

/// 200 with a body that is not JSON: its type is what was stored with it.
#[derive(Debug, Clone)]
pub struct File(Answer);

impl File {
    /// These bytes.
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
    /// As `Content-Type` says it, with its parameters.
    const CONTENT_TYPE: &'static str;
}

/// A page to look at.
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
    /// This text.
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
