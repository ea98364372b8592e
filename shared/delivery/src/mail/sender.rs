//! The sender of a mail, as its reader sees it.

use core_types::fields::{Email, misleads};
use core_types::key;
use core_types::mail::{MailContent, unlinked};
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;

use super::allowance::MailQuota;

/// The sender of a mail. Unset fields mean the platform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sender {
    /// The store's name, or the sender name of its settings. It is never shown alone
    /// ([`Sender::display_name`]).
    pub name: Option<String>,
    /// The address for replies.
    pub reply_to: Option<Email>,
    /// The store.
    pub store: Option<Store>,
    /// The store's limits of mails to strangers. Until its owner has proven their address, no text of the
    /// store's choosing is in a mail's header, and no mail about its business is sent.
    pub quota: Option<MailQuota>,
}

impl Sender {
    /// The sender of this content: two round trips for a store's, none for the platform's.
    ///
    /// # Errors
    /// 503.
    pub async fn of(services: &Services, content: &MailContent) -> Result<Self, Problem> {
        let Some(store_id) = &content.store_id else { return Ok(Self::default()) };
        let (store_key, settings_key) = (key::store(store_id), Settings::key_of(store_id));
        let mut found = services.table.get_many(&[&store_key, &settings_key]).await?;
        let Some(store) = found.take::<Store>(&store_key)? else { return Ok(Self::default()) };
        let quota = MailQuota::of(services, &store).await?;
        if !quota.is_proven {
            return Ok(Self { quota: Some(quota), store: Some(store), ..Self::default() });
        }
        let settings: Option<Settings> = found.take(&settings_key)?;
        let name = settings.and_then(|settings| settings.notifications.sender_name);
        Ok(Self {
            name: Some(plain(name.as_deref().unwrap_or(&store.name))),
            reply_to: store.contact.email.clone(),
            quota: Some(quota),
            store: Some(store),
        })
    }

    /// Whether it is a store whose owner has proven their address.
    pub fn is_proven(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.is_proven)
    }

    /// The display name next to the platform's address. It always says that a shop on the platform
    /// writes, and not the platform, whatever the shop calls itself.
    pub fn display_name(&self, platform: &str) -> Option<String> {
        self.name.as_ref().map(|name| format!("{name} - shop on {platform}"))
    }
}

/// A name on one line, written so that no mail program makes a link of it.
fn plain(name: &str) -> String {
    unlinked(&single_line(name))
}

/// A name without line breaks and misleading characters: a store's name may have characters that a header
/// may not.
fn single_line(name: &str) -> String {
    let clean: String = name.chars().map(|c| if misleads(c) { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_inject_a_header() {
        assert_eq!(single_line("A\r\nBcc: x\u{85}\tB"), "A Bcc: x B");
        let mask = "PayPal\u{202e} \"Security\" <security@paypal.com>";
        assert_eq!(single_line(mask), "PayPal Security security paypal.com");
        assert_eq!(single_line(" Lotus   Tea "), "Lotus Tea");
        assert_eq!(plain("PayPal.com Security"), "PayPal. com Security");
        assert_eq!(plain("https://evil.example"), "https: //evil. example");
        let sender = Sender { name: Some("Account Security".into()), ..Sender::default() };
        assert_eq!(sender.display_name("Commerce").unwrap(), "Account Security - shop on Commerce");
        assert_eq!(Sender::default().display_name("Commerce"), None, "the platform's own");
    }
}
