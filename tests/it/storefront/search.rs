//! Search: by the beginnings of words, without case and accents, titles first.

use support::clock::RESPONSE_CACHE;
use support::{Gateway, Reply, Value, eventually, inr, json};

use super::{Front, SOON, titles, walk};

/// By how many words a product is found at most.
const MOST_WORDS: usize = 64;

impl Front {
    async fn found(&self, words: &str) -> Vec<String> {
        let path = self.path(&format!("/products?q={words}"));
        titles(&self.gateway.client().get(&path).await.expect(200))
    }
}

/// Where the words of products are kept: what they are found by, and where it stands.
async fn words(gateway: &Gateway) -> Vec<String> {
    let items = gateway.items_of("word", "STO#").await;
    let word = |item: &Value| {
        let place = item["SK"].as_str().unwrap().to_owned();
        place.rsplit_once('#').unwrap().0.to_owned()
    };
    let mut words: Vec<String> = items.iter().map(word).collect();
    words.sort();
    words
}

#[tokio::test]
async fn search_matches_word_prefixes_without_case_or_accents() {
    let front = Front::open().await;
    let price = json!({"amount": 500, "currency": "INR"});
    let coded = json!({"variants": [{"price": price, "sku": "POT-0042"}]});
    front.sell("Café Pot", 500, 1, coded).await;
    front.sell("Mug", 500, 1, json!({"vendor": "Café Royal", "tags": ["Blue"]})).await;
    front.sell("Blue Mug", 700, 1, json!({"product_type": "Cup"})).await;
    front.sell("Smuggler", 900, 1, json!({})).await;
    for (asked, expected) in [
        ("cafe", vec!["Café Pot", "Mug"]),
        ("CAF%C3%89", vec!["Café Pot", "Mug"]),
        ("mug", vec!["Blue Mug", "Mug"]),
        ("mu+bl", vec!["Blue Mug", "Mug"]),
        ("m", vec!["Blue Mug", "Mug"]),
        ("blue-mug", vec!["Blue Mug", "Mug"]),
        ("cup", vec!["Blue Mug"]),
        ("pot-0042", vec!["Café Pot"]),
        ("0042", vec!["Café Pot"]),
        ("pot+cup", vec![]),
        ("uggler", vec![]),
        ("", vec!["Smuggler", "Blue Mug", "Mug", "Café Pot"]),
        ("*", vec!["Smuggler", "Blue Mug", "Mug", "Café Pot"]),
        ("%21%3F", vec![]),
        ("mug&sort=-price", vec!["Blue Mug", "Mug"]),
        ("mug&sort=price", vec!["Mug", "Blue Mug"]),
        ("mug&max_price=600", vec!["Mug"]),
        ("mug&tag=blue", vec!["Mug"]),
    ] {
        assert_eq!(front.found(asked).await, expected, "{asked}");
    }
    // The merchant finds drafts as well, and by the same words.
    front.sell("Draft mug", 500, 1, json!({"status": "draft"})).await;
    let all = front.owner.get("/v1/products?q=mug").await.expect(200);
    assert_eq!(titles(&all), ["Draft mug", "Blue Mug", "Mug"]);
    let drafts = front.owner.get("/v1/products?q=MUG&status=draft").await.expect(200);
    assert_eq!(titles(&drafts), ["Draft mug"]);
    let ids = all.data().iter().map(|product| product["id"].as_str().unwrap());
    let ids = ids.collect::<Vec<_>>().join(",");
    let some = front.owner.get(&format!("/v1/products?ids={ids}&q=blue")).await.expect(200);
    assert_eq!(titles(&some), ["Blue Mug", "Mug"]);
    assert_eq!(front.found("mug").await, ["Blue Mug", "Mug"]);
}

