//! Why a template could not be parsed, or a part of it not rendered.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The result of rendering, of a filter and of a tag.
pub type Result<T> = std::result::Result<T, Error>;

/// A template that is not Liquid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The line on which the tag or output begins, from 1.
    pub line: u32,
    /// What is wrong, without "Liquid syntax error".
    pub message: String,
}

impl ParseError {
    /// An error on a line.
    pub fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Liquid syntax error (line {}): {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Which bound a page ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// More nodes, iterations and filters than allowed.
    Steps,
    /// More output than allowed.
    Output,
    /// Blocks and partials nested deeper than allowed.
    Depth,
    /// More bytes in captured, assigned and filtered values than allowed.
    Memory,
    /// The host's deadline has passed.
    Time,
}

/// What sort of failure an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A filter or tag was given what it cannot use.
    Argument,
    /// A division by zero.
    ZeroDivision,
    /// A filter that the language does not have.
    UndefinedFilter,
    /// A partial that the host does not have.
    MissingPartial,
    /// A partial that could not be parsed.
    Syntax,
    /// A tag that must not be used where it is.
    Disabled,
    /// A failure of the host's own.
    Host,
    /// A bound of the page. It ends the page even where errors are printed.
    Limit(Exceeded),
}

/// A failure while a template is rendered, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What sort of failure.
    pub kind: ErrorKind,
    /// What happened, without "Liquid error".
    pub message: Cow<'static, str>,
    /// The name of the template, empty if it has none.
    pub template: Arc<str>,
    /// The line of the tag or output, from 1; 0 until the renderer has set it.
    pub line: u32,
}

impl Error {
    /// An error without a place, which the renderer adds.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), template: Arc::from(""), line: 0 }
    }

    /// A filter or tag was given what it cannot use.
    pub fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// A failure of the host's own.
    pub fn host(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Host, message)
    }

    /// Division by zero.
    pub fn zero_division() -> Self {
        Self::new(ErrorKind::ZeroDivision, "divided by 0")
    }

    /// A bound was reached.
    pub fn limit(exceeded: Exceeded) -> Self {
        let message = match exceeded {
            Exceeded::Steps => "Too many steps",
            Exceeded::Output => "Output too large",
            Exceeded::Depth => "Nesting too deep",
            Exceeded::Memory => "Memory limits exceeded",
            Exceeded::Time => "Time limit exceeded",
        };
        Self::new(ErrorKind::Limit(exceeded), message)
    }

    /// Whether it ends the page in every mode.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, ErrorKind::Limit(_))
    }

    /// Sets the place, unless an inner one is known already.
    #[must_use]
    pub fn located(mut self, template: &Arc<str>, line: u32) -> Self {
        if self.line == 0 {
            self.line = line;
            self.template = Arc::clone(template);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            ErrorKind::Syntax => "Liquid syntax error",
            _ => "Liquid error",
        })?;
        match (self.line, &*self.template) {
            (0, _) => {}
            (line, "") => write!(f, " (line {line})")?,
            (line, template) => write!(f, " ({template} line {line})")?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}
