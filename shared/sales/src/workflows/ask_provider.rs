//! Asks a provider about the payments of an order that its shopper looks at: a browser that never came back from the
//! provider's page tells nobody that it has paid.

use std::sync::Arc;
use std::time::Duration;

use core_types::id::{OrderId, StoreId};
use core_types::provider::ProviderName;
use primitives::problem::Problem;
use services::Services;
use tokio::sync::OnceCell;

use super::{close_payments, record_payment};
use crate::payment::Payment;
use crate::payment::load::{connect, payments_of};

/// How long an answer suffices for those who look again.
const SUFFICES: Duration = Duration::from_secs(5);

/// The question about some payments: empty until it is answered.
type Question = OnceCell<()>;

/// Asks the providers about the payments of an order by which money can still arrive, and records what they say. The same
/// payments are asked about every five seconds at most, in each process; who looks meanwhile waits for the answer.
/// Returns whether there was one: then the order may have changed. A provider that fails is logged, and its webhook
/// decides.
///
/// # Errors
/// 503.
pub async fn ask(services: &Services, store: &StoreId, order: &OrderId) -> Result<bool, Problem> {
    let all = payments_of(services, store, order).await?;
    let is_open = |payment: &&Payment| {
        payment.may_yet_be_captured() && payment.provider != ProviderName::Manual
    };
    let open: Vec<&Payment> = all.iter().filter(is_open).collect();
    if open.is_empty() {
        return Ok(false);
    }
    let question = question(services, &open);
    if question.initialized() {
        return Ok(false);
    }
    question
        .get_or_init(|| async {
            for payment in &open {
                if let Err(problem) = ask_about(services, store, payment).await {
                    let payment = payment.id.as_str();
                    tracing::warn!(cause = %problem, payment, "provider not asked about a payment");
                }
            }
        })
        .await;
    Ok(true)
}

/// The question about these payments that is being asked, or a new one.
fn question(services: &Services, payments: &[&Payment]) -> Arc<Question> {
    let now = services.clock.now();
    let ids: Vec<&str> = payments.iter().map(|payment| payment.id.as_str()).collect();
    let name = ids.join("/");
    services.cache.get(&name, now).unwrap_or_else(|| {
        let question = Arc::new(Question::new());
        services.cache.insert(&name, Arc::clone(&question), now, SUFFICES);
        question
    })
}

async fn ask_about(services: &Services, store: &StoreId, payment: &Payment) -> Result<(), Problem> {
    let provider = connect(services, store, payment.provider).await?;
    let observed = record_payment::fetch_and_capture(services, &provider, payment).await?;
    close_payments::record(services, &provider, payment, &observed).await
}
