//! A theme from its first file to its release.

use std::path::Path;

use support::{Gateway, unique};

use crate::cli::Cli;

/// The files below a directory, by path.
fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

async fn packages(cli: &Cli, slug: &str) -> usize {
    let query = format!("slug={slug}");
    let list = ["api", "get", "/v1/themes/packages", "-q", &query, "--paginate"];
    cli.run(&list).await.expect(0).lines().len()
}

#[tokio::test]
async fn a_push_uploads_only_if_a_file_has_changed_and_names_it() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let slug = unique("linen");
    cli.run(&["theme", "init", &slug, "--path", "theme"]).await.expect(0);
    cli.run(&["theme", "init", &slug, "--path", "theme"]).await.expect(1);
    let push = ["--json", "theme", "push", "--path", "theme"];
    let run = cli.run(&[&push[..], &["--dry-run"]].concat()).await.expect(0).json();
    assert_eq!((run["changes"].as_array().unwrap().len(), packages(&cli, &slug).await), (11, 0));
    let run = cli.run(&push).await.expect(0).json();
    assert_eq!((&run["version"], packages(&cli, &slug).await), (&"1.0.0".into(), 1));
    let run = cli.run(&push).await.expect(0).json();
    assert_eq!((run["changes"].as_array().unwrap().len(), packages(&cli, &slug).await), (0, 1));

    cli.write("theme/assets/theme.css", "body { margin: 1px }");
    cli.write("theme/assets/more.css", "p { margin: 1px }");
    std::fs::remove_file(cli.path("theme/templates/collection.json")).unwrap();
    let run = cli.run(&push).await.expect(0).json();
    let changes = run["changes"].as_array().unwrap().iter();
    let changes = changes.map(|it| format!("{} {}", it["change"], it["path"]).replace('"', ""));
    let expected =
        ["added assets/more.css", "changed assets/theme.css", "removed templates/collection.json"];
    assert_eq!(changes.collect::<Vec<_>>(), expected);
    assert_eq!((&run["version"], packages(&cli, &slug).await), (&"1.0.1-dev.1".into(), 2));

    cli.run(&["theme", "pull", "--slug", &slug, "--path", "copy"]).await.expect(0);
    let (mut here, mut there) =
        (files(cli.path("theme").as_ref()), files(cli.path("copy").as_ref()));
    here.retain(|(path, _)| path != "theme.json");
    there.retain(|(path, _)| path != "theme.json");
    assert_eq!(here, there);
    // What was pulled is what is there.
    let run = cli.run(&["--json", "theme", "push", "--path", "copy"]).await.expect(0).json();
    assert_eq!(run["changes"].as_array().unwrap().len(), 0);
    cli.write("copy/assets/theme.css", "mine");
    let pull = ["theme", "pull", "--path", "copy"];
    let run = cli.run(&pull).await.expect(1);
    assert!(run.err.contains("assets/theme.css") && cli.read("copy/assets/theme.css") == "mine");
    cli.run(&[&pull[..], &["--force"]].concat()).await.expect(0);
    assert_eq!(cli.read("copy/assets/theme.css"), "body { margin: 1px }");
}

#[tokio::test]
async fn a_theme_is_checked_without_a_trace_and_published_when_that_is_confirmed() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let slug = unique("linen");
    cli.run(&["theme", "init", &slug, "--path", "."]).await.expect(1);
    cli.run(&["theme", "init", &slug]).await.expect(0);
    let theme =
        |command: &str| ["theme".to_owned(), command.to_owned(), "--path".into(), slug.clone()];
    let run = async |command: &str, more: &[&str]| {
        let words = theme(command);
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.extend(more);
        cli.run(&words).await
    };
    run("check", &[]).await.expect(0);
    assert_eq!(packages(&cli, &slug).await, 0);
    run("push", &[]).await.expect(0);
    // The version is taken now, which is no matter.
    run("check", &[]).await.expect(0);
    assert_eq!(packages(&cli, &slug).await, 1);

    run("publish", &[]).await.expect(2);
    let live = format!("/v1/storefront/{}/theme", store.subdomain);
    run("publish", &["--yes", "-m", "The first"]).await.expect(0);
    gateway.advance(std::time::Duration::from_mins(1));
    let shown = cli.run(&["--json", "api", "get", &live]).await.expect(0).json();
    assert_eq!((&shown["slug"], &shown["release"]), (&slug.clone().into(), &1.into()));
    cli.run(&["theme", "pull", "--live", "--path", "live"]).await.expect(0);
    assert!(cli.read("live/layout/theme.liquid").contains("content_for_layout"));

    cli.write(&format!("{slug}/templates/index.json"), "{");
    let rejected = run("check", &[]).await.expect(4);
    assert!(rejected.err.contains("templates/index.json  json_invalid"), "{}", rejected.err);
    cli.run(&["theme", "check", "--path", "nowhere"]).await.expect(1);
}

#[tokio::test]
async fn a_change_is_uploaded_while_the_theme_is_developed() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let slug = unique("linen");
    cli.run(&["theme", "init", &slug]).await.expect(0);
    let once =
        cli.run(&["--json", "theme", "dev", "--once", "--path", &slug]).await.expect(0).json();
    assert!(once["preview_url"].as_str().unwrap().contains("preview_token=thp_"));
    let mut dev = cli.start(&["--json", "theme", "dev", "--path", &slug]);
    assert_eq!(dev.json().await["changes"].as_array().unwrap().len(), 0);
    // An error is mended by the next change.
    cli.write(&format!("{slug}/templates/index.json"), "{");
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    cli.write(&format!("{slug}/templates/index.json"), "{\"sections\": {}, \"order\": []}");
    let pushed = dev.json().await;
    assert_eq!(pushed["changes"][0]["path"], "templates/index.json");
    let preview = pushed["preview_url"].as_str().unwrap().to_owned();
    assert_ne!(preview, once["preview_url"].as_str().unwrap());
    assert_eq!(dev.interrupt().await, 0);
}
