//! Mails to a store's customers about their accounts.

use core_types::fields::{Email, Subdomain};
use core_types::mail::MailContent;
use primitives::clock::{DAY, Timestamp};

use crate::challenge::{CODE_LIFETIME, Purpose};

/// The mail with a code that proves a new customer's address.
pub fn signup_code(to: &Email, shop: &Subdomain, code: &str) -> MailContent {
    let text = format!(
        "Somebody requested an account with this address at the shop\n\n\
         \x20   {shop}\n\n\
         To confirm that it was you, use this code. It is valid for 10 minutes\n\
         and works once.\n\n\
         Code: {code}\n\n\
         If it was not you, do nothing: no account is created without the code.\n\
         Do not share it with anybody.\n"
    );
    MailContent::new(to, "Confirm your new account", text, CODE_LIFETIME).for_unverified()
}

/// The mail instead of [`signup_code`] for an address that has an account already: the code signs in to it.
pub fn existing_account_code(to: &Email, shop: &Subdomain, code: &str) -> MailContent {
    let text = format!(
        "Somebody requested a new account with this address at the shop\n\n\
         \x20   {shop}\n\n\
         You have one already, and it stays as it is. To sign in to it, use\n\
         your password, or this code. It is valid for 10 minutes and works once.\n\n\
         Code: {code}\n\n\
         If it was not you, do nothing. Do not share the code with anybody.\n"
    );
    MailContent::new(to, "You already have an account", text, CODE_LIFETIME)
}

/// The mail with a code that proves the new address of an account.
pub fn email_change_code(to: &Email, shop: &Subdomain, code: &str) -> MailContent {
    let text = format!(
        "Somebody asked to move their account to this address at the shop\n\n\
         \x20   {shop}\n\n\
         To confirm that it was you, use this code. It is valid for 10 minutes\n\
         and works once.\n\n\
         Code: {code}\n\n\
         If it was not you, do nothing: no account is moved without the code.\n\
         Do not share it with anybody.\n"
    );
    MailContent::new(to, "Confirm your new e-mail address", text, CODE_LIFETIME).for_unverified()
}

/// The mail instead of [`email_change_code`] for an address that has an account of its own.
pub fn stays(to: &Email, shop: &Subdomain) -> MailContent {
    let text = format!(
        "Somebody asked to move their account to this address at the shop\n\n\
         \x20   {shop}\n\n\
         This address has an account there already, and both stay as they are.\n\
         If it was you, sign in to the one with this address, or delete it and\n\
         ask again.\n"
    );
    MailContent::new(to, "Your account stays as it is", text, CODE_LIFETIME)
}

/// Where a customer sets a new password.
#[derive(Debug, Clone, Copy)]
pub enum ResetAt<'a> {
    /// A page of a shop, by its URL without the token.
    Page(&'a str),
    /// The API, by its base URL.
    Api(&'a str),
}

/// The mail with a token that sets a customer's new password.
pub fn reset(to: &Email, shop: &Subdomain, token: &str, at: ResetAt<'_>) -> MailContent {
    let directions = match at {
        ResetAt::Page(page) => format!("To set one, open\n\n\x20   {page}/{token}"),
        ResetAt::Api(base_url) => format!(
            "To set one, send this token and the new password to\n\n\
             \x20   POST {base_url}/v1/storefront/customer/password/update\n\
             \x20   {{\"token\": \"...\", \"new_password\": \"...\"}}\n\n\
             Token: {token}"
        ),
    };
    let text = format!(
        "Somebody requested a new password for your account at the shop\n\n\
         \x20   {shop}\n\n\
         {directions}\n\n\
         It is valid for 30 minutes and works once.\n\
         If you did not request it, do nothing: your password stays as it is.\n"
    );
    MailContent::new(to, "Set a new password", text, Purpose::Reset.lifetime())
}

/// The notification that a customer's account was deleted.
pub fn deleted(to: &Email, shop: &Subdomain, now: Timestamp) -> MailContent {
    let text = format!(
        "Your account was deleted at {now} at the shop\n\n\
         \x20   {shop}\n\n\
         With it went your addresses and your wishlist. The shop keeps what it\n\
         must of the orders you placed.\n"
    );
    MailContent::new(to, "Your account was deleted", text, DAY)
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn every_mail_is_ascii_with_short_lines() {
        let to = Email::from_text("cleo@example.com").unwrap();
        let shop = Subdomain::from_text(&"a".repeat(63)).unwrap();
        let (now, token) = (Timestamp::from_millis(0), crypto::seal::random_secret());
        for content in [
            signup_code(&to, &shop, "042137"),
            existing_account_code(&to, &shop, "042137"),
            email_change_code(&to, &shop, "042137"),
            stays(&to, &shop),
            reset(&to, &shop, &token, ResetAt::Api("https://api.example.com")),
            deleted(&to, &shop, now),
        ] {
            assert!(content.text.is_ascii() && content.subject.is_ascii());
            assert!(content.text.lines().all(|line| line.len() < 75), "{}", content.text);
        }
    }
}
