//! Mails to merchants about their accounts, and to customers ([`customer`]).

pub mod customer;

use core_types::fields::Email;
use core_types::id::StoreId;
use core_types::mail::{MailContent, on_one_line, unlinked};
use primitives::clock::{DAY, Timestamp};

use crate::challenge::{CODE_LIFETIME, Purpose};
use crate::member::{INVITED_FOR, Role};

/// The mail with a sign-in code, of this store's customer or of a merchant.
pub fn sign_in_code(to: &Email, store: Option<&StoreId>, code: &str) -> MailContent {
    if store.is_some() {
        return customer::sign_in_code(to, code).from_store(store);
    }
    let text = format!(
        "Use this code to sign in. It is valid for 10 minutes and works once.\n\n\
         Code: {code}\n\n\
         If you did not request it, do nothing: nobody can sign in without it.\n\
         Do not share it with anybody.\n"
    );
    MailContent::new(to, "Your sign-in code", text, CODE_LIFETIME)
}

/// The mail with a token that sets a new password.
pub fn password_reset(to: &Email, token: &str, base_url: &str) -> MailContent {
    let text = format!(
        "Somebody requested a new password for your account. To set one, send\n\
         this token and the new password to\n\n\
         \x20   POST {base_url}/v1/auth/password/update\n\
         \x20   {{\"token\": \"...\", \"new_password\": \"...\"}}\n\n\
         Token: {token}\n\n\
         It is valid for 30 minutes and works once.\n\
         If you did not request it, do nothing: your password stays as it is.\n"
    );
    MailContent::new(to, "Set a new password", text, Purpose::Reset.lifetime())
}

/// The mail with a token that verifies the address.
pub fn verify_email(to: &Email, token: &str, base_url: &str) -> MailContent {
    let text = format!(
        "This address was given for an account. To confirm that it is yours,\n\
         send this token and the account's password to\n\n\
         \x20   POST {base_url}/v1/auth/email/verify\n\
         \x20   {{\"token\": \"...\", \"password\": \"...\"}}\n\n\
         Token: {token}\n\n\
         It is valid for 24 hours and works once. The access token of a session\n\
         does in place of the password. Without either the account becomes yours,\n\
         but its password is removed and every session ends: somebody else may\n\
         have opened it.\n\
         If you know nothing of such an account, do nothing.\n"
    );
    MailContent::new(to, "Confirm your e-mail address", text, Purpose::Verify.lifetime())
}

/// The invitation to become a member of a store. The store's name is third-party text, so links in it are
/// disabled.
pub fn invitation(
    to: &Email,
    (store, role): (&str, Role),
    token: &str,
    base_url: &str,
    expires_at: Timestamp,
) -> MailContent {
    let store = unlinked(&on_one_line(store));
    let text = format!(
        "You are invited to work on the store\n\n\
         \x20   {store}\n\n\
         in the role {role}. To accept, sign in to an account of this\n\
         address, or open one and confirm the address, and send this token to\n\n\
         \x20   POST {base_url}/v1/stores/invitations/accept\n\
         \x20   {{\"token\": \"...\"}}\n\n\
         Token: {token}\n\n\
         It is valid until {expires_at} and works once.\n\
         If you do not know the store, do nothing.\n"
    );
    MailContent::new(to, "You are invited to a store", text, INVITED_FOR)
}

/// The notification that the proof of an address gave its owner the account that was set up before.
pub fn address_proven(to: &Email, base_url: &str) -> MailContent {
    let text = format!(
        "You have confirmed this address for an account that was set up before,\n\
         perhaps by somebody else. Its password and every session have ended.\n\n\
         To sign in, request a one-time code. To set a password, request a\n\
         reset, or send one while you are signed in:\n\n\
         \x20   POST {base_url}/v1/auth/signin/otp\n\
         \x20   POST {base_url}/v1/auth/password/reset\n\
         \x20   POST {base_url}/v1/auth/password/update\n\n\
         What the account has stays. Check its stores and apps, and\n\
         delete what is not yours.\n"
    );
    MailContent::new(to, "Your address is confirmed", text, DAY)
}

/// The notification that the second factor was enabled or disabled.
pub fn mfa_switched(to: &Email, on: bool, now: Timestamp) -> MailContent {
    let (is, from_now) = if on {
        ("on", "Signing in now requires a code of your authenticator, or a recovery code.")
    } else {
        ("off", "Signing in no longer requires a code of an authenticator.")
    };
    let text = format!(
        "Two-step sign-in of your account was switched {is} at\n{now}.\n\n\
         {from_now}\n\n\
         If that was not you, ask for a new password at once: setting it ends\n\
         every session.\n"
    );
    MailContent::new(to, &format!("Two-step sign-in is {is}"), text, DAY)
}

/// The notification that the password was changed, of this store's customer or of a merchant.
pub fn password_changed(to: &Email, store: Option<&StoreId>, now: Timestamp) -> MailContent {
    if store.is_some() {
        return customer::password_updated(to, now).from_store(store);
    }
    let text = format!(
        "The password of your account was changed at {now}.\n\n\
         If that was not you, ask for a new password at once: setting it ends\n\
         every session.\n"
    );
    MailContent::new(to, "Your password was changed", text, DAY)
}

/// The notification to the former address that the account's address was changed.
pub fn email_changed(former: &Email, current: &Email, now: Timestamp) -> MailContent {
    let text = format!(
        "The e-mail address of your account was changed at\n\
         {now} to {}.\n\
         This address can no longer be used to sign in.\n\n\
         If that was not you, contact support at once.\n",
        current.masked()
    );
    MailContent::new(former, "Your e-mail address was changed", text, DAY)
}

/// The notification that the account was deleted and will be removed.
pub fn account_deleted(to: &Email, delete_at: Timestamp) -> MailContent {
    let text = format!(
        "Your account was deleted. It can no longer be used, and everything it\n\
         holds is removed after {delete_at}.\n\n\
         If that was not you, contact support before then.\n"
    );
    MailContent::new(to, "Your account was deleted", text, DAY)
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn every_mail_is_ascii_with_short_lines() {
        let to = Email::from_text("ann@example.com").unwrap();
        let (now, token) = (Timestamp::from_millis(0), crypto::seal::random_secret());
        let member_token = token.repeat(2)[..64].to_owned();
        for content in [
            sign_in_code(&to, None, "042137"),
            password_reset(&to, &token, "https://api.example.com"),
            verify_email(&to, &token, "https://api.example.com"),
            invitation(
                &to,
                ("A. Shop", Role::ReadOnly),
                &member_token,
                "https://api.example.com",
                now,
            ),
            address_proven(&to, "https://api.example.com"),
            mfa_switched(&to, true, now),
            mfa_switched(&to, false, now),
            password_changed(&to, None, now),
            email_changed(&to, &to, now),
            account_deleted(&to, now),
        ] {
            assert!(content.text.is_ascii() && content.subject.is_ascii());
            assert!(content.text.lines().all(|line| line.len() < 75), "{}", content.text);
        }
    }
}
