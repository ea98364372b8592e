//! Sessions and cookies.

use support::clock::{DAY, HOUR};
use support::{Gateway, Merchant, json};

use super::me;

#[tokio::test]
async fn sign_out_revokes_sessions() {
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
async fn sessions_expire_by_idleness_and_maximum_age() {
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
async fn session_cookies_are_accepted_from_admin_origins_only() {
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec!["https://admin.example".to_owned()];
    })
    .await;
    let merchant = Merchant::sign_up(&gateway).await;
    let cookie = format!("__Host-session={}", merchant.token());
    let client = gateway.client();
    let request = |origin: Option<&str>| {
        let input = client.get("/v1/auth/me").header("cookie", &cookie);
        match origin {
            None => input,
            Some(origin) => input.header("origin", origin),
        }
    };
    request(None).await.expect(200);
    let admin = request(Some("https://admin.example")).await.expect(200);
    assert_eq!(admin.header("access-control-allow-origin"), Some("https://admin.example"));
    let evil =
        request(Some("https://evil.example")).await.expect(403).problem("origin_not_allowed");
    assert_eq!(evil.header("access-control-allow-origin"), None);
    let open = client.get("/v1/app-store/apps").header("origin", "https://evil.example").await;
    assert_eq!(open.expect(200).header("access-control-allow-origin"), Some("*"));
}
