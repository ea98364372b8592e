//! The limits of rendering a page, and the findings about a theme.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

/// The limits of rendering a page. Steps and bytes are the same on every machine; the time is the last
/// resort.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Steps: tags, filters, iterations of loops, and one more for each KiB that a filter reads.
    pub steps: u64,
    /// Bytes of the page.
    pub output: u64,
    /// Bytes of all values and texts that templates create, whether still in use or not.
    pub memory: u64,
    /// Bytes of one text that a template creates.
    pub text: u64,
    /// The depth of included files: layout, section, snippet.
    pub depth: u64,
    /// The depth of nested blocks in one file.
    pub nesting: u64,
    /// The longest time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 200_000,
            output: 2 << 20,
            memory: 64 << 20,
            text: 256 << 10,
            depth: 20,
            nesting: 50,
            time: Duration::from_secs(2),
        }
    }
}

/// Why a page was not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
    /// The theme has no file that the page needs.
    MissingFile,
    /// A template is invalid Liquid, or a JSON file is invalid.
    Syntax,
    /// A template fails: a division by zero, or a filter's argument of a wrong type.
    Failed,
    /// More steps than [`Limits::steps`].
    TooManySteps,
    /// A longer page than [`Limits::output`].
    OutputTooLarge,
    /// More than [`Limits::memory`], or a longer text than [`Limits::text`].
    MemoryExceeded,
    /// Files include each other deeper than [`Limits::depth`].
    IncludedTooDeep,
    /// Blocks are nested deeper than [`Limits::nesting`].
    NestedTooDeep,
    /// It took longer than [`Limits::time`].
    TooSlow,
}

/// An error of a theme, for its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind of error.
    pub code: FindingCode,
    /// The file that was being rendered.
    pub path: String,
    /// The description of the error, for people.
    pub message: String,
}

/// Counts the steps and bytes of a page. Only the first finding is stored, because others follow from it.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    deadline: Instant,
    steps: AtomicU64,
    memory: AtomicU64,
    nesting: AtomicU64,
    exceeded: OnceLock<(FindingCode, String)>,
}

/// The error that stops a template; its finding is in the meter.
pub(crate) fn stopped() -> liquid_core::Error {
    liquid_core::Error::with_msg("a limit is exceeded")
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "how long it really takes, not what time it is"
        )]
        let now = Instant::now();
        Self {
            limits,
            deadline: now.checked_add(limits.time).unwrap_or(now),
            steps: AtomicU64::new(0),
            memory: AtomicU64::new(0),
            nesting: AtomicU64::new(0),
            exceeded: OnceLock::new(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The first limit that was exceeded.
    pub(crate) fn exceeded(&self) -> Option<&(FindingCode, String)> {
        self.exceeded.get()
    }

    /// Counts steps, and fails if a limit is exceeded.
    pub(crate) fn step(&self, steps: u64) -> liquid_core::Result<()> {
        let taken = self.steps.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        if taken > self.limits.steps {
            let limit = self.limits.steps;
            return Err(self.stop(FindingCode::TooManySteps, format!("more than {limit} steps")));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "how long it really takes, not what time it is"
        )]
        let now = Instant::now();
        if now > self.deadline {
            let limit = self.limits.time;
            return Err(self.stop(FindingCode::TooSlow, format!("it takes longer than {limit:?}")));
        }
        if self.exceeded.get().is_some() { Err(stopped()) } else { Ok(()) }
    }

    /// Counts bytes that a template has created. A finding stops the template here or at its next step.
    pub(crate) fn hold(&self, bytes: u64) -> liquid_core::Result<()> {
        let held = self.memory.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if held > self.limits.memory {
            let limit = self.limits.memory;
            let message = format!("it makes more than {limit} bytes of values");
            return Err(self.stop(FindingCode::MemoryExceeded, message));
        }
        Ok(())
    }

    /// Rejects a text that is too long.
    pub(crate) fn text(&self, bytes: u64) -> liquid_core::Result<()> {
        let limit = self.limits.text;
        if bytes > limit {
            let message = format!("a text is longer than {limit} bytes");
            return Err(self.stop(FindingCode::MemoryExceeded, message));
        }
        Ok(())
    }

    /// Runs `within` one block deeper.
    pub(crate) fn nested<T>(
        &self,
        within: impl FnOnce() -> liquid_core::Result<T>,
    ) -> liquid_core::Result<T> {
        let depth = self.nesting.fetch_add(1, Ordering::Relaxed);
        let limit = self.limits.nesting;
        let result = if depth >= limit {
            let message = format!("blocks are nested more than {limit} deep");
            Err(self.stop(FindingCode::NestedTooDeep, message))
        } else {
            within()
        };
        self.nesting.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Stores the finding, if it is the first.
    pub(crate) fn stop(&self, code: FindingCode, message: String) -> liquid_core::Error {
        let _stored = self.exceeded.set((code, message));
        stopped()
    }
}

/// A text with a limited length.
pub(crate) struct Bounded<'a> {
    pub(crate) text: Vec<u8>,
    limit: u64,
    code: FindingCode,
    meter: &'a Meter,
}

impl<'a> Bounded<'a> {
    /// The text of a page.
    pub(crate) fn page(meter: &'a Meter) -> Self {
        Self {
            text: Vec::new(),
            limit: meter.limits.output,
            code: FindingCode::OutputTooLarge,
            meter,
        }
    }

    /// The text of a value that a template creates.
    pub(crate) fn kept(meter: &'a Meter) -> Self {
        Self {
            text: Vec::new(),
            limit: meter.limits.text,
            code: FindingCode::MemoryExceeded,
            meter,
        }
    }

    /// The written text.
    pub(crate) fn into_string(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

impl std::io::Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = size(self.text.len()).saturating_add(size(bytes.len()));
        if length > self.limit {
            let message = format!("more than {} bytes of text", self.limit);
            return Err(std::io::Error::other(self.meter.stop(self.code, message)));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A length as a number of bytes or steps.
pub(crate) fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
