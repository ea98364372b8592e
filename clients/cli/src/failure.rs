//! Why a command failed, how that is printed, and its exit code.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};

/// The exit codes, as `--help` and docs/cli.md list them.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    a local failure: a file, the configuration
  2    wrong usage
  3    not signed in, or the session has ended
  4    the API rejected the request (4xx)
  5    the API failed (5xx) or cannot be reached
  6    not found (404)
  7    done in part: an import with failed rows
  130  interrupted";

/// A problem (RFC 9457) as the API answers it.
#[derive(Debug, Deserialize)]
pub struct Problem {
    pub status: u16,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub detail: String,
    pub request_id: Option<String>,
    #[serde(default)]
    pub errors: Vec<FieldError>,
    /// Field errors that are not listed.
    #[serde(default)]
    pub more: u64,
    /// All members, those of the code's own included.
    #[serde(skip)]
    pub raw: Value,
}

/// An error of one field.
#[derive(Debug, Deserialize)]
pub struct FieldError {
    pub pointer: String,
    pub code: String,
    #[serde(default)]
    pub detail: String,
}

impl Problem {
    /// Reads the body of a rejected request. A body of something else, such as a proxy's, leaves the status alone.
    pub fn read(status: u16, request_id: Option<&str>, body: &[u8]) -> Self {
        let raw: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let read = serde_json::from_value(raw.clone());
        let mut problem: Self = read.unwrap_or_else(|_| Self {
            status,
            code: String::new(),
            title: format!("The answer was HTTP {status}"),
            detail: String::new(),
            request_id: None,
            errors: Vec::new(),
            more: 0,
            raw: Value::Null,
        });
        problem.status = status;
        problem.request_id = problem.request_id.or_else(|| request_id.map(str::to_owned));
        problem.raw = raw;
        problem
    }

    /// A member of the code's own.
    pub fn member(&self, name: &str) -> Option<&str> {
        self.raw.get(name).and_then(Value::as_str)
    }

    fn text(&self) -> String {
        let mut text = self.title.clone();
        if !self.code.is_empty() {
            let _ = write!(text, " ({}, {})", self.status, self.code);
        }
        if !self.detail.is_empty() && self.detail != self.title {
            let _ = write!(text, "\n  {}", self.detail);
        }
        for error in &self.errors {
            let _ = write!(text, "\n  {}  {}  {}", error.pointer, error.code, error.detail);
        }
        if self.more > 0 {
            let _ = write!(text, "\n  … and {} more", self.more);
        }
        for finding in self.raw.get("findings").and_then(Value::as_array).into_iter().flatten() {
            let member = |name: &str| finding.get(name).and_then(Value::as_str).unwrap_or("");
            let [severity, path] = [member("severity"), member("path")];
            let _ =
                write!(text, "\n  {severity}  {path}  {}  {}", member("code"), member("detail"));
        }
        if let Some(id) = &self.request_id {
            let _ = write!(text, "\n  request {id}");
        }
        text
    }
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for what cannot be.
    Usage(String),
    /// There is no session, or it has ended.
    NotSignedIn(String),
    /// The API answered with a problem.
    Rejected(Box<Problem>),
    /// No answer came.
    Unreachable(String),
    /// A file or the configuration is at fault.
    Local(String),
    /// The work is done, but not all of it.
    Partial(String),
    /// Somebody pressed Ctrl-C; the text says how to go on.
    Interrupted(String),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Local(_) => 1,
            Self::Usage(_) => 2,
            Self::NotSignedIn(_) => 3,
            Self::Rejected(problem) => match problem.status {
                401 => 3,
                404 => 6,
                500.. => 5,
                _ => 4,
            },
            Self::Unreachable(_) => 5,
            Self::Partial(_) => 7,
            Self::Interrupted(_) => 130,
        }
    }

    /// The text for people.
    pub fn text(&self) -> String {
        match self {
            Self::Usage(text)
            | Self::NotSignedIn(text)
            | Self::Unreachable(text)
            | Self::Local(text)
            | Self::Partial(text)
            | Self::Interrupted(text) => text.clone(),
            Self::Rejected(problem) => problem.text(),
        }
    }

    /// The document for programs.
    pub fn document(&self) -> Value {
        let kind = match self {
            Self::Usage(_) => "usage",
            Self::NotSignedIn(_) => "not_signed_in",
            Self::Rejected(_) => "rejected",
            Self::Unreachable(_) => "unreachable",
            Self::Local(_) => "local",
            Self::Partial(_) => "partial",
            Self::Interrupted(_) => "interrupted",
        };
        let mut error =
            json!({"kind": kind, "exit_code": self.exit_code(), "message": self.text()});
        if let (Self::Rejected(problem), Some(members)) = (self, error.as_object_mut()) {
            members.insert("problem".to_owned(), problem.raw.clone());
        }
        json!({"error": error})
    }

    /// Whether this is the problem with this code.
    pub fn is(&self, code: &str) -> bool {
        matches!(self, Self::Rejected(problem) if problem.code == code)
    }

    /// A file that cannot be used.
    pub fn file(path: &std::path::Path, cause: &std::io::Error) -> Self {
        Self::Local(format!("{}: {cause}", path.display()))
    }
}

impl From<std::io::Error> for Failure {
    fn from(cause: std::io::Error) -> Self {
        Self::Local(cause.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_printed_with_each_field_and_its_request() {
        let body = json!({"type": "about:blank", "title": "A field breaks a rule", "status": 422,
            "code": "validation_failed", "detail": "See errors.", "request_id": "req_1",
            "errors": [{"pointer": "/title", "code": "required", "detail": "This field is required."}]});
        let failure =
            Failure::Rejected(Box::new(Problem::read(422, None, body.to_string().as_bytes())));
        assert_eq!(
            failure.text(),
            "A field breaks a rule (422, validation_failed)\n  See errors.\n  \
             /title  required  This field is required.\n  request req_1"
        );
        assert_eq!(failure.exit_code(), 4);
        assert_eq!(failure.document()["error"]["problem"]["code"], "validation_failed");
    }

    #[test]
    fn a_status_alone_decides_the_exit_code() {
        let code = |status| {
            Failure::Rejected(Box::new(Problem::read(status, None, b"<html>"))).exit_code()
        };
        assert_eq!([401, 404, 409, 429, 500, 503].map(code), [3, 6, 4, 4, 5, 5]);
    }
}
