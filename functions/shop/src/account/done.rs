//! What a form of an account has done, which the page that follows it says.

use crate::form::Fields;
use crate::visit::Visit;
use crate::words::Words;

/// The page of a customer's details.
pub(super) const PROFILE: &str = "/account/profile";

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// The account was deleted.
    Deleted,
    /// A password was set by a mailed link.
    PasswordReset,
    /// The name and what belongs to it was saved.
    DetailsSaved,
    /// The e-mail address was changed.
    EmailChanged,
    /// A password was set in a session.
    PasswordSet,
}

impl Done {
    const ALL: [Self; 5] = [
        Self::Deleted,
        Self::PasswordReset,
        Self::DetailsSaved,
        Self::EmailChanged,
        Self::PasswordSet,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::PasswordReset => "password-reset",
            Self::DetailsSaved => "details",
            Self::EmailChanged => "email",
            Self::PasswordSet => "password",
        }
    }

    /// The page that says so.
    pub(super) fn page(self) -> String {
        let page = match self {
            Self::Deleted | Self::PasswordReset => "/account/login",
            Self::DetailsSaved | Self::EmailChanged | Self::PasswordSet => PROFILE,
        };
        format!("{page}?done={}", self.name())
    }

    /// What was done before this page. A link of another site could say what was never done.
    pub(super) fn before(visit: &Visit, sent: &Fields) -> Option<Self> {
        Self::of(sent).filter(|_| !visit.is_from_elsewhere)
    }

    fn of(sent: &Fields) -> Option<Self> {
        let name = sent.text("done")?;
        Self::ALL.into_iter().find(|done| done.name() == name)
    }

    pub(super) const fn said(self, words: &Words) -> &'static str {
        match self {
            Self::Deleted => words.accounts.account_deleted,
            Self::PasswordReset => words.accounts.password_changed,
            Self::DetailsSaved => words.accounts.saved,
            Self::EmailChanged => words.accounts.email_changed,
            Self::PasswordSet => words.accounts.password_set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_what_was_done_before() {
        for done in Done::ALL {
            let page = done.page();
            let query = page.split_once('?').map_or("", |(_, query)| query);
            assert_eq!(Done::of(&Fields::of_query(query.as_bytes())), Some(done));
        }
        assert_eq!(Done::of(&Fields::of_query(b"done=anything")), None);
    }
}
