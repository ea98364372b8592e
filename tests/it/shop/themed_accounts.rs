//! Accounts in a theme's own templates.

use reqwest::Method;
use support::{Browser, Market, PASSWORD, Shopper, account_theme, json, unique};

use super::shop_with;

/// A shop with a theme that has templates of customers.
async fn shop() -> (Market, Browser) {
    shop_with(account_theme).await
}

/// A browser whose customer is signed in.
async fn signed_in() -> (Market, Browser, Shopper) {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let right = [("customer[email]", &*shopper.email), ("customer[password]", PASSWORD)];
    browser.submit("/account/login", &right).await.expect(200).shows("Theme account of Cleo");
    (market, browser, shopper)
}

/// An address as themes send it.
const ADDRESS: [(&str, &str); 7] = [
    ("address[first_name]", "Asha"),
    ("address[last_name]", "Rao"),
    ("address[address1]", "12 MG Road"),
    ("address[city]", "Bengaluru"),
    ("address[province]", "Karnataka"),
    ("address[zip]", "560001"),
    ("address[country]", "India"),
];

#[tokio::test]
async fn a_theme_shows_the_account_without_its_scripts() {
    let (market, mut browser, shopper) = signed_in().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 2).await;
    let placed = browser.order().await;
    let id = placed.trim_start_matches("/orders/").to_owned();
    let number = market.show(&id).await.expect(200).str("/number");
    let own = format!("/account/orders/{id}");
    let page = browser.open("/account").await.expect(200);
    let page = page.shows(&number).shows(&own).shows("Not paid").shows("20.00");
    // What is the platform's has its place below.
    page.shows("/account/privacy").shows(&format!("Signed in as {}", shopper.email));
    let order = browser.open(&own).await.expect(200).shows(&format!("Theme order {number}"));
    order.shows("× 2").shows("12 MG Road").shows("Karnataka").shows(&format!("href=\"{placed}\""));
    let pages =
        [own.as_str(), "/account", "/account/addresses", "/account/login", "/account/register"];
    for path in pages {
        let page = browser.open(path).await.expect(200).shows("Theme ");
        let policy = page.header("content-security-policy").to_owned();
        let scripts = policy.split("; ").find(|part| part.starts_with("script-src")).unwrap();
        let digest =
            scripts.strip_prefix("script-src 'sha256-").unwrap().strip_suffix('\'').unwrap();
        assert_eq!(digest.len(), 44, "{policy}");
        let origin = format!("http://{}", browser.host());
        let files = format!("{origin}/assets/ {origin}/media/");
        let rest: Vec<&str> = policy.split("; ").filter(|part| *part != scripts).collect();
        assert_eq!(
            rest,
            [
                "default-src 'none'",
                &format!("style-src {files} 'unsafe-inline'"),
                &format!("img-src {files} data:"),
                &format!("font-src {files} data:"),
                "connect-src 'none'",
                "form-action 'self'",
                "base-uri 'none'",
                "frame-ancestors 'none'",
            ]
        );
        assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(page.header("cache-control"), "private, no-store");
        // The theme's script is left out; it has another digest than the platform's, too.
        let page = page.lacks("document.title").shows("/theme.css").lacks("evil.example");
        let script =
            page.text.rsplit_once("<script>").unwrap().1.split("</script>").next().unwrap();
        assert_eq!(support::sha256_base64(script), digest);
        browser.fetch(path).await.expect(403);
    }
    // Another page of the theme runs its scripts, and no template of customers is rendered there.
    let home = browser.open("/").await.expect(200);
    assert!(home.header("content-security-policy").contains("script-src 'self' 'unsafe-inline'"));
    let section = browser.fetch("/?section_id=template--customers-order__main").await;
    section.lacks(&number).lacks("12 MG Road");
    browser.open("/account/logout").await.expect(200);
    let page = browser.open(&own).await.expect(200).shows("Theme login").lacks(&number);
    assert_eq!(page.input("return_to"), own);
}

