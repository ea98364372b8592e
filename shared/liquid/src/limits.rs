//! The bounds of a page.

use crate::error::{Error, Exceeded, Result};

/// What a page may take. The deadline is asked every few hundred steps.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Nodes, iterations, filters and items of lists that filters go through.
    pub steps: u64,
    /// Bytes of output.
    pub output: usize,
    /// Blocks and partials within each other. Each level takes stack.
    pub depth: u32,
    /// Bytes of all captured and filtered values, freed ones included.
    pub memory: u64,
    /// Whether the time is over.
    pub expired: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self { steps: 10_000_000, output: 8 << 20, depth: 160, memory: 256 << 20, expired: None }
    }
}

/// What a page has taken so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Steps.
    pub steps: u64,
    /// Bytes of captured and filtered values.
    pub memory: u64,
}

/// How many steps pass between two looks at the deadline.
const LOOK_EVERY: u64 = 256;

/// Counts against the bounds.
pub(crate) struct Meter<'a> {
    pub(crate) limits: Limits<'a>,
    pub(crate) usage: Usage,
    pub(crate) depth: u32,
    next_look: u64,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(limits: Limits<'a>) -> Self {
        Self { limits, usage: Usage::default(), depth: 0, next_look: LOOK_EVERY }
    }

    pub(crate) fn step(&mut self, steps: u64) -> Result<()> {
        self.usage.steps = self.usage.steps.saturating_add(steps);
        if self.usage.steps > self.limits.steps {
            return Err(Error::limit(Exceeded::Steps));
        }
        if self.usage.steps >= self.next_look {
            self.next_look = self.usage.steps.saturating_add(LOOK_EVERY);
            if self.limits.expired.is_some_and(|expired| expired()) {
                return Err(Error::limit(Exceeded::Time));
            }
        }
        Ok(())
    }

    pub(crate) fn bytes(&mut self, bytes: usize) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.usage.memory = self.usage.memory.saturating_add(bytes);
        if self.usage.memory > self.limits.memory {
            return Err(Error::limit(Exceeded::Memory));
        }
        // Long texts take time, too.
        self.step(bytes >> 10)
    }

    pub(crate) fn output(&self, bytes: usize) -> Result<()> {
        if bytes > self.limits.output {
            return Err(Error::limit(Exceeded::Output));
        }
        Ok(())
    }

    pub(crate) fn enter(&mut self) -> Result<()> {
        if self.depth >= self.limits.depth {
            return Err(Error::limit(Exceeded::Depth));
        }
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
