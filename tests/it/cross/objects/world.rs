//! A store where something of everything has happened, and the reads that show it.

use ::themes::manifest::Slug;
use ::themes::theme_license::ThemeLicense;
use core_types::id::{DisputeEvidenceId, StoreId, ThemePurchaseId};
use core_types::money;
use core_types::provider::ProviderName;
use primitives::fields::FromText;
use primitives::problem::Code;
use sales::dispute::Dispute;
use support::clock::{DAY, STORE_CACHE};
use support::{
    Behaviour, Client, Market, Receiver, Reply, Shop, Shopper, ThemeSource, Value, address, cart,
    eventually, inr, json, unique, upload,
};

/// A store where something of everything has happened.
pub(super) struct World {
    pub(super) market: Market,
    shopper: Shopper,
    visitor: Client,
    /// Who asks, and the path, for each route.
    pub(super) asked: Vec<(&'static str, Client, String)>,
}

impl World {
    fn add(&mut self, route: &'static str, client: &Client, names: &[&str]) {
        let mut path = route.to_owned();
        for name in names {
            let (start, rest) = path.split_once('{').unwrap();
            let (_, end) = rest.split_once('}').unwrap();
            path = format!("{start}{name}{end}");
        }
        assert!(!path.contains('{'), "{path}");
        self.asked.push((route, client.clone(), path));
    }

