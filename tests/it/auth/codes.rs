//! One-time codes.

use std::time::Duration;

use support::clock::{HOUR, MINUTE};
use support::{Client, Gateway, Merchant, PASSWORD, Reply, json, race, unique};

use super::me;

#[tokio::test]
async fn a_one_time_code_signs_in_once() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(input.clone()).await.expect(202);
    let again = client.post("/v1/auth/signin/otp").json(input).await.expect(429);
    assert!(again.problem("too_many_attempts").header("retry-after").is_some());
    let code = gateway.mailbox(&merchant.email).code().await;
    let verify = json!({"challenge_id": challenge.str("/challenge_id"), "code": code});
    let reply = client.post("/v1/auth/signin/otp/verify").json(verify.clone()).await.expect(200);
    assert_eq!(me(&client.with_token(&reply.str("/session/access_token"))).await, 200);
    let replay = client.post("/v1/auth/signin/otp/verify").json(verify).await.expect(401);
    replay.problem("invalid_or_expired_code");
    let stored = support::Value::from(gateway.items("").await).to_string();
    assert!(!stored.contains(&format!("\"{code}\"")), "the code is stored in the clear");
}

#[tokio::test]
async fn a_code_names_its_challenge_or_its_address_but_not_both() {
    let gateway = Gateway::start().await;
    let verify =
        async |input| gateway.client().post("/v1/auth/signin/otp/verify").json(input).await;
    let both = |code: &str| ["/challenge_id", "/email"].map(|at| (at.into(), code.to_owned()));
    let neither = verify(json!({"code": "000000"})).await.expect(422);
    assert_eq!(neither.field_errors(), both("required"));
    let twice = json!({"code": "000000", "challenge_id": "otp_x", "email": "ann@example.com"});
    assert_eq!(verify(twice).await.expect(422).field_errors(), both("not_applicable"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_parallel_guesses_at_most_5_are_compared() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let id = challenge.str("/challenge_id");
    let code = gateway.mailbox(&merchant.email).code().await;
    let wrong = if code == "000000" { "111111" } else { "000000" };
    let verify = |client: Client, code: &str| {
        let input = json!({"challenge_id": id, "code": code});
        async move { client.post("/v1/auth/signin/otp/verify").json(input).await }
    };
    let answers = race(200, || verify(gateway.client(), wrong)).await;
    assert!(answers.iter().all(|answer| matches!(answer.status, 401 | 429)));
    // A guess is compared only after it was counted, and there were five to count.
    let item = &gateway.items(&format!("OTP#{id}")).await[0];
    assert_eq!(item["tries_left"], 0);
    let right = verify(gateway.client(), &code).await.expect(401);
    right.problem("invalid_or_expired_code");
}

/// A challenge for the address, asked for from somewhere else each time, and its code.
async fn ask_for_code(gateway: &Gateway, email: &str) -> (String, String) {
    let before = gateway.mailbox(email).mails().len();
    let input = json!({"email": email});
    let asked = gateway.client().post("/v1/auth/signin/otp").json(input).await.expect(202);
    let code = || async {
        let mails = gateway.mailbox(email).mails();
        let newest = mails.get(before..)?.iter().rev();
        let mut lines = newest.flat_map(|mail| mail.text.lines());
        lines.find_map(|line| line.strip_prefix("Code: ")).map(str::to_owned)
    };
    let code = support::eventually(Duration::from_secs(20), code).await;
    (asked.str("/challenge_id"), code)
}

async fn verify(gateway: &Gateway, (id, code): (&str, &str)) -> Reply {
    let input = json!({"challenge_id": id, "code": code});
    gateway.client().post("/v1/auth/signin/otp/verify").json(input).await
}

fn other_than(code: &str) -> &'static str {
    if code == "000000" { "111111" } else { "000000" }
}

#[tokio::test]
async fn a_one_time_code_allows_five_guesses() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    gateway.mailbox(&merchant.email).nth(1).await;
    for (wrong, expected) in [(4, 200), (5, 401)] {
        let (id, code) = ask_for_code(&gateway, &merchant.email).await;
        for _ in 0..wrong {
            let rejected = verify(&gateway, (&id, other_than(&code))).await.expect(401);
            rejected.problem("invalid_or_expired_code");
        }
        verify(&gateway, (&id, &code)).await.expect(expected);
    }
}

