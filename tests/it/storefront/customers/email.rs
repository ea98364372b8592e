//! A change of address.

use support::clock::MINUTE;
use support::{PASSWORD, Reply, Shopper, Value, json, race, unique};

use super::{Front, at, me, without_ids};

fn new_address() -> String {
    format!("{}@example.com", unique("moved"))
}

async fn request(shopper: &Shopper, email: &str) -> Reply {
    let input = json!({"email": email, "current_password": PASSWORD});
    shopper.patch(&at("/me")).json(input).await
}

/// What verifies a change that was asked for, once its mail has come: the `mails`th to the
/// address.
async fn proof(front: &Front, asked: &Reply, email: &str, mails: usize) -> Value {
    let mail = front.gateway.mailbox(email).nth(mails).await;
    assert_eq!(mail.subject, "Confirm your new e-mail address");
    let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
    json!({"challenge_id": asked.str("/email_change/challenge_id"), "code": code})
}

async fn verify(shopper: &Shopper, proof: &Value) -> Reply {
    shopper.stranger().post(&at("/login/otp/verify")).json(proof.clone()).await
}

async fn log_in(front: &Front, email: &str) -> u16 {
    let input = json!({"subdomain": front.store.subdomain, "email": email, "password": PASSWORD});
    front.gateway.client().post(&at("/login")).json(input).await.status
}

#[tokio::test]
async fn an_email_change_applies_when_the_new_address_is_proven() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let other = shopper.log_in_again(&front.store).await;
    let email = new_address();
    let asked = request(&shopper, &email).await.expect(202);
    assert_eq!(asked.str("/email"), shopper.email);
    assert_eq!(asked.str("/email_change/email"), email);
    assert_eq!(asked.int("/email_change/expires_in"), 600);
    assert_eq!(asked.int("/email_change/resend_after"), 60);
    assert_eq!(asked.int("/version"), 1);
    assert_eq!([log_in(&front, &email).await, log_in(&front, &shopper.email).await], [401, 200]);
    assert_eq!(front.gateway.events("customer.updated").await.len(), 0);

    let proof = proof(&front, &asked, &email, 1).await;
    let moved = verify(&shopper, &proof).await.expect(200);
    assert_eq!(
        (moved.str("/customer/email"), moved.str("/customer/id")),
        (email.clone(), shopper.id.clone())
    );
    assert_eq!(me(&shopper.with_token(&moved.str("/access_token"))).await, 200);
    assert_eq!([log_in(&front, &email).await, log_in(&front, &shopper.email).await], [200, 401]);
    assert_eq!([me(&shopper).await, me(&other).await], [401, 401], "what was before ends");
    verify(&shopper, &proof).await.expect(401).problem("invalid_or_expired_code");
    let updated = front.gateway.events("customer.updated").await;
    assert_eq!((updated.len(), &updated[0]["data"]["email"]), (1, &json!(email)));
    let told = front.gateway.mailbox(&shopper.email).nth(2).await;
    assert_eq!(told.subject, "Your e-mail address was changed");
    assert!(!told.text.contains(&email), "the new address is masked");
    // The former address is somebody else's to take.
    front.gateway.advance(MINUTE);
    let input = json!({
        "subdomain": front.store.subdomain, "email": shopper.email, "password": PASSWORD,
    });
    shopper.stranger().post(&at("/register")).json(input).await.expect(202);
    let mail = front.gateway.mailbox(&shopper.email).nth(3).await;
    assert_eq!(mail.subject, "Confirm your new account");
}

