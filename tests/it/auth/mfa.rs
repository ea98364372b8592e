//! The second factor.

use std::time::Duration;

use support::clock::{HOUR, MINUTE};
use support::{Gateway, Merchant, PASSWORD, Reply, Value, json, race, unique};
use totp_rs::Totp;

use super::me;

const TOTP: &str = "/v1/auth/mfa/totp";
const STEP: Duration = Duration::from_secs(30);

/// A merchant with a proven address, and the device that makes their codes.
struct Owner {
    gateway: Gateway,
    merchant: Merchant,
    device: Totp,
    recovery: Vec<String>,
}

impl Owner {
    /// Enrolled and confirmed, a step ago.
    async fn enrolled() -> Self {
        let gateway = Gateway::start().await;
        gateway.app().clock.stop();
        let merchant = Merchant::sign_up(&gateway).await;
        merchant.prove(&gateway).await;
        let input = json!({"current_password": PASSWORD});
        let shown = merchant.post(TOTP).json(input).await.expect(201);
        let device = Totp::from_url(shown.str("/secret_uri")).unwrap();
        let codes = shown.at("/recovery_codes").as_array().unwrap().iter();
        let recovery = codes.map(|code| code.as_str().unwrap().to_owned()).collect();
        let owner = Self { gateway, merchant, device, recovery };
        let input = json!({"code": owner.code()});
        owner.merchant.post(&format!("{TOTP}/confirm")).json(input).await.expect(200);
        owner.gateway.advance(STEP);
        owner
    }

    fn code(&self) -> String {
        self.code_after(Duration::ZERO)
    }

    fn code_after(&self, later: Duration) -> String {
        let seconds = u64::try_from(self.gateway.now().plus(later).seconds()).unwrap();
        self.device.generate(seconds).to_string()
    }

    fn wrong(&self) -> &'static str {
        let near = [0, 30, 60].map(|s| self.code_after(Duration::from_secs(s)));
        let odd = ["000000", "111111", "222222", "333333", "444444"];
        odd.into_iter().find(|code| near.iter().all(|near| near != code)).unwrap()
    }

    /// Signs in from a network of its own, with these fields beside the password.
    async fn sign_in(&self, more: Value) -> Reply {
        let mut input = json!({"email": self.merchant.email, "password": PASSWORD});
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        self.gateway.client().post("/v1/auth/signin").json(input).await
    }

    async fn token(&self) -> String {
        let rejected = self.sign_in(json!({})).await.expect(403).problem("mfa_required");
        assert_eq!(rejected.header("cache-control"), Some("no-store"));
        assert_eq!(rejected.int("/expires_in"), 300);
        rejected.str("/mfa_token")
    }

    async fn redeem(&self, token: &str, code: &str) -> Reply {
        let input = json!({"mfa_token": token, "totp": code});
        self.gateway.client().post("/v1/auth/signin").json(input).await
    }
}

#[tokio::test]
async fn a_second_factor_is_enrolled_and_removed() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let merchant = Merchant::sign_up(&gateway).await;
    let input = json!({"current_password": PASSWORD});
    let early = merchant.post(TOTP).json(input.clone()).await.expect(403);
    early.problem("email_unverified");
    merchant.prove(&gateway).await;
    let bare = merchant.post(TOTP).json(json!({})).await.expect(422);
    assert_eq!(bare.field_errors(), [("/current_password".into(), "required".into())]);
    let wrong = json!({"current_password": "not the password"});
    merchant.post(TOTP).json(wrong).await.expect(401).problem("invalid_credentials");
    let shown = merchant.post(TOTP).json(input.clone()).await.expect(201);
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    assert_eq!(shown.at("/recovery_codes").as_array().unwrap().len(), 10);
    // Nothing is asked for before a code has come back; and another request replaces it.
    merchant.sign_in_again().await;
    let shown = merchant.post(TOTP).json(input.clone()).await.expect(201);
    let device = Totp::from_url(shown.str("/secret_uri")).unwrap();
    let code = |gateway: &Gateway| {
        device.generate(u64::try_from(gateway.now().seconds()).unwrap()).to_string()
    };
    let confirm =
        |code: String| merchant.post(&format!("{TOTP}/confirm")).json(json!({"code": code}));
    let recovery = shown.str("/recovery_codes/0");
    confirm(recovery.clone()).await.expect(401).problem("invalid_or_expired_code");
    let done = confirm(code(&gateway)).await.expect(200);
    assert_eq!(
        (done.at("/mfa_enabled").clone(), done.int("/recovery_codes_left")),
        (json!(true), 10)
    );
    gateway.mailbox(&merchant.email).nth(2).await;
    let told = gateway.mailbox(&merchant.email).mails();
    assert!(told.iter().any(|mail| mail.subject == "Two-step sign-in is on"));
    assert_eq!(merchant.get("/v1/auth/me").await.expect(200).at("/mfa_enabled"), true);
    merchant.post(TOTP).json(input.clone()).await.expect(409).problem("mfa_enabled");
    gateway.advance(STEP);
    confirm(code(&gateway)).await.expect(409).problem("mfa_enabled");
    let stored = Value::from(gateway.items("MER#").await).to_string();
    let uri = shown.str("/secret_uri");
    let secret = uri.split("secret=").nth(1).unwrap().split('&').next().unwrap();
    assert!(!stored.contains(secret) && !stored.contains(&recovery));
    // Giving it up takes the password and a code.
    let remove = |input: Value| merchant.delete(TOTP).json(input);
    let alone = remove(json!({"code": code(&gateway)})).await.expect(422);
    assert_eq!(alone.field_errors(), [("/current_password".into(), "required".into())]);
    let right = json!({"code": code(&gateway), "current_password": PASSWORD});
    remove(right.clone()).await.expect(204);
    remove(right).await.expect(404).problem("not_found");
    merchant.sign_in_again().await;
    assert_eq!(merchant.get("/v1/auth/me").await.expect(200).at("/mfa_enabled"), false);
    assert!(gateway.items_of("mfa", "MER#").await.is_empty());
}

