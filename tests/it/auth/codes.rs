//! One-time codes.

use gateway::clock::MINUTE;
use support::{Client, Gateway, Merchant, PASSWORD, json, race, unique};

use super::me;

#[tokio::test]
async fn a_one_time_code_signs_in_once() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(ask.clone()).await.expect(202);
    let again = client.post("/v1/auth/signin/otp").json(ask).await.expect(429);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_parallel_guesses_at_most_5_are_compared() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(ask).await.expect(202);
    let id = challenge.str("/challenge_id");
    let code = gateway.mailbox(&merchant.email).code().await;
    let wrong = if code == "000000" { "111111" } else { "000000" };
    let verify = |client: Client, code: &str| {
        let ask = json!({"challenge_id": id, "code": code});
        async move { client.post("/v1/auth/signin/otp/verify").json(ask).await }
    };
    let answers = race(200, || verify(gateway.client(), wrong)).await;
    assert!(answers.iter().all(|answer| matches!(answer.status, 401 | 429)));
    // A guess is compared only after it was counted, and there were five to count.
    let item = &gateway.items(&format!("OTP#{id}")).await[0];
    assert_eq!(item["tries_left"], 0);
    let right = verify(gateway.client(), &code).await.expect(401);
    right.problem("invalid_or_expired_code");
}

#[tokio::test]
async fn a_one_time_code_ends_after_ten_minutes() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    let challenge = client.post("/v1/auth/signin/otp").json(ask).await.expect(202);
    let code = gateway.mailbox(&merchant.email).code().await;
    gateway.advance(10 * MINUTE);
    let verify = json!({"challenge_id": challenge.str("/challenge_id"), "code": code});
    client.post("/v1/auth/signin/otp/verify").json(verify).await.expect(401);
    assert_eq!(gateway.items("OTP#").await.len(), 1, "the item is still there");
}

#[tokio::test]
async fn a_one_time_code_dies_with_what_it_was_sent_for() {
    let gateway = Gateway::start().await;
    for change in ["address", "password", "sessions", "name"] {
        let merchant = Merchant::sign_up(&gateway).await;
        let client = gateway.client();
        let ask = json!({"email": merchant.email});
        let challenge = client.post("/v1/auth/signin/otp").json(ask).await.expect(202);
        let code = gateway.mailbox(&merchant.email).code().await;
        let reply = match change {
            "address" => {
                let address = format!("{}@example.com", unique("moved"));
                let ask = json!({"email": address, "current_password": PASSWORD});
                merchant.patch("/v1/auth/me").json(ask).await
            }
            "password" => {
                let ask = json!({"current_password": PASSWORD, "new_password": "a fresh one now"});
                merchant.post("/v1/auth/password/update").json(ask).await
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
