//! Accounts, sessions, one-time codes and reset links.

use std::time::Duration;

use gateway::clock::{DAY, HOUR, MINUTE};
use support::{Client, Gateway, Merchant, OPERATOR_EMAIL, PASSWORD, json, race, unique};

async fn me(client: &Client) -> u16 {
    client.get("/v1/auth/me").await.status
}

#[tokio::test]
async fn a_merchant_signs_up_with_a_store_in_one_transaction() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let ask = json!({
        "email": "Ann@Example.com", "password": PASSWORD, "name": "Ann",
        "store_name": "Books", "subdomain": "anns-books",
    });
    let reply = client.post("/v1/auth/signup").json(ask).await.expect(201);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.str("/session/token_type"), "Bearer");
    assert_eq!(reply.str("/store/subdomain"), "anns-books");
    let merchant = client.with_token(&reply.str("/session/access_token"));
    let session = merchant.get("/v1/auth/custom/session").await.expect(200);
    assert_eq!(session.at("/active"), true);
    assert_eq!(session.str("/stores/0/id"), reply.str("/store/id"));
    let before = gateway.count().await;
    let taken = json!({
        "email": "bob@example.com", "password": PASSWORD, "store_name": "More Books",
        "subdomain": "anns-books",
    });
    client.post("/v1/auth/signup").json(taken).await.expect(409).problem("subdomain_taken");
    let same = json!({"email": "ann@example.COM", "password": PASSWORD});
    client.post("/v1/auth/signup").json(same).await.expect(409).problem("email_taken");
    assert_eq!(gateway.count().await, before);
}