#[tokio::test]
async fn a_rejected_sign_in_keeps_the_address_and_not_the_password() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let page = browser.open("/account/login?return_to=/cart").await.expect(200);
    assert_eq!(page.input("return_to"), "/cart");
    let page = page.shows("/account/login/code?return_to=%2Fcart");
    assert_eq!(page.input("form_type"), "customer_login");
    let email = format!("\"><b>{}", shopper.email);
    let wrong = [
        ("customer[email]", &*email),
        ("customer[password]", "not this one"),
        ("return_to", "/cart"),
    ];
    let page = browser.submit("/account/login", &wrong).await.expect(422).lacks("not this one");
    let page = page.lacks("\"><b>").shows("&quot;&gt;&lt;b&gt;");
    assert_eq!(page.input("return_to"), "/cart");
    let wrong = [("customer[email]", &*shopper.email), ("customer[password]", "not this one")];
    let page = browser.submit("/account/login", &wrong).await.expect(422);
    page.shows("<li>Incorrect email or password.</li>").shows(&shopper.email);
    let right = [
        ("customer[email]", &*shopper.email),
        ("customer[password]", PASSWORD),
        ("return_to", "/account/addresses"),
    ];
    browser.submit("/account/login", &right).await.expect(200).shows("Theme addresses");
    let guest = [("form_type", "guest_login"), ("checkout_url", "//evil.example")];
    let led = market.browser().submit_once("/account/login", &guest).await.expect(303);
    assert_eq!(led.header("location"), "/checkout");
}

#[tokio::test]
async fn a_theme_registers_and_says_what_is_wrong_at_its_fields() {
    let (market, mut browser) = shop().await;
    market.merchant.prove(&market.gateway).await;
    let email = format!("{}@example.com", unique("fresh"));
    let wrong = [
        ("customer[email]", "nobody"),
        ("customer[password]", "short"),
        ("customer[first_name]", "Ada \"A\""),
    ];
    let page = browser.submit("/account", &wrong).await.expect(422).shows("Theme register");
    let page = page.shows("<p>Email is not valid</p>").lacks("\"short\"");
    let page = page.shows("<p>Password is too short (minimum is 8 characters)</p>");
    page.shows("value=\"nobody\"").shows("value=\"Ada &quot;A&quot;\"").lacks("role=\"alert\"");
    let right = [
        ("customer[email]", &*email),
        ("customer[password]", PASSWORD),
        ("customer[first_name]", "Ada"),
    ];
    let page = browser.submit("/account", &right).await.expect(200).shows("Enter the code");
    let challenge = page.input("challenge_id");
    let code = market.gateway.mailbox(&email).code().await;
    let verify = [("challenge_id", &*challenge), ("code", &*code)];
    let page = browser.submit("/account/login/verify", &verify).await.expect(200);
    page.shows("Theme account of Ada").shows("No orders");
}

#[tokio::test]
async fn a_mailed_link_sets_a_new_password() {
    let (market, mut browser) = shop().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let ask = [("email", &*shopper.email)];
    let page = browser.submit("/account/recover", &ask).await.expect(200).shows("A link is sent");
    page.lacks(&format!("value=\"{}\"", shopper.email));
    let unknown = [("email", "nobody@example.com")];
    browser.submit("/account/recover", &unknown).await.expect(200).shows("A link is sent");
    let mailbox = market.gateway.mailbox(&shopper.email);
    let begins = format!("http://{}/account/reset/", browser.host());
    let link = support::eventually(std::time::Duration::from_secs(20), || async {
        let texts = mailbox.mails().into_iter().map(|mail| mail.text);
        texts.rev().find_map(|text| {
            Some(text.split_once(&begins)?.1.split_whitespace().next()?.to_owned())
        })
    });
    let path = format!("/account/reset/{}", link.await);
    let page = browser.open(&path).await.expect(200).shows("Theme reset");
    assert_eq!(page.path, "/account/reset", "no token stays in the address");
    let token = path.trim_start_matches("/account/reset/");
    page.lacks(token);
    let activation = format!("/account/activate/{token}");
    market.browser().open(&activation).await.expect(200).shows("Theme activation");
    let fields = |one: &'static str, two: &'static str| {
        [("customer[password]", one), ("customer[password_confirmation]", two)]
    };
    let page = browser.submit("/account/reset", &fields("another one 9", "another one 8")).await;
    page.expect(422).shows("<li>Password confirmation does not match the password</li>");
    let page = browser.submit("/account/reset", &fields("short", "short")).await.expect(422);
    page.shows("<li>Password is too short (minimum is 8 characters)</li>");
    let page = browser.submit("/account/reset", &fields("another one 9", "another one 9")).await;
    page.expect(200).shows("Theme login");
    let right = [("customer[email]", &*shopper.email), ("customer[password]", "another one 9")];
    browser.submit("/account/login", &right).await.expect(200).shows("Theme account");
    // A browser whose session has ended with it signs in again.
    let mut other = market.browser();
    other.cookies.insert("shop_session".to_owned(), "cst_over".to_owned());
    other.open("/account/login").await.expect(200).shows("Theme login");
    // It is used.
    browser.open(&path).await.expect(422).shows("This link is over");
    let page = browser.submit("/account/reset", &fields("a third one 9", "a third one 9")).await;
    page.expect(422).shows("This link is over");
    browser.open("/account/activate/nonsense").await.expect(422).shows("This link is over");
    browser.submit("/account/activate", &[("decline", "")]).await;
    assert!(!browser.cookies.contains_key("shop_reset"));
}