    async fn make(&self, path: &str, input: Value) -> Reply {
        let reply = self.market.owner.post(path).key(&unique("made")).json(input).await;
        assert!((200..300).contains(&reply.status), "{path}: {}", reply.text);
        reply
    }
}

/// An import of a file, once it is over and its pictures are fetched: what it makes has ids that follow from
/// it.
async fn imported(owner: &Client, kind: &str, file: &str) -> String {
    let id = owner.post("/v1/imports").json(json!({"kind": kind})).await.expect(201).str("/id");
    let one = format!("/v1/imports/{id}");
    owner.put(&format!("{one}/parts/1")).body(file).await.expect(200);
    owner.post(&format!("{one}/start")).json(json!({})).await.expect(202);
    eventually(std::time::Duration::from_secs(30), || async {
        let shown = owner.get(&one).await.expect(200);
        let is_over = *shown.at("/images/pending") == json!(false);
        (shown.str("/status") == "succeeded" && is_over).then_some(())
    })
    .await;
    id
}

/// The store, its catalogue and its settings.
async fn catalogue(world: &mut World) -> String {
    let (owner, visitor) = (world.market.owner.clone(), world.visitor.clone());
    let store = world.market.store.clone();
    let name = store.subdomain.as_str();
    let category = world.make("/v1/products/categories", json!({"name": "Cups"})).await;
    let input = json!({
        "title": "Mug", "status": "active", "category_id": category.str("/id"),
        "variants": [{"price": inr(500), "inventory": {"levels": [{"quantity": 9}]}}],
    });
    let product = world.make("/v1/products", input).await;
    let (id, variant) = (product.str("/id"), product.str("/variants/0/id"));
    let input = json!({"title": "Best", "kind": "manual", "product_ids": [id]});
    let collection = world.make("/v1/products/collections", input).await.str("/id");
    let of_store = |rest: &str| format!("/v1/stores/{}{rest}", store.id);
    let menu = json!({"items": [{"title": "Home", "type": "home"}]});
    owner.put(&of_store("/navigation/main")).json(menu).await.expect(200);
    let policy = json!({"body_html": "<p>Text</p>", "published": true});
    owner.put(&of_store("/policies/refund")).json(policy).await.expect(200);
    let words = json!({"subject": "Bestellung {{ order_number }}", "body": "Danke!"});
    owner.put(&of_store("/notifications/order_placed/de")).json(words).await.expect(200);
    let places = owner.get("/v1/inventory/locations").await.expect(200);
    let place = places.str("/data/0/id");
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on".to_vec();
    let picture = Receiver::that(Behaviour::Answer(200, Vec::new(), image.clone())).await;
    let image = owner.post("/v1/media").header("content-type", "image/png").body(image).await;
    let image = image.expect(201).str("/id");
    let card = world.market.gift_card(500).await.0;
    let merchant: Client = (*world.market.merchant).clone();
    world.add("/v1/stores", &merchant, &[]);
    world.add("/v1/stores/{id}", &owner, &[&store.id]);
    world.add("/v1/stores/{id}/navigation/{handle}", &owner, &[&store.id, "main"]);
    world.add("/v1/stores/{id}/policies/{handle}", &owner, &[&store.id, "refund"]);
    world.add("/v1/stores/{id}/notifications", &owner, &[&store.id]);
    let in_german = [store.id.as_str(), "order_placed", "de"];
    world.add("/v1/stores/{id}/notifications/{kind}/{locale}", &owner, &in_german);
    world.add("/v1/stores/{id}/settings", &owner, &[&store.id]);
    world.add("/v1/stores/{id}/members", &owner, &[&store.id]);
    let people = owner.get(&of_store("/members")).await.expect(200);
    world.add(
        "/v1/stores/{id}/members/{member_id}",
        &owner,
        &[&store.id, &people.str("/data/0/id")],
    );
    world.make(&of_store("/domains"), json!({"host": "shop.example.com"})).await;
    world.add("/v1/stores/{id}/domains", &owner, &[&store.id]);
    world.add("/v1/stores/{id}/domains/{host}", &owner, &[&store.id, "shop.example.com"]);
    world.add("/v1/products", &owner, &[]);
    world.add("/v1/products/{id}", &owner, &[&id]);
    world.add("/v1/products/{id}/variants", &owner, &[&id]);
    world.add("/v1/products/categories", &owner, &[]);
    world.add("/v1/products/categories/{id}", &owner, &[&category.str("/id")]);
    world.add("/v1/products/collections", &owner, &[]);
    world.add("/v1/products/collections/{id}", &owner, &[&collection]);
    world.add("/v1/products/collections/{id}/products", &owner, &[&collection]);
    world.add("/v1/products/gift-cards", &owner, &[]);
    world.add("/v1/products/gift-cards/{id}", &owner, &[&card]);
    world.add("/v1/products/gift-cards/{id}/transactions", &owner, &[&card]);
    world.add("/v1/inventory/locations", &owner, &[]);
    world.add("/v1/inventory/locations/{id}", &owner, &[&place]);
    world.add("/v1/inventory/levels", &owner, &[]);
    world.add("/v1/inventory/levels/{item}/{location}/ledger", &owner, &[&variant, &place]);
    let file = format!("Title,Price,Image Src\nA cup,1,{}\n", picture.url("/cup.png"));
    let import = imported(&owner, "products", &file).await;
    imported(&owner, "customers", "Email\nimported@example.com\n").await;
    let input = owner.post("/v1/exports").json(json!({"kind": "products"}));
    let export = input.await.expect(202).str("/id");
    world.add("/v1/imports", &owner, &[]);
    world.add("/v1/imports/{id}", &owner, &[&import]);
    world.add("/v1/exports", &owner, &[]);
    world.add("/v1/exports/{id}", &owner, &[&export]);
    world.add("/v1/media", &owner, &[]);
    world.add("/v1/media/{id}", &owner, &[&image]);
    world.asked.push((
        "/v1/storefront/lookup",
        visitor.clone(),
        format!("/v1/storefront/lookup?subdomain={name}"),
    ));
    world.add("/v1/storefront/{subdomain}", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/products", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/products/{handle}", &visitor, &[name, "mug"]);
    world.add("/v1/storefront/{subdomain}/categories", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/categories/{handle}", &visitor, &[name, "cups"]);
    world.add("/v1/storefront/{subdomain}/collections", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/collections/{handle}", &visitor, &[name, "best"]);
    world.add("/v1/storefront/{subdomain}/navigation", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/navigation/{handle}", &visitor, &[name, "main"]);
    world.add("/v1/storefront/{subdomain}/policies", &visitor, &[name]);
    world.add("/v1/storefront/{subdomain}/policies/{handle}", &visitor, &[name, "refund"]);
    world.add("/v1/storefront/{subdomain}/payments/methods", &visitor, &[name]);
    chosen(world, name, &id, &variant).await;
    variant
}

/// What the customer has chosen: a cart, and a wish.
async fn chosen(world: &mut World, name: &str, id: &str, variant: &str) {
    let wish = json!({"product_id": id});
    world.shopper.post("/v1/storefront/customer/wishlist").json(wish).await.expect(201);
    let shopper: Client = (*world.shopper).clone();
    let cart = json!({"lines": [{"variant_id": variant, "quantity": 1}]});
    let carts = format!("/v1/storefront/{name}/carts");
    let cart = shopper.post(&carts).json(cart).await.expect(201).str("/cart/id");
    world.add("/v1/storefront/customer/cart", &shopper, &[]);
    world.add("/v1/storefront/{subdomain}/carts/{id}", &shopper, &[name, &cart]);
    world.add("/v1/storefront/customer/wishlist", &shopper, &[]);
    world.add("/v1/storefront/customer/wishlist/{product_id}", &shopper, &[id]);
}

/// An order that was paid, sent and refunded in part.
async fn orders(world: &mut World, variant: &str) {
    let shopper: Client = (*world.shopper).clone();
    let owner = world.market.owner.clone();
    let name = world.market.store.subdomain.clone();
    let orders = world.market.orders_path();
    let order = shopper.post(&orders).key("order").json(cart(&[(variant, 2)])).await.expect(201);
    let id = order.str("/order/id");
    for (action, input) in
        [("mark-paid", json!({})), ("fulfill", json!({})), ("refund", json!({"amount": inr(100)}))]
    {
        world.make(&format!("/v1/orders/{id}/{action}"), input).await;
    }
    let refund = owner.get(&format!("/v1/orders/{id}/refunds")).await.expect(200);
    let payment = owner.get("/v1/payments").await.expect(200).str("/data/0/id");
    // One that its shopper has begun to pay: the id follows from what is paid, and how.
    let begun = shopper.post(&orders).key("begun").json(cart(&[(variant, 1)])).await.expect(201);
    let pay = format!("/v1/storefront/{name}/payments/manual/order");
    shopper.post(&pay).json(json!({"order_id": begun.str("/order/id")})).await.expect(201);
    world.add("/v1/orders", &owner, &[]);
    world.add("/v1/orders/{id}", &owner, &[&id]);
    world.add("/v1/orders/{id}/fulfillments", &owner, &[&id]);
    world.add("/v1/orders/{id}/refunds", &owner, &[&id]);
    world.add("/v1/orders/{id}/refunds/{refund_id}", &owner, &[&id, &refund.str("/data/0/id")]);
    world.add("/v1/payments", &owner, &[]);
    world.add("/v1/payments/{id}", &owner, &[&payment]);
    world.add("/v1/payments/{id}/refunds", &owner, &[&payment]);
    let dispute = disputed(world, &id, &payment).await;
    world.add("/v1/payments/disputes", &owner, &[]);
    world.add("/v1/payments/disputes/{id}", &owner, &[&dispute]);
    world.add("/v1/payments/providers", &owner, &[]);
    world.add("/v1/payments/providers/{provider}", &owner, &["manual"]);
    world.add("/v1/storefront/{subdomain}/orders/{id}", &shopper, &[&name, &id]);
    world.add("/v1/storefront/customer/orders", &shopper, &[]);
    world.add("/v1/storefront/customer/orders/{id}", &shopper, &[&id]);
}

/// A dispute as its provider's event leaves it, with evidence for it; `payments/disputes.rs` has the
/// events.
async fn disputed(world: &World, order: &str, payment: &str) -> String {
    let store = StoreId::from_text(&world.market.store.id).unwrap();
    let id = Dispute::id_of(&store, ProviderName::Stripe, "du_1");
    let now = world.market.gateway.now().to_string();
    let dispute = json!({
        "id": id, "store_id": store, "order_id": order, "order_number": "#1001",
        "payment_id": payment, "provider": "stripe", "provider_reference": "du_1",
        "kind": "chargeback", "status": "needs_response", "amount": inr(100), "held": inr(100),
        "reason": "general", "due_by": null, "told_at": now, "created_at": now, "updated_at": now,
        "version": 1,
        "evidence": {
            "id": DisputeEvidenceId::derive(&["sent"]), "status": "staged", "submit": false,
            "fields": ["receipt"], "failure_code": null, "created_at": now, "answered_at": now,
        },
    });
    let dispute: Dispute = serde_json::from_value(dispute).unwrap();
    let app = world.market.gateway.app();
    app.table.write().put(&dispute).commit().await.expect("it is written");
    id.to_string()
}

/// Customers and what they leave behind.
async fn customers(world: &mut World) {
    let (owner, visitor) = (world.market.owner.clone(), world.visitor.clone());
    let shopper: Client = (*world.shopper).clone();
    let name = world.market.store.subdomain.clone();
    let book = "/v1/storefront/customer/addresses";
    let home = shopper.post(book).json(address()).await.expect(201).str("/id");
    let reviews = format!("/v1/storefront/{name}/products/mug/reviews");
    let review = json!({"rating": 4, "title": "Good", "body": "It is."});
    let review = shopper.post(&reviews).json(review).await.expect(201).str("/id");
    world.make(&format!("/v1/reviews/{review}/approve"), json!({})).await;
    let form = format!("/v1/storefront/{name}/forms/contact");
    let form = visitor.post(&form).json(json!({"fields": {"a": "b"}})).await.expect(202);
    world.add("/v1/storefront/customer/me", &shopper, &[]);
    world.add("/v1/storefront/customer/addresses", &shopper, &[]);
    world.add("/v1/storefront/customer/addresses/{id}", &shopper, &[&home]);
    world.add("/v1/storefront/{subdomain}/products/{handle}/reviews", &visitor, &[&name, "mug"]);
    world.add("/v1/customers", &owner, &[]);
    world.add("/v1/reviews", &owner, &[]);
    world.add("/v1/reviews/{id}", &owner, &[&review]);
    world.add("/v1/form-submissions", &owner, &[]);
    world.add("/v1/form-submissions/{id}", &owner, &[&form.str("/id")]);
}

/// What apps and operations show.
async fn platform(world: &mut World, shop: &Platform) {
    let owner = world.market.owner.clone();
    let visitor = world.visitor.clone();
    let merchant: Client = (*world.market.merchant).clone();
    let (developer, operator): (Client, Client) = (shop.developer.clone(), shop.operator.clone());
    let app = shop.app.as_str();
    let review = json!({"rating": 4, "body": "It does what it says."});
    world.make(&format!("/v1/app-store/apps/{app}/reviews"), review).await;
    let installation = owner.get("/v1/app-store/installations").await.expect(200);
    let submissions = format!("/v1/app-store/developers/apps/{app}/submissions");
    let submission = developer.get(&submissions).await.expect(200).str("/data/0/id");
    let hook = json!({"url": "http://127.0.0.1:9/", "event_types": ["store.*"]});
    let hook = world.make("/v1/operations/webhook-subscriptions", hook).await.str("/id");
    let path = format!("/v1/stores/{}", world.market.store.id);
    owner.patch(&path).json(json!({"name": "Renamed"})).await.expect(200);
    let delivery = eventually(std::time::Duration::from_secs(30), || async {
        let list = owner.get("/v1/operations/webhook-deliveries").await.expect(200);
        list.json.pointer("/data/0/id").and_then(Value::as_str).map(str::to_owned)
    })
    .await;
    let event = owner.get("/v1/operations/outbox").await.expect(200).str("/data/0/id");
    let replay = json!({"kind": "range", "since": world.market.store.view["created_at"]});
    let replay = world.make("/v1/operations/runtime/replays", replay).await.str("/id");
    let runtime = "/v1/operations/runtime";
    let (drills, tests) = (format!("{runtime}/failover-drills"), format!("{runtime}/load-tests"));
    let input = json!({
        "kind": "receiver_down", "hypothesis": "It recovers.", "duration_s": 1, "rto_s": 60,
        "rpo_events": 0, "confirm": true,
    });
    let drill = operator.post(&drills).key("drill").json(input).await.expect(202).str("/id");
    operator.post(&format!("{drills}/{drill}/abort")).json(json!({})).await.expect(200);
    let input = json!({"duration_s": 1, "requests_per_second": 1});
    let test = operator.post(&tests).json(input).await.expect(202).str("/id");
    operator.post(&format!("{tests}/{test}/abort")).json(json!({})).await.expect(200);
    // No drill begins while one is open.
    let incident = json!({
        "title": "Late", "severity": "low", "components": ["outbox"],
        "store_id": world.market.store.id,
    });
    let incidents = "/v1/operations/runtime/incidents";
    let incident = operator.post(incidents).json(incident).await.expect(201).str("/id");
    world.add("/v1/app-store/apps", &visitor, &[]);
    world.add("/v1/app-store/apps/{id}", &visitor, &[app]);
    world.add("/v1/app-store/apps/{id}/reviews", &visitor, &[app]);
    world.add("/v1/app-store/installations", &owner, &[]);
    world.add("/v1/app-store/installations/{id}", &owner, &[&installation.str("/data/0/id")]);
    world.add("/v1/app-store/developers/register", &developer, &[]);
    world.add("/v1/app-store/developers/apps", &developer, &[]);
    world.add("/v1/app-store/developers/apps/{id}", &developer, &[app]);
    world.add("/v1/app-store/developers/apps/{id}/submissions", &developer, &[app]);
    world.add(
        "/v1/app-store/developers/apps/{id}/submissions/{sid}",
        &developer,
        &[app, &submission],
    );
    let approved = "/v1/app-store/submissions?status=approved".to_owned();
    world.asked.push(("/v1/app-store/submissions", operator.clone(), approved));
    world.add("/v1/operations/runtime/incidents", &owner, &[]);
    world.add("/v1/operations/runtime/incidents/{id}", &operator, &[&incident]);
    world.add("/v1/operations/runtime/failover-drills", &operator, &[]);
    world.add("/v1/operations/runtime/failover-drills/{id}", &operator, &[&drill]);
    world.add("/v1/operations/runtime/load-tests", &operator, &[]);
    world.add("/v1/operations/runtime/load-tests/{id}", &operator, &[&test]);
    world.add("/v1/auth/sessions", &merchant, &[]);
    world.add("/v1/auth/me", &merchant, &[]);
    world.add("/v1/operations/webhook-subscriptions", &owner, &[]);
    world.add("/v1/operations/webhook-subscriptions/{id}", &owner, &[&hook]);
    world.add("/v1/operations/webhook-deliveries", &owner, &[]);
    world.add("/v1/operations/webhook-deliveries/{id}", &owner, &[&delivery]);
    world.add("/v1/operations/runtime/replays", &owner, &[]);
    world.add("/v1/operations/runtime/replays/{id}", &owner, &[&replay]);
    world.add("/v1/operations/outbox", &owner, &[]);
    world.add("/v1/operations/outbox/{id}", &owner, &[&event]);
    let now = world.market.gateway.now();
    let period = json!({"from": now.minus(DAY), "to": now});
    let issue = operator.post("/v1/operations/certification-reports");
    let report = issue.json(json!({"period": period})).await.expect(202);
    let evidence = report.str("/evidence_id");
    world.add("/v1/operations/certification-reports", &owner, &[]);
    world.add("/v1/operations/certification-reports/{id}", &owner, &[&report.str("/id")]);
    world.add("/v1/operations/reliability-evidence", &owner, &[]);
    world.add("/v1/operations/reliability-evidence/{id}", &owner, &[&evidence]);
}

/// What themes show.
async fn themes(world: &mut World, shop: &Platform) {
    let owner = world.market.owner.clone();
    let visitor = world.visitor.clone();
    let (developer, operator): (Client, Client) = (shop.developer.clone(), shop.operator.clone());
    let slug = unique("linen");
    let packed = upload(&developer, ThemeSource::new(&slug).zip()).await.expect(201);
    let package = packed.str("/package/id");
    let of_package = |action: &str| format!("/v1/themes/packages/{package}/{action}");
    developer.post(&of_package("submit")).json(json!({})).await.expect(202);
    operator.post(&of_package("approve")).json(json!({})).await.expect(200);
    let next = ThemeSource::new(&slug).version("1.1.0").zip();
    let next = upload(&developer, next).await.expect(201).str("/package/id");
    let submit = format!("/v1/themes/packages/{next}/submit");
    developer.post(&submit).json(json!({})).await.expect(202);
    let of_theme = |rest: &str| format!("/v1/themes/{slug}/{rest}");
    world.make(&of_theme("install"), json!({})).await;
    world.make(&of_theme("publish"), json!({"draft_version": 1})).await;
    let session = world.make(&of_theme("preview-session"), json!({})).await.str("/id");
    let store = StoreId::parse(&world.market.store.id).unwrap();
    let (price, now) = (money::sample(4_900), world.market.gateway.now());
    let (paid, theme) = (ThemePurchaseId::mint(now), Slug::from_text(&slug).unwrap());
    let license = ThemeLicense::granted(None, &store, &theme, (&paid, &price), now);
    let write = world.market.gateway.app().table.write();
    write.create(&license, Code::VersionConflict).commit().await.unwrap();
    world.add("/v1/themes", &visitor, &[]);
    let own = "/v1/themes?installed=true".to_owned();
    world.asked.push(("/v1/themes", owner.clone(), own));
    world.add("/v1/themes/{slug}", &visitor, &[&slug]);
    world.add("/v1/themes/packages", &developer, &[]);
    world.add("/v1/themes/packages/{id}", &developer, &[&package]);
    world.add("/v1/themes/packages/submissions", &operator, &[]);
    world.add("/v1/themes/{slug}/preview-session/{id}", &owner, &[&slug, &session]);
    world.add("/v1/themes/{slug}/releases", &owner, &[&slug]);
    world.add("/v1/themes/{slug}/releases/{number}", &owner, &[&slug, "1"]);
    world.add("/v1/themes/{slug}/licenses", &owner, &[&slug]);
}

/// What orders cost besides their goods; after they were placed.
async fn charges(world: &mut World) {
    let (owner, store) = (world.market.owner.clone(), world.market.store.id.clone());
    let of_store = |rest: &str| format!("/v1/stores/{store}/{rest}");
    let zone = json!({"name": "India", "countries": ["IN"]});
    let zone = world.make(&of_store("shipping-zones"), zone).await.str("/id");
    let rate = json!({"name": "GST", "country": "IN", "basis_points": 1_800});
    let rate = world.make(&of_store("tax-rates"), rate).await.str("/id");
    let discount = json!({"title": "Free shipping", "kind": "free_shipping"});
    let discount = world.make("/v1/discounts", discount).await.str("/id");
    world.add("/v1/stores/{id}/shipping-zones", &owner, &[&store]);
    world.add("/v1/stores/{id}/shipping-zones/{zone_id}", &owner, &[&store, &zone]);
    world.add("/v1/stores/{id}/tax-rates", &owner, &[&store]);
    world.add("/v1/stores/{id}/tax-rates/{rate_id}", &owner, &[&store, &rate]);
    world.add("/v1/discounts", &owner, &[]);
    world.add("/v1/discounts/{id}", &owner, &[&discount]);
    let customer = world.shopper.id.clone();
    world.add("/v1/customers/{id}", &owner, &[&customer]);
    world.add("/v1/customers/{id}/addresses", &owner, &[&customer]);
    world.add("/v1/customers/{id}/orders", &owner, &[&customer]);
    let double =
        world.make("/v1/customers", json!({"email": "double@example.com"})).await.str("/id");
    let merges = format!("/v1/customers/{customer}/merges");
    owner.post(&merges).json(json!({"source_id": double})).await.expect(202);
    world.add("/v1/customers/{id}/merges", &owner, &[&customer]);
    let forget = format!("/v1/customers/{customer}/redact");
    owner.post(&forget).json(json!({})).await.expect(202);
    world.add("/v1/customers/{id}/redaction", &owner, &[&customer]);
    let guest = json!({"email": "guest@example.com"});
    let forget = owner.post("/v1/customers/guests/redact").json(guest).await.expect(202).str("/id");
    world.add("/v1/customers/guests/redactions/{id}", &owner, &[&forget]);
}

/// Who is behind an app.
struct Platform {
    developer: Client,
    operator: Client,
    app: String,
}

pub(super) async fn world() -> World {
    let shop = Shop::with_installed_app().await;
    let owner = shop.owner();
    let activate = format!("/v1/stores/{}/activate", shop.store.id);
    owner.post(&activate).json(support::open_as_is()).await.expect(200);
    shop.gateway.advance(STORE_CACHE);
    let platform_of = Platform {
        developer: (**shop.developer).clone(),
        operator: (**shop.operator).clone(),
        app: shop.app.id.clone(),
    };
    let shopper = Shopper::register(&shop.gateway, &shop.store).await;
    let Shop { gateway, merchant, store, .. } = shop;
    let visitor = gateway.client();
    let market = Market { gateway, merchant, store, owner };
    let mut world = World { market, shopper, visitor, asked: Vec::new() };
    let variant = catalogue(&mut world).await;
    orders(&mut world, &variant).await;
    customers(&mut world).await;
    charges(&mut world).await;
    platform(&mut world, &platform_of).await;
    themes(&mut world, &platform_of).await;
    world
}
