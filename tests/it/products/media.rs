//! Images: uploaded, fetched, shown, deleted; and their bytes, which are stored once.

use support::clock::STORE_CACHE;
use support::{Behaviour, Client, Gateway, Merchant, Receiver, Reply, Store, json, race, unique};

const MEDIA: &str = "/v1/media";

struct Front {
    gateway: Gateway,
    store: Store,
    owner: Client,
}

impl Front {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        Self { gateway, store, owner }
    }

    async fn upload(&self, bytes: &[u8]) -> Reply {
        self.owner.post(MEDIA).header("content-type", "image/png").body(bytes).await
    }

    /// The image as a browser gets it.
    async fn show(&self, id: &str) -> Reply {
        let path = format!("/v1/storefront/{}/media/{id}", self.store.subdomain);
        self.gateway.get(&path).await
    }
}

/// An image of this many bytes, as far as its first ones tell.
fn png(size: usize, seed: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let step = |n: usize| u8::try_from(n % 251).unwrap() ^ seed;
    bytes.extend((0..size - bytes.len()).map(step));
    bytes
}

/// An image of this size in pixels, as far as its header tells.
fn sized_png(width: u32, height: u32) -> Vec<u8> {
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    [&header[..], &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x02\0\0\0\0\0\0\0"].concat()
}

#[tokio::test]
async fn an_image_has_its_size_and_so_has_its_product() {
    let front = Front::open().await;
    let wide = front.upload(&sized_png(1_200, 600)).await.expect(201);
    assert_eq!((wide.int("/width"), wide.int("/height")), (1_200, 600));
    let other = front.upload(&png(400, 7)).await.expect(201);
    assert!(other.at("/width").is_null() && other.at("/height").is_null());
    let images = json!([
        {"media_id": wide.str("/id"), "alt": "A shelf"}, {"media_id": other.str("/id")},
        {"url": "https://images.example.com/a.png"},
    ]);
    let product = json!({"title": "Shelf", "status": "active", "images": images});
    let made = front.owner.post("/v1/products").json(product).await.expect(201);
    let storefront = format!("/v1/storefront/{}/products", front.store.subdomain);
    let shown = front.gateway.get(&format!("{storefront}/shelf")).await.expect(200);
    let listed = front.gateway.get(&storefront).await.expect(200);
    for image in [made.at("/images/0"), shown.at("/images/0"), listed.at("/data/0/images/0")] {
        assert_eq!((&image["width"], &image["height"]), (&json!(1_200), &json!(600)));
    }
    for image in [made.at("/images/1"), made.at("/images/2")] {
        assert!(image.get("width").is_none() && image.get("height").is_none(), "{image}");
    }
    // A change of anything else keeps it, and the same images are no change.
    let path = format!("/v1/products/{}", made.str("/id"));
    let renamed = front.owner.patch(&path).json(json!({"title": "Long shelf"})).await.expect(200);
    assert_eq!(renamed.int("/images/0/width"), 1_200);
    let same = front.owner.patch(&path).json(json!({"images": images})).await.expect(200);
    assert_eq!(same.int("/version"), renamed.int("/version"));
}

#[tokio::test]
async fn a_part_of_an_image_is_served_for_a_range() {
    let front = Front::open().await;
    let bytes = png(400_000, 7);
    let made = front.upload(&bytes).await.expect(201);
    let path = format!("/v1/storefront/{}/media/{}", front.store.subdomain, made.str("/id"));
    let client = front.gateway.client();
    let whole = client.get(&path).await.expect(200);
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    for (range, first, last) in [
        ("bytes=0-99", 0, 99),
        ("bytes=349990-350010", 349_990, 350_010),
        ("bytes=399999-", 399_999, 399_999),
        ("bytes=-10", 399_990, 399_999),
    ] {
        let part = client.get(&path).header("range", range).await.expect(206);
        assert!(part.bytes == bytes[first..=last], "{range}");
        let told = format!("bytes {first}-{last}/400000");
        assert_eq!(part.header("content-range"), Some(told.as_str()));
        assert_eq!((part.etag(), part.header("content-type")), (whole.etag(), Some("image/png")));
        let current = client.get(&path).header("range", range).header("if-range", &whole.etag());
        assert!(current.await.expect(206).bytes == bytes[first..=last]);
        let other = client.get(&path).header("range", range).header("if-range", "\"x\"");
        assert!(other.await.expect(200).bytes == bytes);
        let known = client.get(&path).header("range", range).header("if-none-match", &whole.etag());
        assert!(known.await.expect(304).bytes.is_empty());
    }
    let beyond = client.get(&path).header("range", "bytes=400000-").await.expect(416);
    assert_eq!(beyond.header("content-range"), Some("bytes */400000"));
    beyond.problem("range_not_satisfiable");
    for ignored in ["bytes=0-1,4-5", "pages=1-2", "bytes=9-1"] {
        assert!(client.get(&path).header("range", ignored).await.expect(200).bytes == bytes);
    }
}

#[tokio::test]
async fn an_image_is_served_unchanged_with_immutable_caching() {
    let front = Front::open().await;
    for size in [64, 350_000, 350_001, 4 << 20] {
        let bytes = png(size, 1);
        let made = front.upload(&bytes).await.expect(201);
        assert_eq!(made.int("/size"), i64::try_from(size).unwrap());
        assert_eq!(made.str("/content_type"), "image/png");
        let shown = front.show(&made.str("/id")).await.expect(200);
        assert!(shown.bytes == bytes, "{size} bytes are not the same");
        assert_eq!(shown.header("content-type"), Some("image/png"));
        let kept = shown.header("cache-control").unwrap();
        assert!(kept.contains("immutable") && kept.contains("public"), "{kept}");
        assert_eq!(shown.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(shown.etag(), format!("\"{}\"", made.str("/sha256")));
        assert!(made.str("/url").ends_with(&format!("/media/{}", made.str("/id"))));
        let path = format!("/v1/storefront/{}/media/{}", front.store.subdomain, made.str("/id"));
        let client = front.gateway.client();
        for tag in [shown.etag(), format!("W/{}", shown.etag()), "*".to_owned()] {
            let known = client.get(&path).header("if-none-match", &tag).await.expect(304);
            assert!(known.bytes.is_empty());
        }
        let odd = client.get(&path).header("if-none-match", &made.str("/sha256")).await;
        assert!(odd.expect(200).bytes == bytes);
    }
    assert_eq!(front.gateway.events("media.created").await.len(), 4);
}

#[tokio::test]
async fn an_image_is_served_until_its_store_is_deleted() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let front = Front { owner: merchant.at(&store), gateway, store };
    let uploaded = front.upload(&png(400, 1)).await.expect(201);
    let id = uploaded.str("/id");
    front.show(&id).await.expect(200);
    let path = format!("/v1/stores/{}", front.store.id);
    let page = format!("/v1/storefront/{}", front.store.subdomain);
    front.gateway.get(&page).await.expect(404).problem("storefront_not_found");
    let renamed = unique("renamed");
    front.owner.patch(&path).json(json!({"subdomain": renamed})).await.expect(200);
    front.gateway.advance(STORE_CACHE);
    front.show(&id).await.expect(200);
    let now = format!("/v1/storefront/{renamed}/media/{id}");
    front.gateway.get(&now).await.expect(200);
    // Seen by the server while it was shut, it is open at once for all that.
    let act = |action: &str| front.owner.post(&format!("{path}/{action}")).json(json!({}));
    let activate = format!("{path}/activate");
    front.owner.post(&activate).json(support::open_as_is()).await.expect(200);
    front.gateway.get(&format!("/v1/storefront/{renamed}")).await.expect(200);
    act("close").await.expect(200);
    front.gateway.advance(STORE_CACHE);
    front.gateway.get(&now).await.expect(200);
    front.gateway.get(&format!("/v1/storefront/{renamed}")).await.expect(404);
    front.owner.delete(&path).json(json!({"confirm": renamed})).await.expect(202);
    front.gateway.advance(STORE_CACHE);
    front.gateway.get(&now).await.expect(404).problem("storefront_not_found");
}

#[tokio::test]
async fn uploads_without_image_bytes_are_rejected() {
    let front = Front::open().await;
    let before = front.gateway.count().await;
    for bytes in [&b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"[..], b"GI", b"%PDF-1.7", b"MZ"] {
        front.upload(bytes).await.expect(422).problem("media_type_rejected");
    }
    front.upload(&png((4 << 20) + 1, 1)).await.expect(413).problem("body_too_large");
    let text = front.owner.post(MEDIA).header("content-type", "text/plain").body("hello").await;
    text.expect(415);
    assert_eq!(front.gateway.count().await, before);
    // A wrong content type does not matter: the bytes say what it is.
    let made = front.owner.post("/v1/media?alt=A%20cat").header("content-type", "image/webp");
    let made = made.body(png(64, 1)).await.expect(201);
    assert_eq!((made.str("/content_type"), made.str("/alt")), ("image/png".into(), "A cat".into()));
}

#[tokio::test]
async fn a_merchant_manages_uploaded_images() {
    let front = Front::open().await;
    let one = front.upload(&png(64, 1)).await.expect(201);
    let two = front.upload(&png(64, 2)).await.expect(201);
    let list = front.owner.get(MEDIA).await.expect(200);
    assert_eq!(list.data().len(), 2);
    assert_eq!(list.str("/data/0/id"), two.str("/id"));
    assert_eq!(
        front.owner.get("/v1/media?content_type=image/gif").await.expect(200).data().len(),
        0
    );
    let named = format!("{MEDIA}/{}", one.str("/id"));
    let changed = front.owner.patch(&named).json(json!({"alt": "A dog"})).if_match(&one.etag());
    assert_eq!(changed.await.expect(200).int("/version"), 2);
    front.owner.patch(&named).json(json!({"alt": "x"})).if_match(&one.etag()).await.expect(412);
    front.owner.delete(&named).await.expect(204);
    front.owner.delete(&named).await.expect(404);
    front.show(&one.str("/id")).await.expect(404);
    assert_eq!(front.gateway.events("media.deleted").await.len(), 1);
    assert_eq!(front.gateway.items("BLB#").await.len(), 2, "the other image and its chunk");
    let other = Merchant::sign_up(&front.gateway).await;
    other.open_store().await;
    other.get(&format!("{MEDIA}/{}", two.str("/id"))).await.expect(404);
}

#[tokio::test]
async fn an_image_used_by_a_product_is_not_deleted() {
    let front = Front::open().await;
    let ids = [
        front.upload(&png(64, 1)).await.expect(201).str("/id"),
        front.upload(&png(64, 2)).await.expect(201).str("/id"),
    ];
    let images = |ids: &[&str]| -> Vec<_> {
        ids.iter().map(|id| json!({"media_id": id, "alt": "A mug"})).collect()
    };
    let [one, two] = [ids[0].as_str(), ids[1].as_str()];
    let input = json!({
        "title": "Mug", "images": images(&[one, one]),
        "variants": [{"price": {"amount": 1, "currency": "INR"}}],
    });
    let product = front.owner.post("/v1/products").json(input.clone()).await.expect(201);
    let other = front.owner.post("/v1/products").json(input).await.expect(201);
    let delete = |id: &str| front.owner.delete(&format!("{MEDIA}/{id}"));
    let in_use = delete(one).await.expect(409).problem("media_in_use");
    assert_eq!(in_use.int("/uses"), 2);
    let path = |product: &Reply| format!("/v1/products/{}", product.str("/id"));
    let swap = json!({"images": images(&[two])});
    front.owner.patch(&path(&product)).json(swap).await.expect(200);
    delete(one).await.expect(409);
    delete(two).await.expect(409);
    front.owner.delete(&path(&other)).query(&[("hard", "true")]).await.expect(204);
    delete(one).await.expect(204);
    let none = json!({"images": []});
    front.owner.patch(&path(&product)).json(none).await.expect(200);
    delete(two).await.expect(204);
    let gone = json!({"images": images(&[one])});
    let rejected = front.owner.patch(&path(&product)).json(gone).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "unknown_media");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identical_images_share_one_blob_until_the_last_is_deleted() {
    let front = Front::open().await;
    let bytes = png(700_001, 3);
    let answers = race(12, || front.upload(&bytes)).await;
    let ids: Vec<String> = answers.into_iter().map(|reply| reply.expect(201).str("/id")).collect();
    let blobs = front.gateway.items_of("blob", "BLB#").await;
    assert_eq!(blobs.len(), 1);
    assert_eq!(blobs[0]["references"], 12);
    assert_eq!(front.gateway.items_of("blob_chunk", "BLB#").await.len(), 3);
    let (last, others) = ids.split_last().unwrap();
    let gone = race(1, || async {
        for id in others {
            front.owner.delete(&format!("{MEDIA}/{id}")).await.expect(204);
        }
    });
    gone.await;
    assert!(front.show(last).await.expect(200).bytes == bytes);
    front.owner.delete(&format!("{MEDIA}/{last}")).await.expect(204);
    assert_eq!(front.gateway.items("BLB#").await.len(), 0);
    let again = front.upload(&bytes).await.expect(201);
    assert!(front.show(&again.str("/id")).await.expect(200).bytes == bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_uploads_and_deletions_never_lose_a_shared_blob() {
    let front = Front::open().await;
    let bytes = png(400_000, 5);
    let answers = race(10, || async {
        let made = front.upload(&bytes).await.expect(201).str("/id");
        front.owner.delete(&format!("{MEDIA}/{made}")).await.expect(204);
        let kept = front.upload(&bytes).await.expect(201).str("/id");
        front.show(&kept).await
    })
    .await;
    for answer in answers {
        assert!(answer.expect(200).bytes == bytes);
    }
    let blobs = front.gateway.items_of("blob", "BLB#").await;
    assert_eq!((blobs.len(), &blobs[0]["references"]), (1, &json!(10)));
}

#[tokio::test]
async fn an_image_is_fetched_from_its_source_url() {
    let front = Front::open().await;
    let receiver = Receiver::start().await;
    let mut bytes = sized_png(1_200, 600);
    bytes.resize(5_000, 7);
    receiver.now(Behaviour::Answer(200, Vec::new(), bytes.clone()));
    let input = json!({"source_url": receiver.url("/cat.png"), "alt": "A cat"});
    let made = front.owner.post(MEDIA).json(input.clone()).key("k-1").await.expect(201);
    assert_eq!(made.str("/alt"), "A cat");
    assert!(front.show(&made.str("/id")).await.expect(200).bytes == bytes);
    let again = front.owner.post(MEDIA).json(input.clone()).key("k-1").await.expect(201);
    assert_eq!(again.str("/id"), made.str("/id"));
    assert_eq!(receiver.requests().len(), 1);
    receiver.now(Behaviour::Status(404));
    front.owner.post(MEDIA).json(input).await.expect(502).problem("source_unreachable");
    for (url, code) in [
        ("http://169.254.169.254/latest/meta-data/", "blocked_address"),
        ("https://metadata.internal/", "blocked_address"),
        ("file:///etc/passwd", "invalid_url"),
    ] {
        let rejected = front.owner.post(MEDIA).json(json!({"source_url": url})).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/source_url".into(), code.into())], "{url}");
    }
}
