//! Measurements of webhooks, from an order to its deliveries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::load::{Measured, Target, Work, closed, closed_with, paced};
use crate::receivers::{Behaviour, Receivers};
use crate::system::{Owner, text};
use benches::AnyError;
use benches::http::{Input, Reply};

/// The longest wait for outstanding deliveries.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest wait for what a long load leaves behind.
const LONG_PATIENCE: Duration = Duration::from_secs(150);
/// The response time of a slow receiver.
const SLOW: Duration = Duration::from_secs(13);
const EVENT: &str = "order.created";

/// The orders of one store, whose deliveries are measured.
pub struct Watched<'a> {
    /// The API.
    pub target: &'a Target,
    /// The store's merchant.
    pub owner: &'a mut Owner,
    /// The request that creates an order.
    pub checkout: &'a Arc<Work>,
}

impl Watched<'_> {
    /// The time from the response to an order until the arrival of its deliveries, at `receivers` prompt
    /// receivers and at this rate.
    pub async fn latency(
        &mut self,
        receivers: usize,
        per_second: u32,
        long: Duration,
    ) -> Result<Measured, AnyError> {
        let behaviours = vec![Behaviour::Prompt; receivers];
        self.latency_of(&behaviours, per_second, long, receivers).await
    }

    /// The same at the first `counted` of these receivers.
    async fn latency_of(
        &mut self,
        behaviours: &[Behaviour],
        per_second: u32,
        long: Duration,
        counted: usize,
    ) -> Result<Measured, AnyError> {
        let mut receivers = Receivers::start(1, behaviours).await?;
        receivers.subscribe(self.owner, EVENT, 1).await?;
        let accepted = Accepted::default();
        paced(self.target, self.checkout, per_second, long, accepted.note()).await?;
        let expected = accepted.count() * counted;
        receivers.wait_for(expected, counted, PATIENCE).await;
        let late = accepted.until_arrivals(&receivers, counted);
        receivers.unsubscribe(self.owner).await?;
        Ok(Measured::of(long, late))
    }

    /// As many orders as four clients place, and the time from the response to each until the arrival of its
    /// deliveries.
    pub async fn saturated(
        &mut self,
        receivers: usize,
        long: Duration,
    ) -> Result<(Measured, Measured), AnyError> {
        let mut prompt = Receivers::start(5, &vec![Behaviour::Prompt; receivers]).await?;
        prompt.subscribe(self.owner, EVENT, 1).await?;
        let accepted = Accepted::default();
        let orders = closed_with(self.target, self.checkout, 4, long, accepted.note()).await?;
        let expected = accepted.count() * receivers;
        prompt.wait_for(expected, receivers, LONG_PATIENCE).await;
        let late = accepted.until_arrivals(&prompt, receivers);
        prompt.unsubscribe(self.owner).await?;
        Ok((orders, Measured::of(long, late)))
    }

    /// Orders a second with ten receivers and four clients, and deliveries a second, from the first to the
    /// last delivery of these orders.
    pub async fn sustained(&mut self, long: Duration) -> Result<(Measured, u64), AnyError> {
        let mut receivers = Receivers::start(2, &[Behaviour::Prompt; 10]).await?;
        receivers.subscribe(self.owner, EVENT, 1).await?;
        let orders = closed(self.target, self.checkout, 4, long).await?;
        receivers.wait_for(usize::MAX, usize::MAX, PATIENCE).await;
        let rate = {
            let arrivals = receivers.arrivals();
            let (first, last) = (arrivals.values().min(), arrivals.values().max());
            let took = first.zip(last).map(|(first, last)| last.duration_since(*first));
            let latencies = vec![0; arrivals.len()];
            Measured::of(took.unwrap_or_default(), latencies).rate()
        };
        receivers.unsubscribe(self.owner).await?;
        Ok((orders, rate))
    }

    /// The rate of a burst of orders, and the time from an event to the creation of its delivery behind them.
    pub async fn lag(&mut self, long: Duration) -> Result<(Measured, Measured), AnyError> {
        let mut receivers = Receivers::start(3, &[Behaviour::Prompt]).await?;
        receivers.subscribe(self.owner, EVENT, 1).await?;
        let orders = closed(self.target, self.checkout, 32, long).await?;
        receivers.wait_for(usize::MAX, usize::MAX, PATIENCE).await;
        let mut micros = Vec::new();
        let mut cursor = String::new();
        // The newest deliveries, which waited behind the whole burst.
        for _ in 0..5 {
            let path = format!("/v1/operations/webhook-deliveries?limit=100{cursor}");
            let page = self.owner.send(Input::get(path)).await?;
            let deliveries = page.pointer("/data").and_then(Value::as_array).cloned();
            for delivery in deliveries.unwrap_or_default() {
                let event = id_millis(&text(&delivery, "/event_id")?).ok_or("an odd event id")?;
                let made = text_millis(&text(&delivery, "/created_at")?).ok_or("an odd time")?;
                // Both are times of a day.
                micros.push((made + DAY - event % DAY) % DAY * 1_000);
            }
            match page.pointer("/page/next_cursor").and_then(Value::as_str) {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        receivers.unsubscribe(self.owner).await?;
        Ok((orders, Measured::of(long, micros)))
    }

    /// The latency of eight healthy receivers of ten: while all ten are healthy, and while one hangs, one is
    /// slow, and fifty subscriptions of another store are slow.
    pub async fn fairness(&mut self, other: &mut Owner) -> Result<[Measured; 2], AnyError> {
        const LONG: Duration = Duration::from_secs(8);
        let mut behaviours = [Behaviour::Prompt; 10];
        let alone = self.latency_of(&behaviours, 10, LONG, 8).await?;
        behaviours[8] = Behaviour::Hang;
        behaviours[9] = Behaviour::Slow(SLOW);
        let mut slow = Receivers::start(4, &[Behaviour::Slow(SLOW)]).await?;
        slow.subscribe(other, "store.updated", 50).await?;
        let rename = |name: &str| Input {
            method: "PATCH",
            path: format!("/v1/stores/{}", other.store),
            body: Some(serde_json::json!({"name": name})),
            ..Input::default()
        };
        let (first, second) = (rename("First"), rename("Second"));
        other.send(first).await?;
        let during = self.latency_of(&behaviours, 10, LONG, 8);
        let alongside = async {
            tokio::time::sleep(LONG / 2).await;
            other.send(second).await
        };
        let (during, renamed) = tokio::join!(during, alongside);
        renamed?;
        Ok([alone, during?])
    }
}

/// When orders were accepted.
#[derive(Clone, Default)]
struct Accepted(Arc<Mutex<HashMap<String, Instant>>>);

impl Accepted {
    /// Notes each order that a response contains.
    fn note(&self) -> impl Fn(Reply, Instant) + Clone + Send + 'static {
        let accepted = self.clone();
        move |reply, at| {
            if let Ok(order) = reply.json().and_then(|order| text(&order, "/order/id")) {
                accepted.lock().insert(order, at);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> usize {
        self.lock().len()
    }

    /// Microseconds until the arrivals at the first `counted` receivers. Says how many are missing.
    fn until_arrivals(&self, receivers: &Receivers, counted: usize) -> Vec<u64> {
        let accepted = self.lock();
        let arrivals = receivers.arrivals();
        let at_counted = arrivals.iter().filter(|((_, receiver), _)| *receiver < counted);
        let late = at_counted.filter_map(|((order, _), at)| {
            let late = at.saturating_duration_since(*accepted.get(order)?);
            u64::try_from(late.as_micros()).ok()
        });
        let late: Vec<u64> = late.collect();
        let expected = accepted.len() * counted;
        if late.len() < expected {
            eprintln!("{} of {expected} deliveries had not arrived", expected - late.len());
        }
        late
    }
}

const DAY: u64 = 86_400_000;

/// The milliseconds since 1970 at the beginning of an id.
fn id_millis(id: &str) -> Option<u64> {
    let (_, digits) = id.split_once('_')?;
    u64::from_str_radix(digits.get(..12)?, 16).ok()
}

/// The milliseconds of the day of a time like `2026-11-22T03:02:50.043Z`.
fn text_millis(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (hours, minutes) = (number(11, 13)?, number(14, 16)?);
    let (seconds, millis) = (number(17, 19)?, number(20, 23)?);
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000 + millis)
}
