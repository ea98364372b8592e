//! Mails: queue → SMTP, for one-time codes, links and notices.
//!
//! A message has the id of a mail; the mail is in the table, sealed. The function takes the mail under a
//! lease, hands it to the server, and deletes it.
//!
//! **After a crash.** Before the lease: the message is received again. After the lease: the message is
//! received again and ignored while the lease holds; then the sweep finds the mail due and queues it.
//! Between handing over and deleting: the same, and the mail is sent twice, which SMTP cannot rule out;
//! its `Message-ID` is the same both times. Of two messages about one mail at the same moment
//! (docs/platform.md §2), one gets the lease, and the other is ignored. A failed attempt is recorded with
//! its next time before a delayed message is sent, so a lost message costs a minute, not the mail. A mail
//! that has expired unsent is deleted.
//!
//! A permanent error (`Problem::is_permanent`) fails a mail at the first attempt, and its message is not
//! received again.
//!
//! Without an SMTP server, in local systems, a mail becomes the file `<directory>/<mail id>.eml`: the
//! exact bytes that SMTP would carry (RFC 5322, lines end in CRLF). Names sort by time; a file appears
//! whole or not at all.
//!
//! A store's mail to its customers is from the platform's address, the only one the platform may send
//! from. It shows the store's name, with the words that it is a shop on the platform, and replies go to
//! the store. Name, reply address, and the store's texts of mails that bring gift cards or are about accounts, are
//! read at sending. None of them is used before the store's owner has proven their own address.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use core_types::id::StoreId;
use core_types::key;
use core_types::mail::{Mail, MailContent, MailMessage, MailReadiness, MailState};
use delivery::mail::{Sender, allowance};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use primitives::problem::{Code, Problem};
use sales::notifications::{self, Draft, MailingStore};
use services::Services;
use table::item::Item;
use table::outbox;
use table::outbox::DueMark;
use table::{Change, Condition};
use tokio::task::JoinSet;

/// The longest time to send one mail, far below its lease.
const SEND_LIMIT: Duration = Duration::from_secs(20);
/// The sender if the settings name none, as in local systems. The domain is reserved (RFC 2606).
const NO_SENDER: &str = "Commerce Gateway <no-reply@service.invalid>";

/// Sends the mails of a batch of messages, all at once, so that one slow recipient delays nobody else.
/// Failed messages are reported one by one and received again; after five times they go to the
/// dead-letter queue.
pub async fn handle(services: &Services, event: SqsEvent) -> SqsBatchResponse {
    let mut failed = BTreeSet::new();
    let mut tasks = JoinSet::new();
    for record in event.records {
        let id = record.message_id.unwrap_or_default();
        failed.insert(id.clone());
        let (services, body) = (services.clone(), record.body.unwrap_or_default());
        tasks.spawn(async move { handle_one(&services, &body).await.map(|()| id) });
    }
    // A task that panicked returns no id, so its message stays failed.
    while let Some(outcome) = tasks.join_next().await {
        match outcome {
            Ok(Ok(id)) => {
                failed.remove(&id);
            }
            Ok(Err(problem)) => {
                tracing::error!(cause = %problem, "message of a mail failed; it is received again");
            }
            Err(panic) => {
                tracing::error!(cause = %panic, "message of a mail panicked; it is received again");
            }
        }
    }
    let mut response = SqsBatchResponse::default();
    response.set_failures(failed);
    response
}

/// Handles one message. After a permanent error the mail is marked as failed at the first attempt.
async fn handle_one(services: &Services, body: &str) -> Result<(), Problem> {
    let message: MailMessage = serde_json::from_str(body).map_err(Problem::internal)?;
    match deliver(services, &message).await {
        Err(problem) if problem.is_permanent() => fail(services, &message, &problem).await,
        outcome => outcome,
    }
}

/// Marks a mail as failed, independent of its content. If even that cannot be written, the mail loses its
/// due mark.
async fn fail(
    services: &Services,
    message: &MailMessage,
    problem: &Problem,
) -> Result<(), Problem> {
    tracing::error!(mail = %message.mail_id, cause = %problem, "work given up: mail");
    let mail_key = key::mail(&message.mail_id);
    let failed = Change::new("SET #state = :failed REMOVE GSI3PK, GSI3SK")
        .under(Condition::exists())
        .name("#state", "state")
        .value(":failed", MailState::Failed);
    match services.table.write().update(&mail_key, failed, Code::VersionConflict).commit().await {
        // It was deleted: sent, expired or obsolete.
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        Err(problem) if problem.is_permanent() => {
            outbox::remove_due_mark(&services.table, &mail_key, DueMark::Any, &problem).await
        }
        outcome => outcome,
    }
}

