//! Passwords, and links that reset them.

use std::time::Duration;

use support::clock::{HOUR, MINUTE};
use support::{Gateway, Merchant, PASSWORD, json, race};

use super::me;

#[tokio::test]
async fn sign_in_is_throttled_per_network_without_account_lockout() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let attacker = gateway.client();
    let wrong = json!({"email": merchant.email, "password": "not the password"});
    let mut slowed = None;
    for _ in 0..10 {
        let reply = attacker.post("/v1/auth/signin").json(wrong.clone()).await;
        if reply.status == 429 {
            slowed = Some(reply.problem("too_many_attempts"));
            break;
        }
        reply.expect(401);
    }
    let slowed = slowed.expect("the tenth attempt is slowed");
    let wait: u64 = slowed.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1);
    // From elsewhere the owner still gets in, and so does anybody after the wait.
    merchant.sign_in_again().await;
    gateway.advance(Duration::from_secs(wait));
    let right = json!({"email": merchant.email, "password": PASSWORD});
    attacker.post("/v1/auth/signin").json(right).await.expect(200);
}

#[tokio::test]
async fn a_password_update_revokes_the_other_sessions() {
    let gateway = Gateway::start().await;
    let first = Merchant::sign_up(&gateway).await;
    let second = first.sign_in_again().await;
    let path = "/v1/auth/password/update";
    let wrong =
        json!({"current_password": "not it at all", "new_password": "a fresh new password"});
    first.post(path).json(wrong).await.expect(401).problem("invalid_credentials");
    assert_eq!(me(&second).await, 200);
    let right = json!({"current_password": PASSWORD, "new_password": "a fresh new password"});
    let reply = first.post(path).json(right).await.expect(200);
    assert_eq!((reply.at("/updated").clone(), reply.int("/sessions_revoked")), (json!(true), 1));
    assert_eq!([me(&first).await, me(&second).await], [200, 401]);
    let old = json!({"email": first.email, "password": PASSWORD});
    gateway.client().post("/v1/auth/signin").json(old).await.expect(401);
    let new = json!({"email": first.email, "password": "a fresh new password"});
    gateway.client().post("/v1/auth/signin").json(new).await.expect(200);
}

#[tokio::test]
async fn a_reset_link_works_once_and_revokes_every_session() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mailbox = gateway.mailbox(&merchant.email);
    mailbox.nth(1).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    client.post("/v1/auth/password/reset").json(input.clone()).await.expect(202);
    let mail = mailbox.nth(2).await;
    let token = mail.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    let update = json!({"token": token, "new_password": "a fresh new password"});
    let path = "/v1/auth/password/update";
    let short = json!({"token": token, "new_password": "short"});
    client.post(path).json(short).await.expect(422);
    let answers = race(20, || {
        let (client, update) = (gateway.client(), update.clone());
        async move { client.post(path).json(update).await.status }
    })
    .await;
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|status| **status == 400).count(), 19);
    assert_eq!(me(&merchant).await, 401);
    // A second link, too late.
    gateway.advance(HOUR);
    client.stranger().post("/v1/auth/password/reset").json(input).await.expect(202);
    let mails = mailbox.nth(4).await;
    let token = mails.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    gateway.advance(30 * MINUTE);
    let late = json!({"token": token, "new_password": "another new password"});
    client.post(path).json(late).await.expect(400).problem("invalid_or_expired_token");
}

#[tokio::test]
async fn changing_the_password_invalidates_reset_links() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mailbox = gateway.mailbox(&merchant.email);
    mailbox.nth(1).await;
    let client = gateway.client();
    let input = json!({"email": merchant.email});
    client.post("/v1/auth/password/reset").json(input).await.expect(202);
    let mail = mailbox.nth(2).await;
    let token = mail.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    let second = merchant.sign_in_again().await;
    let path = "/v1/auth/password/update";
    let kept = json!({
        "current_password": PASSWORD, "new_password": "a fresh new password",
        "revoke_other_sessions": false,
    });
    merchant.post(path).json(kept).await.expect(200);
    assert_eq!([me(&merchant).await, me(&second).await], [200, 200]);
    let late = json!({"token": token, "new_password": "the thief's password"});
    client.post(path).json(late).await.expect(400).problem("invalid_or_expired_token");
}
