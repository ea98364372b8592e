//! The mail that was sent: local systems keep each as a file.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::eventually;

/// How long a mail may take: one stream poll, one queue, one file.
const DEADLINE: Duration = Duration::from_secs(20);

/// The mail to one address.
#[derive(Debug, Clone)]
pub struct Mailbox {
    directory: PathBuf,
    address: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub from: String,
    pub reply_to: Option<String>,
    pub subject: String,
    pub text: String,
    pub html: Option<String>,
}

impl Mailbox {
    pub(crate) fn new(directory: PathBuf, address: &str) -> Self {
        Self { directory, address: address.to_owned() }
    }

    /// All mail so far, oldest first.
    pub fn mails(&self) -> Vec<Mail> {
        let entries = std::fs::read_dir(&self.directory).expect("the directory is there");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
        // Names are ids, which sort by time.
        files.sort();
        files
            .into_iter()
            .filter_map(|file| self.read(&std::fs::read_to_string(file).ok()?))
            .collect()
    }

    fn read(&self, file: &str) -> Option<Mail> {
        let file = file.replace("\r\n", "\n");
        let (head, text) = file.split_once("\n\n")?;
        // Long headers go on in lines that begin with a blank.
        let head = head.replace("\n ", " ");
        let field = |name: &str| {
            let line = head.lines().find(|line| line.starts_with(name))?;
            Some(line[name.len()..].trim().to_owned())
        };
        let to = field("To:")?;
        let address =
            to.rsplit_once('<').map_or(to.as_str(), |(_, rest)| rest.trim_end_matches('>'));
        let kind = field("Content-Type:").unwrap_or_default();
        let (text, html) = match kind.split_once("boundary=") {
            Some((_, boundary)) => alternatives(text, boundary.trim_matches('"')),
            None => (decoded(&head, text), None),
        };
        address.eq_ignore_ascii_case(&self.address).then(|| Mail {
            from: field("From:").unwrap_or_default(),
            reply_to: field("Reply-To:"),
            subject: field("Subject:").unwrap_or_default(),
            text,
            html,
        })
    }

    /// Waits until `count` mails have come, and gives the newest.
    pub async fn nth(&self, count: usize) -> Mail {
        let look = || async { self.mails().get(count.checked_sub(1)?).cloned() };
        eventually(DEADLINE, look).await
    }

    /// Waits for a mail with this line, and gives what follows it in the newest of them.
    async fn line(&self, begin: &str) -> String {
        let find = |mail: Mail| {
            mail.text.lines().find_map(|line| line.strip_prefix(begin)).map(str::to_owned)
        };
        let look = || async { self.mails().into_iter().rev().find_map(find) };
        eventually(DEADLINE, look).await
    }

    /// The one-time code of the newest mail that has one; waits for the first.
    pub async fn code(&self) -> String {
        self.line("Code: ").await
    }

    /// The token of the newest mail that has one; waits for the first.
    pub async fn token(&self) -> String {
        self.line("Token: ").await
    }

    /// The token of the newest mail with this subject; waits for the first.
    pub async fn token_of(&self, subject: &str) -> String {
        let look = || async {
            let mut mails = self.mails();
            mails.retain(|mail| mail.subject == subject);
            let newest = mails.pop()?;
            newest.text.lines().find_map(|line| line.strip_prefix("Token: ")).map(str::to_owned)
        };
        eventually(DEADLINE, look).await
    }
}

/// The text and the HTML of a mail that has both (RFC 2046 §5.1.4).
fn alternatives(body: &str, boundary: &str) -> (String, Option<String>) {
    let delimiter = format!("--{boundary}");
    let mut parts = body.split(&delimiter).skip(1).filter_map(|part| {
        let (head, text) = part.trim_start().split_once("\n\n")?;
        Some(decoded(head, text.strip_suffix('\n').unwrap_or(text)))
    });
    (parts.next().expect("a text"), parts.next())
}

/// A text in its transfer encoding (RFC 2045 §6).
fn decoded(head: &str, text: &str) -> String {
    let encoding = head.lines().find_map(|line| line.strip_prefix("Content-Transfer-Encoding:"));
    match encoding.map(str::trim) {
        Some("quoted-printable") => unquoted(text),
        Some("base64") => {
            let bytes = BASE64_STANDARD.decode(text.replace('\n', "")).expect("base64");
            String::from_utf8(bytes).expect("mails are UTF-8")
        }
        _ => text.to_owned(),
    }
}

/// A text as it was before it was quoted (RFC 2045 §6.7): mails with long lines are, or with letters that
/// ASCII has not.
fn unquoted(text: &str) -> String {
    let text = text.replace("=\n", "");
    let mut parts = text.split('=');
    let first = parts.next().unwrap_or_default().as_bytes().to_vec();
    let bytes = parts.fold(first, |mut whole, part| {
        let (code, rest) = part.split_at(2);
        whole.push(u8::from_str_radix(code, 16).expect("a byte in hexadecimal digits"));
        whole.extend_from_slice(rest.as_bytes());
        whole
    });
    String::from_utf8(bytes).expect("mails are UTF-8")
}
