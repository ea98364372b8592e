//! Giving an order's money back, in three steps: reserve, ask the providers, record.
//!
//! Crash story. After the first step the amount is reserved and the refund is pending; nobody
//! else can give it back. A provider is asked under the refund's id, which it deduplicates on, and
//! the refund's id follows from the caller's idempotency key: so the same request sent again
//! takes the refund up where it was left, and no provider pays twice. A provider that refuses for
//! good sets the reserved amount free; one that does not answer leaves it pending.

use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::{Condition, Write};

use super::parts::{self, Parts};
use super::refund::{Plan, Refund, RefundReason, RefundStatus, RefundView, RestockType, Wanted};
use super::settle::Ended;
use super::{Order, OrderView, settle, spent, stock};
use crate::event::{
    Event, ORDER_CANCELLED, ORDER_REFUNDED, ORDER_UPDATED, REFUND_CREATED, REFUND_FAILED,
    REFUND_SUCCEEDED,
};
use crate::id::{OrderId, PaymentId, RefundId, StoreId};
use crate::inventory::{self, Line};
use crate::key;
use crate::payment::account::connect;
use crate::payment::provider::Provider;
use crate::payment::settle::News;
use crate::payment::{self, ObservedState, ProviderName, ProviderReference, Source};

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
    /// What the refund's id follows from: who asks, and under which idempotency key.
    pub seed: String,
}

/// Gives back what is asked for, and answers.
///
/// # Errors
/// Those of [`Order::plan_refund`] and, for one that is called off, of [`Order::cancel`];
/// `provider_error`, `provider_timeout`.
pub async fn refund(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    ask: &Ask,
    answer: impl Fn(&Order, Option<&Refund>) -> Answer,
) -> Result<Answer, Problem> {
    match inventory::persist(|| reserve(app, store, id, ask, &answer)).await? {
        Reserved::Done(answer) => Ok(answer),
        Reserved::Pending(page, refund) => finish(app, &page, &refund, &answer).await,
    }
}

enum Reserved {
    Done(Answer),
    Pending(Box<Parts>, Box<Refund>),
}

/// The first step.
async fn reserve(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    ask: &Ask,
    answer: &impl Fn(&Order, Option<&Refund>) -> Answer,
) -> Result<Reserved, Problem> {
    let page = parts::load(app, store, id).await?;
    let now = app.clock.now();
    let refund_id = match taken_up(&page, &ask.seed, now) {
        TakenUp::Pending(refund) => return Ok(Reserved::Pending(Box::new(page), refund)),
        TakenUp::New(id) => id,
    };
    let ended = match &ask.call_off {
        Some(how) => Some(page.order.cancel(how.reason.clone(), how.restock, now)?),
        None => None,
    };
    let before = ended.as_ref().map_or(&page.order, |ended| &ended.order);
    let wanted = ask.wanted.as_ref().filter(|_| ended.is_none() || !before.refundable().is_zero());
    let Some(wanted) = wanted else {
        let ended = ended.ok_or(Code::NothingToRefund)?;
        let answered = answer(&ended.order, None);
        let write = announce_end(settle::end(app.table.write(), &ended, now), &ended.order, now);
        return write.answer(answered, now).await.map(Reserved::Done);
    };
    let plan = before.plan_refund(wanted)?;
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
    let write = move_stock(write, &order, &plan, now).create(&refund, Code::VersionConflict);
    let write = announce_reserved(write, &order, &refund, now);
    if refund.status == RefundStatus::Pending {
        write.commit().await?;
        spent::note(app, &page.order, &order).await;
        let page = parts::load(app, store, id).await?;
        return Ok(Reserved::Pending(Box::new(page), Box::new(refund)));
    }
    let answered = write.answer(answer(&order, Some(&refund)), now).await?;
    spent::note(app, &page.order, &order).await;
    Ok(Reserved::Done(answered))
}

fn announce_end(write: Write, order: &Order, now: Timestamp) -> Write {
    write.emit(Event::new(&ORDER_CANCELLED, order.about(), &OrderView::from(order), now))
}

enum TakenUp {
    Pending(Box<Refund>),
    New(RefundId),
}

