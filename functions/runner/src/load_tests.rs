//! The steps of a load test: some seconds' requests, each at its moment, and how they were answered.
//!
//! Requests go out as clients' do, to the address that clients use, and for each of many shoppers from a
//! network of their own, so that no shopper's budget is what is measured.
//!
//! - *A message twice*: who finds the test leased to another leaves it alone.
//! - *A crash*: the requests of some seconds were made and are not counted; the next step makes them
//!   again. No more is sent than those, and nothing beyond [`LoadTest::ends_by`].

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;
use core_types::end_reason::EndReason;
use core_types::id::LoadTestId;
use core_types::key;
use egress::{Destination, Outgoing};
use futures_util::stream::{FuturesUnordered, StreamExt};
use gateway::bridged;
use http::{HeaderMap, HeaderValue, Method, header};
use platform::authority::Authority;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use reliability::evidence::{Record, append};
use reliability::load_test::{LoadTest, Sample};
use services::Services;
use table::Condition;
use table::canary::CanaryHold;
use tokio::time::Instant;

use crate::shop::{self, Shop};

/// Seconds whose requests are made and counted together.
const AT_ONCE: u64 = 5;
/// How often it is looked whether an operator has ended it.
const LOOK: Duration = Duration::from_secs(1);
/// How long one message stays with a load test.
const STAY: Duration = Duration::from_secs(10);
/// When the next message comes where the canary is not ready.
const LATER: Duration = Duration::from_secs(5);
/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes that are read of an answer.
const MAX_ANSWER: usize = 1 << 20;
/// Networks that shoppers come from: those set aside for such tests (RFC 2544 §C.2.2).
const NETWORKS: u64 = 512;

/// Makes the next seconds' requests; answers with when the next message is to come, if one is.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub(crate) async fn step(
    services: &Services,
    id: &LoadTestId,
) -> Result<Option<Timestamp>, Problem> {
    let Some(mut test) = claim(services, id).await? else { return Ok(None) };
    let operator = Authority::of_operator(&test.requested_by, None);
    if let Some(reason) = operator.lost(services).await? {
        release(services, &revoked(services, &test, reason)).await?;
        return Ok(None);
    }
    let shop = match shop::open(services).await {
        Ok(shop) => shop,
        Err(problem) => {
            tracing::warn!(cause = %problem, test = id.as_str(), "the canary cannot be stocked");
            leave(services, &test).await?;
            return Ok(Some(services.clock.now().plus(LATER)));
        }
    };
    let began = Instant::now();
    while !test.is_done() {
        if began.elapsed() >= STAY {
            leave(services, &test).await?;
            return Ok(Some(services.clock.now()));
        }
        let left = test.profile.duration_s.saturating_sub(test.seconds_done);
        let seconds = left.min(AT_ONCE);
        let asked = tokio::select! {
            asked = ask_for(services, &test, &shop, seconds) => asked,
            // What is under way is given up.
            () = ended(services, &test) => return Ok(None),
            reason = lost(services, &operator) => {
                release(services, &revoked(services, &test, reason)).await?;
                return Ok(None);
            }
        };
        let next = test.with_seconds(seconds, &asked.reads, &asked.checkouts, services.clock.now());
        // Another has ended it, or taken it over.
        if !services.table.put_next(&next).await? {
            return Ok(None);
        }
        test = next;
    }
    let completed = test.completed(services.clock.now());
    let evidence = append(services, Record::of_load_test(&completed)).await?;
    release(services, &completed.stated(evidence.to_string())).await?;
    Ok(None)
}

/// Ends a load test that has met an error that it would meet again; the canary is free then.
///
/// # Errors
/// `version_conflict` when somebody else has written it; 503 when the table cannot be reached.
pub(crate) async fn give_up(services: &Services, id: &LoadTestId) -> Result<(), Problem> {
    let found = services.table.get::<LoadTest>(&key::load_test(id)).await?;
    let Some(test) = found.filter(|test| !test.status.is_final()) else { return Ok(()) };
    let why = "it met an error that it would meet again";
    release(services, &test.failed(why, services.clock.now())).await
}

fn revoked(services: &Services, test: &LoadTest, reason: EndReason) -> LoadTest {
    test.aborted_because(&format!("aborted: {reason}"), services.clock.now())
}

/// Waits until whoever asked for the load test may do so no longer.
async fn lost(services: &Services, operator: &Authority) -> EndReason {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Ok(Some(reason)) = operator.lost(services).await {
            return reason;
        }
    }
}

/// The load test, taken up; none when it is over, or another is at it, or its time is.
async fn claim(services: &Services, id: &LoadTestId) -> Result<Option<LoadTest>, Problem> {
    let found: Option<LoadTest> = services.table.get(&key::load_test(id)).await?;
    let Some(found) = found else { return Ok(None) };
    let now = services.clock.now();
    if found.status.is_final() || found.is_leased(now) {
        return Ok(None);
    }
    if now >= found.ends_by() {
        release(services, &found.failed("it stood still for too long", now)).await?;
        return Ok(None);
    }
    let claimed = found.claimed(now);
    Ok(services.table.put_next(&claimed).await?.then_some(claimed))
}

async fn leave(services: &Services, test: &LoadTest) -> Result<(), Problem> {
    services.table.put_next(&test.left(services.clock.now())).await.map(drop)
}

