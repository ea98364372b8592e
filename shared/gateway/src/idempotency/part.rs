//! Requests that ask for several things, each of which is done, or rejected, by itself.

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
    /// The record of the thing of this number.
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

/// Does one of the things that the current request asks for, under a record of its own that follows from
/// the request's: when the request is sent again after a crash, what was done is answered, and not done
/// again. What [`Write::answer`](table::Write::answer) completes is that record.
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
    if let Some(claim) = whole.kept::<Claim>() {
        let claim = claim.part(number);
        let claimed = match put(services, &claim).await? {
            None => Claimed::Mine(claim),
            Some(old) => validate(&claim, &old)?,
        };
        match claimed {
            Claimed::Mine(claim) => context.keep(claim),
            Claimed::Replay(answer) => return Ok(answer),
            Claimed::NotAsked => {}
        }
    }
    let outcome = Arc::clone(&context).scope(effect).await.map(R::into_answer);
    if let Some(claim) = context.take::<Claim>() {
        match &outcome {
            Ok(answer) => drop(claim.settle(services, answer, None).await),
            // What was rejected had no effect, and is validated anew when the request is sent again:
            // a claim that is left would be in its way for as long as its lease.
            Err(_) => claim.release(services).await,
        }
    }
    outcome
}