/// Words are folded as ICU compares them for searching, and joined ones and parts are found as well.
#[tokio::test]
async fn search_matches_spelling_variants_in_many_scripts() {
    let front = Front::open().await;
    for (title, asked) in [
        ("Smørrebrød", &["smorrebrod", "SMØRREBRØD"][..]),
        ("Łódź Poster", &["lodz"]),
        ("Women’s Jacket", &["women's", "womens", "women’s", "women"]),
        ("T-Shirt", &["tshirt", "t-shirt", "shirt"]),
        ("Wi-Fi Router", &["wifi", "wi-fi"]),
        ("مُكَتَّبة أحمر", &["مكتبه", "احمر"]),
        ("हिन्दी क़लम", &["हिंदी", "कलम"]),
        ("Straße", &["strasse", "STRASSE"]),
        ("L'été", &["ete"]),
    ] {
        front.sell(title, 500, 1, json!({})).await;
        for text in asked {
            let path = front.path("/products");
            let reply = front.gateway.client().get(&path).query(&[("q", text)]).await;
            assert_eq!(titles(&reply.expect(200)), [title], "{text}");
        }
    }
    let coded = |sku: &str| json!({"variants": [{"price": inr(500), "sku": sku}]});
    front.sell("Part", 500, 1, coded("AB-4711-X")).await;
    front.sell("Other part", 500, 1, coded("CD4712Y")).await;
    for (text, title) in
        [("4711", "Part"), ("ab4711x", "Part"), ("4712", "Other part"), ("cd4712y", "Other part")]
    {
        assert_eq!(front.found(text).await, [title], "{text}");
    }
}

/// However a text and a query write a word: in one, with a sign, or behind a single letter.
#[tokio::test]
async fn joined_and_separated_spellings_find_each_other() {
    let front = Front::open().await;
    for titles_of_one in [
        &["WiFi Router", "Wi-Fi Cable"][..],
        &["E-Mail Course", "Email Guide", "E Mail Poster"],
        &["T-Shirt", "Tshirt", "T Shirt"],
        &["Co-op Game", "Coop Map"],
    ] {
        for title in titles_of_one {
            front.sell(title, 500, 1, json!({})).await;
        }
    }
    front.sell("Wire fitting", 500, 1, json!({})).await;
    let all = |texts: &[&str]| {
        let mut texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        texts.sort();
        texts
    };
    for (asked, expected) in [
        ("wi-fi", &["WiFi Router", "Wi-Fi Cable", "Wire fitting"][..]),
        ("wifi", &["WiFi Router", "Wi-Fi Cable"]),
        ("wi-fi+cable", &["Wi-Fi Cable"]),
        ("router+wi-fi", &["WiFi Router"]),
        ("e-mail", &["E-Mail Course", "Email Guide", "E Mail Poster"]),
        ("email", &["E-Mail Course", "Email Guide", "E Mail Poster"]),
        ("e+mail+guide", &["Email Guide"]),
        ("t-shirt", &["T-Shirt", "Tshirt", "T Shirt"]),
        ("tshirt", &["T-Shirt", "Tshirt", "T Shirt"]),
        ("t+shirt", &["T-Shirt", "Tshirt", "T Shirt"]),
        ("co-op", &["Co-op Game", "Coop Map"]),
        ("coop", &["Co-op Game", "Coop Map"]),
        ("co_op+e-mail", &[]),
    ] {
        let mut found = front.found(asked).await;
        found.sort();
        assert_eq!(found, all(expected), "{asked}");
        let merchants = front.owner.get(&format!("/v1/products?q={asked}")).await.expect(200);
        let sorted = front.found(&format!("{asked}&sort=created_at")).await;
        let mut lists = [titles(&merchants), sorted];
        for list in &mut lists {
            list.sort();
            assert_eq!(*list, all(expected), "{asked}");
        }
    }
    let coded = |sku: &str| json!({"variants": [{"price": inr(500), "sku": sku}]});
    front.sell("Hyphen", 500, 1, coded("AB-1234")).await;
    front.sell("Solid", 500, 1, coded("AB1234")).await;
    front.sell("Line", 500, 1, coded("AB_1234")).await;
    for asked in ["ab1234", "AB-1234", "ab_1234", "1234", "ab+1234"] {
        let mut found = front.found(asked).await;
        found.sort();
        assert_eq!(found, ["Hyphen", "Line", "Solid"], "{asked}");
    }
}

