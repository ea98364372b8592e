//! The proof that a queue is its owner's.

use super::*;

async fn bring(queued: &Queued, token: &str) -> support::Reply {
    let path = format!("{}/confirm", queued.path());
    queued.owner().elsewhere().post(&path).json(json!({"token": token})).await
}

#[tokio::test]
async fn confirming_a_queue_is_idempotent() {
    let (queued, token) = Queued::unconfirmed("once", json!({})).await;
    let asked = queued.owner().get(&queued.path()).await.expect(200);
    assert_eq!(asked.at("/confirmation/confirmed_at"), &Value::Null);
    assert!(!asked.text.contains(&token), "nobody is shown the token");
    let stored = queued.gateway.items_of("webhook_subscription", "STO#").await;
    assert!(!stored[0].to_string().contains(&token), "nor is it kept");
    for switch in ["enable", "disable"] {
        let path = format!("{}/{switch}", queued.path());
        let rejected = queued.owner().post(&path).json(json!({})).await.expect(409);
        rejected.problem("invalid_state_transition");
    }
    let confirmed = queued.confirm(&token).await;
    assert_eq!(confirmed["status"], "enabled");
    assert!(confirmed["confirmation"]["confirmed_at"].is_string());
    assert_eq!(queued.confirm(&token).await, confirmed, "the same token changes nothing");
    bring(&queued, "another").await.expect(400).problem("invalid_or_expired_token");
    let path = format!("{}/challenge", queued.path());
    let rejected = queued.owner().post(&path).json(json!({})).await.expect(409);
    rejected.problem("invalid_state_transition");
    // One that is wanted off stays so.
    let (off, token) = Queued::unconfirmed("off", json!({"enabled": false})).await;
    assert_eq!(off.confirm(&token).await["status"], "disabled");
}

#[tokio::test]
async fn five_wrong_tokens_void_a_queue_challenge() {
    let (queued, token) = Queued::unconfirmed("guessed", json!({})).await;
    let queued = &queued;
    let answers =
        support::race(30, || async { bring(queued, &support::unique("guess")).await }).await;
    let wrong = answers.iter().filter(|reply| reply.status == 400).count();
    let late = answers.iter().filter(|reply| reply.status == 429).count();
    assert_eq!((wrong, late), (5, 25), "each is counted before the next is looked at");
    let rejected = bring(queued, &token).await.expect(429).problem("too_many_attempts");
    assert!(rejected.header("retry-after").is_some());
    let path = format!("{}/challenge", queued.path());
    let again = || queued.owner().post(&path).json(json!({}));
    again().await.expect(429).problem("too_many_attempts");
    queued.gateway.advance(MINUTE);
    assert_eq!(again().await.expect(200).str("/status"), "unconfirmed");
    let (_, fresh) = queued.queue.challenge().await;
    bring(queued, &token).await.expect(400).problem("invalid_or_expired_token");
    assert_eq!(queued.confirm(&fresh).await["status"], "enabled");
}

#[tokio::test]
async fn a_queue_challenge_expires_after_a_day() {
    let (queued, token) = Queued::unconfirmed("slow", json!({})).await;
    queued.gateway.advance(DAY);
    let owner = queued.merchant.sign_in_again().await.at(&queued.store);
    let path = format!("{}/confirm", queued.path());
    let late = owner.post(&path).json(json!({"token": token})).await.expect(400);
    late.problem("invalid_or_expired_token");
    owner.post(&format!("{}/challenge", queued.path())).json(json!({})).await.expect(200);
    let (_, token) = queued.queue.challenge().await;
    let reply = owner.post(&path).json(json!({"token": token})).await.expect(200);
    assert_eq!(reply.str("/status"), "enabled");
}

