//! Who signs up with somebody else's address keeps nothing once its owner has proven it.

use support::{Client, Gateway, Merchant, OPERATOR_EMAIL, PASSWORD, Reply, json, unique};

use super::me;

const CONFIRM: &str = "Confirm your e-mail address";

/// Somebody elsewhere asks for a one-time code, and what verifies it once the mail has come.
async fn challenge(gateway: &Gateway, email: &str) -> support::Value {
    let client = gateway.client();
    let input = json!({"email": email});
    let asked = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let code = gateway.mailbox(email).code().await;
    json!({"challenge_id": asked.str("/challenge_id"), "code": code})
}

async fn sign_in_by_code(gateway: &Gateway, email: &str) -> (Client, Reply) {
    let input = challenge(gateway, email).await;
    let client = gateway.client();
    let reply = client.post("/v1/auth/signin/otp/verify").json(input).await.expect(200);
    (client.with_token(&reply.str("/session/access_token")), reply)
}

async fn verify(client: &Client, token: &str) -> Reply {
    client.post("/v1/auth/email/verify").json(json!({"token": token})).await
}

async fn sign_in(client: &Client, email: &str, password: &str) -> Reply {
    let input = json!({"email": email, "password": password});
    client.stranger().post("/v1/auth/signin").json(input).await
}

/// What whoever set the account up still has of it: sessions, password, links and codes.
struct Squatter {
    sessions: [Merchant; 2],
    link: String,
    reset: String,
    code: support::Value,
}

impl Squatter {
    async fn of(gateway: &Gateway, email: &str) -> Self {
        let first = Merchant::sign_up_as(gateway, email).await;
        let second = first.sign_in_again().await;
        let link = gateway.mailbox(email).token_of(CONFIRM).await;
        let input = json!({"email": email});
        gateway.client().post("/v1/auth/password/reset").json(input).await.expect(202);
        let reset = gateway.mailbox(email).token_of("Set a new password").await;
        let code = challenge(gateway, email).await;
        Self { sessions: [first, second], link, reset, code }
    }

    async fn has_nothing(&self, gateway: &Gateway, email: &str) {
        for session in &self.sessions {
            assert_eq!(me(session).await, 401);
            session.post("/v1/auth/session/refresh").await.expect(401);
            let rejected = verify(session, &self.link).await;
            assert!(matches!(rejected.status, 400 | 401), "{}", rejected.text);
        }
        let client = gateway.client();
        sign_in(&client, email, PASSWORD).await.expect(401).problem("invalid_credentials");
        verify(&client, &self.link).await.expect(400).problem("invalid_or_expired_token");
        let input = json!({"token": self.reset, "new_password": "the squatter again"});
        let late = client.post("/v1/auth/password/update").json(input).await;
        late.expect(400).problem("invalid_or_expired_token");
        let late = client.post("/v1/auth/signin/otp/verify").json(self.code.clone()).await;
        late.expect(401).problem("invalid_or_expired_code");
    }
}

#[tokio::test]
async fn first_verification_by_code_revokes_a_squatters_credentials() {
    let gateway = Gateway::start().await;
    let email = format!("{}@example.com", unique("victim"));
    let squatter = Squatter::of(&gateway, &email).await;
    let input = json!({"email": email});
    let client = gateway.client();
    let asked = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let mail = gateway.mailbox(&email).nth(4).await;
    let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
    let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let reply = client.post("/v1/auth/signin/otp/verify").json(input).await.expect(200);
    assert_eq!(reply.at("/merchant/email_verified"), true);
    assert_eq!(reply.at("/merchant/has_password"), false);
    squatter.has_nothing(&gateway, &email).await;
    assert_eq!(gateway.mailbox(&email).nth(5).await.subject, "Your address is confirmed");
    assert_eq!(gateway.events("merchant.updated").await.len(), 1);
    // The owner sets a password, and the next proof changes nothing.
    let owner = client.with_token(&reply.str("/session/access_token"));
    let shown = fresh_code(&gateway, &email).await;
    let input = json!({"new_password": "the owner's own words", "one_time_code": shown});
    owner.post("/v1/auth/password/update").json(input).await.expect(200);
    let (again, _) = sign_in_by_code_after(&gateway, &email).await;
    assert_eq!([me(&owner).await, me(&again).await], [200, 200]);
    sign_in(&owner, &email, "the owner's own words").await.expect(200);
}