#[tokio::test]
async fn code_guesses_are_limited_to_25_an_hour_per_account() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.prove(&gateway).await;
    for _ in 0..5 {
        let (id, code) = ask_for_code(&gateway, &merchant.email).await;
        for guess in 0..5 {
            // The 25th is right: it is validated like the others.
            let last = guess == 4 && gateway.items("OTP#").await.len() == 5;
            let code = if last { code.as_str() } else { other_than(&code) };
            verify(&gateway, (&id, code)).await.expect(if last { 200 } else { 401 });
        }
    }
    let (id, code) = ask_for_code(&gateway, &merchant.email).await;
    let locked = verify(&gateway, (&id, &code)).await.expect(429).problem("too_many_attempts");
    let wait: u64 = locked.header("retry-after").unwrap().parse().unwrap();
    assert!((3_000..=3_600).contains(&wait), "{wait}");
    let item = &gateway.items(&format!("OTP#{id}")).await[0];
    assert_eq!(item["tries_left"], 5, "what is not validated costs no try");
    // Only codes are closed, and only for a while; other accounts' stay open.
    merchant.sign_in_again().await;
    let other = Merchant::sign_up(&gateway).await;
    gateway.mailbox(&other.email).nth(1).await;
    let (id, code) = ask_for_code(&gateway, &other.email).await;
    verify(&gateway, (&id, &code)).await.expect(200);
    gateway.advance(HOUR);
    let (id, code) = ask_for_code(&gateway, &merchant.email).await;
    verify(&gateway, (&id, &code)).await.expect(200);
}

#[tokio::test]
async fn mail_requests_are_limited_to_ten_an_hour_per_kind_and_address() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    for path in ["/signin/otp", "/password/reset", "/email/verify/resend"] {
        let path = format!("/v1/auth{path}");
        for email in [merchant.email.as_str(), "nobody@example.com"] {
            let request = || gateway.client().post(&path).json(json!({"email": email}));
            for _ in 0..10 {
                request().await.expect(202);
            }
            let full = request().await.expect(429).problem("too_many_attempts");
            assert!(full.header("retry-after").is_some(), "{email}");
        }
    }
    gateway.advance(HOUR);
    let input = json!({"email": merchant.email});
    gateway.client().post("/v1/auth/signin/otp").json(input).await.expect(202);
    // A change of address mails somebody each time.
    let merchant = merchant.sign_in_again().await;
    let change = |place: usize| {
        let email = format!("{}@example.com", unique(&format!("moved-{place}")));
        merchant.patch("/v1/auth/me").json(json!({"email": email, "current_password": PASSWORD}))
    };
    for place in 0..10 {
        change(place).await.expect(200);
    }
    change(10).await.expect(429).problem("too_many_attempts");
}

#[tokio::test]
async fn a_one_time_code_expires_after_ten_minutes() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
    let code = gateway.mailbox(&merchant.email).code().await;
    gateway.advance(10 * MINUTE);
    let verify = json!({"challenge_id": challenge.str("/challenge_id"), "code": code});
    client.post("/v1/auth/signin/otp/verify").json(verify).await.expect(401);
    assert_eq!(gateway.items("OTP#").await.len(), 1, "the item is still there");
}

#[tokio::test]
async fn account_changes_invalidate_a_one_time_code() {
    let gateway = Gateway::start().await;
    for change in ["address", "password", "sessions", "name"] {
        let merchant = Merchant::sign_up(&gateway).await;
        let client = gateway.client();
        let input = json!({"email": merchant.email});
        let challenge = client.post("/v1/auth/signin/otp").json(input).await.expect(202);
        let code = gateway.mailbox(&merchant.email).code().await;
        let reply = match change {
            "address" => {
                let address = format!("{}@example.com", unique("moved"));
                let input = json!({"email": address, "current_password": PASSWORD});
                merchant.patch("/v1/auth/me").json(input).await
            }
            "password" => {
                let input =
                    json!({"current_password": PASSWORD, "new_password": "a fresh one now"});
                merchant.post("/v1/auth/password/update").json(input).await
            }
            "sessions" => merchant.post("/v1/auth/signout").json(json!({"all": true})).await,
            _ => merchant.patch("/v1/auth/me").json(json!({"name": "Ann B."})).await,
        };
        assert!(matches!(reply.status, 200 | 204), "{}", reply.text);
        let verify = json!({"challenge_id": challenge.str("/challenge_id"), "code": code});
        let reply = client.post("/v1/auth/signin/otp/verify").json(verify).await;
        if change == "name" {
            reply.expect(200);
        } else {
            reply.expect(401).problem("invalid_or_expired_code");
        }
    }
}
