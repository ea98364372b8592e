//! Whom a mail is from, as its reader sees it.

use gateway::app::App;
use gateway::problem::Problem;
use ground::fields::{Email, misleads};
use ground::key;
use ground::mail::MailContent;
use identity::settings::Settings;
use identity::store::Store;

use super::allowance;

/// Who stands for a mail. What is unset is the platform's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sender {
    /// The name beside the address.
    pub name: Option<String>,
    /// Where answers go.
    pub reply_to: Option<Email>,
    /// Whether a store's owner has proven their address: until then nothing of the store's choosing
    /// stands in a mail's head, and its business is not mailed.
    pub is_proven: bool,
}

impl Sender {
    /// Who stands for this content: two reads for a store's, none for the platform's.
    ///
    /// # Errors
    /// 503.
    pub async fn of(app: &App, content: &MailContent) -> Result<Self, Problem> {
        let Some(store_id) = &content.store_id else { return Ok(Self::default()) };
        let (store_key, settings_key) = (key::store(store_id), Settings::key_of(store_id));
        let mut found = app.table.get_many(&[&store_key, &settings_key]).await?;
        let Some(store) = found.take::<Store>(&store_key)? else { return Ok(Self::default()) };
        if !allowance::is_proven(app, &store.owner_id).await? {
            return Ok(Self::default());
        }
        let settings: Option<Settings> = found.take(&settings_key)?;
        let name = settings.and_then(|settings| settings.notifications.sender_name);
        Ok(Self {
            name: Some(on_one_line(name.as_deref().unwrap_or(&store.name))),
            reply_to: store.contact.email,
            is_proven: true,
        })
    }
}

/// A name as a header takes it: names of stores may hold what a sender's name may not.
fn on_one_line(name: &str) -> String {
    let clean: String = name.chars().map(|c| if misleads(c) { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_no_header() {
        assert_eq!(on_one_line("A\r\nBcc: x\u{85}\tB"), "A Bcc: x B");
        let mask = "PayPal\u{202e} \"Security\" <security@paypal.com>";
        assert_eq!(on_one_line(mask), "PayPal Security security paypal.com");
        assert_eq!(on_one_line(" Lotus   Tea "), "Lotus Tea");
    }
}