/// As [`sign_in_by_code`], for a mailbox that has had codes before.
async fn sign_in_by_code_after(gateway: &Gateway, email: &str) -> (Client, Reply) {
    let client = gateway.client();
    let input = fresh_code(gateway, email).await;
    let reply = client.post("/v1/auth/signin/otp/verify").json(input).await.expect(200);
    (client.with_token(&reply.str("/session/access_token")), reply)
}

/// A challenge and its code, mailed now, from a network of its own.
async fn fresh_code(gateway: &Gateway, email: &str) -> support::Value {
    let before = gateway.mailbox(email).mails().len();
    let input = json!({"email": email});
    let asked = gateway.client().post("/v1/auth/signin/otp").json(input).await.expect(202);
    let mails = || async {
        let mails = gateway.mailbox(email).mails();
        let newest = mails.get(before..)?.iter().rev();
        newest
            .flat_map(|mail| mail.text.lines())
            .find_map(|line| line.strip_prefix("Code: ").map(str::to_owned))
    };
    let code = support::eventually(std::time::Duration::from_secs(20), mails).await;
    json!({"challenge_id": asked.str("/challenge_id"), "code": code})
}

#[tokio::test]
async fn an_account_without_a_password_confirms_changes_by_one_time_code() {
    let gateway = Gateway::start().await;
    let email = format!("{}@example.com", unique("owner"));
    let squatter = Squatter::of(&gateway, &email).await;
    verify(&gateway.client(), &squatter.link).await.expect(200);
    let (owner, reply) = sign_in_by_code_after(&gateway, &email).await;
    assert_eq!(reply.at("/merchant/has_password"), false);
    let moved = format!("{}@example.com", unique("moved"));
    let path = "/v1/auth/me";
    let required = [("/one_time_code".to_owned(), "required".to_owned())];
    let update = "/v1/auth/password/update";
    for asked in [
        owner.patch(path).json(json!({"email": moved})),
        owner.delete(path).json(json!({})),
        owner.post(update).json(json!({"new_password": "a thief's own words"})),
        owner.post("/v1/auth/mfa/totp").json(json!({})),
    ] {
        assert_eq!(asked.await.expect(422).field_errors(), required);
    }
    // Somebody else's code is none, a wrong one neither, and none works twice.
    let other = format!("{}@example.com", unique("other"));
    drop(Merchant::sign_up_as(&gateway, &other).await);
    let foreign = fresh_code(&gateway, &other).await;
    let input = json!({"email": moved, "one_time_code": foreign});
    owner.patch(path).json(input).await.expect(401).problem("invalid_or_expired_code");
    let mut shown = fresh_code(&gateway, &email).await;
    let right = std::mem::replace(&mut shown["code"], json!("no code"));
    let input = json!({"email": moved, "one_time_code": shown.clone()});
    owner.patch(path).json(input).await.expect(401).problem("invalid_or_expired_code");
    shown["code"] = right;
    let input = json!({"email": moved, "one_time_code": shown.clone()});
    let view = owner.patch(path).json(input).await.expect(200);
    assert_eq!(view.str("/email"), moved);
    let input = json!({"one_time_code": shown});
    owner.delete(path).json(input).await.expect(401).problem("invalid_or_expired_code");
    let shown = fresh_code(&gateway, &moved).await;
    owner.delete(path).json(json!({"one_time_code": shown})).await.expect(202);
    assert_eq!(me(&owner).await, 401);
}

#[tokio::test]
async fn first_verification_by_link_revokes_a_squatters_credentials() {
    let gateway = Gateway::start().await;
    let squatter = Squatter::of(&gateway, OPERATOR_EMAIL).await;
    let client = gateway.client();
    let proven = verify(&client, &squatter.link).await.expect(200);
    assert_eq!(proven.at("/has_password"), false);
    squatter.has_nothing(&gateway, OPERATOR_EMAIL).await;
    for session in &squatter.sessions {
        session.get("/v1/app-store/submissions").await.expect(401);
    }
    let (owner, reply) = sign_in_by_code_after(&gateway, OPERATOR_EMAIL).await;
    assert_eq!(reply.at("/merchant/operator"), true);
    owner.get("/v1/app-store/submissions").await.expect(200);
}

