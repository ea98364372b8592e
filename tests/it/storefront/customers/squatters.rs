//! Who applies with somebody else's address, from the same network.

use support::{PASSWORD, json};

use super::{Front, at, me};

#[tokio::test]
async fn a_verified_account_does_not_keep_the_registrants_password() {
    let front = Front::open().await;
    // A café: everybody in one network, where one applies and another reads the mail.
    let squatter = front.gateway.client();
    let owner = squatter.clone();
    let input = json!({
        "subdomain": front.store.subdomain, "email": "cleo@example.com",
        "password": "the squatter's words", "name": "Cleo",
    });
    squatter.post(&at("/register")).json(input).await.expect(202);
    let code = front.gateway.mailbox("cleo@example.com").code().await;
    let verify = json!({
        "subdomain": front.store.subdomain, "email": "cleo@example.com", "code": code,
    });
    let made = owner.post(&at("/login/otp/verify")).json(verify).await.expect(201);
    assert_eq!(made.at("/customer/has_password"), false);
    let login = |password: &str| {
        let input = json!({
            "subdomain": front.store.subdomain, "email": "cleo@example.com", "password": password,
        });
        front.gateway.client().post(&at("/login")).json(input)
    };
    login("the squatter's words").await.expect(401).problem("invalid_credentials");
    let owner = owner.with_token(&made.str("/access_token"));
    // What only the owner may do takes a fresh code, where there is no password.
    let required = [("/one_time_code".to_owned(), "required".to_owned())];
    for asked in [
        owner.post(&at("/password/update")).json(json!({"new_password": PASSWORD})),
        owner.patch(&at("/me")).json(json!({"email": "thief@example.com"})),
        owner.delete(&at("/me")).json(json!({})),
    ] {
        assert_eq!(asked.await.expect(422).field_errors(), required);
    }
    let input = json!({"subdomain": front.store.subdomain, "email": "cleo@example.com"});
    let asked = owner.stranger().post(&at("/login/otp")).json(input).await.expect(202);
    front.gateway.mailbox("cleo@example.com").nth(2).await;
    let code = front.gateway.mailbox("cleo@example.com").code().await;
    let shown = json!({"challenge_id": asked.str("/challenge_id"), "code": code});
    let set = json!({"new_password": PASSWORD, "one_time_code": shown});
    owner.post(&at("/password/update")).json(set).await.expect(200);
    login(PASSWORD).await.expect(200);
    assert_eq!(me(&owner).await, 200);
}
