//! A mail as it is sent, and what its text may have of the store.

use core_types::mail::{MailContent, on_one_line};
use identity::store::Store;

/// A mail as it is sent.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The mail.
    pub content: MailContent,
    /// The same mail in the built-in text, if it is about an account, `content` is in the store's own text, and nobody
    /// has proven the recipient's address at the store: such mails in own texts have a quota.
    pub built_in: Option<MailContent>,
}

impl Draft {
    pub(super) const fn of(content: MailContent) -> Self {
        Self { content, built_in: None }
    }
}

/// The store that sends a mail.
#[derive(Debug, Clone, Copy)]
pub struct MailingStore<'s> {
    /// The store.
    pub store: &'s Store,
    /// Whether its owner has proven their address: without that, no text of the store's is in its mails.
    pub is_proven: bool,
}

impl MailingStore<'_> {
    /// The store's name, or its subdomain, which is no text of its own.
    pub(super) fn name(self) -> String {
        if self.is_proven {
            on_one_line(&self.store.name)
        } else {
            self.store.subdomain.to_string()
        }
    }
}
