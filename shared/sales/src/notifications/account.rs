//! Mails to customers about their accounts, rendered when they are sent.

use core_types::mail::{AccountNews, MailContent};
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::item::Item;

use super::draft::{Draft, MailingStore};
use super::kind::NotificationKind;
use super::template::{TemplateFields, TemplateValues};
use super::texts::NotificationTexts;

/// The mail that brings news, and its values.
fn mail_of(news: &AccountNews) -> (NotificationKind, TemplateFields) {
    let changed = |at: &Timestamp| ("changed_at", at.to_string());
    let code = |code: &String| vec![("code", code.clone())];
    match news {
        AccountNews::SignInCode { code: value } => {
            (NotificationKind::CustomerSignInCode, code(value))
        }
        AccountNews::RegistrationCode { code: value } => {
            (NotificationKind::CustomerRegistrationCode, code(value))
        }
        AccountNews::AccountExists { code: value } => {
            (NotificationKind::CustomerAccountExists, code(value))
        }
        AccountNews::EmailChangeCode { code: value } => {
            (NotificationKind::CustomerEmailChangeCode, code(value))
        }
        AccountNews::EmailInUse => (NotificationKind::CustomerEmailInUse, Vec::new()),
        AccountNews::PasswordReset { link, token } => {
            let token = token.iter().map(|token| ("token", token.clone()));
            let values = std::iter::once(("link", link.clone())).chain(token).collect();
            (NotificationKind::CustomerPasswordReset, values)
        }
        AccountNews::PasswordUpdated { at } => {
            (NotificationKind::CustomerPasswordUpdated, vec![changed(at)])
        }
        AccountNews::EmailUpdated { at, email } => {
            let new_email = ("new_email", email.clone());
            (NotificationKind::CustomerEmailUpdated, vec![changed(at), new_email])
        }
        AccountNews::Deleted { at } => {
            (NotificationKind::CustomerDeleted, vec![("deleted_at", at.to_string())])
        }
    }
}

/// The drafts of a mail about an account. One read.
///
/// # Errors
/// 503, `internal`.
pub(super) async fn draft(
    services: &Services,
    mail: MailContent,
    news: &AccountNews,
    store: MailingStore<'_>,
) -> Result<Draft, Problem> {
    let (kind, mut values) = mail_of(news);
    values.push(("shop", store.name()));
    let (values, locale) = (TemplateValues::from(values), &store.store.locale);
    let none = NotificationTexts::none(&store.store.id, kind);
    let own = services.table.get(&none.key()).await?.filter(|_| store.is_proven);
    let render = |texts: &NotificationTexts| texts.render(None, locale, |_| values.clone());
    let Some(own) = own else { return Ok(Draft::of(render(&none)?.to(mail))) };
    let content = render(&own)?.to(mail.clone());
    if !mail.is_to_unverified {
        return Ok(Draft::of(content));
    }
    let built_in = Some(render(&none)?.to(mail)).filter(|built_in| *built_in != content);
    Ok(Draft { content, built_in })
}