/// Sends a mail, unless another worker does. A deleted mail was sent, or is not to be.
async fn deliver(services: &Services, message: &MailMessage) -> Result<(), Problem> {
    let mail_key = key::mail(&message.mail_id);
    let Some(mail) = services.table.get::<Mail>(&mail_key).await? else { return Ok(()) };
    match mail.readiness(services.clock.now()) {
        MailReadiness::Leave => Ok(()),
        MailReadiness::Expired => {
            tracing::warn!(mail = %mail.id, "mail expired unsent");
            services.table.write().delete(&mail_key).commit().await
        }
        MailReadiness::Send(taken) => {
            let lease =
                services.table.write().replace(&taken, Code::VersionConflict).commit().await;
            match lease {
                Ok(()) => {
                    let mut mail = taken;
                    let outcome = send(services, &mut mail).await;
                    record_outcome(services, &mail, outcome).await
                }
                // Another worker has it.
                Err(problem) if problem.code == Code::VersionConflict => Ok(()),
                Err(problem) => Err(problem),
            }
        }
    }
}

/// Records the outcome of an attempt.
async fn record_outcome(
    services: &Services,
    mail: &Mail,
    outcome: Result<MailOutcome, SendFailure>,
) -> Result<(), Problem> {
    let failure = match outcome {
        Ok(MailOutcome::Withheld(code, store)) => {
            let of_store = store.as_ref().map(StoreId::as_str);
            tracing::warn!(mail = %mail.id, store = of_store, code = code.as_str(), "mail withheld");
            let write = services.table.write().replace(&mail.withheld(code), Code::VersionConflict);
            let write = write.when_some(store, |write, store| {
                allowance::count_withheld(write, &store, services.clock.now())
            });
            return write.commit().await;
        }
        Ok(MailOutcome::Obsolete) => {
            tracing::info!(mail = %mail.id, "mail deleted unsent: its content is obsolete");
            return services.table.write().delete(&mail.key()).commit().await;
        }
        Ok(MailOutcome::Sent) => {
            tracing::info!(mail = %mail.id, attempts = mail.attempts, "mail sent");
            return services.table.write().delete(&mail.key()).commit().await;
        }
        Err(failure) => failure,
    };
    let (next, wait) = mail.after_failure(failure.permanent, services.clock.now());
    let again = wait.is_some();
    tracing::error!(mail = %mail.id, cause = failure.cause, again, "mail not sent");
    services.table.write().replace(&next, Code::VersionConflict).commit().await?;
    if let Some(wait) = wait {
        let message = MailMessage { mail_id: mail.id.clone() };
        if let Err(problem) = services.queue(core_types::mail::QUEUE).send(&[(message, wait)]).await
        {
            // The sweep finds it due.
            tracing::warn!(
                mail = %mail.id, cause = %problem,
                "message of a mail not queued again; the sweep sends it"
            );
        }
    }
    Ok(())
}

/// The outcome of an attempt that met no failure.
#[derive(Debug, Clone)]
enum MailOutcome {
    /// It was handed to the server.
    Sent,
    /// Its content is obsolete: it is not sent any more.
    Obsolete,
    /// The store may not write to its recipient, in general or today: the mail is stored, with the
    /// reason.
    Withheld(Code, Option<StoreId>),
}

/// The failure of an attempt.
#[derive(Debug)]
struct SendFailure {
    /// Whether another attempt is pointless.
    permanent: bool,
    /// For the log: never an address, a subject or a text.
    cause: String,
}

impl SendFailure {
    #[expect(clippy::needless_pass_by_value, reason = "errors are passed on as they come")]
    fn transient(cause: impl ToString) -> Self {
        Self { permanent: false, cause: cause.to_string() }
    }

    /// A failure that is permanent if the problem is.
    #[expect(clippy::needless_pass_by_value, reason = "errors are passed on as they come")]
    fn of(problem: Problem) -> Self {
        Self { permanent: problem.is_permanent(), cause: problem.to_string() }
    }