#[tokio::test]
async fn a_changed_queue_requires_confirmation_and_a_url_does_not() {
    let queued = Queued::to("first").await;
    let second = PolledQueue::open(&queued.gateway, "second").await;
    let patch = |input: Value| queued.owner().patch(&queued.path()).json(input);
    let same = patch(json!({"destination": queued.queue.destination()})).await.expect(200);
    assert_eq!(same.str("/status"), "enabled", "it is the queue that it was");
    let moved = patch(json!({"destination": second.destination()})).await.expect(200);
    assert_eq!(moved.str("/status"), "unconfirmed");
    queued.rename("For nobody").await;
    queued.gateway.quiet().await;
    let (challenge, token) = second.challenge().await;
    verify(&challenge.received, queued.secret());
    assert!(queued.queue.poll().await.is_empty());
    assert_eq!(queued.confirm(&token).await["status"], "enabled");
    queued.rename("For the second").await;
    assert_eq!(name_of(&second.next().await), "For the second");
    // Back and forth, unconfirmed in between.
    patch(json!({"destination": queued.queue.destination()})).await.expect(200);
    let receiver = Receiver::that(Behaviour::Status(200)).await;
    let posted = patch(json!({"url": receiver.url("/")})).await.expect(200);
    assert_eq!(
        (posted.str("/status"), posted.at("/confirmation")),
        ("enabled".into(), &Value::Null)
    );
    assert_eq!(posted.at("/destination"), &json!({"type": "https", "url": receiver.url("/")}));
    queued.rename("For the receiver").await;
    let received = receiver.wait_for_event("store.updated").await;
    assert_eq!(received.json()["data"]["name"], "For the receiver");
}

#[tokio::test]
async fn a_queue_is_validated_before_anything_is_sent_or_written() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let queue = PolledQueue::open(&gateway, "judged").await;
    let before = gateway.count().await;
    let references = gateway.system().embedded().references();
    let own = ["WebhookQueue", "MailQueue", "DueQueue", "RunnerQueue", "MailDeadLetters"];
    let sqs = |url: &str| json!({"destination": {"type": "sqs", "queue_url": url}});
    let at = "/destination/queue_url";
    let mut cases = vec![
        (sqs("https://sqs.us-east-1.amazonaws.com/222222222222/x"), at, "invalid_queue_url"),
        (sqs("https://hooks.example.com/"), at, "invalid_queue_url"),
        (json!({"destination": {"type": "sqs"}}), at, "required"),
        (json!({"destination": {"type": "https"}}), "/destination/url", "required"),
        (json!({"destination": {"type": "sns"}}), "/destination/type", "invalid_choice"),
        (json!({}), "/url", "required"),
        (
            json!({"destination": {"type": "https", "url": "https://10.0.0.1/"}}),
            "/destination/url",
            "blocked_address",
        ),
        (
            json!({"destination": {"type": "sqs", "queue_url": queue.url, "url": "http://127.0.0.1:1/"}}),
            "/destination/url",
            "not_applicable",
        ),
        (
            json!({"url": "http://127.0.0.1:1/", "destination": queue.destination()}),
            "/destination",
            "not_applicable",
        ),
    ];
    cases.extend(own.map(|name| (sqs(&references[name]), at, "own_queue")));
    for (mut input, pointer, code) in cases {
        input["event_types"] = json!(["store.updated"]);
        let reply = merchant.at(&store).post(SUBSCRIPTIONS).json(input.clone()).await.expect(422);
        assert_eq!(reply.field_errors(), [(pointer.to_owned(), code.to_owned())], "{input}");
    }
    assert_eq!(gateway.count().await, before);
    assert!(queue.poll().await.is_empty());
}

#[tokio::test]
async fn a_queue_that_rejects_its_challenge_is_not_subscribed() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let queue = PolledQueue::closed(&gateway, "closed").await;
    let before = gateway.count().await;
    let request = |url: &str| {
        let destination = json!({"type": "sqs", "queue_url": url});
        let input = json!({"destination": destination, "event_types": ["store.updated"]});
        merchant.at(&store).post(SUBSCRIPTIONS).json(input)
    };
    for (url, reason) in
        [(queue.url.clone(), "access_denied"), (queue.missing("gone"), "queue_not_found")]
    {
        let rejected = request(&url).await.expect(502).problem("queue_unreachable");
        assert_eq!(rejected.str("/reason"), reason);
        assert!(!rejected.str("/answer").is_empty());
    }
    assert_eq!(gateway.count().await, before);
    queue.admit(true).await;
    request(&queue.url).await.expect(201);
    queue.challenge().await;
}
