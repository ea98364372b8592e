//! Every promised time and number of a customer's account at its edge.

use std::time::Duration;

use support::clock::{DAY, HOUR, MINUTE};
use support::{PASSWORD, json};

use super::{Front, at, me};

const MILLI: Duration = Duration::from_millis(1);

#[tokio::test]
async fn a_customer_token_expires_after_exactly_one_day() {
    let front = Front::open().await;
    front.gateway.app().clock.stop();
    let shopper = front.shopper().await;
    front.gateway.advance(DAY - MILLI);
    assert_eq!(me(&shopper).await, 200);
    front.gateway.advance(MILLI);
    assert_eq!(me(&shopper).await, 401);
}

#[tokio::test]
async fn a_login_code_allows_five_attempts_within_ten_minutes() {
    let front = Front::open().await;
    front.gateway.app().clock.stop();
    let shopper = front.shopper().await;
    // Mails of one millisecond have no order.
    front.gateway.advance(MILLI);
    let input = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    for (mails, wrong, age, expected) in
        [(2, 4, 10 * MINUTE - MILLI, 200), (3, 0, 10 * MINUTE, 401), (4, 5, MILLI, 401)]
    {
        let client = front.gateway.client();
        let asked = client.post(&at("/login/otp")).json(input.clone()).await.expect(202);
        let mail = front.gateway.mailbox(&shopper.email).nth(mails).await;
        let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
        let verify = |code: &str| {
            let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
            client.post(&at("/login/otp/verify")).json(input)
        };
        let other = if code == "000000" { "111111" } else { "000000" };
        for _ in 0..wrong {
            verify(other).await.expect(401);
        }
        front.gateway.advance(age);
        verify(code).await.expect(expected);
    }
}

#[tokio::test]
async fn an_account_validates_at_most_25_codes_per_hour() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let input = json!({"subdomain": front.store.subdomain, "email": shopper.email});
    // One was validated when the account was made.
    let mut validated = 1;
    let mut challenges = 0;
    while challenges < 6 {
        challenges += 1;
        let client = front.gateway.client();
        let asked = client.post(&at("/login/otp")).json(input.clone()).await.expect(202);
        for _ in 0..5 {
            let input = json!({"challenge_id": asked.str("/challenge_id"), "code": "none"});
            let reply = front.gateway.client().post(&at("/login/otp/verify")).json(input).await;
            if validated == 25 {
                reply.expect(429).problem("too_many_attempts");
            } else {
                reply.expect(401).problem("invalid_or_expired_code");
                validated += 1;
            }
        }
    }
    assert_eq!(validated, 25);
    // The password opens the account all the same, and codes do again in an hour.
    shopper.log_in_again(&front.store).await;
    front.gateway.advance(HOUR);
    let client = front.gateway.client();
    let asked = client.post(&at("/login/otp")).json(input).await.expect(202);
    let mail = front.gateway.mailbox(&shopper.email).nth(8).await;
    let code = mail.text.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap();
    let input = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    client.post(&at("/login/otp/verify")).json(input).await.expect(200);
}

#[tokio::test]
async fn an_account_sends_at_most_ten_mails_of_a_kind_per_hour() {
    let front = Front::open().await;
    for path in ["/login/otp", "/password/reset", "/register"] {
        let email = format!("{}@example.com", support::unique("bombed"));
        let mut input = json!({"subdomain": front.store.subdomain, "email": email});
        if path == "/register" {
            input["password"] = json!(PASSWORD);
        }
        let send = || front.gateway.client().post(&at(path)).json(input.clone());
        for _ in 0..10 {
            send().await.expect(202);
        }
        send().await.expect(429).problem("too_many_attempts");
        front.gateway.advance(HOUR);
        send().await.expect(202);
    }
}
