//! Requests for several parts, each of which succeeds or is rejected by itself.

use std::sync::Arc;

use super::record::{put, validate};
use super::{Claim, Claimed, hash};
use crate::answer::Answer;
use crate::reply::Reply;
use crypto::seal;
use primitives::context::Context;
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

impl Claim {
    /// The record of the part of this number.
    fn part(&self, number: usize) -> Self {
        let number = number.to_string();
        Self {
            key: Key::new(format!("IDM#{}", hash(&[self.key.pk.as_str(), &number])), "A"),
            lease: seal::random_secret(),
            fingerprint: self.fingerprint.clone(),
            scopes: self.scopes.clone(),
            seal: self.seal.clone(),
            is_ahead: true,
        }
    }
}

/// Runs one part of the current request, under a record of its own that is derived from the request's.
/// When the request is repeated after a crash, finished parts are answered from their records, and not run
/// again. [`Write::answer`](table::Write::answer) completes that record.
///
/// # Errors
/// What `effect` rejects; `request_in_progress` while another attempt may be at it.
pub async fn part<R: Reply>(
    services: &Services,
    number: usize,
    effect: impl Future<Output = Result<R, Problem>>,
) -> Result<Answer, Problem> {
    let Some(whole) = Context::current() else { return effect.await.map(R::into_answer) };
    let context: Arc<Context> = whole.part();
    if let Some(claim) = whole.get::<Claim>() {
        let claim = claim.part(number);
        let claimed = match put(services, &claim).await? {
            None => Claimed::Mine(claim),
            Some(old) => validate(&claim, &old)?,
        };
        match claimed {
            Claimed::Mine(claim) => context.insert(claim),
            Claimed::Replay(answer) => return Ok(answer),
            Claimed::NoKey => {}
        }
    }
    let outcome = Arc::clone(&context).scope(effect).await.map(R::into_answer);
    if let Some(claim) = context.take::<Claim>() {
        match &outcome {
            Ok(answer) => drop(claim.finish(services, answer, None).await),
            // A rejected part had no effect, and is validated again when the request is repeated. A claim
            // that stayed would block it until the lease ends.
            Err(_) => claim.release(services).await,
        }
    }
    outcome
}
