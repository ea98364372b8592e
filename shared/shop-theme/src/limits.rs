//! The limits of rendering a page, and the findings about a theme.

use std::time::Duration;

use liquid::{ErrorKind, Exceeded};
use serde::Serialize;

/// The limits of rendering a page. Steps and bytes are the same on every machine; the time is the last
/// resort.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Steps: tags, outputs, iterations of loops, and items that filters go through.
    pub steps: u64,
    /// Bytes of the page.
    pub output: usize,
    /// Bytes of all values and texts that templates create, whether still in use or not.
    pub memory: u64,
    /// The depth of blocks and files within each other.
    pub depth: u32,
    /// The longest time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 2_000_000,
            output: 4 << 20,
            memory: 128 << 20,
            depth: 100,
            time: Duration::from_secs(2),
        }
    }
}

/// What is wrong with a theme, or why a page was not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
    /// The theme has no file that the page needs.
    MissingFile,
    /// A template is invalid Liquid, or a JSON file is invalid.
    Syntax,
    /// A tag or filter failed, and its message is in the page.
    Failed,
    /// A filter that does not exist; it passes its input on.
    UnknownFilter,
    /// A tag that does not exist; it is left out.
    UnknownTag,
    /// More steps than [`Limits::steps`].
    TooManySteps,
    /// A longer page than [`Limits::output`].
    OutputTooLarge,
    /// More than [`Limits::memory`].
    MemoryExceeded,
    /// Blocks or files within each other deeper than [`Limits::depth`].
    NestedTooDeep,
    /// It took longer than [`Limits::time`].
    TooSlow,
}

/// A problem of a theme, for its author.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The kind of problem.
    pub code: FindingCode,
    /// The file that was being rendered.
    pub path: String,
    /// The description of the problem, for people.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(code: FindingCode, path: &str, message: impl Into<String>) -> Self {
        Self { code, path: path.to_owned(), message: message.into() }
    }

    /// The finding of a failure in a page.
    pub(crate) fn of(error: &liquid::Error) -> Self {
        let code = match error.kind {
            ErrorKind::Limit(Exceeded::Steps) => FindingCode::TooManySteps,
            ErrorKind::Limit(Exceeded::Output) => FindingCode::OutputTooLarge,
            ErrorKind::Limit(Exceeded::Depth) => FindingCode::NestedTooDeep,
            ErrorKind::Limit(Exceeded::Memory) => FindingCode::MemoryExceeded,
            ErrorKind::Limit(Exceeded::Time) => FindingCode::TooSlow,
            ErrorKind::MissingPartial => FindingCode::MissingFile,
            ErrorKind::UndefinedFilter => FindingCode::UnknownFilter,
            _ => FindingCode::Failed,
        };
        let message: String = match error.line {
            0 => error.message.chars().take(300).collect(),
            line => format!("line {line}: {}", error.message).chars().take(300).collect(),
        };
        Finding::new(code, &error.template, message)
    }
}
