//! Replies that are not JSON: files, pages and signed statements.

use std::marker::PhantomData;

use http::StatusCode;

use super::Reply;
use crate::answer::Answer;
#[cfg(feature = "openapi")]
use crate::describe::Operation;

/// 200 with a body that is not JSON; the content type is the stored one.
#[derive(Debug, Clone)]
pub struct File(Answer);

impl File {
    /// A reply with these bytes.
    pub fn new(content_type: &str, bytes: Vec<u8>) -> Self {
        Self(Answer::bytes(content_type, bytes))
    }
}

reply_of_answer!(File, |operation| operation.answers_bytes(StatusCode::OK.as_u16()));

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

/// A text of this type: 200, unless it has another status.
#[derive(Debug, Clone)]
pub struct TextOf<T, const STATUS: u16 = 200> {
    answer: Answer,
    kind: PhantomData<fn() -> T>,
}

impl<T: TextType, const STATUS: u16> TextOf<T, STATUS> {
    /// A reply with this text.
    pub fn new(text: String) -> Self {
        let answer = Answer::bytes(T::CONTENT_TYPE, text.into_bytes());
        let status = StatusCode::from_u16(STATUS).unwrap_or_default();
        Self { answer: answer.with_status(status), kind: PhantomData }
    }
}

impl<T: TextType, const STATUS: u16> Reply for TextOf<T, STATUS> {
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
        operation.answers_text(STATUS, T::MEDIA_TYPE);
    }
}

/// 302: the browser goes on at the `Location`.
#[derive(Debug, Clone)]
pub struct Found(Answer);

impl Found {
    /// A reply with this `Location`.
    pub fn at(location: &str) -> Self {
        Self(Answer::found(location))
    }
}

reply_of_answer!(Found, |operation| operation.answers_nothing(StatusCode::FOUND.as_u16()));
