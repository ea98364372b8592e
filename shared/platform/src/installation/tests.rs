//! Tests of the conditions that admit a token, and of the number of stored tokens.

use std::time::Duration;

use core_types::event::EXAMPLE_TIME as NOW;
use primitives::clock::MINUTE;

use super::*;
use crate::app::draft;

fn token(number: usize) -> AppToken {
    let minutes = u32::try_from(number).unwrap().saturating_add(1);
    AppToken {
        digest: format!("t{number}"),
        installation_id: active().id,
        session_id: None,
        merchant_id: None,
        scopes: Scopes::default(),
        generation: 1,
        revoked: false,
        expires_at: NOW.plus(MINUTE.saturating_mul(minutes)),
        created_at: NOW,
        version: 1,
    }
}

fn active() -> Installation {
    let (store, merchant) = (StoreId::derive(&["s"]), MerchantId::derive(&["m"]));
    let begun = Installation::begin(&draft(), &store, &merchant, NOW);
    Installation { status: InstallationStatus::Active, ..begun }
}

#[test]
fn a_token_is_rejected_if_any_one_condition_fails() {
    let good = token(0);
    let known = active().record(&good, NOW);
    assert!(known.admit(&good, NOW).is_ok());
    let last = good.expires_at.millis() - 1;
    assert!(known.admit(&good, Timestamp::from_millis(last)).is_ok(), "its last millisecond");
    assert!(known.admit(&good, good.expires_at).is_err());
    let other = InstallationId::derive(&["other"]);
    for bad in [
        AppToken { revoked: true, ..good.clone() },
        AppToken { generation: 2, ..good.clone() },
        AppToken { installation_id: other, ..good.clone() },
        AppToken { digest: "unknown".into(), ..good.clone() },
    ] {
        assert_eq!(known.admit(&bad, NOW).unwrap_err().code, Code::InvalidToken, "{bad:?}");
    }
    for status in [
        InstallationStatus::Pending,
        InstallationStatus::Suspended,
        InstallationStatus::Uninstalled,
    ] {
        let inactive = Installation { status, ..known.clone() };
        assert!(inactive.admit(&good, NOW).is_err(), "{status}");
    }
    assert!(known.revoke_tokens(NOW).unwrap().admit(&good, NOW).is_err());
    // An embedded token lives by its own item and its session, not by the list.
    let session_id = Some(SessionId::derive(&["ses"]));
    let embedded = AppToken { digest: "page".into(), session_id, ..good };
    assert!(known.admit(&embedded, NOW).is_ok());
}

#[test]
fn an_installation_stores_its_twenty_newest_tokens() {
    let mut known = active();
    for number in 0..20 {
        known = known.record(&token(number), NOW);
    }
    assert!((0..20).all(|number| known.admit(&token(number), NOW).is_ok()));
    let one_more = known.record(&token(20), NOW);
    assert!(one_more.admit(&token(0), NOW).is_err(), "the one that ends first gives way");
    assert!((1..=20).all(|number| one_more.admit(&token(number), NOW).is_ok()));
    // Expired tokens take no place.
    let later = NOW.plus(MINUTE + Duration::from_millis(1));
    let roomy = known.record(&token(20), later);
    assert!((1..=20).all(|number| roomy.admit(&token(number), later).is_ok()));
}