#[tokio::test]
async fn sign_in_accepts_both_factors_together_or_in_two_steps() {
    let owner = Owner::enrolled().await;
    let token = owner.token().await;
    owner.redeem(&token, owner.wrong()).await.expect(401).problem("invalid_or_expired_code");
    let code = owner.code();
    let signed_in = owner.redeem(&token, &code).await.expect(200);
    assert_eq!(signed_in.str("/session/created_via"), "mfa");
    let client = owner.gateway.client().with_token(&signed_in.str("/session/access_token"));
    assert_eq!(me(&client).await, 200);
    owner.redeem(&token, &code).await.expect(400).problem("invalid_or_expired_token");
    // A code is used once, and so is everything before it.
    let again = owner.sign_in(json!({"totp": code})).await.expect(401);
    again.problem("invalid_or_expired_code");
    let next = owner.code_after(STEP);
    owner.sign_in(json!({"totp": next})).await.expect(200);
    owner.sign_in(json!({"totp": next})).await.expect(401);
    let wrong = json!({
        "email": owner.merchant.email, "password": "not the password", "totp": owner.code(),
    });
    let wrong = owner.gateway.client().post("/v1/auth/signin").json(wrong).await;
    wrong.expect(401).problem("invalid_credentials");
    // Either way, and not both.
    let client = owner.gateway.client();
    let both = json!({"mfa_token": token, "totp": "000000", "email": owner.merchant.email});
    let rejected = client.post("/v1/auth/signin").json(both).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/email".into(), "not_with_token".into())]);
    let none = client.post("/v1/auth/signin").json(json!({"totp": "000000"})).await.expect(422);
    let required = |pointer: &str| (pointer.to_owned(), "required".to_owned());
    assert_eq!(none.field_errors(), [required("/email"), required("/password")]);
    let bare = json!({"mfa_token": token});
    let bare = client.post("/v1/auth/signin").json(bare).await.expect(422);
    assert_eq!(bare.field_errors(), [required("/totp")]);
}

#[tokio::test]
async fn sign_in_by_one_time_code_requires_the_second_factor() {
    let owner = Owner::enrolled().await;
    let client = owner.gateway.client();
    let input = json!({"email": owner.merchant.email});
    let asked = client.post("/v1/auth/signin/otp").json(input.clone()).await.expect(202);
    let code = owner.gateway.mailbox(&owner.merchant.email).code().await;
    let verify = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let rejected = client.post("/v1/auth/signin/otp/verify").json(verify.clone()).await;
    let token = rejected.expect(403).problem("mfa_required").str("/mfa_token");
    let again = client.post("/v1/auth/signin/otp/verify").json(verify).await;
    again.expect(401).problem("invalid_or_expired_code");
    owner.redeem(&token, &owner.code()).await.expect(200);
    // Both at once.
    owner.gateway.advance(MINUTE);
    let mails = owner.gateway.mailbox(&owner.merchant.email).mails().len();
    let asked = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let mail = owner.gateway.mailbox(&owner.merchant.email).nth(mails + 1).await;
    let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
    let verify = json!({
        "challenge_id": asked.str("/challenge_id"), "code": code, "totp": owner.code(),
    });
    let done = client.post("/v1/auth/signin/otp/verify").json(verify).await.expect(200);
    assert_eq!(done.str("/session/created_via"), "mfa");
}

