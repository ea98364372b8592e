//! Mails to a store's customers about their accounts. A store can replace their texts, which are in the crate `sales`.

use core_types::fields::Email;
use core_types::mail::{AccountNews, MailContent};
use primitives::clock::{DAY, Timestamp};

use crate::challenge::{CODE_LIFETIME, Purpose};

/// The mail with a code that signs a customer in.
pub fn sign_in_code(to: &Email, code: &str) -> MailContent {
    let news = AccountNews::SignInCode { code: code.to_owned() };
    MailContent::about_account(to, news, CODE_LIFETIME)
}

/// The mail with a code that proves a new customer's address.
pub fn registration_code(to: &Email, code: &str) -> MailContent {
    let news = AccountNews::RegistrationCode { code: code.to_owned() };
    MailContent::about_account(to, news, CODE_LIFETIME).for_unverified()
}

/// The mail instead of [`registration_code`] for an address that has an account already: the code signs in to
/// it.
pub fn account_exists(to: &Email, code: &str) -> MailContent {
    let news = AccountNews::AccountExists { code: code.to_owned() };
    MailContent::about_account(to, news, CODE_LIFETIME)
}

/// The mail with a code that proves the new address of an account.
pub fn email_change_code(to: &Email, code: &str) -> MailContent {
    let news = AccountNews::EmailChangeCode { code: code.to_owned() };
    MailContent::about_account(to, news, CODE_LIFETIME).for_unverified()
}

/// The mail instead of [`email_change_code`] for an address that has an account of its own, which its owner may never have
/// used: a merchant can create one for any address.
pub fn email_in_use(to: &Email) -> MailContent {
    MailContent::about_account(to, AccountNews::EmailInUse, CODE_LIFETIME).for_unverified()
}

/// Where a customer has requested a new password. Each has the URL of the page of the shop that sets one, without the
/// token.
#[derive(Debug, Clone, Copy)]
pub enum ResetAt<'a> {
    /// In a shop.
    Shop(&'a str),
    /// Through the API: the mail has the token as well, for an app that asks for it.
    Api(&'a str),
}

/// The mail with a token that sets a customer's new password.
pub fn reset(to: &Email, token: &str, at: ResetAt<'_>) -> MailContent {
    let (page, token_of_app) = match at {
        ResetAt::Shop(page) => (page, None),
        ResetAt::Api(page) => (page, Some(token.to_owned())),
    };
    let news = AccountNews::PasswordReset { link: format!("{page}/{token}"), token: token_of_app };
    MailContent::about_account(to, news, Purpose::Reset.lifetime())
}

/// The notification that a customer's password was changed.
pub fn password_updated(to: &Email, now: Timestamp) -> MailContent {
    MailContent::about_account(to, AccountNews::PasswordUpdated { at: now }, DAY)
}

/// The notification to the former address that a customer's address was changed.
pub fn email_updated(former: &Email, current: &Email, now: Timestamp) -> MailContent {
    let news = AccountNews::EmailUpdated { at: now, email: current.masked() };
    MailContent::about_account(former, news, DAY)
}

/// The notification that a customer's account was deleted.
pub fn deleted(to: &Email, now: Timestamp) -> MailContent {
    MailContent::about_account(to, AccountNews::Deleted { at: now }, DAY)
}