/// The load test, over, and the canary for whoever wants it next.
async fn release(services: &Services, over: &LoadTest) -> Result<(), Problem> {
    let write = services.table.write().replace(over, Code::VersionConflict);
    let is_ours = Condition::is("run_id", over.id.as_str());
    let released = write.delete_if(&CanaryHold::place(), is_ours, Code::VersionConflict);
    match released.commit().await {
        Err(problem) if problem.code == Code::VersionConflict => {
            services.table.put_next(over).await.map(drop)
        }
        outcome => outcome,
    }
}

/// How requests were answered.
#[derive(Debug, Default)]
struct Asked {
    reads: Vec<Sample>,
    checkouts: Vec<Sample>,
}

/// Waits until the load test is another's, or over.
async fn ended(services: &Services, test: &LoadTest) {
    loop {
        tokio::time::sleep(LOOK).await;
        let found = services.table.get::<LoadTest>(&key::load_test(&test.id)).await;
        if found.is_ok_and(|found| found.is_none_or(|found| found.version != test.version)) {
            return;
        }
    }
}

/// The requests of the next seconds, each at its moment whatever becomes of those before it.
async fn ask_for(services: &Services, test: &LoadTest, shop: &Shop, seconds: u64) -> Asked {
    let rate = test.profile.requests_per_second;
    let first = test.seconds_done.saturating_mul(rate);
    let began = Instant::now();
    let mut under_way = FuturesUnordered::new();
    for place in 0..rate.saturating_mul(seconds) {
        let number = first.saturating_add(place);
        let is_checkout = test.profile.is_checkout(number);
        let micros = place.saturating_mul(1_000_000).checked_div(rate).unwrap_or(0);
        let at = began.checked_add(Duration::from_micros(micros)).unwrap_or(began);
        under_way.push(async move {
            tokio::time::sleep_until(at).await;
            (is_checkout, visit(services, shop, &test.id, number, is_checkout).await)
        });
    }
    let mut asked = Asked::default();
    while let Some((is_checkout, sample)) = under_way.next().await {
        if is_checkout { asked.checkouts.push(sample) } else { asked.reads.push(sample) }
    }
    let end = began.checked_add(Duration::from_secs(seconds)).unwrap_or(began);
    tokio::time::sleep_until(end).await;
    asked
}

/// One request, and how it was answered.
async fn visit(
    services: &Services,
    shop: &Shop,
    test: &LoadTestId,
    number: u64,
    is_checkout: bool,
) -> Sample {
    let began = Instant::now();
    let answer = match request(services, shop, test, number, is_checkout).await {
        Ok(request) => services.egress.send_pooled(request).await.ok(),
        Err(problem) => {
            tracing::warn!(cause = %problem, "a request cannot be made");
            None
        }
    };
    let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    let Some(answer) = answer else {
        return Sample { status: None, micros, points: 0, unit_tenths: 0 };
    };
    let text = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
    let points = text("x-service-cost-actual").and_then(|text| text.parse().ok()).unwrap_or(0);
    let unit_tenths = text("server-timing").and_then(unit_tenths).unwrap_or(0);
    Sample { status: Some(answer.status), micros, points, unit_tenths }
}

async fn request(
    services: &Services,
    shop: &Shop,
    test: &LoadTestId,
    number: u64,
    is_checkout: bool,
) -> Result<Outgoing, Problem> {
    let mut headers = HeaderMap::new();
    bridged::vouch(services, Some(network(number)), &mut headers).await?;
    let (method, path, body) = if is_checkout {
        let key = HeaderValue::from_str(&format!("{test}-{number}")).map_err(Problem::internal)?;
        headers.insert("idempotency-key", key);
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        (Method::POST, shop.orders(), Bytes::from(shop.cart(number).to_string()))
    } else {
        (Method::GET, shop.page(number), Bytes::new())
    };
    let url = format!("{}{path}", *services.config.base_url);
    let destination = Destination::parse(&url, services.egress.policy())
        .map_err(|rejection| Problem::internal(format!("{url}: {rejection}")))?;
    let (deadline, max_body) = (DEADLINE, MAX_ANSWER);
    Ok(Outgoing { method, destination, headers, body, deadline, max_body })
}

/// From where the shopper of this request comes: 198.18.0.0/15, a network each.
fn network(number: u64) -> IpAddr {
    let shopper = number.rem_euclid(NETWORKS);
    let half = u8::try_from(shopper.div_euclid(256)).unwrap_or(0);
    let third = u8::try_from(shopper.rem_euclid(256)).unwrap_or(0);
    IpAddr::V4(Ipv4Addr::new(198, 18_u8.saturating_add(half), third, 1))
}

/// The capacity units that `Server-Timing` says, in tenths.
fn unit_tenths(timing: &str) -> Option<u64> {
    let (_, said) = timing.split_once("tenths=")?;
    let digits: String = said.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shoppers_come_from_networks_of_their_own_and_units_are_read() {
        let timing = "table;desc=\"trips=2\", capacity;desc=\"tenths=35\", total;dur=4";
        assert_eq!((unit_tenths(timing), unit_tenths("total;dur=4")), (Some(35), None));
        let all: std::collections::BTreeSet<IpAddr> = (0..NETWORKS).map(network).collect();
        assert_eq!(all.len(), 512);
        assert_eq!(network(0), network(NETWORKS));
        let text: Vec<String> = [255, 256].map(network).iter().map(IpAddr::to_string).collect();
        assert_eq!(text, ["198.18.255.1", "198.19.0.1"]);
    }
}
