//! What is uploaded: taken whole, or not at all.

use std::process::Command;

use support::{Developer, Gateway, Merchant, ThemeShop, ThemeSource, json, unique, upload, zip};

#[tokio::test]
async fn a_package_version_is_accepted_once_and_shares_stored_files() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let slug = unique("linen");
    let source = ThemeSource::new(&slug);
    let before = gateway.count().await;
    let asked = developer.post("/v1/themes/packages/upload?dry_run=true");
    let validated = asked.header("content-type", "application/zip").body(source.zip()).await;
    let validated = validated.expect(200);
    assert_eq!(validated.at("/files").as_array().unwrap().len(), 7);
    assert_eq!(gateway.count().await, before, "nothing is written");

    let taken = upload(&developer, source.zip()).await.expect(201);
    assert_eq!(taken.str("/package/status"), "valid");
    assert_eq!(
        (taken.str("/package/slug"), taken.str("/package/version")),
        (slug.clone(), "1.0.0".into())
    );
    assert_eq!(taken.int("/package/files"), 7);
    let blobs = gateway.items_of("blob", "BLB#").await.len();
    // Seven files, and the document that names them.
    assert_eq!(blobs, 8);
    upload(&developer, source.zip()).await.expect(409).problem("version_exists");
    // The next version differs in its manifest alone.
    upload(&developer, source.clone().version("1.0.1").zip()).await.expect(201);
    assert_eq!(gateway.items_of("blob", "BLB#").await.len(), blobs + 2);
    let id = taken.str("/package/id");
    let shown = developer.get(&format!("/v1/themes/packages/{id}")).await.expect(200);
    assert_eq!(shown.json, *taken.at("/package"));
    let listed = developer.get("/v1/themes/packages").await.expect(200);
    assert_eq!(listed.data().len(), 2);

    let other = Developer::register(&gateway).await;
    upload(&other, source.version("9.0.0").zip()).await.expect(409).problem("slug_taken");
    other.get(&format!("/v1/themes/packages/{id}")).await.expect(404).problem("not_found");
    assert!(other.get("/v1/themes/packages").await.expect(200).data().is_empty());
}

#[tokio::test]
async fn a_repeated_idempotency_key_uploads_one_package() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let archive = ThemeSource::new(&unique("linen")).zip();
    let send = || async {
        let input = merchant.post("/v1/themes/packages/upload").key("once");
        input.header("content-type", "application/zip").body(archive.clone()).await
    };
    let first = send().await.expect(201);
    let again = send().await.expect(201);
    assert_eq!(first.text, again.text);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn all_findings_of_an_invalid_package_are_reported_at_once() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let before = gateway.count().await;
    let mut source = ThemeSource::new("packages");
    source.manifest["version"] = json!("one");
    source.schema = json!([]);
    let mut files = source.files();
    files.retain(|(path, _)| !path.starts_with("layout/"));
    files.push(("assets/../../evil.css".into(), b"x".to_vec()));
    let rejected = upload(&merchant, zip(&files)).await.expect(422);
    let codes: Vec<String> = rejected
        .at("/findings")
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect();
    for code in ["path_traversal", "layout_missing", "slug_reserved", "version_invalid"] {
        assert!(codes.iter().any(|found| found == code), "{code} is not among {codes:?}");
    }
    rejected.problem("invalid_package");
    upload(&merchant, b"no archive".to_vec()).await.expect(422).problem("invalid_package");
    upload(&merchant, Vec::new()).await.expect(422).problem("invalid_package");
    for (fields, code) in [(json!({}), "required"), (json!({"file": "x"}), "invalid_type")] {
        let input = merchant.post("/v1/themes/packages/upload").json(fields);
        assert_eq!(input.await.expect(422).field_errors(), [("/file".into(), code.into())]);
    }
    let input = merchant.post("/v1/themes/packages/upload").header("content-type", "text/plain");
    input.body("x").await.expect(415).problem("unsupported_media_type");
    let large = upload(&merchant, vec![0; (4 << 20) + 1]).await;
    large.expect(413).problem("body_too_large");
    assert_eq!(gateway.count().await, before);
}

