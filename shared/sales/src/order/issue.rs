//! Giving an order's money back, in three steps: reserve, ask the providers, record.
//!
//! Crash story. After the first step the amount is reserved and the refund is pending; nobody
//! else can give it back. A provider is asked under the refund's id, which it deduplicates on, and
//! the refund's id follows from the caller's idempotency key: so the same request sent again
//! takes the refund up where it was left, and no provider pays twice. Nobody has to send it again:
//! a payment with a pending refund carries a due mark ([`crate::payment::due`]), and the provider's
//! own event may be faster. A provider that refuses for good sets the reserved amount free; one
//! that does not answer leaves it pending.

use catalogue::inventory::{self, Step};
use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::request::IfMatch;
use gateway::table::Write;
use ground::event::Event;
use ground::id::{OrderId, PaymentId, RefundId, StoreId};
use ground::provider::ProviderName;

use super::parts::{self, Parts};
use super::refund::{Plan, Refund, RefundReason, RefundStatus, RestockType, Wanted};
use super::settle::Ended;
use super::spent::Spending;
use super::{Order, OrderView, settle, stock};
use crate::order::refund::{REFUND_CREATED, REFUND_SUCCEEDED};
use crate::order::{ORDER_CANCELLED, ORDER_REFUNDED, ORDER_UPDATED};
use crate::payment::account::connect;
use crate::payment::provider::Said;
use crate::payment::{self, Payment, RefundState};

/// Refunds that one idempotency key can stand for: a refused one is not taken up again.
const ATTEMPTS: u32 = 20;

/// An order that is to be called off.
#[derive(Debug, Clone)]
pub struct CallOff {
    /// Why.
    pub reason: Option<String>,
    /// Whether its stock can be sold again.
    pub restock: bool,
}

/// A refund that is asked for, perhaps with the calling off of its order.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The order is called off with it.
    pub call_off: Option<CallOff>,
    /// What is to go back; nothing but an unpaid order's gift cards when none.
    pub wanted: Option<Wanted>,
    /// Why.
    pub reason: RefundReason,
    /// In the merchant's words.
    pub note: Option<String>,
    /// What the refund's id follows from: who asks for what, and under which idempotency key.
    pub seed: String,
    /// The order's version that the caller has seen, if it says so.
    pub if_match: IfMatch,
}

/// Gives back what is asked for, and answers with the order and its refund.
///
/// # Errors
/// Those of [`run`].
pub async fn refund<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    ask: &Ask,
    answer: impl Fn(&Order, &Refund) -> R,
) -> Result<R, Problem> {
    let answer = |order: &Order, refund: Option<&Refund>| {
        let refund = refund.ok_or_else(|| Problem::internal("a refund that was not made"))?;
        Ok(answer(order, refund))
    };
    run(app, (store, id), ask, &answer).await
}

/// Calls an order off, gives back what is asked for with it, and answers with the order and the
/// refund, if there was anything to refund.
///
/// # Errors
/// Those of [`run`].
pub async fn cancel<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    ask: &Ask,
    answer: impl Fn(&Order, Option<&Refund>) -> R,
) -> Result<R, Problem> {
    let answer = |order: &Order, refund: Option<&Refund>| Ok(answer(order, refund));
    run(app, (store, id), ask, &answer).await
}

/// All three steps.
///
/// # Errors
/// Those of [`Order::plan_refund`] and, for one that is called off, of [`Order::cancel`];
/// `precondition_failed`, `provider_not_connected`; once the amount is reserved only
/// `provider_error`, `provider_timeout` and others that no idempotency key keeps.
async fn run<R: Reply>(
    app: &App,
    order: (&StoreId, &OrderId),
    ask: &Ask,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let spending = Spending::default();
    match inventory::persist(|| reserve(app, order, ask, &spending, answer)).await? {
        Reserved::Done(answer) => Ok(answer),
        Reserved::Pending(page, refund) => finish(app, &page, &refund, answer).await,
    }
}

enum Reserved<R> {
    Done(R),
    Pending(Box<Parts>, Box<Refund>),
}