/// The refund that this request has begun, if it was left pending; otherwise an id for it.
fn taken_up(page: &Parts, seed: &str, now: Timestamp) -> TakenUp {
    for attempt in 0..ATTEMPTS {
        let id = RefundId::derive(&[page.order.id.as_str(), seed, &attempt.to_string()]);
        match page.refund(&id) {
            Err(_) => return TakenUp::New(id),
            Ok(refund) if refund.status == RefundStatus::Pending => {
                return TakenUp::Pending(Box::new(refund.clone()));
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
        let known = order.item(&wanted.order_item_id).filter(|item| item.tracked);
        let (Some(item), Some(location)) = (known, wanted.location_id.as_ref()) else {
            return write;
        };
        let line = Line {
            store: &order.store_id,
            variant: &item.variant_id,
            location,
            quantity: wanted.quantity,
            order: &order.id,
        };
        match wanted.restock_type {
            RestockType::NoRestock => write,
            RestockType::Cancel => inventory::release_committed(write, &line, stock::lost(), now),
            RestockType::Return if item.location_id.as_ref() == Some(location) => {
                inventory::restock(write, &line, now)
            }
            RestockType::Return => check_location(inventory::restock(write, &line, now), &line),
        }
    })
}

/// Units may come back only to a location that there is.
fn check_location(write: Write, line: &Line<'_>) -> Write {
    let unknown = Problem::field("/items", "unknown_location", "There is no such location.");
    let exists = Condition::new("attribute_exists(PK)");
    write.check(&key::location(line.store, line.location), exists, unknown)
}

fn announce_reserved(write: Write, order: &Order, refund: &Refund, now: Timestamp) -> Write {
    let (view, refunded) = (OrderView::from(order), RefundView::from(refund));
    let write = write.emit(Event::new(&REFUND_CREATED, refund.about(), &refunded, now));
    if refund.status == RefundStatus::Succeeded {
        write.emit(Event::new(&REFUND_SUCCEEDED, refund.about(), &refunded, now)).emit(Event::new(
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
async fn finish(
    app: &App,
    page: &Parts,
    refund: &Refund,
    answer: &impl Fn(&Order, Option<&Refund>) -> Answer,
) -> Result<Answer, Problem> {
    let mut outcomes = Vec::new();
    for (id, amount) in refund.pending() {
        let known = page.payments.iter().find(|payment| payment.id == id);
        let known = known.ok_or_else(|| Problem::internal("an order's payment is gone"))?;
        outcomes.push((id, payment::refund::ask(app, known, &refund.id, &amount).await?));
    }
    inventory::persist(|| record(app, refund, &outcomes, answer)).await
}

type Outcome = (PaymentId, Result<String, String>);

/// The third step.
async fn record(
    app: &App,
    refund: &Refund,
    outcomes: &[Outcome],
    answer: &impl Fn(&Order, Option<&Refund>) -> Answer,
) -> Result<Answer, Problem> {
    let now = app.clock.now();
    let page = parts::load(app, &refund.store_id, &refund.order_id).await?;
    let known = page.refund(&refund.id)?;
    if known.status != RefundStatus::Pending {
        // Somebody else has recorded it: another run of this request.
        return Ok(answer(&page.order, Some(known)));
    }
    let mut next = known.changed(now);
    let mut write = app.table.write();
    for (id, outcome) in outcomes {
        next.mark(id, outcome);
        let payment = page.payments.iter().find(|payment| payment.id == *id);
        let step = payment.and_then(|payment| payment.finish_refund(&next.id, outcome, now));
        write = write.also(step, |write, step| step.write(write, now));
    }
    let refused: Vec<PaymentId> =
        outcomes.iter().filter(|(_, said)| said.is_err()).map(|(id, _)| id.clone()).collect();
    let write = write.replace(&next, Code::VersionConflict);
    if refused.is_empty() {
        let write = write
            .emit(Event::new(&REFUND_SUCCEEDED, next.about(), &RefundView::from(&next), now))
            .emit(Event::new(
                &ORDER_REFUNDED,
                page.order.about(),
                &OrderView::from(&page.order),
                now,
            ));
        return write.answer(answer(&page.order, Some(&next)), now).await;
    }
    let order = page.order.refund_refused(&next, &refused, now);
    let view = OrderView::from(&order);
    write
        .replace(&order, Code::VersionConflict)
        .emit(Event::new(&REFUND_FAILED, next.about(), &RefundView::from(&next), now))
        .emit(Event::new(&ORDER_UPDATED, order.about(), &view, now))
        .commit()
        .await?;
    spent::note(app, &page.order, &order).await;
    let why = outcomes.iter().find_map(|(_, said)| said.as_ref().err()).cloned();
    Err(Code::ProviderError
        .with("refund_id", next.id.as_str())
        .with("failure_code", why)
        .because("a provider refused a refund"))
}

/// Lets go of everything that providers have promised for an order.
///
/// # Errors
/// `provider_error`, `provider_timeout`; `invalid_state_transition` when the money was taken
/// meanwhile.
pub async fn let_go(app: &App, order: &Order) -> Result<(), Problem> {
    let page = parts::load(app, &order.store_id, &order.id).await?;
    let promised = page.order.payments.iter().filter(|payment| payment.is_open_authorization());
    for promised in promised {
        let known = page.payments.iter().find(|payment| payment.id == promised.payment_id);
        let known = known.ok_or_else(|| Problem::internal("an order's payment is gone"))?;
        let connected = connect(app, &order.store_id, known.provider).await?;
        let seen = connected.void(app, known).await?;
        let place = ProviderReference::from(known);
        let source = Source::Admin;
        let news = News { place: &place, seen: &seen, source, event: None, is_answer: false };
        payment::settle::apply(app, &connected, news, |_| Answer::no_content()).await?;
        if seen.state == ObservedState::Captured {
            return Err(Code::VersionConflict.into());
        }
    }
    Ok(())
}
