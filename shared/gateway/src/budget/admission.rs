//! Recent decisions about callers in the memory of a process, which save reads of the table: networks
//! that used up the points for rejections, and credentials and storefronts that were valid a moment
//! ago.
//!
//! Nothing here admits anybody. A closed network is rejected before any read. A caller who was admitted
//! from it a moment ago is not, and is authenticated as usual.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::header;

use crate::request::Inbound;
use crypto::seal;

/// The most entries of each kind (our choice). When all of them are still valid, all are removed.
const MAX_ENTRIES: usize = 10_000;
/// The time for which an admitted caller is still accepted from a closed network, in microseconds. It
/// covers an admin's or a shopper's page that lies idle.
const KNOWN_FOR: i64 = 5 * 60 * 1_000_000;

/// The memory of a process.
#[derive(Debug, Default)]
pub struct Admissions(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// By network: when a rejection can be paid for again.
    closed: HashMap<String, i64>,
    /// By credential: the time until which it is remembered.
    known: HashMap<String, i64>,
}

impl Admissions {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that a network cannot pay for a rejection before `until`.
    pub(super) fn close(&self, network: &str, until: i64, now: i64) {
        remember(&mut self.memory().closed, network, until, now);
    }

    /// The microseconds for which a network stays closed to this credential; none when it is open.
    pub(super) fn wait(&self, network: &str, credential: Option<&str>, now: i64) -> Option<i64> {
        let memory = self.memory();
        let until = memory.closed.get(network).copied().filter(|until| now < *until)?;
        let known = credential.and_then(|credential| memory.known.get(credential));
        if known.is_some_and(|until| now < *until) {
            return None;
        }
        Some(until.saturating_sub(now))
    }

    /// Remembers that a caller with this credential was admitted.
    pub(super) fn remember_caller(&self, credential: &str, now: i64) {
        remember(&mut self.memory().known, credential, now.saturating_add(KNOWN_FOR), now);
    }

    /// Forgets a credential that was rejected.
    pub(super) fn forget(&self, credential: &str) {
        self.memory().known.remove(credential);
    }
}

/// Remembers a time by a name until it has passed.
fn remember(entries: &mut HashMap<String, i64>, name: &str, until: i64, now: i64) {
    if entries.len() >= MAX_ENTRIES && !entries.contains_key(name) {
        entries.retain(|_, until| now < *until);
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
    }
    entries.insert(name.to_owned(), until);
}

/// The mark by which a request's sender may be known: the digest of its credential or, without one, the
/// storefront it is for.
pub(super) fn presented_credential(inbound: &Inbound) -> Option<String> {
    let credential = inbound.header(header::AUTHORIZATION.as_str());
    let credential = credential.or_else(|| inbound.header(header::COOKIE.as_str()));
    let storefront = || inbound.param("subdomain").map(|name| format!("at {name}"));
    credential.map(seal::digest).or_else(storefront)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_network_is_closed_until_it_can_pay_and_to_whom_it_does_not_know() {
        let keeper = Admissions::default();
        assert_eq!(keeper.wait("net", None, 0), None);
        keeper.close("net", 1_000, 0);
        assert_eq!(keeper.wait("net", None, 0), Some(1_000));
        assert_eq!(keeper.wait("net", Some("card"), 999), Some(1));
        assert_eq!(keeper.wait("net", None, 1_000), None);
        assert_eq!(keeper.wait("elsewhere", None, 0), None);
        keeper.remember_caller("card", 0);
        assert_eq!(keeper.wait("net", Some("card"), 999), None);
        keeper.forget("card");
        assert_eq!(keeper.wait("net", Some("card"), 999), Some(1));
    }

    #[test]
    fn an_admitted_caller_is_remembered_for_five_minutes() {
        let keeper = Admissions::default();
        keeper.remember_caller("card", 0);
        keeper.close("net", i64::MAX, 0);
        assert_eq!(keeper.wait("net", Some("card"), KNOWN_FOR - 1), None);
        assert!(keeper.wait("net", Some("card"), KNOWN_FOR).is_some());
    }

    #[test]
    fn it_never_grows_beyond_its_bound() {
        let keeper = Admissions::default();
        for number in 0..MAX_ENTRIES + 5 {
            keeper.close(&number.to_string(), i64::MAX, 0);
        }
        assert_eq!(keeper.memory().closed.len(), 5);
        // What has passed goes first.
        for number in 0..MAX_ENTRIES - 5 {
            keeper.close(&format!("old {number}"), 1, 0);
        }
        keeper.close("new", i64::MAX, 1);
        assert_eq!(keeper.memory().closed.len(), 6);
    }

    #[test]
    fn an_admitted_caller_is_identified_by_credential_or_else_by_storefront() {
        use crate::row::Access;
        use crate::row::Row;
        let presented_by = |headers: &[(&str, &str)], subdomain: Option<&str>| {
            let mut request = http::Request::builder().uri("/v1/x");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let params = subdomain.map(|name| ("subdomain".to_owned(), name.to_owned()));
            let row = Row::example(parts.method.clone(), "/v1/x", Access::Public);
            presented_credential(&Inbound::new(
                &parts,
                bytes::Bytes::new(),
                params.into_iter().collect(),
                row,
            ))
        };
        let bearer = presented_by(&[("authorization", "Bearer a")], Some("shop"));
        assert_eq!(bearer, Some(seal::digest("Bearer a")));
        assert_eq!(presented_by(&[("cookie", "s=1")], None), Some(seal::digest("s=1")));
        assert_eq!(presented_by(&[], Some("shop")), Some("at shop".into()));
        assert_eq!(presented_by(&[], None), None);
        let both = presented_by(&[("authorization", "Bearer a"), ("cookie", "s=1")], None);
        assert_eq!(both, bearer);
    }

    #[test]
    fn renewing_an_admission_evicts_no_other() {
        let keeper = Admissions::default();
        for number in 0..MAX_ENTRIES {
            keeper.close(&number.to_string(), i64::MAX, 0);
        }
        keeper.close("0", 5, 0);
        assert_eq!(keeper.memory().closed.len(), MAX_ENTRIES);
        // What ends at this moment has passed.
        keeper.close("new", i64::MAX, 5);
        assert_eq!(keeper.memory().closed.len(), MAX_ENTRIES);
    }
}
