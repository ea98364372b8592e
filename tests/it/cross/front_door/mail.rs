//! The mailbox.

use support::{Gateway, Merchant};

use super::page;

#[tokio::test]
async fn a_mail_is_shown_with_its_html_in_a_frame_that_can_do_nothing() {
    let directory = std::env::temp_dir().join(format!("mails-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&directory).unwrap();
    let gateway = Gateway::start_with(|options| {
        options.embedded.mail.directory = Some(directory.clone());
    })
    .await;
    let client = gateway.client();
    let empty = page(&client, "/_local/mail").await.text;
    assert!(empty.contains("No mail yet"));
    let id = "mai_0199f000000070008000000000000001";
    let mail = "From: Shop <no-reply@example.com>\r\nTo: ann@example.com\r\nSubject: =?utf-8?b?w4RwZmVs?=\r\n\
        Date: Thu, 26 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/alternative; boundary=\"b\"\r\n\r\n\
        --b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGo to https://shop.example/verify?code=77 <now>\r\n\
        --b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hi</p><script>alert(1)</script>\r\n--b--\r\n";
    std::fs::write(directory.join(format!("{id}.eml")), mail).unwrap();
    std::fs::write(directory.join(".draft.eml.part"), mail).unwrap();
    let list = page(&client, "/_local/mail").await.text;
    assert!(list.contains("Äpfel") && list.contains("ann@example.com") && list.contains("1 mail"));
    let shown = page(&client, &format!("/_local/mail/{id}")).await.text;
    for part in [
        "sandbox=\"\"",
        "href=\"https://shop.example/verify?code=77\"",
        "&lt;now&gt;",
        "2026-11-26 10:00:00",
    ] {
        assert!(shown.contains(part), "{part}");
    }
    assert!(!shown.contains("alert(1)"));
    let html = client.get(&format!("/_local/mail/{id}/html")).await.expect(200);
    let policy = html.header("content-security-policy").unwrap();
    assert!(html.text.contains("<p>Hi</p>") && policy.ends_with("; sandbox"), "{policy}");
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"));
    assert!(!policy.contains("http"), "{policy}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn what_a_mail_asks_to_post_opens_its_form_with_the_token() {
    let directory = std::env::temp_dir().join(format!("mails-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&directory).unwrap();
    let gateway = Gateway::start_with(|options| {
        options.embedded.mail.directory = Some(directory.clone());
    })
    .await;
    let mail = format!(
        "To: a@example.com\r\nSubject: Confirm\r\n\r\nSend it to\r\n\r\n    POST {0}/v1/auth/email/verify\r\n\
         \r\nToken: to+ken_77\r\n\r\nor POST {0}/v1/nothing\r\n",
        gateway.url()
    );
    std::fs::write(directory.join("mai_1.eml"), mail).unwrap();
    let client = gateway.client();
    let shown = page(&client, "/_local/mail/mai_1").await.text;
    let form = "/_local/reference/verifyEmail?token=to%2Bken_77";
    assert!(shown.contains(&format!("href=\"{form}\"")), "{shown}");
    assert!(!shown.contains(&format!("href=\"{}", gateway.url())));
    assert!(page(&client, form).await.text.contains("to+ken_77"));
    let reset = "/_local/reference/updatePassword?token=to%2Bken_77";
    let reset = page(&client, reset).await.text;
    let body = reset.split("<textarea").nth(1).unwrap().split("</textarea>").next().unwrap();
    assert!(body.contains("to+ken_77") && !body.contains("current_password"), "{body}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn mails_are_listed_page_by_page_the_newest_first() {
    let directory = std::env::temp_dir().join(format!("mails-{}", uuid::Uuid::now_v7()));
    std::fs::create_dir_all(&directory).unwrap();
    let gateway = Gateway::start_with(|options| {
        options.embedded.mail.directory = Some(directory.clone());
    })
    .await;
    for number in 0..60 {
        let mail = format!("To: a@example.com\r\nSubject: Letter {number:02}.\r\n\r\nText\r\n");
        std::fs::write(directory.join(format!("mai_{number:032}.eml")), mail).unwrap();
    }
    let client = gateway.client();
    let first = page(&client, "/_local/mail").await.text;
    assert!(
        first.contains("Letter 59.")
            && first.contains("Letter 10.")
            && !first.contains("Letter 09.")
    );
    assert!(first.find("Letter 59.") < first.find("Letter 58."));
    let next = first.split("/_local/mail?after=").nth(1).unwrap().split('"').next().unwrap();
    let second = page(&client, &format!("/_local/mail?after={next}")).await.text;
    assert!(second.contains("Letter 09.") && !second.contains("Letter 10."));
    assert!(!second.contains("Older mails"));
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn no_path_of_the_mailbox_leaves_its_directory() {
    let gateway = Gateway::start().await;
    Merchant::sign_up(&gateway).await;
    let client = gateway.client();
    for outside in ["..%2f..%2fetc%2fpasswd", "..%2fx", "mai_1.eml", "mai_%00", "%2fetc%2fpasswd"] {
        for path in [format!("/_local/mail/{outside}"), format!("/_local/mail/{outside}/html")] {
            let reply = client.get(&path).await.expect(404);
            assert!(!reply.text.contains("root:"), "{path}");
        }
    }
}
