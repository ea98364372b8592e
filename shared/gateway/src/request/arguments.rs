//! Validation of a handler's arguments before it is called, so that one problem lists every error: in
//! the body, in the filters, in the paging, and in members that nothing reads.

use std::collections::BTreeSet;

use axum::extract::State;
use deserr::{Deserr, ValuePointerRef};
use http::Method;
#[cfg(feature = "openapi")]
use schemars::json_schema;
use serde_json::{Map, Value};

use super::{
    Body, Described, Form, IfMatch, Inbound, Parameters, Path, Query, Raw, SentQuery, Whole,
};
use crate::app::App;
#[cfg(feature = "openapi")]
use crate::describe::{Operation, ParameterLocation};
use crate::idempotency::Required;
use primitives::fields::{FieldErrors, FromPath, Violation};
use primitives::input::{self, NoFields};
use primitives::problem::{Code, FieldError, Problem};

/// Query parameters that page a list.
const PAGING: [&str; 2] = ["limit", "cursor"];
/// The query parameter, or the field of a body, that selects the store.
const STORE: &str = "store_id";
/// The code of an invalid cursor: alone it is a problem of its own.
const INVALID_CURSOR: &str = "invalid_cursor";

/// The query parameters that an argument reads, besides those of paging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryReads {
    /// None.
    Nothing,
    /// Those of its type, which rejects others.
    Named,
    /// All as they were sent, also unknown and repeated ones, which the handler validates.
    Sent,
}

/// The parts of a request that an argument reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads {
    /// The body.
    pub body: bool,
    /// Query parameters.
    pub query: QueryReads,
    /// `limit` and `cursor`.
    pub paging: bool,
}

impl Reads {
    /// None of them.
    pub const NOTHING: Self = Self { body: false, query: QueryReads::Nothing, paging: false };
    /// The body.
    pub const BODY: Self = Self { body: true, ..Self::NOTHING };
    /// Query parameters by name.
    pub const QUERY: Self = Self { query: QueryReads::Named, ..Self::NOTHING };
    /// `limit` and `cursor`.
    pub const PAGING: Self = Self { paging: true, ..Self::NOTHING };
    /// All query parameters as they were sent.
    pub const SENT_QUERY: Self = Self { query: QueryReads::Sent, ..Self::NOTHING };

    /// The members that both read.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            body: self.body || other.body,
            query: match (self.query, other.query) {
                (QueryReads::Sent, _) | (_, QueryReads::Sent) => QueryReads::Sent,
                (QueryReads::Named, _) | (_, QueryReads::Named) => QueryReads::Named,
                (QueryReads::Nothing, QueryReads::Nothing) => QueryReads::Nothing,
            },
            paging: self.paging || other.paging,
        }
    }
}

/// The validation of a request by the arguments of its handler.
#[derive(Debug)]
pub struct Validation<'a> {
    /// The application.
    pub app: &'a App,
    /// The request.
    pub inbound: &'a Inbound,
    reads: Reads,
    errors: FieldErrors,
}

/// An argument of a handler that is no caller.
///
/// It is validated first, and extracted when nothing is wrong with any argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it reads of a request",
    label = "an argument of a handler implements `Argument`"
)]
pub trait Argument {
    /// The members that it reads. A member that no argument reads is rejected.
    const READS: Reads = Reads::NOTHING;

    /// Validates the members that it reads, and records their errors.
    ///
    /// # Errors
    /// What leaves nothing to validate: a path that names nothing, a body that is no JSON.
    fn validate(
        validation: &mut Validation<'_>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        let _ = validation;
        std::future::ready(Ok(()))
    }

    /// Describes the members that it reads.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        let _ = operation;
    }
}

/// Implements [`Argument::describe`], or a caller's, with the feature `openapi`, and nothing without it:
/// for crates that do not know the document.
///
/// ```ignore
/// impl<T: Described> Argument for Upload<T> {
///     crate::describes! { |operation| { operation.takes_bytes("multipart/form-data"); } }
/// }
/// ```
#[cfg(feature = "openapi")]
#[macro_export]
macro_rules! describes {
    (|$operation:ident| $body:block) => {
        fn describe($operation: &mut $crate::describe::Operation) $body
    };
}

/// Implements `Argument::describe` with the feature `openapi`: not here.
#[cfg(not(feature = "openapi"))]
#[macro_export]
macro_rules! describes {
    (|$operation:ident| $body:block) => {};
}

impl<'a> Validation<'a> {
    pub(crate) fn new(app: &'a App, inbound: &'a Inbound, reads: Reads) -> Self {
        Self { app, inbound, reads, errors: FieldErrors::default() }
    }

    /// Records field errors.
    pub fn add(&mut self, errors: impl Into<FieldErrors>) {
        self.errors.merge(errors.into());
    }

    /// Records that the cursor is not one of this list.
    pub(crate) fn reject_cursor(&mut self) {
        let detail = Code::InvalidCursor.title();
        self.errors.push(FieldError::new("/cursor", INVALID_CURSOR, detail));
    }

    /// Reads `T`, or records its errors.
    pub fn read<T: Deserr<FieldErrors>>(&mut self, fields: Value) -> Option<T> {
        input::read(fields).map_err(|problem| self.add(problem.errors().clone())).ok()
    }

