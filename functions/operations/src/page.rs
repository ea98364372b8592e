//! HTML pages of resources that the API also returns as JSON. Each is one file without scripts, for small
//! screens and print, in a light and a dark scheme. Its plots are inline SVG, and it loads no other resource.
//!
//! A page is a [`Sheet`]: plain text, figures, points and rows. All of its content is escaped.

pub(crate) mod drill;
pub(crate) mod load_test;
pub(crate) mod overview;
mod plot;
pub(crate) mod report;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gateway::reply::{Either, Html, Json, Reply, TextOf, TextType};
use gateway::request::{Accept, Described};
use http::header;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use plot::Plot;

/// The only style of every page. The variables of its design are also those of the local system's pages.
const STYLE: &str = concat!(include_str!("page/tokens.css"), include_str!("page/style.css"));

/// The content security policy of a page, which permits only [`STYLE`].
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// The kind of an outcome, which selects its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A good outcome.
    Good,
    /// A bad outcome.
    Bad,
    /// An outcome that is unknown, or not known yet.
    Neutral,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "chip good",
            Self::Bad => "chip bad",
            Self::Neutral => "chip open",
        }
    }
}

/// The content of a table's cell.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A text.
    Text(String),
    /// An outcome in a word.
    Chip(Tone, String),
    /// Paths of this API, each with its link text.
    Links(Vec<(String, String)>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A number with its name.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The name.
    pub label: String,
    /// The number, with its unit.
    pub value: String,
}

impl Figure {
    /// Creates a figure.
    pub fn new(label: &str, value: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into() }
    }
}

/// Rows under a heading.
#[derive(Debug, Clone)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// The content of a page, from top to bottom.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// The title.
    pub title: String,
    /// The outcome in a word.
    pub outcome: Option<(Tone, String)>,
    /// Lines of introduction.
    pub lines: Vec<String>,
    /// The most important numbers.
    pub figures: Vec<Figure>,
    /// Measurements over time.
    pub plots: Vec<Plot>,
    /// The details.
    pub tables: Vec<Table>,
}

impl Sheet {
    /// Renders the page as a response.
    pub fn answer(&self) -> TextOf<Html> {
        TextOf::new(self.render().into_string()).map(|answer| {
            answer
                .header(header::CONTENT_SECURITY_POLICY, &POLICY)
                .header(header::REFERRER_POLICY, "no-referrer")
                .header(header::VARY, "Accept")
        })
    }

    fn render(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (self.title) }
                        @if let Some((tone, word)) = &self.outcome {
                            p { span class=(tone.class()) { (word) } }
                        }
                        @for line in &self.lines { p.faint { (line) } }
                    }
                    main {
                        @if !self.figures.is_empty() {
                            dl { @for figure in &self.figures {
                                div { dt { (figure.label) } dd { (figure.value) } }
                            } }
                        }
                        @for plot in &self.plots { (render_plot(plot)) }
                        @for table in &self.tables { (table.render()) }
                    }
                }
            }
        }
    }
}

/// Renders a plot with its caption; nothing without points.
fn render_plot(plot: &Plot) -> Markup {
    html! {
        @if let Some(svg) = plot.svg() {
            figure {
                (PreEscaped(svg))
                figcaption { (plot.title) }
            }
        }
    }
}

impl Table {
    fn render(&self) -> Markup {
        html! {
            h2 { (self.title) }
            @if self.rows.is_empty() { p.faint { "None." } } @else { table {
                thead { tr { @for column in &self.columns { th scope="col" { (column) } } } }
                tbody { @for row in &self.rows {
                    tr { @for (column, cell) in self.columns.iter().zip(row) {
                        td data-label=(column) { (cell.render()) }
                    } }
                } }
            } }
        }
    }
}

impl Cell {
    fn render(&self) -> Markup {
        html! {
            @match self {
                Self::Text(text) => { (text) }
                Self::Chip(tone, word) => { span class=(tone.class()) { (word) } }
                Self::Links(links) => { ul { @for (path, name) in links {
                    li { a href=(path) { code { (name) } } }
                } } }
            }
        }
    }
}

/// The text, or a dash if there is none.
fn or_dash(known: Option<String>) -> String {
    known.unwrap_or_else(|| "–".to_owned())
}

/// A response as JSON or as an HTML page.
pub(crate) type Shown<T> = Either<Json<T>, TextOf<Html>>;

/// Responds with the page if `Accept` prefers HTML, otherwise with JSON; both vary by `Accept`.
pub(crate) fn described<T: Described>(
    accept: &Accept,
    sheet: impl FnOnce() -> Sheet,
    json: impl FnOnce() -> Json<T>,
) -> Shown<T> {
    if accept.prefers(Html::MEDIA_TYPE, "application/json") {
        return Either::Right(sheet().answer());
    }
    Either::Left(json().header(header::VARY, "Accept"))
}
