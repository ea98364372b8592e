//! The marketplace: what operators accept, every store can install.

use support::{Developer, Gateway, Merchant, Operator, ThemeSource, accept, json, unique, upload};

#[tokio::test]
async fn a_theme_package_goes_from_submission_to_withdrawal() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let slug = unique("linen");
    let source = ThemeSource::new(&slug);
    let package = upload(&developer, source.zip()).await.expect(201).str("/package/id");
    let path = |rest: &str| format!("/v1/themes/{slug}/{rest}");
    let of_package = |rest: &str| format!("/v1/themes/packages/{package}{rest}");
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let owner = merchant.at(&store);
    let visitor = gateway.client();
    visitor.get(&format!("/v1/themes/{slug}")).await.expect(404).problem("not_found");
    owner.post(&path("install")).json(json!({})).await.expect(404).problem("not_found");

    let listing = json!({"preview_images": ["https://example.com/a.png"], "changelog": "New."});
    let submitted = developer.post(&of_package("/submit")).json(listing.clone()).await.expect(202);
    assert_eq!(submitted.str("/status"), "submitted");
    let again = developer.post(&of_package("/submit")).json(listing.clone()).await.expect(409);
    again.problem("invalid_state_transition");
    merchant.post(&of_package("/submit")).json(listing.clone()).await.expect(403);
    let queue = operator.get("/v1/themes/packages/submissions").await.expect(200);
    assert!(queue.data().iter().any(|it| it["id"] == package.as_str()));
    let reject = operator.post(&of_package("/reject")).json(json!({"notes": []})).await;
    reject.expect(422).problem("validation_failed");
    let input = json!({"notes": ["The header is too low."]});
    let rejected = operator.post(&of_package("/reject")).json(input).await.expect(200);
    assert_eq!(rejected.str("/status"), "rejected");
    let seen = developer.get(&of_package("")).await.expect(200);
    assert_eq!(seen.str("/notes/0"), "The header is too low.");

    developer.post(&of_package("/submit")).json(listing).await.expect(202);
    operator.post(&of_package("/approve")).json(json!({})).await.expect(200);
    let shown = visitor.get(&format!("/v1/themes/{slug}")).await.expect(200);
    assert_eq!((shown.str("/version"), shown.str("/status")), ("1.0.0".into(), "published".into()));
    assert_eq!(shown.str("/versions/0/changelog"), "New.");
    assert_eq!(shown.str("/preview_images/0"), "https://example.com/a.png");
    owner.post(&path("install")).json(json!({})).await.expect(201);

    // A newer version becomes the one that is offered; taken back, the one before is again.
    let next = upload(&developer, source.version("1.2.0").zip()).await.expect(201);
    let next = next.str("/package/id");
    accept(&developer, &operator, &next, json!({})).await;
    let plan = owner.post(&path("upgrade")).json(json!({"dry_run": true})).await.expect(200);
    assert_eq!(plan.str("/to"), "1.2.0");
    let withdraw = format!("/v1/themes/packages/{next}/withdraw");
    developer.post(&withdraw).json(json!({})).await.expect(202);
    let shown = visitor.get(&format!("/v1/themes/{slug}")).await.expect(200);
    assert_eq!(shown.str("/version"), "1.0.0");
    let input = json!({"version": "1.2.0"});
    owner.post(&path("upgrade")).json(input).await.expect(404).problem("not_found");
    developer.post(&of_package("/withdraw")).json(json!({})).await.expect(202);
    visitor.get(&format!("/v1/themes/{slug}")).await.expect(404);
    // Who has it keeps it.
    owner.get(&path("editor")).await.expect(200);
    owner.post(&path("publish")).json(json!({"draft_version": 1})).await.expect(201);
    let events = gateway.all_events().await;
    let named = |verb: &str| {
        events.iter().filter(|event| event.name == format!("theme_package.{verb}")).count()
    };
    assert_eq!(
        ["uploaded", "submitted", "approved", "rejected", "withdrawn"].map(named),
        [2, 3, 2, 1, 2]
    );
}