/// The first step.
async fn reserve<R: Reply>(
    app: &App,
    (store, id): (&StoreId, &OrderId),
    ask: &Ask,
    spending: &Spending,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<Reserved<R>, Problem> {
    let page = parts::load(app, store, id).await?;
    let now = app.clock.now();
    let refund_id = match taken_up(&page, &ask.seed, now) {
        TakenUp::Pending(refund) => return Ok(Reserved::Pending(Box::new(page), refund)),
        TakenUp::Done(refund) => return Ok(Reserved::Done(answer(&page.order, Some(&refund))?)),
        TakenUp::New(id) => id,
    };
    ask.if_match.check(page.order.version)?;
    let ended = match &ask.call_off {
        Some(how) => Some(page.order.cancel(how.reason.clone(), how.restock, now)?),
        None => None,
    };
    let before = ended.as_ref().map_or(&page.order, |ended| &ended.order);
    let wanted = ask.wanted.as_ref().filter(|_| ended.is_none() || !before.refundable().is_zero());
    let Some(wanted) = wanted else {
        let ended = ended.ok_or(Code::NothingToRefund)?;
        let answered = answer(&ended.order, None)?;
        let write = announce_end(settle::end(app.table.write(), &ended, now), &ended.order, now);
        let write = spending.count(app, write, &page.order, &ended.order).await?;
        return write.answer(answered, now).await.map(Reserved::Done);
    };
    let plan = before.plan_refund(wanted)?;
    reach(app, before, &plan).await?;
    let targets = plan.targets().look(app, store).await?;
    let mut refund = Refund::of(before, refund_id, &plan, (ask.reason, ask.note.clone()), now);
    // Called off and refunded in one write, it is one version further.
    let version = page.order.version.saturating_add(1);
    let order = Order { version, ..before.reserve_refund(&plan, now)? };
    let write = match ended {
        None => app.table.write().replace(&order, Code::VersionConflict),
        Some(ended) => {
            let ended = Ended { order: order.clone(), ..ended };
            announce_end(settle::end(app.table.write(), &ended, now), &order, now)
        }
    };
    let write = move_money(write, &page, &mut refund, &order, now)?;
    let write = targets.demand(move_stock(write, &order, &plan, now));
    let write = write.create(&refund, Code::VersionConflict);
    let write = announce_reserved(write, &order, &refund, now);
    let write = spending.count(app, write, &page.order, &order).await?;
    if refund.status == RefundStatus::Pending {
        write.commit().await?;
        let page = parts::load(app, store, id).await?;
        return Ok(Reserved::Pending(Box::new(page), Box::new(refund)));
    }
    let answered = write.answer(answer(&order, Some(&refund))?, now).await?;
    Ok(Reserved::Done(answered))
}

fn announce_end(write: Write, order: &Order, now: Timestamp) -> Write {
    write.emit(Event::new(&ORDER_CANCELLED, order.about(), &OrderView::from(order), now))
}

/// Nothing is reserved for a provider that cannot be asked.
///
/// # Errors
/// `provider_not_connected`.
async fn reach(app: &App, order: &Order, plan: &Plan) -> Result<(), Problem> {
    let through = |provider: &&ProviderName| {
        let mut payments = plan.to_payments.iter().filter_map(|(id, _)| order.payment(id));
        payments.any(|payment| payment.provider == provider.as_str())
    };
    for provider in ProviderName::ALL.iter().filter(through) {
        connect(app, &order.store_id, *provider).await?;
    }
    Ok(())
}

/// The id of a request's refund, as it was attempted so often before.
fn id_of(order: &OrderId, seed: &str, attempt: u32) -> RefundId {
    RefundId::derive(&[order.as_str(), seed, &attempt.to_string()])
}

/// Whether this request has begun a refund of the payment that nobody has refused.
pub fn has_begun(payment: &Payment, seed: &str) -> bool {
    let begun = |id: RefundId| {
        let mut refunds = payment.refunds.iter();
        refunds.any(|known| known.id == id && known.status != RefundState::Failed)
    };
    (0..ATTEMPTS).any(|attempt| begun(id_of(&payment.order_id, seed, attempt)))
}

enum TakenUp {
    Pending(Box<Refund>),
    Done(Box<Refund>),
    New(RefundId),
}

/// The refund that this request has begun, if it was left pending, or if somebody else has brought
/// it to its end; otherwise an id for it.
fn taken_up(page: &Parts, seed: &str, now: Timestamp) -> TakenUp {
    for attempt in 0..ATTEMPTS {
        let id = id_of(&page.order.id, seed, attempt);
        match page.refund(&id) {
            Err(_) => return TakenUp::New(id),
            Ok(refund) if refund.status == RefundStatus::Pending => {
                return TakenUp::Pending(Box::new(refund.clone()));
            }
            // As long as the key stands for the request.
            Ok(refund)
                if refund.status == RefundStatus::Succeeded
                    && now < refund.created_at.plus(DAY) =>
            {
                return TakenUp::Done(Box::new(refund.clone()));
            }
            Ok(_) => {}
        }
    }
    TakenUp::New(RefundId::mint(now))
}

/// Credits the gift cards, and reserves the rest on its payments. Money that was paid by hand goes
/// back by hand: nobody has to be asked.
fn move_money(
    write: Write,
    page: &Parts,
    refund: &mut Refund,
    order: &Order,
    now: Timestamp,
) -> Result<Write, Problem> {
    let cards = refund.transactions.clone();
    let credited =
        cards.iter().filter_map(|part| Some((part.gift_card_id.as_ref()?, &part.amount)));
    let mut write = credited
        .fold(write, |write, (card, amount)| settle::credit(write, order, card, amount, now));
    for (id, amount) in refund.pending() {
        let known = page.payments.iter().find(|payment| payment.id == id);
        let known = known.ok_or_else(|| Problem::internal("an order's payment is gone"))?;
        let reserved = known.begin_refund(&refund.id, &amount, now)?;
        if known.provider == ProviderName::Manual {
            let outcome = Ok(refund.id.to_string());
            refund.mark(&id, &outcome);
            let step = reserved.finish_refund(&refund.id, &outcome, now);
            let mut step = step.ok_or_else(|| Problem::internal("a refund that was not begun"))?;
            step.payment.version = reserved.version;
            write = step.write(write, now);
        } else {
            write = write.replace(&reserved, Code::VersionConflict);
        }
    }
    Ok(write)
}

/// Puts units back into stock: those that will not leave, and those that came back.
fn move_stock(write: Write, order: &Order, plan: &Plan, now: Timestamp) -> Write {
    plan.items.iter().fold(write, |write, wanted| {
        let step = match wanted.restock_type {
            RestockType::NoRestock => return write,
            RestockType::Cancel => Step::ReleaseCommitted,
            RestockType::Return => Step::Restock,
        };
        let Some(item) = order.item(&wanted.order_item_id) else { return write };
        stock::step_all(write, step, (order, item), &wanted.restocked_at, now)
    })
}

fn announce_reserved(write: Write, order: &Order, refund: &Refund, now: Timestamp) -> Write {
    let view = OrderView::from(order);
    let write = write.emit(refund.event(&REFUND_CREATED, now));
    if refund.status == RefundStatus::Succeeded {
        write.emit(refund.event(&REFUND_SUCCEEDED, now)).emit(Event::new(
            &ORDER_REFUNDED,
            order.about(),
            &view,
            now,
        ))
    } else {
        write.emit(Event::new(&ORDER_UPDATED, order.about(), &view, now))
    }
}

/// The second and the third step.
async fn finish<R: Reply>(
    app: &App,
    page: &Parts,
    refund: &Refund,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let mut outcomes = Vec::new();
    for (id, amount) in refund.pending() {
        let known = page.payments.iter().find(|payment| payment.id == id);
        let known = known.ok_or_else(|| Problem::internal("an order's payment is gone"))?;
        let said = payment::refund::ask(app, known, &refund.id, &amount).await;
        outcomes.push((id, said.map_err(passing)?));
    }
    let spending = Spending::default();
    inventory::persist(|| record(app, refund, &outcomes, &spending, answer)).await
}

/// What went wrong after the amount was reserved: the same request is to try again, so it must not
/// be a refusal that its idempotency key would keep.
fn passing(problem: Problem) -> Problem {
    match problem.code {
        Code::ProviderNotConnected => {
            Code::ProviderError.with("provider_code", "not_connected").because(&problem)
        }
        _ => problem,
    }
}

type Outcome = (PaymentId, Said);

/// The third step.
async fn record<R: Reply>(
    app: &App,
    refund: &Refund,
    outcomes: &[Outcome],
    spending: &Spending,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let now = app.clock.now();
    let page = parts::load(app, &refund.store_id, &refund.order_id).await?;
    let Some(next) = payment::refund::conclude(&page, &refund.id, outcomes, now) else {
        // Nothing new: somebody else has recorded it, or the provider is still at it.
        let known = page.refund(&refund.id)?;
        return match known.status {
            RefundStatus::Failed => Err(failed(known)),
            _ => answer(&page.order, Some(known)),
        };
    };
    let write = next.write(app.table.write(), now);
    let write = spending.count(app, write, &page.order, &next.order).await?;
    match next.refund.as_ref().filter(|next| next.status == RefundStatus::Failed) {
        None => write.answer(answer(&next.order, next.refund.as_ref())?, now).await,
        Some(refused) => {
            write.commit().await?;
            Err(failed(refused))
        }
    }
}

fn failed(refund: &Refund) -> Problem {
    let why = refund.transactions.iter().find_map(|part| part.failure_code.clone());
    Code::ProviderError
        .with("refund_id", refund.id.as_str())
        .with("failure_code", why)
        .because("a provider refused a refund")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{NOW, order, paid};
    use ground::money;

    /// A paid order whose request `seed` has come to these refunds, one after the other.
    fn page(seed: &str, statuses: &[RefundStatus]) -> Parts {
        let order = paid(&order());
        let plan = order.plan_refund(&Wanted::default()).unwrap();
        let refund = |(status, attempt): (&RefundStatus, u32)| {
            let id = id_of(&order.id, seed, attempt);
            let refund = Refund::of(&order, id, &plan, (RefundReason::Other, None), NOW);
            Refund { status: *status, ..refund }
        };
        let refunds = statuses.iter().zip(0..).map(refund).collect();
        Parts { order: order.clone(), fulfillments: Vec::new(), refunds, payments: Vec::new() }
    }

    fn told(page: &Parts, now: Timestamp) -> (&'static str, usize) {
        let nth = |id: &RefundId| {
            (0..ATTEMPTS).position(|attempt| id_of(&page.order.id, "k", attempt) == *id).unwrap()
        };
        match taken_up(page, "k", now) {
            TakenUp::Pending(refund) => ("pending", nth(&refund.id)),
            TakenUp::Done(refund) => ("done", nth(&refund.id)),
            TakenUp::New(id) => ("new", nth(&id)),
        }
    }

    #[test]
    fn a_request_that_is_sent_again_takes_up_what_it_began_and_begins_anew_what_was_refused() {
        use RefundStatus::{Failed, Pending, Succeeded};
        let of = |statuses: &[RefundStatus]| told(&page("k", statuses), NOW);
        assert_eq!(of(&[]), ("new", 0));
        assert_eq!(of(&[Pending]), ("pending", 0));
        assert_eq!(of(&[Succeeded]), ("done", 0));
        assert_eq!(of(&[Failed]), ("new", 1));
        assert_eq!(of(&[Failed, Pending]), ("pending", 1));
        assert_eq!(told(&page("other", &[Pending]), NOW), ("new", 0));
    }

    #[test]
    fn what_was_done_stands_for_the_request_as_long_as_its_key_does() {
        let done = page("k", &[RefundStatus::Succeeded]);
        let last = Timestamp::from_millis(NOW.plus(DAY).millis() - 1);
        assert_eq!(told(&done, last), ("done", 0));
        assert_eq!(told(&done, NOW.plus(DAY)), ("new", 1));
    }

    #[test]
    fn a_payment_knows_the_refund_that_a_request_has_begun_unless_it_was_refused() {
        let payment = crate::payment::tests::captured(129_900);
        let id = id_of(&payment.order_id, "k", 0);
        assert!(!has_begun(&payment, "k"));
        let begun = payment.begin_refund(&id, &money::sample(1), NOW).unwrap();
        assert!(has_begun(&begun, "k") && !has_begun(&begun, "other"));
        let done = begun.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let refused = begun.finish_refund(&id, &Err("no".into()), NOW).unwrap().payment;
        assert!(has_begun(&done, "k") && !has_begun(&refused, "k"));
    }

    #[test]
    fn a_refusal_that_may_pass_is_no_answer_that_a_key_keeps() {
        let passed = passing(Code::ProviderNotConnected.into());
        assert_eq!(passed.code, Code::ProviderError);
        assert_eq!(passing(Code::NotFound.into()).code, Code::NotFound);
    }
}
