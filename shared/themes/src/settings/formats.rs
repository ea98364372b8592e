//! Validates texts with a format: colors, fonts, links, images.

use std::sync::LazyLock;

use core_types::fields::{Handle, WebUrl};
use primitives::fields::{FromText, Violation};
use regex_lite::Regex;
use url::Url;

use super::html::SCHEMES;

/// The maximum length of a link in bytes.
const MAX_URL: usize = 2_048;

#[expect(clippy::unwrap_used, reason = "the expressions are constants, and a test uses each")]
fn regex(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static COLOR: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"\s*[0-9]{1,3}(\.[0-9]{1,4})?(%|deg)?\s*";
    regex(&format!(
        "^(#([0-9a-fA-F]{{3,4}}|[0-9a-fA-F]{{6}}|[0-9a-fA-F]{{8}})|transparent|(rgb|hsl)a?\\({number}(,{number}){{2,3}}\\))$"
    ))
});
static GRADIENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(repeating-)?(linear|radial|conic)-gradient\([-#%.,()\sa-zA-Z0-9]{1,500}\)$")
});
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"([-a-zA-Z0-9]*)\("));
static FONT: LazyLock<Regex> = LazyLock::new(|| regex("^[a-z0-9]+(_[a-z0-9]+)*_[nio][1-9]$"));
static ASSET: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(assets|shopify://shop_images|shopify://files/videos)/[A-Za-z0-9@()+~,=._ -]{1,150}$")
});
static MEDIA: LazyLock<Regex> = LazyLock::new(|| regex("^med_[0-9a-f]{32}$"));
static VIDEO: LazyLock<Regex> = LazyLock::new(|| regex("^[A-Za-z0-9_-]{3,32}$"));

/// Validates a CSS color. Templates write it into CSS, so nothing else may be in it.
pub(super) fn color(text: &str) -> Result<(), Violation> {
    if COLOR.is_match(text) {
        return Ok(());
    }
    let detail = "Must be a color like `#1a2b3c`, `rgba(0, 0, 0, 0.5)` or `transparent`.";
    Err(Violation::new("invalid_color", detail))
}

/// Validates a color or a gradient of colors; no other CSS function is allowed, in particular not `url`.
pub(super) fn background(text: &str) -> Result<(), Violation> {
    let is_known =
        |name: &str| name.ends_with("-gradient") || matches!(name, "rgb" | "rgba" | "hsl" | "hsla");
    let mut functions = FUNCTION.captures_iter(text).filter_map(|found| found.get(1));
    let is_gradient = GRADIENT.is_match(text)
        && functions.all(|name| is_known(name.as_str()))
        && text.matches('(').count() == text.matches(')').count();
    if is_gradient || color(text).is_ok() {
        return Ok(());
    }
    Err(Violation::new("invalid_background", "Must be a color or a gradient of colors."))
}

/// Validates a font's handle, `family_n4`: a family, a style (normal, italic, oblique) and the first
/// digit of a weight.
pub(super) fn font(text: &str) -> Result<(), Violation> {
    if text.len() <= 64 && FONT.is_match(text) {
        return Ok(());
    }
    Err(Violation::new("invalid_font", "Must be a font's handle like `assistant_n4`."))
}

/// Validates a link: a path of the storefront, a fragment, or a web, mail or telephone URL.
pub(super) fn url(text: &str) -> Result<(), Violation> {
    let detail = "Must be a path like `/collections/all`, or an http, https, mailto or tel URL.";
    let rejected = Violation::new("invalid_url", detail);
    let is_clean = text.len() <= MAX_URL
        && !text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\');
    let is_path = (text.starts_with('/') && !text.starts_with("//")) || text.starts_with('#');
    let is_absolute = || {
        let url = Url::parse(text).ok();
        url.is_some_and(|url| {
            SCHEMES.contains(&url.scheme()) && url.username().is_empty() && url.password().is_none()
        })
    };
    // A resource of the store, as Shopify's themes write it.
    let is_resource = || {
        let rest = text.strip_prefix("shopify://");
        rest.is_some_and(|rest| rest.split('/').all(|part| handle(part).is_ok()))
    };
    if is_clean && (is_path || is_absolute() || is_resource()) { Ok(()) } else { Err(rejected) }
}

/// Validates an image: a medium of the store, a file of the theme, or an https URL. An SVG is rejected,
/// because it can run scripts.
pub(super) fn image(text: &str) -> Result<(), Violation> {
    let lower = text.to_ascii_lowercase();
    let before_query = lower.split(['?', '#']).next().unwrap_or_default();
    let ending = before_query.rsplit('.').next().unwrap_or_default();
    if matches!(ending, "svg" | "svgz") || lower.starts_with("data:image/svg") {
        let detail = "Must be a PNG, JPEG, WebP, GIF or AVIF image: an SVG can run scripts.";
        return Err(Violation::new("svg_rejected", detail));
    }
    resource(text, "invalid_image", "an image")
}

/// Validates a video: a medium of the store, a file of the theme, or an https URL.
pub(super) fn video(text: &str) -> Result<(), Violation> {
    resource(text, "invalid_video", "a video")
}

fn resource(text: &str, code: &'static str, what: &str) -> Result<(), Violation> {
    if MEDIA.is_match(text) || ASSET.is_match(text) || WebUrl::from_text(text).is_ok() {
        return Ok(());
    }
    let detail = format!("Must be {what}: a media id, `assets/…` of the theme, or an https URL.");
    Err(Violation::new(code, detail))
}

