//! Whom a mail is from, as its reader sees it.

use core_types::fields::{Email, misleads};
use core_types::key;
use core_types::mail::{MailContent, unlinked};
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;

use super::allowance::Room;

/// Who stands for a mail. What is unset is the platform's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sender {
    /// The store's name, or the one that it has chosen. It does not stand alone ([`Sender::display_name`]).
    pub name: Option<String>,
    /// Where answers go.
    pub reply_to: Option<Email>,
    /// How many mails its store may send to strangers. Until its owner has proven their address nothing
    /// of the store's choosing stands in a mail's head, and its business is not mailed.
    pub room: Option<Room>,
}

impl Sender {
    /// Who stands for this content: two round trips for a store's, none for the platform's.
    ///
    /// # Errors
    /// 503.
    pub async fn of(services: &Services, content: &MailContent) -> Result<Self, Problem> {
        let Some(store_id) = &content.store_id else { return Ok(Self::default()) };
        let (store_key, settings_key) = (key::store(store_id), Settings::key_of(store_id));
        let mut found = services.table.get_many(&[&store_key, &settings_key]).await?;
        let Some(store) = found.take::<Store>(&store_key)? else { return Ok(Self::default()) };
        let room = Room::of(services, &store).await?;
        if !room.is_proven {
            return Ok(Self { room: Some(room), ..Self::default() });
        }
        let settings: Option<Settings> = found.take(&settings_key)?;
        let name = settings.and_then(|settings| settings.notifications.sender_name);
        Ok(Self {
            name: Some(plain(name.as_deref().unwrap_or(&store.name))),
            reply_to: store.contact.email,
            room: Some(room),
        })
    }

    /// Whether it is a store whose owner has proven their address.
    pub fn is_proven(&self) -> bool {
        self.room.as_ref().is_some_and(|room| room.is_proven)
    }

    /// The name that a reader sees beside the platform's address: it always says that a shop on the platform
    /// writes, and not the platform, whatever the shop calls itself.
    pub fn display_name(&self, platform: &str) -> Option<String> {
        self.name.as_ref().map(|name| format!("{name} - shop on {platform}"))
    }
}

/// A name on one line, which no mail program makes a link of.
fn plain(name: &str) -> String {
    unlinked(&on_one_line(name))
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
        assert_eq!(plain("PayPal.com Security"), "PayPal. com Security");
        assert_eq!(plain("https://evil.example"), "https: //evil. example");
        let sender = Sender { name: Some("Account Security".into()), ..Sender::default() };
        assert_eq!(sender.display_name("Commerce").unwrap(), "Account Security - shop on Commerce");
        assert_eq!(Sender::default().display_name("Commerce"), None, "the platform's own");
    }
}
