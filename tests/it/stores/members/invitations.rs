//! Invitations: whom they let in, how often, and until when.

use support::clock::{DAY, HOUR};
use support::{Client, Merchant, json, race, unique};

use super::{Team, accept};

#[tokio::test]
async fn an_invitation_is_accepted_once_by_its_invitee() {
    let team = Team::open().await;
    let ann = Merchant::sign_up(&team.gateway).await;
    let input =
        json!({"email": ann.email, "role": "staff", "scopes": "write_orders read_products"});
    let invited = team.invite(&team.owner, input).await.expect(201);
    assert_eq!((invited.str("/status"), invited.str("/role")), ("invited".into(), "staff".into()));
    assert_eq!(invited.at("/scopes"), &json!(["read_products", "write_orders"]));
    assert!(!invited.text.contains("digest") && invited.at("/merchant_id").is_null());
    let token = team.token(&ann.email).await;
    let bob = team.somebody().await;
    accept(&bob, &token).await.expect(403).problem("not_invited");
    accept(&ann, &token).await.expect(403).problem("email_unverified");
    team.look(&ann).await.expect(404);
    ann.prove(&team.gateway).await;
    let answers = race(10, || accept(&ann, &token)).await;
    let joined: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(joined.len(), 1, "{answers:?}");
    assert_eq!(joined[0].str("/id"), invited.str("/id"));
    assert_eq!(
        (joined[0].str("/status"), joined[0].str("/merchant_id")),
        ("active".into(), ann.id.clone())
    );
    let late = accept(&ann, &token).await.expect(400);
    late.problem("invalid_or_expired_token");
    accept(&bob, &token).await.expect(400);
    for (name, count) in [("member.invited", 1), ("member.joined", 1)] {
        assert_eq!(team.gateway.events(name).await.len(), count, "{name}");
    }
}

#[tokio::test]
async fn store_lists_include_the_members_role() {
    let team = Team::open().await;
    let (ann, _) = team.join(json!({"role": "read_only"})).await;
    let own = ann.open_store().await;
    let session = ann.get("/v1/auth/custom/session").await.expect(200);
    let expected = |id: &str, subdomain: &str, role: &str| json!({"id": id, "subdomain": subdomain, "role": role});
    let both = json!([
        expected(&own.id, &own.subdomain, "owner"),
        expected(&team.store.id, &team.store.subdomain, "read_only"),
    ]);
    assert_eq!(session.at("/stores"), &both);
    let mut listed = Vec::new();
    let mut path = "/v1/stores?limit=1".to_owned();
    loop {
        let page = ann.get(&path).await.expect(200);
        listed.extend(page.data().iter().map(|it| (it["id"].clone(), it["role"].clone())));
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { break };
        path = format!("/v1/stores?limit=1&cursor={cursor}");
    }
    assert_eq!(
        listed,
        [(json!(own.id), json!("owner")), (json!(team.store.id), json!("read_only"))]
    );
    let alone = team.owner.get("/v1/stores").await.expect(200);
    assert_eq!((alone.data().len(), alone.str("/data/0/role")), (1, "owner".to_owned()));
    // Whoever is a member of one store alone need not name it.
    let (bob, _) = team.join(json!({"role": "read_only"})).await;
    bob.get("/v1/products").await.expect(200);
    ann.get("/v1/products").await.expect(400).problem("store_required");
}

#[tokio::test]
async fn an_invitation_ends_by_expiry_replacement_or_withdrawal() {
    let team = Team::open().await;
    let ann = team.somebody().await;
    let input = json!({"email": ann.email, "role": "admin"});
    let first = team.invite(&team.owner, input.clone()).await.expect(201);
    let old = team.token(&ann.email).await;
    let ask_again = json!({"email": ann.email.to_uppercase(), "role": "read_only"});
    let again = team.invite(&team.owner, ask_again).await.expect(201);
    assert_eq!((again.str("/id"), again.int("/version")), (first.str("/id"), 2));
    assert_eq!(team.people(&team.owner).await.len(), 2, "one invitation for an address");
    let second = team.gateway.mailbox(&ann.email).nth(3).await.text;
    let new = second.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    assert_ne!(new, old);
    accept(&ann, &old).await.expect(400).problem("invalid_or_expired_token");
    team.gateway.advance(7 * DAY);
    let owner = team.owner.sign_in_again().await;
    let ann = ann.sign_in_again().await;
    accept(&ann, new).await.expect(400).problem("invalid_or_expired_token");
    let people = team.people(&owner).await;
    assert_eq!(people[1].1, "expired");
    team.invite(&owner, input).await.expect(201);
    let third = team.gateway.mailbox(&ann.email).nth(4).await.text;
    let third = third.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    let one = team.path(&format!("/{}", first.str("/id")));
    let stale = owner.delete(&one).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    owner.delete(&one).await.expect(204);
    owner.delete(&one).await.expect(404);
    accept(&ann, third).await.expect(400).problem("invalid_or_expired_token");
    team.look(&ann).await.expect(404);
    assert_eq!(team.people(&owner).await.len(), 1);
    assert_eq!(team.gateway.events("member.removed").await.len(), 1);
}