#[tokio::test]
async fn the_theme_catalogue_filters_and_marks_installed_themes() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let store = developer.open_shop().await;
    let listing = json!({"seller_store_id": store.id});
    let mut slugs = Vec::new();
    for (name, category, price) in
        [("Plain", "fashion", None), ("Rich", "fashion", Some(4_900)), ("Bare", "food", None)]
    {
        let slug = unique("t");
        let mut source = ThemeSource::new(&slug);
        source.manifest["name"] = json!(name);
        source.manifest["category"] = json!(category);
        let source = match price {
            Some(price) => source.price(price),
            None => source,
        };
        let package = upload(&developer, source.zip()).await.expect(201).str("/package/id");
        accept(&developer, &operator, &package, listing.clone()).await;
        slugs.push(slug);
    }
    let merchant = Merchant::sign_up(&gateway).await;
    let shop = merchant.open_shop().await;
    let owner = merchant.at(&shop);
    let path = format!("/v1/themes/{}/install", slugs[0]);
    owner.post(&path).json(json!({})).await.expect(201);
    let visitor = gateway.client();
    let found = |query: &str| {
        let input = visitor.get(&format!("/v1/themes{query}"));
        async move {
            let reply = input.await.expect(200);
            let mut names: Vec<String> =
                reply.data().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
            names.sort();
            names
        }
    };
    assert_eq!(found("").await, ["Bare", "Plain", "Rich"]);
    assert_eq!(found("?price=free").await, ["Bare", "Plain"]);
    assert_eq!(found("?price=paid").await, ["Rich"]);
    assert_eq!(found("?category=fashion").await, ["Plain", "Rich"]);
    assert_eq!(found("?category=food&price=paid").await, [""; 0]);
    assert_eq!(found("?q=ICH").await, ["Rich"]);
    assert_eq!(found("?limit=1&q=linen").await.len(), 1);
    visitor.get("/v1/themes?price=cheap").await.expect(422).problem("validation_failed");
    visitor.get("/v1/themes?installed=true").await.expect(401);

    let of_store = owner.get("/v1/themes").await.expect(200);
    let standing = |name: &str| {
        let theme = of_store.data().iter().find(|it| it["name"] == name).unwrap();
        (theme["installed"].clone(), theme["licensed"].clone())
    };
    assert_eq!(standing("Plain"), (json!(true), json!(true)));
    assert_eq!(standing("Rich"), (json!(false), json!(false)));
    assert_eq!(standing("Bare"), (json!(false), json!(true)));
    let own = owner.get("/v1/themes?installed=true").await.expect(200);
    assert_eq!(own.data().len(), 1);
    assert_eq!(own.str("/data/0/installation/version"), "1.0.0");
    // To its maker it costs nothing.
    let maker = developer.at(&store).get("/v1/themes?q=Rich").await.expect(200);
    assert_eq!(maker.at("/data/0/licensed"), &json!(true));
}

#[tokio::test]
async fn a_paid_theme_requires_a_seller_store_of_its_developer() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let source = ThemeSource::new(&unique("linen")).price(4_900);
    let package = upload(&developer, source.zip()).await.expect(201).str("/package/id");
    let path = format!("/v1/themes/packages/{package}/submit");
    let missing = developer.post(&path).json(json!({})).await.expect(422);
    assert_eq!(missing.str("/errors/0/pointer"), "/seller_store_id");
    let stranger = Merchant::sign_up(&gateway).await.open_shop().await;
    for id in [stranger.id, format!("sto_{}", "0".repeat(32))] {
        let rejected = developer.post(&path).json(json!({"seller_store_id": id})).await.expect(422);
        assert_eq!(rejected.str("/errors/0/code"), "store_not_found");
    }
    let own = developer.open_shop().await;
    developer.post(&path).json(json!({"seller_store_id": own.id})).await.expect(202);
}