#[tokio::test]
async fn first_verification_by_password_reset_revokes_a_squatters_credentials() {
    let gateway = Gateway::start().await;
    let email = format!("{}@example.com", unique("victim"));
    let squatter = Squatter::of(&gateway, &email).await;
    let input = json!({"token": squatter.reset, "new_password": "the owner's own words"});
    gateway.client().post("/v1/auth/password/update").json(input).await.expect(200);
    squatter.has_nothing(&gateway, &email).await;
    sign_in(&gateway.client(), &email, "the owner's own words").await.expect(200);
}

#[tokio::test]
async fn verifying_with_a_session_or_password_keeps_only_that_credential() {
    let gateway = Gateway::start().await;
    for by_password in [false, true] {
        let merchant = Merchant::sign_up(&gateway).await;
        let other = merchant.sign_in_again().await;
        let token = gateway.mailbox(&merchant.email).token_of(CONFIRM).await;
        let client = gateway.client();
        if by_password {
            let request = |password: &str| json!({"token": token, "password": password});
            let wrong =
                client.post("/v1/auth/email/verify").json(request("not the password")).await;
            wrong.expect(401).problem("invalid_credentials");
            let right = client.post("/v1/auth/email/verify").json(request(PASSWORD)).await;
            assert_eq!(right.expect(200).at("/has_password"), true);
        } else {
            // A stranger's session says nothing about the account, a dead one is rejected.
            let dead = client.with_token("mst_0");
            verify(&dead, &token).await.expect(401).problem("unauthenticated");
            assert_eq!(verify(&merchant, &token).await.expect(200).at("/has_password"), true);
        }
        let kept = if by_password { 401 } else { 200 };
        assert_eq!([me(&merchant).await, me(&other).await], [kept, 401]);
        let again = merchant.sign_in_again().await;
        let view = again.get("/v1/auth/me").await.expect(200);
        assert_eq!(view.at("/email_verified"), true);
    }
    let squatter = Merchant::sign_up(&gateway).await;
    let token = gateway.mailbox(&squatter.email).token_of(CONFIRM).await;
    let somebody = Merchant::sign_up(&gateway).await;
    verify(&somebody, &token).await.expect(200);
    assert_eq!([me(&squatter).await, me(&somebody).await], [401, 200]);
}

#[tokio::test]
async fn first_verification_of_a_changed_address_revokes_earlier_credentials() {
    let gateway = Gateway::start().await;
    for by_link in [false, true] {
        let email = format!("{}@example.com", unique("victim"));
        let squatter = Merchant::sign_up(&gateway).await;
        squatter.prove(&gateway).await;
        let input = json!({"email": email, "current_password": PASSWORD});
        squatter.patch("/v1/auth/me").json(input).await.expect(200);
        assert_eq!(me(&squatter).await, 200);
        if by_link {
            let token = gateway.mailbox(&email).token_of(CONFIRM).await;
            verify(&gateway.client(), &token).await.expect(200);
        } else {
            sign_in_by_code(&gateway, &email).await;
        }
        assert_eq!(me(&squatter).await, 401);
        sign_in(&squatter, &email, PASSWORD).await.expect(401);
    }
}

#[tokio::test]
async fn deleting_an_unverified_account_frees_its_address() {
    let gateway = Gateway::start().await;
    let squatter = Merchant::sign_up(&gateway).await;
    let input = json!({"current_password": PASSWORD});
    squatter.delete("/v1/auth/me").json(input.clone()).await.expect(202);
    let owner = Merchant::sign_up_as(&gateway, &squatter.email).await;
    gateway.mailbox(&owner.email).nth(2).await;
    owner.prove(&gateway).await;
    owner.delete("/v1/auth/me").json(input).await.expect(202);
    let early = json!({"email": owner.email, "password": PASSWORD});
    let taken = gateway.client().post("/v1/auth/signup").json(early).await.expect(409);
    taken.problem("email_taken");
    let told = gateway.mailbox(&owner.email).nth(3).await;
    assert_eq!(told.subject, "Your account was deleted");
}
