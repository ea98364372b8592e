//! What tags note for the page while it is rendered.

use std::collections::HashSet;
use std::sync::Arc;

use liquid::Value;
use serde_json::Value as Json;

use crate::limits::Finding;

/// A section or block that is being rendered.
#[derive(Clone)]
pub(crate) struct Element {
    /// What was placed: `{type, settings, blocks, block_order, disabled}`.
    pub(crate) placed: Arc<Json>,
    /// The resources that it inherits.
    pub(crate) closest: Value,
}

/// The layout of a page.
#[derive(Debug, Clone, Default)]
pub(crate) enum Layout {
    /// That of the theme.
    #[default]
    Default,
    /// The layout of this name.
    Named(String),
    /// None.
    Bare,
}

/// What tags note for the page while it is rendered.
#[derive(Default)]
pub(crate) struct Notes {
    /// The layout that a template selects.
    pub(crate) layout: Layout,
    /// The sections and blocks that are being rendered, the outermost first.
    pub(crate) elements: Vec<Element>,
    /// The texts of `stylesheet` and `javascript` tags, each once.
    pub(crate) styles: Vec<Arc<str>>,
    pub(crate) scripts: Vec<Arc<str>>,
    pub(crate) seen: HashSet<usize>,
    pub(crate) warnings: Vec<Finding>,
}
