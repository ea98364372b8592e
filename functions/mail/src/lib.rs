//! Queue → SMTP: one-time codes, links and notices.
//!
//! A message carries the id of a mail; the mail lies in the table, sealed. Sending takes it with a
//! lease, hands it to the server, and deletes it.
//!
//! **What a crash leaves behind.** Before the lease: the message comes again. After the lease: the
//! message comes again and is dropped while the lease holds; when it has ended, the sweep finds
//! the mail due and puts it on the queue. Between handing over and deleting: the same, and the
//! mail is sent twice, which SMTP cannot rule out; its `Message-ID` is the same both times. Two
//! messages about one mail at the same moment (docs/platform.md §2): one gets the lease, the other
//! is dropped. A failed attempt is written down with its next time before a delayed message is
//! sent, so a lost message costs a minute, not the mail. What has expired unsent is deleted.
//!
//! An error that would be the same again (`Problem::is_permanent`) has a mail fail at the first try, and its
//! message is not received again.
//!
//! Where there is no SMTP server, in local systems, a mail becomes the file
//! `<directory>/<mail id>.eml`: the very bytes SMTP would carry (RFC 5322, lines end in CRLF).
//! Names sort by time; a file appears whole or not at all.
//!
//! A mail of a store to its customers comes from the platform's address, the only one it may send
//! from, under the store's name, with the words that it is a shop on the platform; answers go to the store. Both are looked up when it is sent, and
//! neither stands in a mail before the store's owner has proven their own address.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use core_types::id::StoreId;
use core_types::key;
use core_types::mail::{Mail, MailContent, MailMessage, MailState, Take};
use delivery::mail::{Sender, allowance};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, SinglePart};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use primitives::problem::{Code, Problem};
use sales::notifications;
use services::Services;
use table::item::Item;
use table::outbox;
use table::outbox::Marked;
use table::{Change, Condition};
use tokio::task::JoinSet;

/// The longest one mail may take, far below the lease on it.
const SEND_LIMIT: Duration = Duration::from_secs(20);
/// The sender where the settings name none: local systems. The domain exists nowhere (RFC 2606).
const NO_SENDER: &str = "Commerce Gateway <no-reply@service.invalid>";

/// Sends the mails that a batch of messages names, all at once, so that one slow recipient keeps
/// nobody else waiting. Messages that could not be dealt with are reported one by one and come
/// again; after five times they go to the dead-letter queue.
pub async fn handle(services: &Services, event: SqsEvent) -> SqsBatchResponse {
    let mut failed = BTreeSet::new();
    let mut tasks = JoinSet::new();
    for record in event.records {
        let id = record.message_id.unwrap_or_default();
        failed.insert(id.clone());
        let (services, body) = (services.clone(), record.body.unwrap_or_default());
        tasks.spawn(async move { handle_one(&services, &body).await.map(|()| id) });
    }
    // A task that panicked names no message as done, so its message stays failed.
    while let Some(outcome) = tasks.join_next().await {
        match outcome {
            Ok(Ok(id)) => {
                failed.remove(&id);
            }
            Ok(Err(problem)) => tracing::error!(cause = %problem, "mail message failed"),
            Err(panic) => tracing::error!(cause = %panic, "mail message failed"),
        }
    }
    let mut response = SqsBatchResponse::default();
    response.set_failures(failed);
    response
}

/// Deals with one message. A mail that can never be sent, or of which that can never be written down, is given
/// up at the first try.
async fn handle_one(services: &Services, body: &str) -> Result<(), Problem> {
    let message: MailMessage = serde_json::from_str(body).map_err(Problem::internal)?;
    match deliver(services, &message).await {
        Err(problem) if problem.is_permanent() => give_up(services, &message, &problem).await,
        outcome => outcome,
    }
}

/// Marks a mail as failed, whatever is in its item; where not even that can be written, it is due no more.
async fn give_up(
    services: &Services,
    message: &MailMessage,
    problem: &Problem,
) -> Result<(), Problem> {
    tracing::error!(mail_id = %message.mail_id, cause = %problem, "work given up");
    let mail_key = key::mail(&message.mail_id);
    let failed = Change::new("SET #state = :failed REMOVE GSI3PK, GSI3SK")
        .under(Condition::exists())
        .name("#state", "state")
        .value(":failed", MailState::Failed);
    match services.table.write().update(&mail_key, failed, Code::VersionConflict).commit().await {
        // It was sent, and is gone.
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        Err(problem) if problem.is_permanent() => {
            outbox::give_up(&services.table, &mail_key, Marked::Ever, &problem).await
        }
        outcome => outcome,
    }
}

