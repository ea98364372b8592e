//! Mails about accounts, in a store's own words.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Mail, Market, PASSWORD, Shopper, inr, json, unique};

use super::at;

/// A store's texts of its mails about accounts: the mail, its subject, its text.
const TEXTS: [(&str, &str, &str); 9] = [
    ("customer_sign_in_code", "Connexion chez {{ shop }}", "Code: {{ code }}"),
    ("customer_registration_code", "Bienvenue", "{{ shop }}\nCode: {{ code }}"),
    ("customer_account_exists", "Vous avez un compte", "Code: {{ code }}"),
    ("customer_email_change_code", "Nouvelle adresse", "Code: {{ code }}"),
    ("customer_email_in_use", "Adresse prise", "{{ shop }}"),
    (
        "customer_password_reset",
        "Nouveau mot de passe",
        "Ici\u{a0}:\n{{ link }}\n{% if token %}Token: {{ token }}{% endif %}",
    ),
    ("customer_password_updated", "Autre mot de passe", "Le {{ changed_at }}"),
    ("customer_email_updated", "Autre adresse", "Le {{ changed_at }}\u{a0}: {{ new_email }}"),
    ("customer_deleted", "Au revoir", "Le {{ deleted_at }}"),
];

/// A French store with a shop and texts of its own.
async fn market() -> Market {
    let market = Market::open_with(|options| options.shop_port = Some(0)).await;
    market.merchant.prove(&market.gateway).await;
    let store = format!("/v1/stores/{}", market.store.id);
    let french = json!({"locale": "fr", "name": "Ann"});
    market.owner.patch(&store).json(french).await.expect(200);
    for (kind, subject, body) in TEXTS {
        let text = json!({"subject": subject, "body": body});
        let path = format!("{store}/notifications/{kind}/fr");
        market.owner.put(&path).json(text).await.expect(200);
    }
    market
}

/// The mail of this number to the address, which has a subject and a text that begins so.
async fn says(market: &Market, email: &str, number: usize, subject: &str, begins: &str) -> Mail {
    let mail = market.gateway.mailbox(email).nth(number).await;
    assert_eq!(mail.subject, subject);
    assert!(mail.text.starts_with(begins), "{}", mail.text);
    assert!(mail.html.as_ref().unwrap().contains("<html lang=\"fr\""), "{:?}", mail.html);
    mail
}

#[tokio::test]
async fn mails_about_an_account_have_the_stores_texts() {
    let market = market().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let (email, subdomain) = (shopper.email.as_str(), &market.store.subdomain);
    says(&market, email, 1, "Bienvenue", "Ann\nCode: ").await;
    let stranger = shopper.stranger();
    let named = json!({"subdomain": subdomain, "email": email, "password": PASSWORD});
    market.gateway.advance(MINUTE);
    stranger.post(&at("/register")).json(named).await.expect(202);
    says(&market, email, 2, "Vous avez un compte", "Code: ").await;
    market.gateway.advance(MINUTE);
    let named = json!({"subdomain": subdomain, "email": email});
    stranger.post(&at("/login/otp")).json(named.clone()).await.expect(202);
    says(&market, email, 3, "Connexion chez Ann", "Code: ").await;

    let mut browser = market.browser();
    browser.submit("/account/recover", &[("email", email)]).await.expect(200);
    let page = format!("Ici\u{a0}:\nhttp://{}/account/reset/", browser.host());
    let mail = says(&market, email, 4, "Nouveau mot de passe", &page).await;
    assert!(!mail.text.contains("Token"), "the page has it: {}", mail.text);
    market.gateway.advance(MINUTE);
    stranger.post(&at("/password/reset")).json(named).await.expect(202);
    let mail = says(&market, email, 5, "Nouveau mot de passe", &page).await;
    let token = mail.text.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    assert!(mail.text.contains(&format!("/account/reset/{token}\n")), "{}", mail.text);
    let password = "another long password";
    let input = json!({"current_password": PASSWORD, "new_password": password});
    shopper.post(&at("/password/update")).json(input).await.expect(200);
    says(&market, email, 6, "Autre mot de passe", "Le 20").await;

    let other = Shopper::register(&market.gateway, &market.store).await;
    let taken = json!({"email": other.email, "current_password": password});
    shopper.patch(&at("/me")).json(taken).await.expect(202);
    says(&market, &other.email, 2, "Adresse prise", "Ann").await;
    market.gateway.advance(MINUTE);
    let moved = format!("{}@example.com", unique("moved"));
    let input = json!({"email": moved, "current_password": password});
    let asked = shopper.patch(&at("/me")).json(input).await.expect(202);
    let mail = says(&market, &moved, 1, "Nouvelle adresse", "Code: ").await;
    let code = mail.text.trim().trim_start_matches("Code: ");
    let proof = json!({"challenge_id": asked.str("/email_change/challenge_id"), "code": code});
    let session = stranger.post(&at("/login/otp/verify")).json(proof).await.expect(200);
    let mail = says(&market, email, 7, "Autre adresse", "Le 20").await;
    assert!(
        mail.text.ends_with("\u{a0}: m***@example. com\n"),
        "masked, and no link: {}",
        mail.text
    );
    let shopper = shopper.with_token(&session.str("/access_token"));
    let input = json!({"current_password": password});
    shopper.delete(&at("/me")).json(input).await.expect(202);
    says(&market, &moved, 2, "Au revoir", "Le 20").await;
}