/// Validates the URL of a video at one of the accepted providers; none in `accept` means all.
pub(super) fn video_url(text: &str, accept: &[String]) -> Result<(), Violation> {
    let is_of =
        |hosts: &[&str], url: &Url| url.host_str().is_some_and(|host| hosts.contains(&host));
    let takes = |name: &str| accept.is_empty() || accept.iter().any(|accepted| accepted == name);
    let parsed = WebUrl::from_text(text).ok().and_then(|_| Url::parse(text).ok());
    let is_video = parsed.is_some_and(|url| {
        let youtube = ["youtube.com", "www.youtube.com", "youtu.be", "www.youtube-nocookie.com"];
        let vimeo = ["vimeo.com", "www.vimeo.com", "player.vimeo.com"];
        let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
        let query_id =
            url.query_pairs().find(|(name, _)| name == "v").map(|(_, id)| id.into_owned());
        let id = query_id.unwrap_or_else(|| last.to_owned());
        VIDEO.is_match(&id)
            && ((takes("youtube") && is_of(&youtube, &url))
                || (takes("vimeo") && is_of(&vimeo, &url)))
    });
    if is_video {
        return Ok(());
    }
    let providers = if accept.is_empty() { "youtube, vimeo".to_owned() } else { accept.join(", ") };
    Err(Violation::new(
        "invalid_video_url",
        format!("Must be a video's page at one of: {providers}."),
    ))
}

/// Validates the handle of a resource of the store, which is written here as it is stored.
pub(super) fn handle(text: &str) -> Result<(), Violation> {
    let stored = Handle::from_text(text)?;
    let detail = || format!("Must be in its normal form: `{stored}`.");
    if stored.as_str() == text { Ok(()) } else { Err(Violation::new("invalid_handle", detail())) }
}

/// Validates the handle of an article in its blog: `blog/article`.
pub(super) fn article(text: &str) -> Result<(), Violation> {
    let parts = text.split_once('/');
    match parts.map(|(blog, article)| (handle(blog), handle(article))) {
        Some((Ok(()), Ok(()))) => Ok(()),
        _ => {
            Err(Violation::new("invalid_handle", "Must be like `news/first-article`, two handles."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_validated() {
        for good in [
            "#fff",
            "#FFFF",
            "#1a2b3c",
            "#1a2b3c80",
            "rgb(1,2,3)",
            "rgba(1, 2, 3, 0.5)",
            "hsl(120deg, 50%, 50%)",
            "transparent",
        ] {
            assert!(color(good).is_ok() && background(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "#ff",
            "#12345",
            "red;}",
            "rgb(1,2)",
            "url(x)",
            "#fff;color:red",
            "expression(1)",
            "#fff\n",
            "rgb(1,2,3",
            "var(--x)",
        ] {
            assert!(color(bad).is_err() && background(bad).is_err(), "{bad}");
        }
        assert!(background("linear-gradient(46deg, rgba(13, 39, 249, 1) 13%, #fff 97%)").is_ok());
        for bad in [
            "linear-gradient(url(x), red)",
            "linear-gradient(#fff,#000);x",
            "linear-gradient(#fff))",
            "radial-gradient(image-set(x))",
        ] {
            assert!(background(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn links_are_validated() {
        for good in [
            "/",
            "/collections/all?sort=x#y",
            "#top",
            "https://example.com/a",
            "http://example.com",
            "mailto:a@b.co",
            "tel:+911234",
            "shopify://collections/all",
        ] {
            assert!(url(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "javascript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "java\tscript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "file:///etc/passwd",
            "https://a:b@c.example",
            "collections/all",
            "shopify://a/../b",
        ] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn images_and_videos_are_validated() {
        for good in [
            "assets/hero.jpg",
            "shopify://shop_images/a b.png",
            "https://example.com/a.webp",
            "med_0123456789abcdef0123456789abcdef",
        ] {
            assert!(image(good).is_ok(), "{good}");
        }
        for bad in [
            "assets/a.svg",
            "assets/A.SVG",
            "https://example.com/a.svg?x#y",
            "data:image/svg+xml,<svg/>",
        ] {
            assert_eq!(image(bad).unwrap_err().code, "svg_rejected", "{bad}");
        }
        for bad in [
            "",
            "data:image/png;base64,x",
            "assets/../x.png",
            "javascript:x",
            "/x.png",
            "ftp://a/b.png",
        ] {
            assert_eq!(image(bad).unwrap_err().code, "invalid_image", "{bad}");
        }
        assert!(video("assets/a.mp4").is_ok() && video("data:video/mp4,x").is_err());
        let youtube = ["youtube".to_owned()];
        assert!(video_url("https://www.youtube.com/watch?v=_9VUPq3SxOc", &youtube).is_ok());
        assert!(video_url("https://youtu.be/_9VUPq3SxOc", &youtube).is_ok());
        assert!(video_url("https://vimeo.com/123456", &[]).is_ok());
        for bad in [
            "https://vimeo.com/123456",
            "https://evil.example/watch?v=abc",
            "javascript:x",
            "https://www.youtube.com/watch?v=\"><x",
        ] {
            assert!(video_url(bad, &youtube).is_err(), "{bad}");
        }
    }

    #[test]
    fn fonts_and_handles_are_validated() {
        assert!(font("assistant_n4").is_ok() && font("source_sans_pro_i7").is_ok());
        assert!(font("assistant").is_err() && font("a;b_n4").is_err() && font("").is_err());
        assert!(handle("frontpage").is_ok() && handle("a/b").is_err());
        assert!(article("news/first").is_ok() && article("news").is_err());
    }
}
