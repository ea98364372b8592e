//! Transactions under a `ClientRequestToken`: within ten minutes each is executed once, as by `DynamoDB`.
//!
//! dynoxide records tokens too, but reads those of the last ten minutes at each call: after 200,000 deliveries it took half
//! as many orders. So it is not told the token, unless that is too long.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dynoxide::DynoxideError;
use dynoxide::actions::transact_write_items::{
    TransactWriteItemsRequest as Request, TransactWriteItemsResponse as Reply,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

/// The longest token; longer ones are left to dynoxide, which rejects them.
const LONGEST: usize = 36;
/// For how long a token is known.
const WINDOW: Duration = Duration::from_mins(10);

/// The transactions of the last ten minutes.
#[derive(Default)]
pub(super) struct Transactions {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The digest of its items, and the reply, by token.
    replies: HashMap<String, (u64, Reply)>,
    /// The tokens, oldest first.
    tokens: VecDeque<(Instant, String)>,
}

impl Transactions {
    /// Executes a transaction, or gives the reply that it had under the same token. That reply's consumed capacity is
    /// the write's, where `DynamoDB` counts a read. A failed transaction is executed again.
    pub(super) fn once(
        &self,
        body: &[u8],
        mut input: Request,
        now: Instant,
        execute: impl FnOnce(Request) -> Result<Reply, DynoxideError>,
    ) -> Result<Reply, DynoxideError> {
        let token = input.client_request_token.take_if(|token| token.len() <= LONGEST);
        let Some(token) = token else { return execute(input) };
        let digest = digest(body);
        // Held meanwhile, so that the same transaction waits for its reply.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.forget(now);
        match known.replies.get(&token) {
            Some((first, reply)) if *first == digest => return Ok(reply.clone()),
            Some(_) => {
                let message = "An error occurred (IdempotentParameterMismatchException)";
                return Err(DynoxideError::IdempotentParameterMismatchException(message.into()));
            }
            None => {}
        }
        let reply = execute(input)?;
        known.tokens.push_back((now, token.clone()));
        known.replies.insert(token, (digest, reply.clone()));
        Ok(reply)
    }
}

impl Known {
    fn forget(&mut self, now: Instant) {
        let is_old = |(at, _): &mut (Instant, String)| now.duration_since(*at) >= WINDOW;
        while let Some((_, token)) = self.tokens.pop_front_if(is_old) {
            self.replies.remove(&token);
        }
    }
}

/// A digest of a call's items, whatever the order of their members.
fn digest(body: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct Items {
        #[serde(rename = "TransactItems")]
        items: Value,
    }
    let mut hasher = DefaultHasher::new();
    serde_json::from_slice(body).ok().map(|Items { items }| items).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(
        known: &Transactions,
        items: &str,
        token: &str,
        now: Instant,
        outcome: Result<(), ()>,
    ) -> (Result<Reply, DynoxideError>, bool) {
        let body = format!(r#"{{"TransactItems":[{items}],"ClientRequestToken":"{token}"}}"#);
        let input = serde_json::from_str(&body).unwrap();
        let mut is_executed = false;
        let reply = known.once(body.as_bytes(), input, now, |input| {
            assert_eq!(input.client_request_token, None);
            is_executed = true;
            let failure = || DynoxideError::InternalServerError(String::new());
            outcome.map(|()| Reply::default()).map_err(|()| failure())
        });
        (reply, is_executed)
    }

    #[test]
    fn a_transaction_is_executed_once_in_ten_minutes() {
        let (known, now) = (Transactions::default(), Instant::now());
        let first = r#"{"Put":{"TableName":"t","Item":{"a":{"S":"1"},"b":{"S":"2"}}}}"#;
        let same = r#"{"Put":{"Item":{"b":{"S":"2"},"a":{"S":"1"}},"TableName":"t"}}"#;
        let other = r#"{"Put":{"TableName":"t","Item":{"a":{"S":"2"},"b":{"S":"2"}}}}"#;
        assert!(call(&known, first, "x", now, Err(())).1);
        assert!(call(&known, first, "x", now, Ok(())).1, "it had failed");
        let (reply, is_executed) = call(&known, same, "x", now, Ok(()));
        assert!(reply.is_ok() && !is_executed);
        let (reply, is_executed) = call(&known, other, "x", now, Ok(()));
        let mismatch = reply.unwrap_err();
        assert!(mismatch.error_type().ends_with("IdempotentParameterMismatchException"));
        assert!(!is_executed);
        assert!(call(&known, other, "y", now, Ok(())).1);
        let later = now.checked_add(WINDOW).unwrap();
        assert!(call(&known, other, "x", later, Ok(())).1, "the window is over");
        assert_eq!(known.known.lock().unwrap().replies.len(), 1);
    }
}
