//! What alarms and the dashboard read is what functions log.

use std::collections::BTreeMap;

use support::{Deployed, Value};

const TEMPLATE: &str = include_str!("../../../../template.yaml");
/// What logs that work was given up.
const FAILURES: &str = include_str!("../../../../functions/runner/src/failure.rs");
/// Left out of a line while there is too little to tell of.
const NONE_OF_TOO_FEW: &str = "delivery_success_percent";

/// The members that the template's patterns and queries read, by the message of the line.
fn read() -> BTreeMap<String, Vec<String>> {
    let mut read: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in TEMPLATE.lines().map(|line| line.replace('\\', "")) {
        let Some((_, rest)) = line.split_once("message = \"") else { continue };
        let (message, rest) = rest.split_once('"').unwrap();
        let of_message = read.entry(message.to_owned()).or_default();
        for before in ["$.", "max(", " by "] {
            of_message.extend(rest.split(before).skip(1).map(word));
        }
        of_message.retain(|name| !["bin", ""].contains(&name.as_str()));
    }
    read
}

/// The word that a text begins with.
fn word(text: &str) -> String {
    text.chars().take_while(|it| *it == '_' || it.is_alphanumeric()).collect()
}

/// Holds that each of these functions, which has done its work, has logged it as it is read.
pub(super) async fn as_it_is_read(deployed: &Deployed, by: &[(&str, &str)]) {
    let mut read = read();
    // What is counted by its message alone tells of trouble, which no work here is in.
    let counted = read.extract_if(.., |_, members| members.is_empty());
    for (message, _) in counted {
        // A pattern that ends in `*` matches what begins so.
        let logged = match message.strip_suffix('*') {
            Some(beginning) => format!("\"{beginning}"),
            None => format!("\"{message}\""),
        };
        assert!(FAILURES.contains(&logged), "nobody logs {message}");
    }
    let (messages, expected): (Vec<_>, Vec<_>) =
        (read.keys().collect(), by.iter().map(|(message, _)| message).collect());
    assert_eq!(messages, expected, "what the template reads, and who is asked for it");
    for (message, name) in by {
        let log = deployed.function(name).await.log();
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let line = lines.find(|line| line["message"] == *message);
        let line = line.unwrap_or_else(|| panic!("{name} logs no {message}: {log}"));
        let members = &read[*message];
        assert!(!members.is_empty(), "{message}");
        for member in members.iter().filter(|member| *member != NONE_OF_TOO_FEW) {
            assert!(line[member].is_number() || line[member].is_string(), "{member}: {line}");
        }
    }
}