/// Sends a mail, unless another does. One that is gone was sent.
async fn deliver(services: &Services, message: &MailMessage) -> Result<(), Problem> {
    let mail_key = key::mail(&message.mail_id);
    let Some(mail) = services.table.get::<Mail>(&mail_key).await? else { return Ok(()) };
    match mail.take(services.clock.now()) {
        Take::Leave => Ok(()),
        Take::Expired => {
            tracing::warn!(mail_id = %mail.id, "mail expired unsent");
            services.table.write().delete(&mail_key).commit().await
        }
        Take::Send(taken) => {
            let lease =
                services.table.write().replace(&taken, Code::VersionConflict).commit().await;
            match lease {
                Ok(()) => {
                    let mut mail = taken;
                    let outcome = send(services, &mut mail).await;
                    record_outcome(services, &mail, outcome).await
                }
                // Somebody else has it.
                Err(problem) if problem.code == Code::VersionConflict => Ok(()),
                Err(problem) => Err(problem),
            }
        }
    }
}

/// Writes down how an attempt ended.
async fn record_outcome(
    services: &Services,
    mail: &Mail,
    outcome: Result<MailOutcome, SendFailure>,
) -> Result<(), Problem> {
    let failure = match outcome {
        Ok(MailOutcome::Withheld(code, store)) => {
            tracing::warn!(mail_id = %mail.id, code = code.as_str(), "mail withheld");
            let write = services.table.write().replace(&mail.withheld(code), Code::VersionConflict);
            let write = write.also(store, |write, store| {
                allowance::count_withheld(write, &store, services.clock.now())
            });
            return write.commit().await;
        }
        Ok(fate) => {
            tracing::info!(mail_id = %mail.id, attempts = mail.attempts, ?fate, "mail done with");
            return services.table.write().delete(&mail.key()).commit().await;
        }
        Err(failure) => failure,
    };
    let (next, wait) = mail.after_failure(failure.permanent, services.clock.now());
    let again = wait.is_some();
    tracing::error!(mail_id = %mail.id, cause = failure.cause, again, "mail not sent");
    services.table.write().replace(&next, Code::VersionConflict).commit().await?;
    if let Some(wait) = wait {
        let message = MailMessage { mail_id: mail.id.clone() };
        if let Err(problem) = services.queue(core_types::mail::QUEUE).send(&[(message, wait)]).await
        {
            // The sweep finds it due.
            tracing::warn!(mail_id = %mail.id, cause = %problem, "mail not queued again");
        }
    }
    Ok(())
}

/// The final state of a mail.
#[derive(Debug, Clone)]
enum MailOutcome {
    /// It was handed over.
    Sent,
    /// What it brings is worth nothing any more.
    Void,
    /// The store may not write to its recipient, now or today: it stays, with the reason.
    Withheld(Code, Option<StoreId>),
}

/// Why a mail was not sent.
#[derive(Debug)]
struct SendFailure {
    /// Whether trying again is pointless.
    permanent: bool,
    /// For the log: never an address, a subject or a text.
    cause: String,
}

impl SendFailure {
    #[expect(clippy::needless_pass_by_value, reason = "errors are passed on as they come")]
    fn passing(cause: impl ToString) -> Self {
        Self { permanent: false, cause: cause.to_string() }
    }

    /// As the problem is.
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
    let worded = notifications::worded(services, content).await.map_err(SendFailure::of)?;
    let Some(content) = worded else { return Ok(MailOutcome::Void) };
    let sender = Sender::of(services, &content).await.map_err(SendFailure::of)?;
    if let Some(code) = objection(services, mail, &content, &sender).await? {
        return Ok(MailOutcome::Withheld(code, content.store_id));
    }
    let message = compose(services, mail, &content, &sender)?;
    let config = &services.config.mail;
    let Some(directory) = &config.directory else {
        let url = services.secrets.mail_server().await.map_err(SendFailure::passing)?;
        let sending = tokio::time::timeout(SEND_LIMIT, send_by_smtp(&url, message));
        let sent = sending.await.unwrap_or_else(|_| Err(SendFailure::passing("time-out")));
        return sent.map(|()| MailOutcome::Sent);
    };
    let (directory, name) = (directory.clone(), format!("{}.eml", mail.id));
    let bytes = message.formatted();
    let written = tokio::task::spawn_blocking(move || write_whole(&directory, &name, &bytes)).await;
    written.map_err(SendFailure::passing)?.map_err(SendFailure::passing)?;
    if config.print {
        print(&content);
    }
    Ok(MailOutcome::Sent)
}

