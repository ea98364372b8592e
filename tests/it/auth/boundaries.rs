//! Every promised time and number at its edge: the last that works, and the first that does not.

use std::time::Duration;

use support::clock::{DAY, HOUR, MINUTE};
use support::{Client, Gateway, Merchant, PASSWORD, json};

use super::me;

const MILLI: Duration = Duration::from_millis(1);

/// A system whose time stands still unless it is moved.
async fn standing_still() -> Gateway {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    gateway
}

#[tokio::test]
async fn a_sign_in_code_works_until_the_last_millisecond_of_ten_minutes() {
    for (age, expected) in [(10 * MINUTE - MILLI, 200), (10 * MINUTE, 401)] {
        let gateway = standing_still().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let client = gateway.client();
        let input = json!({"email": merchant.email});
        let asked = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
        let code = gateway.mailbox(&merchant.email).code().await;
        gateway.advance(age);
        let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
        client.post("/v1/auth/signin/otp/verify").json(input).await.expect(expected);
    }
}

#[tokio::test]
async fn a_link_works_until_its_last_millisecond() {
    for (reset, age, expected) in [
        (true, 30 * MINUTE - MILLI, 200),
        (true, 30 * MINUTE, 400),
        (false, DAY - MILLI, 200),
        (false, DAY, 400),
    ] {
        let gateway = standing_still().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let client = gateway.client();
        let mailbox = gateway.mailbox(&merchant.email);
        let (path, input) = if reset {
            let input = json!({"email": merchant.email});
            client.post("/v1/auth/password/reset").json(input).await.expect(202);
            let token = mailbox.token_of("Set a new password").await;
            let input = json!({"token": token, "new_password": "a fresh new password"});
            ("/v1/auth/password/update", input)
        } else {
            let token = mailbox.token_of("Confirm your e-mail address").await;
            ("/v1/auth/email/verify", json!({"token": token}))
        };
        gateway.advance(age);
        client.post(path).json(input).await.expect(expected);
    }
}

#[tokio::test]
async fn a_session_lives_until_its_last_millisecond() {
    let gateway = standing_still().await;
    let merchant = Merchant::sign_up(&gateway).await;
    gateway.advance(12 * HOUR - MILLI);
    assert_eq!(me(&merchant).await, 200);
    // That was a use, which begins the time anew.
    gateway.advance(12 * HOUR - MILLI);
    assert_eq!(me(&merchant).await, 200);
    gateway.advance(12 * HOUR);
    assert_eq!(me(&merchant).await, 401);
    let busy = merchant.sign_in_again().await;
    for _ in 0..60 {
        assert_eq!(me(&busy).await, 200);
        gateway.advance(12 * HOUR - MILLI);
    }
    // 60 milliseconds before the thirty days are over.
    assert_eq!(me(&busy).await, 200);
    gateway.advance(59 * MILLI);
    assert_eq!(me(&busy).await, 200);
    gateway.advance(MILLI);
    assert_eq!(me(&busy).await, 401);
}

async fn guess(client: &Client, email: &str, password: &str) -> u16 {
    let input = json!({"email": email, "password": password});
    client.post("/v1/auth/signin").json(input).await.status
}

#[tokio::test]
async fn sign_in_backs_off_exponentially_after_five_wrong_passwords() {
    let gateway = standing_still().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    for _ in 0..5 {
        assert_eq!(guess(&client, &merchant.email, "not the password").await, 401);
    }
    for wait in [1, 2, 4] {
        assert_eq!(guess(&client, &merchant.email, PASSWORD).await, 429);
        gateway.advance(Duration::from_secs(wait) - MILLI);
        assert_eq!(guess(&client, &merchant.email, PASSWORD).await, 429);
        gateway.advance(MILLI);
        assert_eq!(guess(&client, &merchant.email, "not the password").await, 401);
    }
    // A right one ends the waiting.
    gateway.advance(Duration::from_secs(8));
    assert_eq!(guess(&client, &merchant.email, PASSWORD).await, 200);
    assert_eq!(guess(&client, &merchant.email, "not the password").await, 401);
    assert_eq!(guess(&client, &merchant.email, PASSWORD).await, 200);
}

#[tokio::test]
async fn mail_requests_are_limited_to_one_a_minute() {
    for path in ["/signin/otp", "/password/reset", "/email/verify/resend"] {
        let gateway = standing_still().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let client = gateway.client();
        let path = format!("/v1/auth{path}");
        let request = || client.post(&path).json(json!({"email": merchant.email}));
        request().await.expect(202);
        gateway.advance(MINUTE - MILLI);
        let early = request().await.expect(429).problem("too_many_attempts");
        assert_eq!(early.header("retry-after"), Some("1"));
        gateway.advance(MILLI);
        request().await.expect(202);
    }
}