    /// Stores an argument, if it could be read, until it is extracted.
    pub fn insert<A: Send + 'static>(&self, argument: Option<A>) {
        if let Some(argument) = argument {
            self.inbound.insert(argument);
        }
    }

    /// The fields of a JSON body, without the one that selected the store.
    ///
    /// # Errors
    /// `invalid_json`, `unsupported_media_type`.
    pub fn body(&self) -> Result<Value, Problem> {
        self.inbound.json().map(|body| self.without_store(body.clone()))
    }

    /// The fields of a form, or of a JSON body. If `known` lists fields, other fields of a form are
    /// ignored.
    fn form(&self, known: Option<&[&str]>) -> Result<Value, Problem> {
        self.inbound.form_or_json(known).map(|body| self.without_store(body))
    }

    /// A body without the field that selected the store.
    fn without_store(&self, mut value: Value) -> Value {
        if self.inbound.row.access.selects_store()
            && let Value::Object(object) = &mut value
        {
            object.remove(STORE);
        }
        value
    }

    /// The query parameters by name, the first of each, without those read by other arguments or by the
    /// selection of the store.
    pub fn query(&self) -> Value {
        let mut object = Map::new();
        for (name, value) in form_urlencoded::parse(self.inbound.query.as_bytes()) {
            if !self.is_read_elsewhere(&name) {
                object.entry(name).or_insert_with(|| Value::String(value.into_owned()));
            }
        }
        Value::Object(object)
    }

    fn is_read_elsewhere(&self, name: &str) -> bool {
        (name == STORE && self.inbound.row.access.selects_store())
            || (PAGING.contains(&name) && self.reads.paging)
    }

    /// Rejects repeated parameters, and parameters that no argument reads, unless an argument reads
    /// parameters by name and validates them. At an OAuth endpoint unknown parameters are ignored (RFC
    /// 6749 §3.2).
    fn validate_parameters(&mut self) {
        if self.reads.query == QueryReads::Sent {
            return;
        }
        let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
        for (name, _) in form_urlencoded::parse(self.inbound.query.as_bytes()) {
            if !seen.insert(name.clone()) {
                repeated.insert(name);
            }
        }
        let origin = ValuePointerRef::Origin;
        for name in repeated {
            self.errors.add_at(origin.push_key(&name), || {
                Violation::new("duplicate_parameter", "This parameter is repeated.")
            });
        }
        if self.reads.query == QueryReads::Named || self.inbound.row.oauth {
            return;
        }
        let known = if self.reads.paging { "known are limit, cursor" } else { "there are none" };
        seen.retain(|name| !self.is_read_elsewhere(name));
        for name in seen {
            self.errors.add_at(origin.push_key(&name), || {
                Violation::new("unknown_field", format!("Unknown parameter; {known}."))
            });
        }
    }

    /// Rejects fields if no argument reads the body. The body of a `GET` has no meaning (RFC 9110 §9.3.1).
    fn validate_unread_body(&mut self) -> Result<(), Problem> {
        if self.reads.body || self.inbound.method == Method::GET {
            return Ok(());
        }
        let fields = self.body()?;
        self.read::<NoFields>(fields);
        Ok(())
    }

    /// The result of validation, with every error.
    pub(crate) fn verdict(mut self) -> Result<(), Problem> {
        self.validate_parameters();
        self.validate_unread_body()?;
        match &*self.errors {
            [] => Ok(()),
            [only] if only.violation.code == INVALID_CURSOR => Err(Code::InvalidCursor.into()),
            _ => Err(Problem::invalid(self.errors)),
        }
    }
}

impl<S> Argument for State<S> {}

impl Argument for Raw {}

impl Argument for Whole {
    const READS: Reads = Reads::BODY;
}

impl<T: FromPath> Argument for Path<T> {
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        Self::of(validation.inbound).map(drop)
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl Argument for IfMatch {
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        Self::of(&validation.inbound.headers).map(drop)
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        let version = json_schema!({"type": "string", "pattern": "^([*]|\"?v?[0-9]{1,19}\"?)$"});
        operation.takes_as(ParameterLocation::Header, "If-Match", false, version);
        operation.rejects(&[Code::InvalidHeader, Code::PreconditionFailed]);
    }
}

impl Argument for Required {
    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let named = validation.inbound.headers.contains_key("idempotency-key");
        if named { Ok(()) } else { Err(Code::IdempotencyKeyRequired.into()) }
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        let key = crate::idempotency::key_schema();
        operation.takes_as(ParameterLocation::Header, "Idempotency-Key", true, key);
        operation.rejects(&[Code::IdempotencyKeyRequired]);
    }
}

impl<T: Deserr<FieldErrors> + Described + Send + 'static> Argument for Body<T> {
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = validation.body()?;
        let read = validation.read(fields).map(Body::<T>);
        validation.insert(read);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>("application/json");
        operation.rejects(&[Code::ValidationFailed]);
    }
}

impl<T: Deserr<FieldErrors> + Parameters + Described + Send + 'static> Argument for Form<T> {
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = validation.form(T::KNOWN)?;
        let read = validation.read(fields).map(Form::<T>);
        validation.insert(read);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>("application/x-www-form-urlencoded");
        operation.takes_body::<T>("application/json");
        operation.rejects(&[Code::InvalidForm, Code::ValidationFailed]);
    }
}

impl<T: Deserr<FieldErrors> + Described + Send + 'static> Argument for Query<T> {
    const READS: Reads = Reads::QUERY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = validation.query();
        let read = validation.read(fields).map(Query::<T>);
        validation.insert(read);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_query::<T>();
        operation.rejects(&[Code::ValidationFailed]);
    }
}

impl<T: Described + Send + 'static> Argument for SentQuery<T> {
    const READS: Reads = Reads::SENT_QUERY;

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_query::<T>();
    }
}
