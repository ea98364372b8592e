//! Mails that follow from events: each is written once, when its event is handed out, and by no
//! request.

use std::time::Duration;

use support::clock::MINUTE;
use support::{Gateway, Market, Merchant, PASSWORD, cart, json, race, unique};

const CONFIRM: &str = "Confirm your e-mail address";

/// A gateway without a stream: what a request wrote waits for the sweep.
async fn still() -> Gateway {
    Gateway::start_with(|options| options.has_stream = false).await
}

/// How many mails are on their way, and how many links there are.
async fn written(gateway: &Gateway) -> (usize, usize) {
    let mails = gateway.items_of("mail", "MAI#").await;
    (mails.len(), gateway.items_of("link", "RST#").await.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_is_written_once_per_event() {
    let gateway = still().await;
    let merchant = Merchant::sign_up(&gateway).await;
    assert_eq!(written(&gateway).await, (0, 0), "the request writes neither mail nor link");
    gateway.advance(2 * MINUTE);
    // By eight at once, each of which finds the event pending; the queue takes no message.
    let mute = gateway.system().embedded().app_without_queues();
    race(8, || {
        let mute = mute.clone();
        async move { dispatcher::sweep(&mute).await }
    })
    .await;
    assert_eq!(written(&gateway).await, (1, 1));
    assert!(gateway.mailbox(&merchant.email).mails().is_empty());
    // Its message was lost: it is due by itself.
    gateway.sweep().await;
    let mailbox = gateway.mailbox(&merchant.email);
    assert_eq!(mailbox.nth(1).await.subject, CONFIRM);
    gateway.quiet().await;
    gateway.advance(2 * MINUTE);
    gateway.sweep().await;
    assert_eq!((written(&gateway).await, mailbox.mails().len()), ((0, 1), 1));
    merchant.prove(&gateway).await;
}

#[tokio::test]
async fn sign_up_mails_one_link_and_stores_no_token() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mailbox = gateway.mailbox(&merchant.email);
    let token = mailbox.token_of(CONFIRM).await;
    gateway.quiet().await;
    let everything = json!(gateway.items("").await).to_string();
    assert!(!everything.contains(&token), "the token is in the table");
    gateway.advance(2 * MINUTE);
    gateway.sweep().await;
    gateway.quiet().await;
    assert_eq!(mailbox.mails().len(), 1);
    merchant.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
}

#[tokio::test]
async fn no_link_is_mailed_to_a_changed_or_deleted_account() {
    let gateway = still().await;
    let (moved, gone) = (Merchant::sign_up(&gateway).await, Merchant::sign_up(&gateway).await);
    let to = format!("{}@example.com", unique("moved"));
    let input = json!({"email": to, "current_password": PASSWORD});
    moved.patch("/v1/auth/me").json(input).await.expect(200);
    gone.delete("/v1/auth/me").json(json!({"current_password": PASSWORD})).await.expect(202);
    gateway.advance(2 * MINUTE);
    gateway.sweep().await;
    // The move has its own.
    assert_eq!(gateway.mailbox(&to).nth(1).await.subject, CONFIRM);
    gateway.quiet().await;
    for (address, mails) in [(&to, 1), (&moved.email, 0), (&gone.email, 0)] {
        assert_eq!(gateway.mailbox(address).mails().len(), mails, "{address}");
    }
}

#[tokio::test]
async fn order_and_shipment_mails_follow_their_events() {
    let market = Market::proven().await;
    let book = market.stock(100, 5).await;
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(&book, 2)]);
    input["email"] = json!(email);
    let placed = market.order(input).await;
    let mailbox = market.gateway.mailbox(&email);
    assert!(mailbox.nth(1).await.text.contains("Total: 2.00 INR"));
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let input = json!({"notify_customer": true, "tracking": {"number": "TRACK-1"}});
    market.act(&placed.id, "fulfill", input).await.expect(201);
    let told = mailbox.nth(2).await;
    assert!(told.text.contains("Number: TRACK-1"), "{}", told.text);
    market.gateway.advance(Duration::from_mins(2));
    market.gateway.sweep().await;
    market.gateway.quiet().await;
    assert_eq!(mailbox.mails().len(), 2);
}