    #[expect(clippy::needless_pass_by_value, reason = "errors are passed on as they come")]
    fn permanent(cause: impl ToString) -> Self {
        Self { permanent: true, cause: cause.to_string() }
    }
}

async fn send(services: &Services, mail: &mut Mail) -> Result<MailOutcome, SendFailure> {
    let key = services.secrets.mail_key().await.map_err(SendFailure::of)?;
    let content = mail.content(&key).map_err(SendFailure::permanent)?;
    let sender = Sender::of(services, &content).await.map_err(SendFailure::of)?;
    let is_proven = sender.is_proven();
    let store = sender.store.as_ref().map(|store| MailingStore { store, is_proven });
    let draft = notifications::draft(services, content, store).await;
    let Some(draft) = draft.map_err(SendFailure::of)? else { return Ok(MailOutcome::Obsolete) };
    let content = choose_text(services, mail, draft, &sender).await?;
    if let Some(code) = check_and_count_quota(services, mail, &content, &sender).await? {
        return Ok(MailOutcome::Withheld(code, content.store_id));
    }
    let message = compose(services, mail, &content, &sender)?;
    let config = &services.config.mail;
    let Some(directory) = &config.directory else {
        let url = services.secrets.mail_server().await.map_err(SendFailure::transient)?;
        let sending = tokio::time::timeout(SEND_LIMIT, send_by_smtp(&url, message));
        let sent = sending.await.unwrap_or_else(|_| Err(SendFailure::transient("time-out")));
        return sent.map(|()| MailOutcome::Sent);
    };
    let (directory, name) = (directory.clone(), format!("{}.eml", mail.id));
    let bytes = message.formatted();
    let written =
        tokio::task::spawn_blocking(move || write_atomically(&directory, &name, &bytes)).await;
    written.map_err(SendFailure::transient)?.map_err(SendFailure::transient)?;
    if config.print {
        print(&content);
    }
    Ok(MailOutcome::Sent)
}

/// Chooses between the store's own text and the built-in one, where the draft has both: the own text while the
/// store's quota of such mails lasts. The counts and their mark on the mail are one write, so that a mail is
/// counted once, and keeps its text.
async fn choose_text(
    services: &Services,
    mail: &mut Mail,
    draft: Draft,
    sender: &Sender,
) -> Result<MailContent, SendFailure> {
    let Draft { content, built_in } = draft;
    let Some(built_in) = built_in.filter(|_| !mail.has_own_text) else { return Ok(content) };
    let Some(quota) = sender.quota.as_ref().filter(|_| !mail.is_counted) else {
        return Ok(built_in);
    };
    let counted = mail.counted_in_own_text();
    let write = services.table.write().replace(&counted, Code::VersionConflict);
    match allowance::count_own_text(write, quota, &content.to, services.clock.now()).commit().await
    {
        Ok(()) => {
            *mail = counted;
            Ok(content)
        }
        // Perhaps another limit withholds the built-in text, too.
        Err(problem) if problem.code == Code::MailLimit => Ok(built_in),
        Err(problem) => Err(SendFailure::of(problem)),
    }
}

/// Counts a mail of a store, or news for its owner, in the day's quota, unless the mail must be withheld: then returns the
/// reason. A mail about the store's business is withheld while its owner has not proven their address. Such a mail, or one
/// about an account to an unverified recipient, is withheld when the day's quota is used up. Gift cards were
/// counted when they were created. The count and its mark on the mail are one write, so that a mail is counted once.
async fn check_and_count_quota(
    services: &Services,
    mail: &mut Mail,
    content: &MailContent,
    sender: &Sender,
) -> Result<Option<Code>, SendFailure> {
    let needs_proof =
        content.is_business || (content.is_to_unverified && content.store_id.is_some());
    if needs_proof && !sender.is_proven() {
        return Ok(Some(Code::EmailUnverified));
    }
    if mail.is_counted || content.gift_card.is_some() {
        return Ok(None);
    }
    let (now, to) = (services.clock.now(), &content.to);
    let counted = mail.counted();
    let write = services.table.write().replace(&counted, Code::VersionConflict);
    let write = match (&content.store_id, content.alert) {
        (_, Some(alert)) => allowance::count_alert(write, alert, to, now),
        (store, None) if content.is_business => {
            let unverified = sender.quota.as_ref().filter(|_| content.is_to_unverified);
            let requested_by = store.as_ref().filter(|_| content.is_payment_request);
            allowance::count_about_order(write, to, (unverified, requested_by), now)
        }
        (Some(store), None) if content.is_to_unverified => {
            allowance::count_code(write, store, to, now)
        }
        (_, None) => return Ok(None),
    };
    match write.commit().await {
        Ok(()) => {
            *mail = counted;
            Ok(None)
        }
        Err(problem) if problem.code == Code::MailLimit => Ok(Some(Code::MailLimit)),
        Err(problem) => Err(SendFailure::of(problem)),
    }
}

