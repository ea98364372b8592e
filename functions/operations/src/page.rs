//! Pages to look at: what the API says as JSON, for people. One file each, without script, readable on
//! a telephone and in print, in light and in dark; its plots are SVG, and nothing is fetched.
//!
//! A page is a [`Sheet`]: plain text, figures, points and rows. Whatever is put into it is escaped.

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

/// The only style of every page.
const STYLE: &str = include_str!("page/style.css");

/// What a page may load and do: nothing, but look as [`STYLE`] says.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// How something turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should.
    Good,
    /// Not as it should.
    Bad,
    /// It cannot be told, or not yet.
    Open,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "chip good",
            Self::Bad => "chip bad",
            Self::Open => "chip open",
        }
    }
}

/// What stands in a cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A text.
    Text(String),
    /// How something turned out, in a word.
    Chip(Tone, String),
    /// Paths of this API, each with what it is called.
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
    /// What it is.
    pub label: String,
    /// It, with its unit.
    pub value: String,
}

impl Figure {
    /// This number under this name.
    pub fn new(label: &str, value: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into() }
    }
}

/// Rows under a heading.
#[derive(Debug, Clone)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// What the columns are.
    pub columns: Vec<&'static str>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// What a page shows, from its head to its foot.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// Its title.
    pub title: String,
    /// How it turned out, in a word.
    pub outcome: Option<(Tone, String)>,
    /// What it is about, a line each.
    pub lines: Vec<String>,
    /// The numbers to see first.
    pub figures: Vec<Figure>,
    /// What they were over time.
    pub plots: Vec<Plot>,
    /// The details.
    pub tables: Vec<Table>,
}

impl Sheet {
    /// As an answer.
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
                        @for plot in &self.plots { (drawn(plot)) }
                        @for table in &self.tables { (table.render()) }
                    }
                }
            }
        }
    }
}

/// A plot with its caption, which says in words what it shows; without points there is none.
fn drawn(plot: &Plot) -> Markup {
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
            table {
                thead { tr { @for column in &self.columns { th scope="col" { (column) } } } }
                tbody { @for row in &self.rows {
                    tr { @for (column, cell) in self.columns.iter().zip(row) {
                        td data-label=(column) { (cell.render()) }
                    } }
                } }
            }
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

/// What is known, or a dash.
fn or_dash(known: Option<String>) -> String {
    known.unwrap_or_else(|| "–".to_owned())
}

/// What is shown as JSON, or as a page.
pub(crate) type Shown<T> = Either<Json<T>, TextOf<Html>>;

/// The page for who prefers one, else JSON; caches are told that it depends on `Accept`.
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