#[tokio::test]
async fn an_email_change_does_not_reveal_a_taken_address() {
    let front = Front::open().await;
    let (shopper, other, owner) =
        (front.shopper().await, front.shopper().await, front.shopper().await);
    let free = request(&shopper, &new_address()).await.expect(202);
    let taken = request(&other, &owner.email.to_uppercase()).await.expect(202);
    let shown = |reply: &Reply| {
        let mut change = without_ids(reply)["email_change"].take();
        change["email"] = json!(null);
        change["challenge_id"] = json!(null);
        change
    };
    assert_eq!(shown(&free), shown(&taken));
    assert_eq!(free.trips(), taken.trips(), "the same work");
    let mail = front.gateway.mailbox(&owner.email).nth(2).await;
    assert_eq!(mail.subject, "Your account stays as it is");
    assert!(!mail.text.contains("Code:"));
    let guess = json!({
        "challenge_id": taken.str("/email_change/challenge_id"), "code": "000000",
    });
    let rejected = verify(&other, &guess).await.expect(401);
    rejected.problem("invalid_or_expired_code");
    assert_eq!(log_in(&front, &owner.email).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_customers_proving_an_address_gets_it() {
    let front = Front::open().await;
    for _ in 0..4 {
        let (one, two) = (front.shopper().await, front.shopper().await);
        let email = new_address();
        let first = request(&one, &email).await.expect(202);
        let first = proof(&front, &first, &email, 1).await;
        let second = request(&two, &email).await.expect(202);
        let second = proof(&front, &second, &email, 2).await;
        let (first, second) = tokio::join!(verify(&one, &first), verify(&two, &second));
        let (won, lost) = if first.status == 200 { (first, second) } else { (second, first) };
        lost.expect(409).problem("email_taken");
        assert_eq!(won.expect(200).str("/customer/email"), email);
        let found = front.owner.get(&format!("/v1/customers?email={email}")).await.expect(200);
        assert_eq!(found.data().len(), 1);
    }
    assert_eq!(front.gateway.events("customer.updated").await.len(), 4);
    assert_eq!(front.gateway.items_of("unique_customer_email", "UQ#").await.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_verifications_of_a_code_apply_one_email_change() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let email = new_address();
    let asked = request(&shopper, &email).await.expect(202);
    let proof = proof(&front, &asked, &email, 1).await;
    let answers = race(25, || verify(&shopper, &proof)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 24);
    assert_eq!(front.gateway.events("customer.updated").await.len(), 1);
}

#[tokio::test]
async fn a_repeated_idempotency_key_requests_one_email_change() {
    let front = Front::open().await;
    let (shopper, owner) = (front.shopper().await, front.shopper().await);
    for (email, mails) in [(new_address(), 1), (owner.email.clone(), 2)] {
        let change = || {
            let input = json!({"email": email, "name": "Cleo", "current_password": PASSWORD});
            shopper.patch(&at("/me")).json(input).key(&email)
        };
        let (first, second) = (change().await.expect(202), change().await.expect(202));
        assert_eq!(first.json, second.json);
        assert_eq!(second.header("idempotent-replayed"), Some("true"));
        front.gateway.mailbox(&email).nth(mails).await;
        // The next of them asks in peace.
        front.gateway.advance(MINUTE);
        assert_eq!(front.gateway.mailbox(&email).mails().len(), mails);
        assert_eq!(first.str("/name"), "Cleo");
    }
    assert_eq!(front.gateway.events("customer.updated").await.len(), 1, "the name, once");
}

#[tokio::test]
async fn an_email_change_requires_the_password_and_is_rate_limited() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let before = front.gateway.count().await;
    let change = |input: Value| shopper.patch(&at("/me")).json(input);
    let alone = change(json!({"email": new_address()})).await.expect(422);
    assert_eq!(alone.field_errors(), [("/current_password".into(), "required".into())]);
    let stale = change(json!({"email": new_address(), "current_password": PASSWORD}));
    stale.if_match("\"9\"").await.expect(412).problem("precondition_failed");
    assert_eq!(front.gateway.count().await, before);
    let wrong = json!({"email": new_address(), "current_password": "not the password"});
    change(wrong).await.expect(401).problem("invalid_credentials");
    // Another case is the same mailbox.
    let same = change(json!({"email": shopper.email.to_uppercase()})).await.expect(200);
    assert_eq!(same.str("/email"), shopper.email.to_uppercase());
    assert_eq!(log_in(&front, &shopper.email).await, 200);

    request(&shopper, &new_address()).await.expect(202);
    let soon = request(&shopper, &new_address()).await.expect(429).problem("too_many_attempts");
    assert_eq!(soon.header("retry-after"), Some("60"));
    front.gateway.advance(MINUTE);
    let asked = request(&shopper, &new_address()).await.expect(202);
    let email = asked.str("/email_change/email");
    let late = proof(&front, &asked, &email, 1).await;
    front.gateway.advance(MINUTE * 10);
    verify(&shopper, &late).await.expect(401).problem("invalid_or_expired_code");
}

#[tokio::test]
async fn an_email_change_code_does_not_sign_in_without_its_challenge() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let email = new_address();
    let asked = request(&shopper, &email).await.expect(202);
    let code = proof(&front, &asked, &email, 1).await["code"].take();
    let input = json!({"subdomain": front.store.subdomain, "email": email, "code": code});
    let rejected = shopper.post(&at("/login/otp/verify")).json(input).await.expect(401);
    rejected.problem("invalid_or_expired_code");
}

#[tokio::test]
async fn an_email_change_and_earlier_codes_invalidate_each_other() {
    let front = Front::open().await;
    for change in ["address", "password", "sessions", "name"] {
        let shopper = front.shopper().await;
        let (first, second) = (new_address(), new_address());
        let asked = request(&shopper, &first).await.expect(202);
        let pending = proof(&front, &asked, &first, 1).await;
        let store = json!({"subdomain": front.store.subdomain, "email": shopper.email});
        let client = shopper.stranger();
        let challenge = client.post(&at("/login/otp")).json(store.clone()).await.expect(202);
        let code = front.gateway.mailbox(&shopper.email).code().await;
        client.post(&at("/password/reset")).json(store).await.expect(202);
        let token = front.gateway.mailbox(&shopper.email).token().await;
        match change {
            "address" => {
                front.gateway.advance(MINUTE);
                let asked = request(&shopper, &second).await.expect(202);
                let proof = proof(&front, &asked, &second, 1).await;
                verify(&shopper, &proof).await.expect(200);
                let code = json!({"challenge_id": challenge.str("/challenge_id"), "code": code});
                verify(&shopper, &code).await.expect(401).problem("invalid_or_expired_code");
                let update = json!({"token": token, "new_password": "yet another password"});
                let late = client.post(&at("/password/update")).json(update).await.expect(400);
                late.problem("invalid_or_expired_token");
            }
            "password" => {
                let input = json!({
                    "current_password": PASSWORD, "new_password": "a quite new password",
                    "revoke_other_sessions": false,
                });
                shopper.post(&at("/password/update")).json(input).await.expect(200);
            }
            "sessions" => {
                shopper.post(&at("/logout")).json(json!({"all": true})).await.expect(204);
            }
            _ => {
                shopper.patch(&at("/me")).json(json!({"name": "Zoe"})).await.expect(200);
            }
        }
        let reply = verify(&shopper, &pending).await;
        if change == "name" {
            reply.expect(200);
        } else {
            reply.expect(401).problem("invalid_or_expired_code");
        }
    }
}