/// Whoever takes over a merchant's account has not proven its new address, and says nothing in the store's name.
async fn lose_proof(market: &Market) {
    let moved = format!("{}@example.com", unique("owner"));
    let input = json!({"email": moved, "current_password": PASSWORD});
    market.merchant.patch("/v1/auth/me").json(input).await.expect(200);
}

#[tokio::test]
async fn an_unproven_owner_has_built_in_texts() {
    let market = market().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let friend = format!("{}@example.com", unique("friend"));
    let later = Duration::from_hours(2);
    let send_at = market.gateway.now().plus(later);
    let recipient = json!({"email": friend, "send_at": send_at, "message": "Salut"});
    let card = json!({"initial_value": inr(500), "recipient": recipient});
    market.owner.post("/v1/products/gift-cards").key(&unique("c")).json(card).await.expect(201);
    lose_proof(&market).await;
    let named = json!({"subdomain": market.store.subdomain, "email": shopper.email});
    shopper.stranger().post(&at("/login/otp")).json(named).await.expect(202);
    let mail = market.gateway.mailbox(&shopper.email).nth(2).await;
    assert_eq!(mail.subject, "Votre code de connexion");
    let shop = format!("à la boutique\n\n    {}\n\n", market.store.subdomain);
    assert!(mail.text.contains(&shop) && !mail.text.contains("Ann"), "{}", mail.text);
    // A gift card that was ordered before is sent, without the giver's words.
    market.gateway.advance(later);
    market.gateway.sweep().await;
    let mail = market.gateway.mailbox(&friend).nth(1).await;
    let shop = format!("pour la boutique\n\n    {}\n\n", market.store.subdomain);
    assert!(mail.text.contains(&shop) && !mail.text.contains("Salut"), "{}", mail.text);
}

#[tokio::test]
async fn requests_to_move_to_an_address_that_a_merchant_gave_are_counted() {
    let market = market().await;
    let stranger = format!("{}@example.com", unique("stranger"));
    market.owner.post("/v1/customers").json(json!({"email": stranger})).await.expect(201);
    for _ in 0..11 {
        let shopper = Shopper::register(&market.gateway, &market.store).await;
        let input = json!({"email": stranger, "current_password": PASSWORD});
        shopper.patch(&at("/me")).json(input).await.expect(202);
    }
    market.gateway.quiet().await;
    let mails = market.gateway.mailbox(&stranger).mails();
    assert_eq!((mails.len(), mails[0].subject.as_str()), (10, "Adresse prise"));
}

#[tokio::test]
async fn a_text_without_its_code_or_link_is_rejected() {
    let market = market().await;
    for (kind, body, code) in [
        ("customer_sign_in_code", "Bonjour", "placeholder_required"),
        ("customer_password_reset", "Bonjour", "placeholder_required"),
        ("customer_email_in_use", "{{ code }}", "unknown_placeholder"),
    ] {
        let path = format!("/v1/stores/{}/notifications/{kind}/fr", market.store.id);
        let text = json!({"subject": "Bonjour", "body": body});
        let rejected = market.owner.put(&path).json(text).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/body".to_owned(), code.to_owned())], "{kind}");
    }
    let path = format!("/v1/stores/{}/notifications/customer_sign_in_code/fr", market.store.id);
    let text = json!({"subject": "{{ code }}", "body": "{{ code }}"});
    let rejected = market.owner.put(&path).json(text).await.expect(422);
    let expected = ("/subject".to_owned(), "placeholder_not_allowed".to_owned());
    assert_eq!(rejected.field_errors(), [expected], "a list of mails reveals no code");
}
