//! The steps of a load test: each sends the requests of some seconds, at their scheduled moments, and
//! records the responses.
//!
//! Requests are sent like those of clients, to the address that clients use. Many shoppers have networks
//! of their own, so that the test does not measure the budget of one shopper.
//!
//! - *A message twice*: a worker that finds the test leased to another ignores the message.
//! - *A crash*: the requests of some seconds were sent but not counted; the next step sends them again.
//!   No more than those are repeated, and nothing is sent after [`LoadTest::ends_by`].

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

/// The number of seconds whose requests are sent and counted together.
const AT_ONCE: u64 = 5;
/// The time between checks whether an operator has ended it.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time that one message works on a load test.
const STAY: Duration = Duration::from_secs(10);
/// The delay of the next message when the canary is not ready.
const LATER: Duration = Duration::from_secs(5);
/// The time limit of a request.
const DEADLINE: Duration = Duration::from_secs(5);
/// The largest part of a response that is read, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The number of networks that shoppers come from: those reserved for such tests (RFC 2544 §C.2.2).
const NETWORKS: u64 = 512;

/// Sends the requests of the next seconds. Returns when the next message is due; none when the test has
/// ended.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub(crate) async fn step(
    services: &Services,
    id: &LoadTestId,
) -> Result<Option<Timestamp>, Problem> {
    let Some(mut test) = claim(services, id).await? else { return Ok(None) };
    let operator = Authority::of_operator(&test.requested_by, None);
    if let Some(reason) = operator.revocation(services).await? {
        release(services, &revoked(services, &test, reason)).await?;
        return Ok(None);
    }
    let shop = match shop::open(services).await {
        Ok(shop) => shop,
        Err(problem) => {
            tracing::warn!(
                cause = %problem, load_load_load_load_test = id.as_str(),
                "load test postponed: the canary store could not be prepared"
            );
            release_canary(services, &test).await?;
            return Ok(Some(services.clock.now().plus(LATER)));
        }
    };
    let began = Instant::now();
    while !test.is_done() {
        if began.elapsed() >= STAY {
            release_canary(services, &test).await?;
            return Ok(Some(services.clock.now()));
        }
        let left = test.profile.duration_s.saturating_sub(test.seconds_done);
        let seconds = left.min(AT_ONCE);
        let samples = tokio::select! {
            samples = send_requests(services, &test, &shop, seconds) => samples,
            // Requests under way are dropped.
            () = ended(services, &test) => return Ok(None),
            reason = authority_revoked(services, &operator) => {
                release(services, &revoked(services, &test, reason)).await?;
                return Ok(None);
            }
        };
        let next =
            test.with_seconds(seconds, &samples.reads, &samples.checkouts, services.clock.now());
        // It was ended, or another worker has taken it over.
        if !services.table.put_next(&next).await? {
            return Ok(None);
        }
        test = next;
    }
    let completed = test.completed(services.clock.now());
    let evidence = append(services, Record::of_load_test(&completed)).await?;
    release(services, &completed.with_evidence(evidence.to_string())).await?;
    Ok(None)
}

/// Ends a load test after a permanent error, and releases the canary.
///
/// # Errors
/// `version_conflict` when the test was written meanwhile; 503 when the table cannot be reached.
pub(crate) async fn fail(services: &Services, id: &LoadTestId) -> Result<(), Problem> {
    let found = services.table.get::<LoadTest>(&key::load_test(id)).await?;
    let Some(test) = found.filter(|test| !test.status.is_final()) else { return Ok(()) };
    let why = "it met a permanent error";
    release(services, &test.failed(why, services.clock.now())).await
}

fn revoked(services: &Services, test: &LoadTest, reason: EndReason) -> LoadTest {
    test.aborted_because(&format!("aborted: {reason}"), services.clock.now())
}

/// Waits until the operator has lost the authority for the load test.
async fn authority_revoked(services: &Services, operator: &Authority) -> EndReason {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        if let Ok(Some(reason)) = operator.revocation(services).await {
            return reason;
        }
    }
}

/// Claims the load test; none when it has ended, another worker has it, or its time is over.
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

async fn release_canary(services: &Services, test: &LoadTest) -> Result<(), Problem> {
    services.table.put_next(&test.released(services.clock.now())).await.map(drop)
}

/// Saves the ended load test, and releases the canary.
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

/// The samples of the requests sent.
#[derive(Debug, Default)]
struct Samples {
    reads: Vec<Sample>,
    checkouts: Vec<Sample>,
}

/// Waits until the load test was ended, or taken over by another worker.
async fn ended(services: &Services, test: &LoadTest) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let found = services.table.get::<LoadTest>(&key::load_test(&test.id)).await;
        if found.is_ok_and(|found| found.is_none_or(|found| found.version != test.version)) {
            return;
        }
    }
}

/// Sends the requests of the next seconds, each at its scheduled moment, independent of earlier ones.
async fn send_requests(services: &Services, test: &LoadTest, shop: &Shop, seconds: u64) -> Samples {
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
    let mut samples = Samples::default();
    while let Some((is_checkout, sample)) = under_way.next().await {
        if is_checkout { samples.checkouts.push(sample) } else { samples.reads.push(sample) }
    }
    let end = began.checked_add(Duration::from_secs(seconds)).unwrap_or(began);
    tokio::time::sleep_until(end).await;
    samples
}

/// Sends one request, and measures its response.
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
            tracing::warn!(
                cause = %problem, load_load_load_load_test = test.as_str(),
                "request of a load test could not be built"
            );
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

/// The address of this request's shopper: each has a network of 198.18.0.0/15.
fn network(number: u64) -> IpAddr {
    let shopper = number.rem_euclid(NETWORKS);
    let half = u8::try_from(shopper.div_euclid(256)).unwrap_or(0);
    let third = u8::try_from(shopper.rem_euclid(256)).unwrap_or(0);
    IpAddr::V4(Ipv4Addr::new(198, 18_u8.saturating_add(half), third, 1))
}

/// The capacity units from `Server-Timing`, in tenths.
fn unit_tenths(timing: &str) -> Option<u64> {
    let (_, said) = timing.split_once("tenths=")?;
    let digits: String = said.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shoppers_have_networks_of_their_own_and_units_are_parsed() {
        let timing = "table;desc=\"trips=2\", capacity;desc=\"tenths=35\", total;dur=4";
        assert_eq!((unit_tenths(timing), unit_tenths("total;dur=4")), (Some(35), None));
        let all: std::collections::BTreeSet<IpAddr> = (0..NETWORKS).map(network).collect();
        assert_eq!(all.len(), 512);
        assert_eq!(network(0), network(NETWORKS));
        let text: Vec<String> = [255, 256].map(network).iter().map(IpAddr::to_string).collect();
        assert_eq!(text, ["198.18.255.1", "198.19.0.1"]);
    }
}
