//! What an operator says of what a developer proposes: an app, or a theme.

use gateway::problem::FieldError;
use gateway::request::{AtMost, Given, Judgement, Rules, Text, request};

/// Notes for the developer.
type Notes = AtMost<Text<1, 2000>, 20>;

fn texts(notes: Notes) -> Vec<String> {
    notes.0.into_iter().map(String::from).collect()
}

/// An operator's decision.
#[request]
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// What the developer is told.
    notes: Option<Notes>,
}

impl DecisionRequest {
    /// What the developer is told.
    pub fn notes(self) -> Vec<String> {
        self.notes.map(texts).unwrap_or_default()
    }
}

/// Why an operator does not accept.
#[request]
#[derive(Debug)]
pub struct RefusalRequest {
    /// What the developer is told; at least one.
    notes: Notes,
}

impl RefusalRequest {
    /// What the developer is told.
    pub fn notes(self) -> Vec<String> {
        texts(self.notes)
    }
}

impl Rules for RefusalRequest {
    async fn broken(given: Given<'_>, _: &Judgement<'_>) -> Vec<FieldError> {
        let is_empty = given.count("notes") == Some(0);
        let fault = || FieldError::new("/notes", "required", "Tell the developer why.");
        is_empty.then(fault).into_iter().collect()
    }
}
