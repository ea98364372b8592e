//! Pictures of imported products: they are fetched into the store once the rows are read.

use support::{Behaviour, Receiver};

use super::*;

/// An image, as far as its first bytes tell.
fn png(seed: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(std::iter::repeat_n(seed, 3_000));
    bytes
}

/// The import, once all of its pictures were tried.
async fn fetched(market: &Market, id: &str) -> Reply {
    let path = format!("{IMPORTS}/{id}");
    eventually(SOON, || async {
        market.gateway.sweep().await;
        let shown = market.owner.get(&path).await.expect(200);
        let is_over = *shown.at("/images/pending") == json!(false);
        (shown.str("/status") != "running" && is_over).then_some(shown)
    })
    .await
}

#[tokio::test]
async fn imported_images_are_fetched_into_the_store() {
    let market = Market::open().await;
    let owner = &market.owner;
    let receiver = Receiver::start().await;
    receiver.now(Behaviour::Answer(200, Vec::new(), png(1)));
    let (front, back) = (receiver.url("/front.png"), receiver.url("/back.png"));
    let file = format!(
        "Handle,Title,Option1 Name,Option1 Value,Variant Price,Image Src,Image Alt Text,Variant Image\n\
         mug,Mug,Size,S,1,{front},Front,\nmug,,,L,2,{back},,{back}\n\
         cup,Cup,,,3,{front},,\nlid,Lid,,,4,,,\n"
    );
    let id = asked(owner, json!({"kind": "products"})).await;
    begin(owner, &id, file.as_bytes(), 1 << 20).await;
    let done = fetched(&market, &id).await;
    assert_eq!(done.str("/status"), "succeeded", "{:?}", findings(owner, &done).await);
    assert_eq!((done.int("/images/fetched"), done.int("/images/failed")), (3, 0));
    let mug = product(owner, "mug").await.unwrap();
    let url = mug.str("/images/0/url");
    assert!(url.ends_with(&mug.str("/images/0/media_id")), "{url}");
    assert_eq!(mug.str("/images/0/alt"), "Front");
    assert_eq!(mug.str("/variants/1/image_url"), mug.str("/images/1/url"));
    let path = url.split_once("/v1/").map(|(_, rest)| format!("/v1/{rest}")).unwrap();
    let shown = market.gateway.get(&path).await.expect(200);
    assert!(shown.bytes == png(1));
    let described = owner.get(&format!("/v1/media/{}", mug.str("/images/0/media_id"))).await;
    assert_eq!(described.expect(200).str("/source_url"), front);
    // The bytes are stored once, and the file is gone.
    assert_eq!(market.gateway.items_of("blob", "BLB#").await.len(), 1);
    assert!(market.gateway.items(&format!("FIL#{id}")).await.is_empty());
    assert_eq!(market.gateway.events("import.finished").await.len(), 1);
    assert_eq!(market.gateway.events("media.created").await.len(), 3);
    // A step that comes late does nothing.
    market.gateway.process().step_import(&id).await.unwrap();
    assert_eq!(market.gateway.items_of("media", "").await.len(), 3);
}

#[tokio::test]
async fn an_image_that_cannot_be_fetched_keeps_its_url_with_a_warning() {
    let market = Market::open().await;
    let owner = &market.owner;
    let receiver = Receiver::start().await;
    receiver.now(Behaviour::Answer(200, Vec::new(), b"<html>no image</html>".to_vec()));
    let page = receiver.url("/page");
    let blocked = "https://metadata.internal/x.png";
    let file = format!("Handle,Title,Price,Image Src\na,A,1,{page}\nb,B,1,{blocked}\n");
    let id = asked(owner, json!({"kind": "products"})).await;
    begin(owner, &id, file.as_bytes(), 1 << 20).await;
    let done = fetched(&market, &id).await;
    assert_eq!((done.str("/status").as_str(), done.int("/images/failed")), ("succeeded", 2));
    let at = |row: i64, code: &str| (row, "Image Src".to_owned(), code.to_owned());
    let expected = [at(2, "media_type_rejected"), at(3, "blocked_address")];
    assert_eq!(findings(owner, &done).await, expected);
    assert_eq!(done.int("/warnings_count"), 2);
    let a = product(owner, "a").await.unwrap();
    assert_eq!((a.str("/images/0/url"), a.at("/images/0/media_id")), (page, &Value::Null));
}

#[tokio::test]
async fn image_fetching_does_not_block_the_next_import() {
    let market = Market::open().await;
    let owner = &market.owner;
    let receiver = Receiver::start().await;
    receiver.now(Behaviour::Hang);
    let file = (0..20).fold("Handle,Title,Price,Image Src\n".to_owned(), |mut file, number| {
        let _ = writeln!(file, "p-{number},P,1,{}", receiver.url(&format!("/{number}.png")));
        file
    });
    let done = import(owner, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!(done.str("/status"), "succeeded");
    let next = import(owner, json!({"kind": "customers"}), b"Email\na@example.com\n").await;
    assert_eq!(next.int("/progress/created"), 1);
    let shown = owner.get(&format!("{IMPORTS}/{}", done.str("/id"))).await.expect(200);
    assert_eq!(*shown.at("/images/pending"), json!(true));
    assert_eq!(*shown.at("/allowed_actions"), json!([]));
}