/// A term whose first word begins too many words is walked by its joined word, and then by another one.
#[tokio::test]
async fn pages_of_joined_and_separated_spellings_list_each_product_once() {
    let front = Front::open().await;
    for title in ["T-Shirt", "Tshirt", "Shirt T", "T Shirt", "Shirt by T", "Shirt"] {
        front.sell(title, 500, 1, json!({})).await;
    }
    let few = ["T Shirt", "T-Shirt", "Tshirt", "Shirt by T", "Shirt T"];
    let mut walked =
        walk(&front.gateway.client(), &front.path("/products?q=t-shirt&limit=2")).await;
    walked.sort();
    let mut expected = few;
    expected.sort_unstable();
    assert_eq!(walked, expected);
    for number in 0..4 {
        let letter = |number: u8| char::from(b'a' + number);
        let tag = |number: u8| format!("t{}{}", letter(number / 26), letter(number % 26));
        let tags: Vec<String> = (0..60).map(tag).collect();
        front.sell(&format!("Other {number}"), 500, 1, json!({"tags": tags})).await;
    }
    for limit in [1, 2, 3, 5, 20] {
        let path = front.path(&format!("/products?q=t-shirt&limit={limit}"));
        let expected = ["T Shirt", "Tshirt", "T-Shirt", "Shirt by T", "Shirt T"];
        assert_eq!(walk(&front.gateway.client(), &path).await, expected, "{limit}");
    }
    let page = front.get("/products?q=t-shirt&limit=1").await.expect(200);
    let cursor = page.str("/page/next_cursor");
    let other = front.path(&format!("/products?q=mug&limit=1&cursor={cursor}"));
    front.gateway.client().get(&other).await.expect(400);
}

#[tokio::test]
async fn search_finds_a_changed_product_by_its_new_words_only() {
    let front = Front::open().await;
    let made = front.sell("Old name", 500, 1, json!({"tags": ["kept"]})).await;
    let path = format!("/v1/products/{}", made.str("/id"));
    assert_eq!(words(&front.gateway).await, ["0#name", "0#old", "1#kept"]);
    front.owner.patch(&path).json(json!({"title": "New name", "tags": []})).await.expect(200);
    assert_eq!(words(&front.gateway).await, ["0#name", "0#new"]);
    let none: [&str; 0] = [];
    assert_eq!(front.found("old").await, none);
    assert_eq!(front.found("kept").await, none);
    assert_eq!(front.found("new").await, ["New name"]);
    // What it is found by has a bound.
    let tags: Vec<String> = (0..200).map(|number| format!("tag{number}")).collect();
    front.owner.patch(&path).json(json!({"tags": tags})).await.expect(200);
    assert_eq!(words(&front.gateway).await.len(), MOST_WORDS);
    assert_eq!(front.found("tag3+name").await, ["New name"]);
    // A change of other things writes no word.
    front.owner.patch(&path).json(json!({"description": "Long"})).await.expect(200);
    assert_eq!(words(&front.gateway).await.len(), MOST_WORDS);
    front.owner.delete(&path).await.expect(204);
    assert_eq!(front.found("new").await, none);
    front.owner.delete(&format!("{path}?hard=true")).await.expect(204);
    eventually(SOON, || async { words(&front.gateway).await.is_empty().then_some(()) }).await;
    assert_eq!(front.found("new").await, none);
}

#[tokio::test]
async fn search_results_list_title_matches_first_then_newest() {
    let front = Front::open().await;
    for number in 0..9 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({"vendor": "Mugs"})).await;
        front.sell(&format!("Cup {number}"), 500, 1, json!({"tags": ["mug", "mugs"]})).await;
    }
    let numbered = |name: &str| (0..9).rev().map(|n| format!("{name} {n}")).collect::<Vec<_>>();
    let expected = [numbered("Mug"), numbered("Cup")].concat();
    for limit in [1, 4, 9, 18, 100] {
        let path = front.path(&format!("/products?q=mu&limit={limit}"));
        assert_eq!(walk(&front.gateway.client(), &path).await, expected, "{limit}");
    }
    let path = front.path("/products?q=mug+cup&limit=2");
    assert_eq!(walk(&front.gateway.client(), &path).await, numbered("Cup"));
    let path = front.path("/products?q=mug&sort=created_at&limit=5");
    let walked = walk(&front.gateway.client(), &path).await;
    assert_eq!((walked.len(), walked[0].as_str(), walked[17].as_str()), (18, "Mug 0", "Cup 8"));
    // A page says that there is more only where there is.
    let last = front.get("/products?q=mug&limit=18").await.expect(200);
    assert_eq!(last.at("/page/has_more"), &json!(false));
}

