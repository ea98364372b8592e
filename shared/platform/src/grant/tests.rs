//! Tests of the bounds of codes and grants.

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn grant() -> Grant {
    Grant {
        access_tokens: BTreeMap::new(),
        current: vec!["r1".into()],
        previous: None,
        previous_until: None,
        revoked_at: None,
        expires_at: NOW.plus(GRANT_LIFETIME),
        created_at: NOW,
    }
}

#[test]
fn the_rfc_7636_example_verifies() {
    let challenge = CodeChallenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".into());
    assert!(challenge.is_met_by("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
    assert!(!challenge.is_met_by("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
    assert!(!challenge.is_met_by("short"));
    for bad in [
        "",
        "plain",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN",
    ] {
        assert!(CodeChallenge::from_text(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_used_refresh_token_is_a_replay_once_its_successor_is_used() {
    let first = grant();
    assert_eq!(first.present("r1", NOW), RefreshOutcome::Rotate);
    let mut second = first.rotated("r1", RefreshOutcome::Rotate, NOW);
    second.current.push("r2".into());
    // The response was lost: a repetition within the overlap gets another successor.
    let soon = NOW.plus(MINUTE);
    assert_eq!(second.present("r1", soon), RefreshOutcome::Repeat);
    assert_eq!(second.present("r1", NOW.plus(ROTATION_OVERLAP)), RefreshOutcome::Replay);
    // The successor is used: its predecessor is dead.
    let mut third = second.rotated("r2", RefreshOutcome::Rotate, soon);
    third.current.push("r3".into());
    assert_eq!(third.present("r1", soon), RefreshOutcome::Replay);
    assert_eq!(third.present("r2", soon), RefreshOutcome::Repeat);
    assert_eq!(third.revoked(soon).present("r3", soon), RefreshOutcome::Reject);
    assert_eq!(third.present("r3", NOW.plus(GRANT_LIFETIME)), RefreshOutcome::Reject);
}

const MILLI: Duration = Duration::from_millis(1);

fn code() -> AuthorizationCode {
    AuthorizationCode {
        digest: "d".into(),
        client_id: "cli_1".into(),
        app_id: AppId::derive(&["a"]),
        store_id: StoreId::derive(&["s"]),
        installation_id: InstallationId::derive(&["i"]),
        generation: 1,
        merchant_id: MerchantId::derive(&["m"]),
        redirect_digest: seal::digest("https://a.example/cb"),
        challenge: None,
        scopes: Scopes::default(),
        state: CodeState::Issued,
        grant: None,
        expires_at: NOW.plus(AUTHORIZATION_CODE_LIFETIME),
        created_at: NOW,
        version: 1,
    }
}

#[test]
fn a_code_can_be_redeemed_for_900_seconds() {
    let end = NOW.plus(Duration::from_mins(15));
    assert!(
        code().is_open(NOW)
            && code().is_open(NOW.plus(AUTHORIZATION_CODE_LIFETIME.saturating_sub(MILLI)))
    );
    assert!(!code().is_open(end) && !code().is_open(end.plus(MILLI)));
}

#[test]
fn a_redeemed_code_cannot_be_redeemed_again() {
    let redeemed = AuthorizationCode { state: CodeState::Redeemed, ..code() };
    assert!(
        !redeemed.is_open(NOW)
            && !redeemed.is_open(NOW.plus(AUTHORIZATION_CODE_LIFETIME.saturating_sub(MILLI)))
    );
}

#[test]
fn a_code_requires_its_client_redirect_uri_and_verifier() {
    let verifier = "v".repeat(43);
    let challenge = {
        use sha2::Digest;
        BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier.as_bytes()))
    };
    let challenged = AuthorizationCode { challenge: Some(CodeChallenge(challenge)), ..code() };
    let right = PresentedValues {
        client_id: "cli_1",
        redirect_uri: "https://a.example/cb",
        verifier: Some(&verifier),
    };
    assert!(challenged.validate(right).is_ok());
    for wrong in [
        PresentedValues { client_id: "cli_2", ..right },
        PresentedValues { redirect_uri: "https://a.example/cb/", ..right },
        PresentedValues { verifier: None, ..right },
        PresentedValues { verifier: Some("w"), ..right },
    ] {
        assert_eq!(challenged.validate(wrong).unwrap_err().code, Code::InvalidGrant, "{wrong:?}");
    }
    assert!(code().validate(right).is_err(), "a verifier without a challenge is a downgrade");
    assert!(code().validate(PresentedValues { verifier: None, ..right }).is_ok());
}

#[test]
fn verifiers_have_43_to_128_characters_of_the_unreserved_set() {
    for (verifier, good) in [
        ("v".repeat(42), false),
        ("v".repeat(43), true),
        ("v".repeat(128), true),
        ("v".repeat(129), false),
        (format!("{}-._~", "v".repeat(39)), true),
        (format!("{}+", "v".repeat(42)), false),
    ] {
        use sha2::Digest;
        let digest = sha2::Sha256::digest(verifier.as_bytes());
        let challenge = CodeChallenge(BASE64_URL_SAFE_NO_PAD.encode(digest));
        assert_eq!(challenge.is_met_by(&verifier), good, "{verifier}");
    }
}

#[test]
fn a_grant_can_be_refreshed_for_90_days() {
    let last = NOW.plus((90 * DAY).saturating_sub(MILLI));
    assert_eq!(grant().present("r1", last), RefreshOutcome::Rotate);
    assert_eq!(grant().present("r1", NOW.plus(90 * DAY)), RefreshOutcome::Reject);
    assert_eq!(grant().present("r1", NOW.plus(90 * DAY + MILLI)), RefreshOutcome::Reject);
}

#[test]
fn a_revoked_grant_rejects_every_token_and_detects_no_replay() {
    // Revocation alone: the tokens are still listed.
    let revoked = Grant { revoked_at: Some(NOW), ..grant() };
    assert_eq!(revoked.present("r1", NOW), RefreshOutcome::Reject);
    assert_eq!(revoked.present("other", NOW), RefreshOutcome::Reject);
    assert_eq!(grant().present("other", NOW), RefreshOutcome::Replay);
    // The list alone: nothing says that it is revoked.
    let emptied = Grant { revoked_at: None, ..grant().revoked(NOW) };
    assert_eq!(emptied.present("r1", NOW), RefreshOutcome::Replay);
}

#[test]
fn a_rotated_token_works_for_ten_minutes() {
    let mut rotated = grant().rotated("r1", RefreshOutcome::Rotate, NOW);
    rotated.current.push("r2".into());
    let minutes = Duration::from_mins(10);
    assert_eq!(
        rotated.present("r1", NOW.plus(minutes.saturating_sub(MILLI))),
        RefreshOutcome::Repeat
    );
    assert_eq!(rotated.present("r1", NOW.plus(minutes)), RefreshOutcome::Replay);
    assert_eq!(rotated.present("r1", NOW.plus(minutes + MILLI)), RefreshOutcome::Replay);
    assert_eq!(rotated.present("r2", NOW.plus(minutes)), RefreshOutcome::Rotate);
}

#[test]
fn a_refresh_token_has_at_most_five_successors() {
    let mut rotated = grant().rotated("r1", RefreshOutcome::Rotate, NOW);
    for successor in 1..=5 {
        rotated.current.push(format!("r1.{successor}"));
        let next = rotated.present("r1", NOW);
        let expected = if successor < 5 { RefreshOutcome::Repeat } else { RefreshOutcome::Reject };
        assert_eq!(next, expected, "{successor} successors");
        let repeated = rotated.rotated("r1", RefreshOutcome::Repeat, NOW.plus(MINUTE));
        assert_eq!(repeated.previous_until, rotated.previous_until, "the overlap is not extended");
    }
}

#[test]
fn a_grant_stores_its_newest_twenty_tokens() {
    let token = |number: usize, until: Timestamp| AppToken {
        digest: format!("t{number}"),
        installation_id: InstallationId::derive(&["i"]),
        session_id: None,
        merchant_id: None,
        scopes: Scopes::default(),
        generation: 1,
        revoked: false,
        expires_at: until,
        created_at: NOW,
        version: 1,
    };
    let (refresh, _) = RefreshToken::mint(&code(), &grant(), NOW);
    let mut known = grant();
    for number in 0..=20 {
        let until = NOW.plus(MINUTE.saturating_mul(u32::try_from(number).unwrap() + 1));
        known = known.record(&token(number, until), &refresh, NOW);
        assert_eq!(known.access_tokens.len(), (number + 1).min(20));
    }
    assert!(!known.access_tokens.contains_key("t0") && known.access_tokens.contains_key("t1"));
    let ended = known.record(&token(99, NOW.plus(DAY)), &refresh, NOW.plus(3 * MINUTE));
    assert!(!ended.access_tokens.contains_key("t2"), "what has ended is forgotten");
    assert!(ended.access_tokens.contains_key("t3"));
}

#[test]
fn a_revoked_grant_has_no_token_left_and_its_code_is_a_new_version() {
    let mut rotated = grant().rotated("r1", RefreshOutcome::Rotate, NOW);
    rotated.access_tokens.insert("t".into(), NOW.plus(DAY));
    rotated.current.push("r2".into());
    let revoked = rotated.revoked(NOW.plus(MINUTE));
    assert_eq!(revoked.revoked_at, Some(NOW.plus(MINUTE)));
    assert!(revoked.access_tokens.is_empty() && revoked.current.is_empty());
    assert_eq!((&revoked.previous, revoked.previous_until), (&None, None));
    let next = code().with_grant(revoked);
    assert_eq!((next.version, next.grant.and_then(|grant| grant.revoked_at).is_some()), (2, true));
}

#[test]
fn the_condition_of_a_redemption_repeats_the_validation() {
    let written = format!("{:?}", code().redemption(&grant(), NOW));
    for condition in [
        "#state = :issued",
        "expires_at > :now",
        "client_id = :client",
        "redirect_digest = :redirect",
        "SET #state = :redeemed, #grant = :grant",
    ] {
        assert!(written.contains(condition), "{condition}: {written}");
    }
}

#[test]
fn a_code_is_stored_until_all_its_tokens_have_expired() {
    let end = NOW.plus(AUTHORIZATION_CODE_LIFETIME);
    assert_eq!(code().forget_at(), Some(end.plus(DAY)));
    let redeemed = AuthorizationCode { state: CodeState::Redeemed, version: 7, ..code() };
    assert_eq!(redeemed.forget_at(), Some(end.plus(91 * DAY)));
    // A code redeemed in its last millisecond is stored as long as the last token of its grant.
    let late = end.minus(MILLI);
    let (refresh, _) = RefreshToken::mint(&code(), &Grant::begin(late), late);
    let refresh = RefreshToken { version: 9, ..refresh };
    assert_eq!(refresh.forget_at(), Some(late.plus(91 * DAY)));
    assert!(refresh.forget_at() <= redeemed.forget_at());
    assert_eq!(refresh.code_digest, code().digest);
    // Each is written under its version.
    assert_eq!((redeemed.version(), refresh.version()), (7, 9));
}
