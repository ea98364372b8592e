//! An operator's decision on a developer's submission of an app or a theme.

use primitives::fields::{AtMost, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::FieldError;

/// Notes for the developer.
type Notes = AtMost<Text<1, 2000>, 20>;

fn texts(notes: Notes) -> Vec<String> {
    notes.0.into_iter().map(String::from).collect()
}

/// An operator's approval.
#[request]
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// Notes for the developer: at most 20, of up to 2,000 characters each.
    notes: Option<Notes>,
}

impl DecisionRequest {
    /// The notes for the developer.
    pub fn notes(self) -> Vec<String> {
        self.notes.map(texts).unwrap_or_default()
    }
}

/// An operator's reasons not to approve.
#[request]
#[derive(Debug)]
pub struct RejectionRequest {
    /// Notes for the developer: 1 to 20, of up to 2,000 characters each.
    notes: Notes,
}

impl RejectionRequest {
    /// The notes for the developer.
    pub fn notes(self) -> Vec<String> {
        texts(self.notes)
    }
}

impl Rules for RejectionRequest {
    fn broken(given: Given<'_>) -> Vec<FieldError> {
        let is_empty = given.count("notes") == Some(0);
        let fault =
            || FieldError::new("/notes", "required", "A reason for the developer is required.");
        is_empty.then(fault).into_iter().collect()
    }
}
