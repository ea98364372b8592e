//! Forms.

use support::{Reply, json, race};

use super::Front;

#[tokio::test]
async fn forms_accept_json_and_html_and_mark_bots_as_spam() {
    let front = Front::open().await;
    let visitor = front.gateway.client();
    let path = front.path("/forms/contact");
    let input = json!({"fields": {"email": "a@example.com", "message": "Hello", "quantity": 7}});
    let sent = visitor.post(&path).json(input).await.expect(202);
    let html = visitor.post(&path).form(&[("email", "b@example.com"), ("_gotcha", "")]);
    html.await.expect(202);
    let bot = json!({"fields": {"message": "Buy!", "_gotcha": "x"}});
    let trapped = visitor.post(&path).json(bot).await.expect(202);
    let keys = |reply: &Reply| reply.json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&sent), keys(&trapped));
    assert_eq!(front.gateway.events("form.submitted").await.len(), 2);

    let list = |query: &str| front.owner.get(&format!("/v1/form-submissions{query}")).into_future();
    assert_eq!(list("").await.expect(200).data().len(), 3);
    assert_eq!(list("?form=newsletter").await.expect(200).data().len(), 0);
    let spam = list("?status=spam").await.expect(200);
    assert_eq!((spam.data().len(), spam.int("/data/0/spam_score")), (1, 100));
    assert!(!spam.text.contains("_gotcha"));
    let later = "?since=2999-01-01T00:00:00Z";
    assert_eq!(list(later).await.expect(200).data().len(), 0);
    assert_eq!(list("?since=2020-01-01T00:00:00Z").await.expect(200).data().len(), 3);

    let named = format!("/v1/form-submissions/{}", sent.str("/id"));
    let shown = front.owner.get(&named).await.expect(200);
    assert_eq!(shown.at("/fields/quantity"), "7");
    let read = front.owner.patch(&named).json(json!({"status": "read"})).if_match(&shown.etag());
    assert_eq!(read.await.expect(200).str("/status"), "read");
    front.owner.delete(&named).if_match(&shown.etag()).await.expect(412);
    front.owner.delete(&named).await.expect(204);
    front.owner.get(&named).await.expect(404);
}

#[tokio::test]
async fn form_submissions_are_limited_in_size() {
    let front = Front::open().await;
    let visitor = front.gateway.client();
    let path = front.path("/forms/contact");
    let before = front.gateway.count().await;
    let many: serde_json::Map<_, _> = (0..51).map(|n| (format!("f{n}"), json!("x"))).collect();
    for (input, code) in [
        (json!({"fields": many}), "too_many"),
        (json!({"fields": {}}), "required"),
        (json!({"fields": {"a": [1]}}), "invalid_type"),
        (json!({}), "required"),
        (json!({"fields": {"a": "b"}, "extra": 1}), "unknown_field"),
    ] {
        let rejected = visitor.post(&path).json(input).await.expect(422);
        assert_eq!(rejected.field_errors()[0].1, code, "{}", rejected.text);
    }
    let long = json!({"fields": {"a": "x".repeat(10 * 1024)}});
    visitor.post(&path).json(long).await.expect(413).problem("body_too_large");
    visitor.post(&front.path("/forms/No%20Form")).json(json!({})).await.expect(404);
    assert_eq!(front.gateway.count().await, before);
    // Ten points each of a public budget of 300: somebody who floods is stopped.
    let flood =
        race(60, || visitor.post(&path).json(json!({"fields": {"a": "b"}})).into_future()).await;
    assert!(flood.iter().any(|answer| answer.status == 429));
}

#[tokio::test]
async fn forms_accept_multipart_bodies_and_repeated_fields() {
    let front = Front::open().await;
    let visitor = front.gateway.client();
    let path = front.path("/forms/contact");
    let ticked = [("topic", "returns"), ("topic", "repairs"), ("topic", ""), ("name", "Ann")];
    let sent = visitor.post(&path).form(&ticked).await.expect(202);
    let fields = |sent: &Reply| {
        let shown = front.owner.get(&format!("/v1/form-submissions/{}", sent.str("/id")));
        async move { shown.await.expect(200).json["fields"].clone() }
    };
    let expected = json!({"topic": "returns, repairs", "name": "Ann"});
    assert_eq!(fields(&sent).await, expected);
    let parts = |parts: &[&str]| {
        let add = |body: String, part: &&str| body + "--b0\r\n" + part + "\r\n";
        let body = parts.iter().fold(String::new(), add);
        let input = visitor.post(&path).header("content-type", "multipart/form-data; boundary=b0");
        input.body(format!("{body}--b0--\r\n"))
    };
    let text = |name: &str, text: &str| {
        format!("Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}")
    };
    let file = |bytes: &str| {
        let head = "Content-Disposition: form-data; name=\"cv\"; filename=\"a.pdf\"";
        format!("{head}\r\nContent-Type: application/pdf\r\n\r\n{bytes}")
    };
    let [returns, repairs] = ["returns", "repairs"].map(|value| text("topic", value));
    // A browser sends the field of a file that nobody chose, too.
    let sent = parts(&[&returns, &repairs, &text("name", "Ann"), &file("")]).await.expect(202);
    assert_eq!(fields(&sent).await, expected);
    let trapped = parts(&[&returns, &text("_gotcha", "x")]).await.expect(202);
    let shown = front.owner.get(&format!("/v1/form-submissions/{}", trapped.str("/id"))).await;
    assert_eq!(shown.expect(200).str("/status"), "spam");
    let rejected = parts(&[&returns, &file("%PDF")]).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/cv".to_owned(), "file_rejected".to_owned())]);
    let input = visitor.post(&path).header("content-type", "multipart/form-data; boundary=b0");
    input.body("--b0\r\nnonsense").await.expect(400).problem("invalid_form");
    let input = visitor.post(&path).header("content-type", "multipart/form-data");
    input.body("").await.expect(400).problem("invalid_form");
}
