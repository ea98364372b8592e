//! Sign-up, and what a stranger learns.

use support::{Gateway, Merchant, PASSWORD, json, race};

#[tokio::test]
async fn a_merchant_signs_up_with_a_store_in_one_transaction() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let input = json!({
        "email": "Ann@Example.com", "password": PASSWORD, "name": "Ann",
        "store_name": "Books", "subdomain": "anns-books",
    });
    let reply = client.post("/v1/auth/signup").json(input).await.expect(201);
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
async fn an_invalid_sign_up_reports_every_field_error_and_writes_nothing() {
    let gateway = Gateway::start().await;
    let before = gateway.count().await;
    let client = gateway.client();
    let input = json!({"email": "nobody", "password": "short", "subdomain": "-", "surprise": 1});
    let reply =
        client.post("/v1/auth/signup").json(input).await.expect(422).problem("validation_failed");
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
        let input = client.post("/v1/auth/signup").header("content-type", "application/json");
        input.body(body).await.expect(status).problem(code);
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
        let input = json!({"email": "race@example.com", "password": PASSWORD});
        let client = gateway.client();
        async move { client.post("/v1/auth/signup").json(input).await }
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
    let [known, unknown] =
        codes.map(|input| client.stranger().post("/v1/auth/signin/otp").json(input));
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
