//! The credentials that get a stored response again. An app's tokens are one principal, and a member's
//! scopes change. So a response to a credential with more scopes, perhaps with a secret, is not repeated
//! to one with fewer. The request itself is not run again either, because it has had its effect.

use http::header;

use primitives::problem::{Code, Problem};

/// The text of a grant for everything.
const ALL: &str = "*";
/// The text of a grant for all reads.
const ALL_READS: &str = "read_*";

/// The first scope of the first request that this one lacks.
pub(super) fn missing<'a>(first: Option<&'a str>, now: Option<&str>) -> Option<&'a str> {
    let now: Vec<&str> = now.unwrap_or_default().split_whitespace().collect();
    first.unwrap_or_default().split_whitespace().find(|scope| !is_covered(scope, &now))
}

fn is_covered(scope: &str, by: &[&str]) -> bool {
    let reads = scope.strip_prefix("read_");
    by.iter().any(|held| {
        *held == ALL
            || *held == scope
            || (*held == ALL_READS && reads.is_some())
            || reads.is_some_and(|read| held.strip_prefix("write_") == Some(read))
    })
}

/// 403 with the scope that is missing, in the body and in the challenge (RFC 6750 §3.1).
pub(super) fn insufficient(missing: &str) -> Problem {
    let detail = "The first request with this key had more scopes than this one.";
    let problem = Code::InsufficientScope.detail(detail);
    if missing.contains(ALL) {
        return problem.header(header::WWW_AUTHENTICATE, "Bearer error=\"insufficient_scope\"");
    }
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{missing}\"");
    problem.with("required_scope", missing).header(header::WWW_AUTHENTICATE, &challenge)
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_response_is_replayed_to_callers_with_the_same_scopes() {
        let of = |first, now| missing(Some(first), Some(now));
        assert_eq!(of("read_orders write_webhooks", "write_webhooks"), Some("read_orders"));
        assert_eq!(of("read_orders write_webhooks", "write_orders write_webhooks"), None);
        assert_eq!(of("write_orders", "read_orders"), Some("write_orders"));
        assert_eq!(of("write_orders", "read_*"), Some("write_orders"));
        assert_eq!(of("read_orders", "read_*"), None);
        assert_eq!(of("*", "read_*"), Some("*"));
        assert_eq!(of("read_*", "*"), None);
        assert_eq!(of("", ""), None);
        assert_eq!(missing(None, None), None);
    }
}