#[tokio::test]
async fn a_bad_sign_up_names_every_field_and_writes_nothing() {
    let gateway = Gateway::start().await;
    let before = gateway.count().await;
    let client = gateway.client();
    let ask = json!({"email": "nobody", "password": "short", "subdomain": "-", "surprise": 1});
    let reply =
        client.post("/v1/auth/signup").json(ask).await.expect(422).problem("validation_failed");
    let errors = reply.field_errors();
    let pair = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    for expected in [
        pair("/email", "invalid_email"),
        pair("/password", "password_too_short"),
        pair("/subdomain", "invalid_subdomain"),
        pair("/surprise", "unknown_field"),
    ] {
        assert!(errors.contains(&expected), "{expected:?} in {errors:?}");
    }
    let common = json!({"email": "a@example.com", "password": "password123"});
    let reply = client.post("/v1/auth/signup").json(common).await.expect(422);
    assert_eq!(reply.field_errors(), [pair("/password", "password_common")]);
    for (body, status, code) in [
        (r#"{"email":"a@example.com","email":"b@example.com"}"#, 400, "invalid_json"),
        ("{", 400, "invalid_json"),
        ("[]", 422, "validation_failed"),
        ("\u{feff}{}", 400, "invalid_json"),
    ] {
        let ask = client.post("/v1/auth/signup").header("content-type", "application/json");
        ask.body(body).await.expect(status).problem(code);
    }
    let xml = client.post("/v1/auth/signup").header("content-type", "text/xml").body("<a/>").await;
    xml.expect(415).problem("unsupported_media_type");
    let big = client.post("/v1/auth/signup").header("content-type", "application/json");
    big.body(vec![b' '; (1 << 20) + 1]).await.expect(413).problem("body_too_large");
    assert_eq!(gateway.count().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_e_mail_address_signs_up_once_in_200_parallel_attempts() {
    let gateway = Gateway::start().await;
    let answers = race(200, || {
        let ask = json!({"email": "race@example.com", "password": PASSWORD});
        let client = gateway.client();
        async move { client.post("/v1/auth/signup").json(ask).await }
    })
    .await;
    let won = answers.iter().filter(|answer| answer.status == 201).count();
    let taken = answers.iter().filter(|answer| answer.json["code"] == "email_taken").count();
    assert_eq!((won, taken), (1, 199));
    assert_eq!(gateway.items_of("merchant", "MER#").await.len(), 1);
    assert_eq!(gateway.items_of("session", "MER#").await.len(), 1);
    assert_eq!(gateway.events("merchant.created").await.len(), 1);
}

#[tokio::test]
async fn an_unknown_address_and_a_wrong_password_are_answered_alike() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    let wrong = json!({"email": merchant.email, "password": "not the password"});
    let unknown = json!({"email": "nobody@example.com", "password": "not the password"});
    let wrong = client.post("/v1/auth/signin").json(wrong).await.expect(401);
    let unknown = client.stranger().post("/v1/auth/signin").json(unknown).await.expect(401);
    let same = |reply: &support::Reply| {
        let mut body = reply.json.clone();
        body["request_id"] = json!(null);
        body
    };
    assert_eq!(same(&wrong), same(&unknown));
    assert_eq!(wrong.trips(), unknown.trips(), "the same work");
    let codes = [&merchant.email, "nobody@example.com"].map(|email| json!({"email": email}));
    let [known, unknown] = codes.map(|ask| client.stranger().post("/v1/auth/signin/otp").json(ask));
    let (known, unknown) = (known.await.expect(202), unknown.await.expect(202));
    let fields = |reply: &support::Reply| {
        reply.json.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(fields(&known), fields(&unknown));
    assert_eq!(known.trips(), unknown.trips(), "the same work");
    for email in [&merchant.email, "nobody@example.com"] {
        let reset = client.stranger().post("/v1/auth/password/reset").json(json!({"email": email}));
        assert_eq!(reset.await.expect(202).json, json!({"expires_in": 1800}));
    }
}

#[tokio::test]
async fn sign_in_slows_down_and_never_locks() {
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
async fn sessions_are_dead_after_sign_out() {
    let gateway = Gateway::start().await;
    let first = Merchant::sign_up(&gateway).await;
    let (second, third) = (first.sign_in_again().await, first.sign_in_again().await);
    second.post("/v1/auth/signout").await.expect(204);
    assert_eq!([me(&first).await, me(&second).await, me(&third).await], [200, 401, 200]);
    let sessions = first.get("/v1/auth/sessions").await.expect(200);
    assert_eq!(sessions.data().len(), 2);
    assert!(!sessions.text.contains(&first.ip().to_string()), "no whole address is shown");
    let other = sessions.data().iter().find(|session| session["current"] == false).unwrap();
    let path = format!("/v1/auth/sessions/{}", other["id"].as_str().unwrap());
    first.delete(&path).await.expect(204);
    assert_eq!([me(&first).await, me(&third).await], [200, 401]);
    let fourth = first.sign_in_again().await;
    first.post("/v1/auth/signout").json(json!({"all": true})).await.expect(204);
    assert_eq!([me(&first).await, me(&fourth).await], [401, 401]);
    let session =
        first.get("/v1/auth/custom/session").await.expect(401).problem("session_inactive");
    assert_eq!(session.at("/active"), false);
}

#[tokio::test]
async fn a_password_update_ends_the_other_sessions() {
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
async fn a_reset_link_works_once_for_half_an_hour_and_ends_every_session() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mailbox = gateway.mailbox(&merchant.email);
    mailbox.nth(1).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    client.post("/v1/auth/password/reset").json(ask.clone()).await.expect(202);
    let letter = mailbox.nth(2).await;
    let token = letter.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
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
    client.stranger().post("/v1/auth/password/reset").json(ask).await.expect(202);
    let letters = mailbox.nth(4).await;
    let token = letters.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    gateway.advance(30 * MINUTE);
    let late = json!({"token": token, "new_password": "another new password"});
    client.post(path).json(late).await.expect(400).problem("invalid_or_expired_token");
}

#[tokio::test]
async fn sessions_end_when_idle_and_in_any_case() {
    let gateway = Gateway::start().await;
    let idle = Merchant::sign_up(&gateway).await;
    let busy = idle.sign_in_again().await;
    for _ in 0..2 {
        gateway.advance(11 * HOUR);
        assert_eq!(me(&busy).await, 200);
    }
    assert_eq!(me(&idle).await, 401);
    for _ in 0..70 {
        gateway.advance(10 * HOUR);
        if me(&busy).await == 401 {
            break;
        }
    }
    let refreshed = idle.sign_in_again().await;
    let reply = refreshed.post("/v1/auth/session/refresh").await.expect(200);
    let token = reply.json.pointer("/session/access_token").or(reply.json.pointer("/access_token"));
    let next = refreshed.with_token(token.unwrap().as_str().unwrap());
    assert_eq!([me(&refreshed).await, me(&next).await], [401, 200]);
    gateway.advance(31 * DAY);
    assert_eq!(me(&busy).await, 401);
}

#[tokio::test]
async fn an_account_changes_its_address_with_its_password_and_proves_it() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let other = Merchant::sign_up(&gateway).await;
    let token = gateway.mailbox(&merchant.email).token().await;
    let client = gateway.client();
    client.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
    client.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(400);
    let view = merchant.get("/v1/auth/me").await.expect(200);
    assert_eq!(view.at("/email_verified"), true);
    let address = format!("{}@example.com", unique("renamed"));
    let bare = json!({"email": address});
    let refused = merchant.patch("/v1/auth/me").json(bare).await;
    assert!(matches!(refused.status, 401 | 422), "{}", refused.text);
    let taken = json!({"email": other.email, "current_password": PASSWORD});
    merchant.patch("/v1/auth/me").json(taken).await.expect(409).problem("email_taken");
    let right = json!({"email": address, "current_password": PASSWORD, "name": "Ann B."});
    let stale = merchant.patch("/v1/auth/me").json(right.clone()).if_match("\"99\"").await;
    stale.expect(412).problem("precondition_failed");
    let view = merchant.patch("/v1/auth/me").json(right).if_match(&view.etag()).await.expect(200);
    assert_eq!(
        (view.str("/email"), view.at("/email_verified").clone()),
        (address.clone(), json!(false))
    );
    let signin = json!({"email": address, "password": PASSWORD});
    client.post("/v1/auth/signin").json(signin).await.expect(200);
}

#[tokio::test]
async fn an_account_that_owns_stores_is_not_deleted() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let ask = json!({"current_password": PASSWORD});
    let refused = merchant.delete("/v1/auth/me").json(ask.clone()).await.expect(409);
    refused.problem("owns_active_stores");
    let path = format!("/v1/stores/{}", store.id);
    merchant.delete(&path).json(json!({"confirm": store.subdomain})).await.expect(202);
    merchant.delete("/v1/auth/me").json(ask).await.expect(202);
    assert_eq!(me(&merchant).await, 401);
    let signin = json!({"email": merchant.email, "password": PASSWORD});
    let reply = gateway.client().post("/v1/auth/signin").json(signin).await;
    assert!(matches!(reply.status, 401 | 403), "{}", reply.text);
}

/// Moves the account to another address and proves that one.
async fn move_to(gateway: &Gateway, merchant: &Merchant, address: &str) {
    let ask = json!({"email": address, "current_password": PASSWORD});
    merchant.patch("/v1/auth/me").json(ask).await.expect(200);
    let token = gateway.mailbox(address).token().await;
    merchant.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
}

#[tokio::test]
async fn an_operator_is_whoever_has_proven_a_listed_address_and_has_it_still() {
    let gateway = Gateway::start().await;
    let queue = "/v1/app-store/submissions";
    let is_operator = async |client: &Client| {
        let view = client.get("/v1/auth/me").await.expect(200);
        assert_eq!(view.at("/email_verified"), true);
        let shown = view.at("/operator") == true;
        assert_eq!(client.get(queue).await.status, if shown { 200 } else { 403 });
        shown
    };
    // Whoever signs up with the address and proves another has proven nothing.
    let thief = Merchant::sign_up_as(&gateway, OPERATOR_EMAIL).await;
    thief.get(queue).await.expect(403).problem("operator_required");
    move_to(&gateway, &thief, &format!("{}@example.com", unique("thief"))).await;
    assert!(!is_operator(&thief).await);
    // The role comes with the proven address, however it is written, and goes with it.
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    move_to(&gateway, &merchant, &OPERATOR_EMAIL.to_uppercase()).await;
    assert!(is_operator(&merchant).await);
    move_to(&gateway, &merchant, &format!("{}@example.com", unique("retired"))).await;
    assert!(!is_operator(&merchant).await);
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

#[tokio::test]
async fn a_reset_link_dies_with_the_password_it_was_sent_for() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mailbox = gateway.mailbox(&merchant.email);
    mailbox.nth(1).await;
    let client = gateway.client();
    let ask = json!({"email": merchant.email});
    client.post("/v1/auth/password/reset").json(ask).await.expect(202);
    let letter = mailbox.nth(2).await;
    let token = letter.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
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

#[tokio::test]
async fn an_account_is_deleted_after_the_last_of_its_stores() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let subdomain = unique("first");
    let ask = json!({
        "email": format!("{}@example.com", unique("owner")), "password": PASSWORD,
        "store_name": "First", "subdomain": subdomain,
    });
    let reply = client.post("/v1/auth/signup").json(ask).await.expect(201);
    let merchant = client.with_token(&reply.str("/session/access_token"));
    let second = json!({
        "name": "Second", "subdomain": unique("second"), "currency": "INR", "country": "IN",
    });
    let second = merchant.post("/v1/stores").json(second).await.expect(201);
    // What else happens to the account leaves the count alone.
    merchant.patch("/v1/auth/me").json(json!({"name": "Ann B."})).await.expect(200);
    for (id, subdomain) in
        [(reply.str("/store/id"), subdomain), (second.str("/id"), second.str("/subdomain"))]
    {
        let ask = json!({"current_password": PASSWORD});
        let refused = merchant.delete("/v1/auth/me").json(ask).await.expect(409);
        refused.problem("owns_active_stores");
        let delete = merchant.delete(&format!("/v1/stores/{id}"));
        delete.json(json!({"confirm": subdomain})).await.expect(202);
        merchant.patch("/v1/auth/me").json(json!({"name": subdomain})).await.expect(200);
    }
    let ask = json!({"current_password": PASSWORD});
    merchant.delete("/v1/auth/me").json(ask).await.expect(202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_does_not_go_while_it_opens_a_store() {
    let gateway = Gateway::start().await;
    for _ in 0..8 {
        let merchant = Merchant::sign_up(&gateway).await;
        let ask = json!({
            "name": "A Shop", "subdomain": unique("last"), "currency": "INR", "country": "IN",
        });
        let delete = merchant.delete("/v1/auth/me").json(json!({"current_password": PASSWORD}));
        let open = merchant.post("/v1/stores").json(ask);
        let (gone, opened) = tokio::join!(async { delete.await }, async { open.await });
        match (gone.status, opened.status) {
            (202, 401) => {}
            (409, 201) => drop(gone.problem("owns_active_stores")),
            _ => panic!("{} and {}", gone.text, opened.text),
        }
    }
}

#[tokio::test]
async fn a_cookie_is_believed_from_admin_origins_alone() {
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec!["https://admin.example".to_owned()];
    })
    .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let cookie = format!("__Host-session={}", merchant.token());
    let client = gateway.client();
    let ask = |origin: Option<&str>| {
        let ask = client.get("/v1/auth/me").header("cookie", &cookie);
        match origin {
            None => ask,
            Some(origin) => ask.header("origin", origin),
        }
    };
    ask(None).await.expect(200);
    let admin = ask(Some("https://admin.example")).await.expect(200);
    assert_eq!(admin.header("access-control-allow-origin"), Some("https://admin.example"));
    let evil = ask(Some("https://evil.example")).await.expect(403).problem("origin_not_allowed");
    assert_eq!(evil.header("access-control-allow-origin"), None);
    let open = client.get("/v1/app-store/apps").header("origin", "https://evil.example").await;
    assert_eq!(open.expect(200).header("access-control-allow-origin"), Some("*"));
}
