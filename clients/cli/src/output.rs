//! What is printed: results on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::failure::Failure;
use crate::pretty;
use crate::secret::{Secret, masked};

/// How a command prints.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// One JSON document, or for a stream a JSON document a line, and nothing else on standard output.
    pub json: bool,
    /// No notes on standard error.
    pub quiet: bool,
    /// Whether standard output takes colors.
    pub color: bool,
}

/// The colors of a terminal, by what they mean.
#[derive(Debug, Clone, Copy)]
pub enum Tone {
    Good,
    Bad,
    Faint,
}

impl Output {
    pub fn new(json: bool, quiet: bool) -> Self {
        // https://no-color.org: present and not empty.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { json, quiet, color: !no_color && !json && std::io::stdout().is_terminal() }
    }

    /// Prints a line of the result: this text, or this document.
    pub fn line(self, text: &str, document: &Value) {
        if self.json { print(&document.to_string()) } else { print(text) }
    }

    /// Prints the result of a command: this text, or this document.
    pub fn result(self, text: &str, document: &Value) {
        self.line(text, document);
    }

    /// Prints JSON as it came from the API.
    pub fn json_text(self, text: &str) {
        if self.json {
            print(&pretty::compact(text));
        } else {
            print(&pretty::pretty(text, self.color));
        }
    }

    /// Prints one of many JSON documents, which came from the API: on a terminal for people, elsewhere a line each.
    pub fn item(self, text: &str) {
        if self.color { self.json_text(text) } else { print(&pretty::compact(text)) }
    }

    /// Prints a note, which is no part of the result.
    pub fn note(self, text: &str) {
        if !self.quiet {
            warn(text);
        }
    }

    /// Prints the one secret that is made to be shown: what `listen` signs with.
    pub fn reveal(self, secret: &Secret, document: &Value) {
        let text = if self.json { document.to_string() } else { secret.reveal().to_owned() };
        print_as_it_is(&text);
    }

    /// As [`Output::note`], with that secret in it.
    pub fn note_with(self, before: &str, secret: &Secret, after: &str) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr().lock(), "{before}{}{after}", secret.reveal());
        }
    }

    /// Prints a failure.
    pub fn failure(self, failure: &Failure) {
        if self.json {
            warn(&failure.document().to_string());
        } else {
            warn(&format!("error: {}", failure.text()));
        }
    }

    /// The text in a color, where there are colors.
    pub fn toned(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Bad => 31,
            Tone::Faint => 2,
        };
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Prints a line to standard output. Whoever closes it early, as `head` does, has read enough.
fn print(text: &str) {
    print_as_it_is(&masked(text));
}

fn print_as_it_is(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn warn(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", masked(text));
}

/// A text as it may be printed to a terminal: data of others contain no control characters.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