#[tokio::test]
async fn a_recovery_code_replaces_a_totp_code_once() {
    let owner = Owner::enrolled().await;
    let code = &owner.recovery[3];
    owner.sign_in(json!({"totp": code.to_uppercase()})).await.expect(200);
    owner.sign_in(json!({"totp": code})).await.expect(401).problem("invalid_or_expired_code");
    let token = owner.token().await;
    owner.redeem(&token, &owner.recovery[4]).await.expect(200);
    // Also where the device is gone for good.
    let input = json!({"code": owner.recovery[5], "current_password": PASSWORD});
    owner.merchant.delete(TOTP).json(input).await.expect(204);
    owner.sign_in(json!({})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_totp_code_opens_one_session_in_20_parallel_sign_ins() {
    let owner = Owner::enrolled().await;
    let code = owner.code();
    let answers = race(20, || owner.sign_in(json!({"totp": code}))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 401 | 429)));
}

#[tokio::test]
async fn totp_guesses_back_off_per_network_after_five_failures() {
    let owner = Owner::enrolled().await;
    let (client, token) = (owner.gateway.client(), owner.token().await);
    let guess =
        |code: &str| client.post("/v1/auth/signin").json(json!({"mfa_token": token, "totp": code}));
    for _ in 0..5 {
        guess(owner.wrong()).await.expect(401).problem("invalid_or_expired_code");
    }
    let slowed = guess(&owner.code()).await.expect(429).problem("too_many_attempts");
    assert_eq!(slowed.header("retry-after"), Some("1"));
    // From elsewhere the owner gets in.
    owner.sign_in(json!({"totp": owner.code()})).await.expect(200);
}

#[tokio::test]
async fn totp_guesses_are_limited_to_25_an_hour_per_account() {
    let owner = Owner::enrolled().await;
    // One was validated when it was confirmed.
    for _ in 0..24 {
        let rejected = owner.sign_in(json!({"totp": owner.wrong()})).await.expect(401);
        rejected.problem("invalid_or_expired_code");
    }
    let full = owner.sign_in(json!({"totp": owner.code()})).await.expect(429);
    full.problem("too_many_attempts");
    owner.gateway.advance(HOUR);
    owner.sign_in(json!({"totp": owner.code()})).await.expect(200);
}

#[tokio::test]
async fn an_mfa_token_expires_after_five_minutes_or_a_password_change() {
    for (age, expected) in [(5 * MINUTE - Duration::from_millis(1), 200), (5 * MINUTE, 400)] {
        let owner = Owner::enrolled().await;
        let token = owner.token().await;
        owner.gateway.advance(age);
        owner.redeem(&token, &owner.code()).await.expect(expected);
    }
    let owner = Owner::enrolled().await;
    let token = owner.token().await;
    let input = json!({"current_password": PASSWORD, "new_password": "a fresh new password"});
    owner.merchant.post("/v1/auth/password/update").json(input).await.expect(200);
    let late = owner.redeem(&token, &owner.code()).await.expect(400);
    late.problem("invalid_or_expired_token");
}

#[tokio::test]
async fn deleting_an_account_requires_its_second_factor() {
    let owner = Owner::enrolled().await;
    let path = "/v1/auth/me";
    let input = json!({"current_password": PASSWORD});
    let rejected = owner.merchant.delete(path).json(input).await.expect(403);
    rejected.problem("mfa_required");
    let input = json!({"current_password": PASSWORD, "totp": owner.wrong()});
    let rejected = owner.merchant.delete(path).json(input).await.expect(401);
    rejected.problem("invalid_or_expired_code");
    assert_eq!(me(&owner.merchant).await, 200);
    let input = json!({"current_password": PASSWORD, "totp": owner.code()});
    owner.merchant.delete(path).json(input).await.expect(202);
    assert_eq!(me(&owner.merchant).await, 401);
}

#[tokio::test]
async fn password_reset_and_address_change_do_not_bypass_the_second_factor() {
    let owner = Owner::enrolled().await;
    // A reset sets a password and signs nobody in.
    let client = owner.gateway.client();
    let input = json!({"email": owner.merchant.email});
    client.post("/v1/auth/password/reset").json(input).await.expect(202);
    let token = owner.gateway.mailbox(&owner.merchant.email).token_of("Set a new password").await;
    let input = json!({"token": token, "new_password": PASSWORD});
    client.post("/v1/auth/password/update").json(input).await.expect(200);
    let token = owner.token().await;
    let signed_in = owner.redeem(&token, &owner.code()).await.expect(200);
    let session = client.with_token(&signed_in.str("/session/access_token"));
    // Another address is where codes would go.
    let email = format!("{}@example.com", unique("moved"));
    let input = json!({"email": email, "current_password": PASSWORD});
    let rejected = session.patch("/v1/auth/me").json(input.clone()).await.expect(403);
    rejected.problem("mfa_required");
    owner.gateway.advance(STEP);
    let mut right = input;
    right["totp"] = json!(owner.code());
    session.patch("/v1/auth/me").json(right).await.expect(200);
    // What an account leaves behind.
    owner.gateway.advance(STEP);
    let input = json!({"current_password": PASSWORD, "totp": owner.code()});
    session.delete("/v1/auth/me").json(input).await.expect(202);
    assert!(owner.gateway.items_of("mfa", "MER#").await.is_empty());
}