#[tokio::test]
async fn a_package_upload_accepts_multipart_forms() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let archive = ThemeSource::new(&unique("linen")).zip();
    let part = |name: &str| {
        let head = format!(
            "--x\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"t.zip\"\r\n\r\n"
        );
        [head.as_bytes(), &archive, b"\r\n--x--\r\n"].concat()
    };
    let send = |body: Vec<u8>| {
        let input = merchant.post("/v1/themes/packages/upload");
        input.header("content-type", "multipart/form-data; boundary=x").body(body)
    };
    send(part("archive")).await.expect(422).problem("validation_failed");
    send(b"--x--\r\n".to_vec()).await.expect(422).problem("validation_failed");
    send(part("file")).await.expect(201);
}

/// What a person's own tools make of a folder.
#[tokio::test]
async fn a_package_made_by_the_zip_tool_is_accepted() {
    let shop = ThemeShop::with_upload().await;
    let folder = std::env::temp_dir().join(unique(&format!("theme-{}", std::process::id())));
    for (path, bytes) in ThemeSource::new(&shop.slug).version("2.0.0").files() {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    let archive = folder.join("theme.zip");
    let made = Command::new("zip").arg("-qr").arg(&archive).arg(".").current_dir(&folder).status();
    if made.is_err() {
        eprintln!("there is no `zip` on this machine");
        return;
    }
    assert!(made.unwrap().success());
    let bytes = std::fs::read(&archive).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let taken = upload(&shop.merchant, bytes).await.expect(201);
    assert_eq!(taken.str("/package/version"), "2.0.0");
}

#[tokio::test]
async fn unknown_filters_tags_and_missing_files_are_named_at_upload() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let mut files = ThemeSource::new(&unique("vain")).files();
    let mut add = |path: &str, text: String| files.push((path.to_owned(), text.into_bytes()));
    let wrong = "{{ 'a | b' | shout | upcase }}{% render 'gone' %}{% section 'lost' %}{% blink %}\
        {% comment %}{{ x | no }}{% endcomment %}{% schema %}{\"name\": \"Wrong\"}{% endschema %}";
    add("sections/wrong.liquid", wrong.to_owned());
    add("snippets/broken.liquid", "{% if a %}".to_owned());
    let uploaded = upload(&merchant, zip(&files)).await.expect(201);
    let found: Vec<(String, String)> = uploaded
        .at("/package/findings")
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "warning")
        .map(|finding| {
            [&finding["code"], &finding["path"]].map(|text| text.as_str().unwrap().to_owned())
        })
        .map(|[code, path]| (code, path))
        .collect();
    for (code, path) in [
        ("filter_unknown", "sections/wrong.liquid"),
        ("tag_unknown", "sections/wrong.liquid"),
        ("file_missing", "sections/wrong.liquid"),
        ("liquid_invalid", "snippets/broken.liquid"),
    ] {
        assert!(found.contains(&(code.into(), path.into())), "{code}: {}", uploaded.text);
    }
    assert!(!uploaded.text.contains("`no`"), "{}", uploaded.text);
    // However many there are, some of each are listed.
    let mut files = ThemeSource::new(&unique("vain")).files();
    let many: Vec<String> = (0..2_000).map(|number| format!("{{{{ a | f{number} }}}}")).collect();
    files.push(("snippets/many.liquid".to_owned(), many.concat().into_bytes()));
    let uploaded = upload(&merchant, zip(&files)).await.expect(201);
    let listed = uploaded.at("/package/findings").as_array().unwrap().len();
    assert!((50..=101).contains(&listed), "{listed}");
    assert!(uploaded.text.contains("more_findings"));
}