#[tokio::test]
async fn a_search_reads_only_the_returned_products() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    let cost = async |query: &str| -> Reply {
        front.gateway.advance(RESPONSE_CACHE);
        front.gateway.client().get(&front.path(&format!("/products?{query}"))).await.expect(200)
    };
    for number in 0..30 {
        front.sell(&format!("Mug {number}"), 500, 1, json!({})).await;
    }
    front.sell("Rare mug", 500, 1, json!({})).await;
    cost("q=warm").await;
    let page = cost("q=mug").await;
    assert_eq!((page.data().len(), page.trips()), (20, 2), "words and cards");
    assert!(page.tenths() <= 120, "{} tenths", page.tenths());
    let none = cost("q=bowl").await;
    assert_eq!((none.data().len(), none.trips()), (0, 2), "two places");
    assert!(none.tenths() <= 10, "{} tenths", none.tenths());
    assert_eq!(none.at("/page/has_more"), &json!(false));
    // Words that may be one cost what other words do.
    for (joined, apart) in [("bo-wl", "bo+wl"), ("mu-gs", "mug+s")] {
        let (joined, apart) =
            (cost(&format!("q={joined}")).await, cost(&format!("q={apart}")).await);
        assert_eq!((joined.data().len(), apart.data().len()), (0, 0));
        assert!(joined.tenths() <= apart.tenths() + 5, "{} {}", joined.tenths(), apart.tenths());
    }
    let found = cost("q=ra-re").await;
    assert_eq!(titles(&found), ["Rare mug"]);
    assert!(found.tenths() <= 40, "{} tenths", found.tenths());
    // The rarer word leads.
    let both = cost("q=mug+rare").await;
    assert_eq!(titles(&both), ["Rare mug"]);
    assert!(both.tenths() <= 60, "{} tenths", both.tenths());
}

#[tokio::test]
async fn variants_are_found_by_sku_and_by_barcode() {
    let front = Front::open().await;
    let price = json!({"amount": 500, "currency": "INR"});
    let variant = |size: &str, sku: &str, barcode: &str| json!({"price": price, "options": [size], "sku": sku, "barcode": barcode});
    let sizes = json!({"options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [variant("S", "TEE-S", "4006381333931"), variant("M", "TEE-M", "X-1")]});
    let tee = front.sell("Tee", 500, 0, sizes).await;
    let same = json!({"variants": [{"price": price, "barcode": "4006381333931"}]});
    let mug = front.sell("Mug", 500, 0, same).await;
    let find = async |query: &str| -> Vec<(String, String)> {
        let list = front.owner.get(&format!("/v1/products?{query}")).await.expect(200);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let one = |found: &Value| {
            assert_eq!(found["variants"].as_array().unwrap().len(), 1);
            (text(&found["id"]), text(&found["variants"][0]["id"]))
        };
        list.data().iter().map(one).collect()
    };
    let id = |product: &Reply, place: usize| {
        (product.str("/id"), product.str(&format!("/variants/{place}/id")))
    };
    assert_eq!(find("sku=tee-m").await, [id(&tee, 1)]);
    assert_eq!(find("sku=TEE-M&status=draft").await, []);
    assert_eq!(find("sku=none").await, []);
    assert_eq!(find("barcode=x-1").await, [id(&tee, 1)]);
    let mut both = find("barcode=4006381333931").await;
    both.sort();
    let mut expected = [id(&tee, 0), id(&mug, 0)];
    expected.sort();
    assert_eq!(both, expected);
    let list = front.owner.get("/v1/products?sku=TEE-M").await.expect(200);
    assert_eq!(list.int("/data/0/variants/0/position"), 2);
    assert_eq!(list.trips(), 3, "caller, claim, product and variant");
    // A barcode that is changed, or goes with its variant, finds nothing.
    let (product, medium) = id(&tee, 1);
    let path = format!("/v1/products/{product}/variants/{medium}");
    front.owner.patch(&path).json(json!({"barcode": "X-2"})).await.expect(200);
    assert_eq!((find("barcode=X-1").await, find("barcode=X-2").await), (vec![], vec![id(&tee, 1)]));
    front.owner.delete(&path).await.expect(204);
    assert_eq!(find("barcode=X-2").await, []);
    assert_eq!(front.gateway.items_of("barcode", "STO#").await.len(), 2);
    // They are for themselves.
    let rejected = front.owner.get("/v1/products?sku=a&barcode=b&q=c").await.expect(422);
    let expected = ["/barcode", "/sku"].map(|at| (at.to_owned(), "not_combined".to_owned()));
    assert_eq!(rejected.field_errors(), expected);
}