#[tokio::test]
async fn parallel_invitations_of_an_address_create_one() {
    let team = Team::open().await;
    let ann = team.somebody().await;
    let input = json!({"email": ann.email, "role": "admin"});
    let answers = race(6, || team.invite(&team.owner, input.clone())).await;
    let ids: std::collections::BTreeSet<String> =
        answers.iter().filter(|it| it.status == 201).map(|it| it.str("/id")).collect();
    assert_eq!(ids.len(), 1, "{answers:?}");
    assert_eq!(team.people(&team.owner).await.len(), 2);
    let (bob, _) = team.join(json!({"role": "admin"})).await;
    for (by, address) in [(&team.owner, &bob.email), (&bob, &team.owner.email)] {
        let again = team.invite(by, json!({"email": address, "role": "read_only"})).await;
        again.expect(409).problem("already_member");
    }
}

#[tokio::test]
async fn a_repeated_idempotency_key_mails_one_invitation() {
    let team = Team::open().await;
    let input = json!({"email": format!("{}@example.com", unique("asked")), "role": "admin"});
    let invite = || team.owner.post(&team.path("")).json(input.clone()).key("the-same");
    let (first, again) = (invite().await.expect(201), invite().await.expect(201));
    assert_eq!(
        (first.text, again.header("idempotent-replayed")),
        (again.text.clone(), Some("true"))
    );
    team.gateway.quiet().await;
    let mailbox = team.gateway.mailbox(input["email"].as_str().unwrap());
    mailbox.nth(1).await;
    assert_eq!(mailbox.mails().len(), 1);
}

#[tokio::test]
async fn an_invitation_requires_role_address_and_a_verified_inviter() {
    let team = Team::open().await;
    for (input, field_errors) in [
        (json!({}), vec![("/email", "required"), ("/role", "required")]),
        (
            json!({"email": "ann", "role": "staff"}),
            vec![("/email", "invalid_email"), ("/scopes", "required")],
        ),
        (
            json!({"email": "ann@example.com", "role": "admin", "scopes": ["read_orders"]}),
            vec![("/scopes", "scopes_not_allowed")],
        ),
        (
            json!({"email": "ann@example.com", "role": "staff", "scopes": "read_everything"}),
            vec![("/scopes", "invalid_scope")],
        ),
    ] {
        let rejected = team.invite(&team.owner, input.clone()).await.expect(422);
        let mut told = rejected.field_errors();
        told.sort();
        let field_errors: Vec<_> =
            field_errors.iter().map(|(at, code)| ((*at).to_owned(), (*code).to_owned())).collect();
        assert_eq!(told, field_errors, "{input}");
    }
    let unproven = Merchant::sign_up(&team.gateway).await;
    let store = unproven.open_store().await;
    let path = format!("/v1/stores/{}/members", store.id);
    let input = json!({"email": "ann@example.com", "role": "admin"});
    unproven.post(&path).json(input).await.expect(403).problem("email_unverified");
    assert_eq!(team.gateway.events("member.invited").await.len(), 0);
    assert!(team.gateway.items_of("members", "STO#").await.is_empty());
}

#[tokio::test]
async fn guesses_of_invitation_tokens_are_rate_limited() {
    let team = Team::open().await;
    let guesser = team.somebody().await;
    let elsewhere: Client = guesser.elsewhere();
    let digits = team.store.id.trim_start_matches("sto_");
    for n in 0..25 {
        let token = if n % 2 == 0 { format!("{digits}{}", "a".repeat(32)) } else { "x".into() };
        accept(&elsewhere.elsewhere(), &token)
            .await
            .expect(400)
            .problem("invalid_or_expired_token");
    }
    let late = accept(&elsewhere, "x").await.expect(429).problem("too_many_attempts");
    assert!(late.header("retry-after").is_some());
    team.gateway.advance(HOUR);
    accept(&elsewhere, "x").await.expect(400);
}
