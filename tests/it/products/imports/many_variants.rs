//! Products of many variants, brought up to a file: more than one transaction takes is written in several.

use super::*;

/// A product of so many variants: its SKUs, and what each costs.
fn product(skus: &[String], price: &str) -> String {
    let mut file = "Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant SKU\n".to_owned();
    for (number, sku) in skus.iter().enumerate() {
        let title = if number == 0 { "Many" } else { "" };
        let _ = writeln!(file, "many,{title},Size,s{number},{price},{sku}");
    }
    file
}

fn skus(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("sku-{number}")).collect()
}

/// Each SKU with its size and price, as the product has them.
async fn variants(market: &Market) -> Vec<(String, String, i64)> {
    let listed = market.owner.get("/v1/products").await.expect(200);
    let many = listed.data().iter().find(|it| it["handle"] == "many").unwrap().clone();
    let path = format!("/v1/products/{}", many["id"].as_str().unwrap());
    let shown = market.owner.get(&path).await.expect(200);
    let text = |it: &Value, at: &str| {
        it.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let one = |it: &Value| {
        (text(it, "/sku"), text(it, "/options/Size"), it["price"]["amount"].as_i64().unwrap())
    };
    shown.at("/variants").as_array().unwrap().iter().map(one).collect()
}

async fn updated(market: &Market, file: &str) -> Reply {
    let input = json!({"kind": "products", "on_existing": "update"});
    let done = import(&market.owner, input, file.as_bytes()).await;
    let found = findings(&market.owner, &done).await;
    assert_eq!(
        (done.str("/status").as_str(), found.len()),
        ("succeeded", 0),
        "{} {found:?}",
        done.text
    );
    assert_eq!(done.int("/progress/updated"), 1, "{}", done.text);
    done
}

#[tokio::test]
async fn an_import_updates_a_product_of_a_hundred_variants() {
    let market = Market::open().await;
    let made =
        import(&market.owner, json!({"kind": "products"}), product(&skus(100), "1.00").as_bytes())
            .await;
    assert_eq!((made.str("/status").as_str(), made.int("/progress/created")), ("succeeded", 1));
    updated(&market, &product(&skus(100), "2.00")).await;
    let variants = variants(&market).await;
    assert_eq!(variants.len(), 100);
    assert!(variants.iter().all(|(_, _, price)| *price == 200), "{variants:?}");
    // Its SKUs are no conflict for who leaves it as it is.
    let input = json!({"kind": "products", "on_existing": "skip"});
    let skipped = import(&market.owner, input, product(&skus(100), "3.00").as_bytes()).await;
    assert_eq!(skipped.int("/progress/skipped"), 1, "{}", skipped.text);
}

#[tokio::test]
async fn an_import_swaps_skus_between_variants() {
    let market = Market::open().await;
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let first = product(&names(&["a", "b", "c"]), "1.00");
    import(&market.owner, json!({"kind": "products"}), first.as_bytes()).await;
    for turn in [["b", "a", "c"], ["a", "c", "b"], ["c", "d", "a"]] {
        updated(&market, &product(&names(&turn), "1.00")).await;
        let found: Vec<String> = variants(&market).await.into_iter().map(|(sku, ..)| sku).collect();
        assert_eq!(found, turn);
    }
    // What nobody has any more is free, and what somebody has is not.
    let other = |sku: &str| {
        let input = json!({"title": "Other", "variants": [{"price": inr(1), "sku": sku}]});
        market.owner.post("/v1/products").json(input)
    };
    other("b").await.expect(201);
    other("d").await.expect(409).problem("sku_taken");
}