/// Why the mail of a store may not go: one about its business, because its owner has not proven their address;
/// that or a code to a stranger, because there is no room for it today. Gift cards were counted when they were
/// made. The count and its mark on the mail are one write, so that a mail is counted once.
async fn objection(
    services: &Services,
    mail: &mut Mail,
    content: &MailContent,
    sender: &Sender,
) -> Result<Option<Code>, SendFailure> {
    let needs_proof = content.is_business || (content.is_to_stranger && content.store_id.is_some());
    if needs_proof && !sender.is_proven() {
        return Ok(Some(Code::EmailUnverified));
    }
    if mail.is_counted || content.gift_card.is_some() {
        return Ok(None);
    }
    let (now, to) = (services.clock.now(), &content.to);
    let counted = mail.counted();
    let write = services.table.write().replace(&counted, Code::VersionConflict);
    let write = match &content.store_id {
        store if content.is_business => {
            let stranger = sender.room.as_ref().filter(|_| content.is_to_stranger);
            let asked_by = store.as_ref().filter(|_| content.asks_to_pay);
            allowance::count_about_order(write, to, (stranger, asked_by), now)
        }
        Some(store) if content.is_to_stranger => allowance::count_code(write, store, to, now),
        Some(_) | None => return Ok(None),
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

/// The mail as RFC 5322 has it.
fn compose(
    services: &Services,
    mail: &Mail,
    content: &MailContent,
    sender: &Sender,
) -> Result<lettre::Message, SendFailure> {
    let from = Some(services.config.mail_from.as_str()).filter(|from| !from.is_empty());
    let platform: Mailbox = from.unwrap_or(NO_SENDER).parse().map_err(SendFailure::passing)?;
    let on = platform.name.as_deref().unwrap_or_else(|| platform.email.domain());
    let from =
        Mailbox::new(sender.display_name(on).or_else(|| platform.name.clone()), platform.email);
    let to = content.to.as_str().parse().map_err(SendFailure::permanent)?;
    // Without an address that works there, a mail is better than none.
    let answers_to = sender.reply_to.as_ref().and_then(|to| to.as_str().parse().ok());
    let millis = u64::try_from(mail.created_at.millis()).unwrap_or(0);
    let date = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    // No vacation notice or ticket system shall answer (RFC 3834 §5).
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
    message.singlepart(SinglePart::plain(content.text.clone())).map_err(SendFailure::permanent)
}

async fn send_by_smtp(url: &str, message: lettre::Message) -> Result<(), SendFailure> {
    // The URL holds a password: its error is not shown.
    let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
        .map_err(|_| SendFailure::passing("the SMTP URL is not one"))?;
    let server = builder.timeout(Some(SEND_LIMIT)).build::<Tokio1Executor>();
    match server.send(message).await {
        Ok(_) => Ok(()),
        // A reply may quote the recipient, so only its code is kept.
        Err(error) => {
            let code = error.status().map(|code| code.to_string()).unwrap_or_default();
            // 53x is about our own credentials (RFC 4954 §6), not about the mail.
            let permanent = error.is_permanent() && !code.starts_with("53");
            let cause = if code.is_empty() { "no reply".to_owned() } else { code };
            Err(SendFailure { permanent, cause: format!("SMTP: {cause}") })
        }
    }
}

/// Writes a file whole: under another name first.
fn write_whole(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let draft = directory.join(format!(".{name}.part"));
    std::fs::write(&draft, bytes)?;
    std::fs::rename(draft, directory.join(name))
}

/// Shows a mail on the console: for people who develop against a local system.
fn print(content: &MailContent) {
    let mut console = std::io::stdout().lock();
    let rule = "-".repeat(72);
    let shown = writeln!(
        console,
        "{rule}\nMail to {}: {}\n\n{}{rule}",
        content.to, content.subject, content.text
    );
    if let Err(error) = shown {
        tracing::debug!(%error, "console closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_under_its_name() {
        let directory = std::env::temp_dir().join(crypto::seal::random_secret());
        write_whole(&directory, "mai_1.eml", b"Code: 042137\r\n").unwrap();
        let names: Vec<_> = std::fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["mai_1.eml"]);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
