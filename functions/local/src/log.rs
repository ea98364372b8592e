//! The log of a local system: one short line a request on a terminal, JSON elsewhere.

use std::fmt::{self, Write as _};
use std::io::IsTerminal;
use std::str::FromStr;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

/// The default filter, without `RUST_LOG`.
const DEFAULT: &str =
    "warn,dynoxide=error,gateway=info,local=info,mail=info,webhooks=info,dispatcher=info";

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A short coloured line.
    Text,
    /// A JSON object a line.
    Json,
}

impl Form {
    /// Text on a terminal, JSON elsewhere.
    pub fn default_for_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Text } else { Self::Json }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(format!("the log is `text` or `json`, not `{other}`")),
        }
    }
}

/// Starts logging on standard output.
pub fn init(form: Form) {
    if form == Form::Json {
        return lambda::log::init(DEFAULT);
    }
    // https://no-color.org
    let has_colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let lines = Lines { has_colour };
    let lines = tracing_subscriber::fmt().event_format(lines).with_max_level(LevelFilter::TRACE);
    let subscriber = lines.finish().with(lambda::log::filter(DEFAULT));
    // A second call keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Writes events as lines for people.
struct Lines {
    has_colour: bool,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let line = if fields.message == "request" {
            fields.request(self.has_colour)
        } else {
            fields.plain(*metadata.level(), metadata.target(), self.has_colour)
        };
        writeln!(writer, "{line}")
    }
}

/// The fields of a log event.
#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, String)>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.others.push((field.name(), value.to_owned()));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

impl Fields {
    fn get(&self, name: &str) -> &str {
        let found = self.others.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// `GET    /v1/stores  200  12 ms  2 trips  cost 3`
    fn request(&self, has_colour: bool) -> String {
        let status = self.get("status");
        let colour = match status.chars().next() {
            Some('2') => GREEN,
            Some('3') => CYAN,
            Some('4') => YELLOW,
            _ => RED,
        };
        let mut line = String::new();
        let _ = write!(
            line,
            "{} {}  {}",
            paint(DIM, &format!("{:<6}", self.get("method")), has_colour),
            self.get("path"),
            paint(colour, status, has_colour),
        );
        let mut rest = format!("{} ms", self.get("millis"));
        let _ = match self.get("trips") {
            "" | "0" => Ok(()),
            "1" => write!(rest, "  1 trip"),
            trips => write!(rest, "  {trips} trips"),
        };
        let _ = match self.get("cost") {
            "" | "0" => Ok(()),
            cost => write!(rest, "  cost {cost}"),
        };
        let _ = write!(line, "  {}", paint(DIM, &rest, has_colour));
        line
    }

    fn plain(&self, level: Level, target: &str, has_colour: bool) -> String {
        let colour = match level {
            Level::ERROR => RED,
            Level::WARN => YELLOW,
            _ => DIM,
        };
        let target = target.split("::").next().unwrap_or(target);
        let mut line =
            format!("{} {}: {}", paint(colour, level.as_str(), has_colour), target, self.message);
        for (name, value) in &self.others {
            let _ = write!(line, " {}{value}", paint(DIM, &format!("{name}="), has_colour));
        }
        line
    }
}

/// Codes of ECMA-48 §8.3.117.
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const DIM: &str = "2";

fn paint(code: &str, text: &str, has_colour: bool) -> String {
    if has_colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(others: &[(&'static str, &str)]) -> Fields {
        let others = others.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Fields { message: "request".to_owned(), others }
    }

    #[test]
    fn a_request_is_one_short_line() {
        let asked = [("method", "GET"), ("path", "/v1/stores"), ("status", "200")];
        let spent = [("millis", "12"), ("trips", "2"), ("cost", "3")];
        let line = fields(&[&asked[..], &spent[..]].concat()).request(false);
        assert_eq!(line, "GET    /v1/stores  200  12 ms  2 trips  cost 3");
        let rejected = [("method", "DELETE"), ("path", "/x"), ("status", "404"), ("millis", "0")];
        let line = fields(&rejected).request(true);
        assert_eq!(line, "\x1b[2mDELETE\x1b[0m /x  \x1b[33m404\x1b[0m  \x1b[2m0 ms\x1b[0m");
    }

    #[test]
    fn another_line_names_its_crate() {
        let mut said = fields(&[("cause", "no route")]);
        "webhook not sent".clone_into(&mut said.message);
        let line = said.plain(Level::WARN, "webhooks::send", false);
        assert_eq!(line, "WARN webhooks: webhook not sent cause=no route");
    }
}