#[tokio::test]
async fn a_theme_keeps_the_address_book() {
    let (_market, mut browser, _) = signed_in().await;
    let page = browser.open("/account/addresses").await.expect(200);
    let page = page.shows("<option value=\"India\">").shows("address_form_new");
    page.shows("id=\"platform-regions\"").shows("\"Karnataka\"");
    // A theme that shows no messages: the platform does.
    let wrong = [("address[address1]", "1 <Main>"), ("address[country]", "India")];
    let page = browser.submit("/account/addresses", &wrong).await.expect(422);
    let page = page.shows("value=\"1 &lt;Main&gt;\"").shows("data-form=\"address_form_new\"");
    page.shows("<strong>City</strong> can't be blank").shows("Postal code</strong>");
    let page = browser.submit("/account/addresses", &ADDRESS).await.expect(200);
    let page =
        page.shows("<i>Karnataka</i>").shows("name=\"_method\" value=\"put\"").shows("checked");
    let path = page.text.split("data-target=\"").nth(1).unwrap().split('"').next().unwrap();
    let path = path.to_owned();
    assert!(path.starts_with("/account/addresses/adr_"), "{path}");
    let put = |city: &'static str| [("_method", "put"), ("address[city]", city)];
    let page = browser.submit(&path, &put("")).await.expect(422);
    page.shows("<b>can't be blank</b>").lacks("role=\"alert\"");
    browser.submit(&path, &put("Mysuru")).await.expect(200).shows("value=\"Mysuru\"");
    let page = browser.submit("/account/addresses", &ADDRESS).await.expect(200);
    let second = page.text.split("data-target=\"").skip(1).map(|it| it.split('"').next().unwrap());
    let second = second.map(str::to_owned).find(|other| *other != path).unwrap();
    let prefer = [("_method", "put"), ("address[default]", "1")];
    let page = browser.submit(&second, &prefer).await.expect(200);
    let id = second.rsplit('/').next().unwrap();
    page.shows(&format!(
        "id=\"address_default_address_{id}\" name=\"address[default]\" value=\"1\" checked"
    ));
    // A form of another site deletes nothing.
    let form = browser.request(Method::POST, &path).header("sec-fetch-site", "cross-site");
    browser.send(form.form(&[("_method", "delete")]), &path).await.expect(403);
    let page = browser.submit(&path, &[("_method", "delete")]).await.expect(200);
    page.lacks("Mysuru");
}

#[tokio::test]
async fn a_theme_that_fails_leaves_accounts_to_the_platform() {
    let mut own = String::new();
    let (market, mut browser) = shop_with(|slug| {
        slug.clone_into(&mut own);
        let mut files = account_theme(slug);
        let endless =
            "{% for i in (1..99999) %}{% for j in (1..99999) %}{{ i }}{% endfor %}{% endfor %}";
        for (path, text) in &mut files {
            if path.ends_with("customers/login.liquid") {
                *text = endless.into();
            }
        }
        files.retain(|(path, _)| !path.ends_with("customers/register.liquid"));
        files
    })
    .await;
    let page = browser.open("/account/login").await.expect(200).lacks("Theme login");
    let page = page.shows("Forgot your password?");
    assert!(!page.header("content-security-policy").contains("unsafe-inline"));
    browser.open("/account/register").await.expect(200).lacks("Theme ").shows("Register");
    // Its merchant sees why, in a preview.
    let path = |rest: &str| format!("/v1/themes/{own}/{rest}");
    let draft = json!({"settings": {"heading": "Hello"}});
    market.owner.put(&path("editor/draft")).json(draft).await.expect(200);
    let preview = market.owner.post(&path("preview-session")).json(json!({})).await.expect(201);
    let token = preview.str("/preview_token");
    browser.open(&format!("/?preview_token={token}")).await.expect(200);
    browser.open("/account/login").await.expect(422).shows("templates/customers/login.liquid");
}