/// Composes the mail as RFC 5322 requires.
fn compose(
    services: &Services,
    mail: &Mail,
    content: &MailContent,
    sender: &Sender,
) -> Result<lettre::Message, SendFailure> {
    let from = Some(services.config.mail_from.as_str()).filter(|from| !from.is_empty());
    let platform: Mailbox = from.unwrap_or(NO_SENDER).parse().map_err(SendFailure::transient)?;
    let on = platform.name.as_deref().unwrap_or_else(|| platform.email.domain());
    let from =
        Mailbox::new(sender.display_name(on).or_else(|| platform.name.clone()), platform.email);
    let to = content.to.as_str().parse().map_err(SendFailure::permanent)?;
    // An invalid reply address is left out: the mail is sent without it.
    let answers_to = sender.reply_to.as_ref().and_then(|to| to.as_str().parse().ok());
    let millis = u64::try_from(mail.created_at.millis()).unwrap_or(0);
    let date = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    // No vacation notice or ticket system should answer (RFC 3834 §5).
    let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
    let message = lettre::Message::builder()
        .message_id(Some(format!("<{}@{}>", mail.id, from.email.domain())))
        .date(date.unwrap_or(SystemTime::UNIX_EPOCH))
        .from(from)
        .to(Mailbox::new(None, to))
        .subject(&content.subject)
        .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()));
    let message = match answers_to {
        Some(to) => message.reply_to(Mailbox::new(None, to)),
        None => message,
    };
    let text = content.text.clone();
    match &content.html {
        Some(html) => message.multipart(MultiPart::alternative_plain_html(text, html.clone())),
        None => message.singlepart(SinglePart::plain(text)),
    }
    .map_err(SendFailure::permanent)
}

async fn send_by_smtp(url: &str, message: lettre::Message) -> Result<(), SendFailure> {
    // The URL has a password, so its error is not logged.
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
        .map_err(|_| SendFailure::transient("the SMTP URL is not one"))?;
    let server = builder.timeout(Some(SEND_LIMIT)).build::<Tokio1Executor>();
    match server.send(message).await {
        Ok(_) => Ok(()),
        // A reply may quote the recipient, so only its code is recorded.
        Err(error) => {
            let code = error.status().map(|code| code.to_string()).unwrap_or_default();
            // 53x is about our own credentials (RFC 4954 §6), not about the mail.
            let permanent = error.is_permanent() && !code.starts_with("53");
            let cause = if code.is_empty() { "no reply".to_owned() } else { code };
            Err(SendFailure { permanent, cause: format!("SMTP: {cause}") })
        }
    }
}

/// Writes a file atomically, under another name first.
fn write_atomically(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let draft = directory.join(format!(".{name}.part"));
    std::fs::write(&draft, bytes)?;
    std::fs::rename(draft, directory.join(name))
}

/// Prints a mail to the console, for developers of a local system.
fn print(content: &MailContent) {
    let mut console = std::io::stdout().lock();
    let rule = "-".repeat(72);
    let written = writeln!(
        console,
        "{rule}\nMail to {}: {}\n\n{}{rule}",
        content.to, content.subject, content.text
    );
    if let Err(error) = written {
        tracing::debug!(%error, "console closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_under_its_name() {
        let directory = std::env::temp_dir().join(crypto::seal::random_secret());
        write_atomically(&directory, "mai_1.eml", b"Code: 042137\r\n").unwrap();
        let names: Vec<_> = std::fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["mai_1.eml"]);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
