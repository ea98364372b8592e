//! What a page with a customer's data does not do by itself: lead elsewhere, or connect to another host. No policy of a
//! browser forbids either, and both could carry what is on the page. Scripts are forbidden by the policy: they are left out
//! so that no browser reports each as an error of the shop.

/// The page without scripts, without `<meta http-equiv>`, which can lead elsewhere, and without `<link>` to another origin,
/// which can connect there.
pub(super) fn quiet(page: &str) -> String {
    without_loud_tags(&without_scripts(page))
}

/// Reads the page once, however many scripts it begins and does not end.
fn without_scripts(page: &str) -> String {
    let mut quiet = String::with_capacity(page.len());
    let (mut rest, mut is_comment) = (page, false);
    while let Some(at) = next(rest, &["<script"]) {
        let (before, script) = rest.split_at(at);
        quiet.push_str(before);
        is_comment = match (before.rfind("<!--"), before.rfind("-->")) {
            (None, None) => is_comment,
            (open, end) => open > end,
        };
        // A browser that reads a comment here must find its end.
        if is_comment {
            let (tag, behind) = script.split_at(1);
            quiet.push_str(tag);
            rest = behind;
            continue;
        }
        let content = script.get(end_of(script)..).unwrap_or_default();
        let Some(end) = next(content, &["</script"]).and_then(|at| content.get(at..)) else {
            // One that is never ended shows nothing, and no later one is ended either.
            rest = script;
            break;
        };
        quiet.push(' ');
        rest = end.get(end_of(end)..).unwrap_or_default();
    }
    quiet.push_str(rest);
    quiet
}

fn without_loud_tags(page: &str) -> String {
    let mut quiet = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = next(rest, &["<meta", "<link"]) {
        let (before, tag) = rest.split_at(at);
        quiet.push_str(before);
        let (tag, behind) = tag.split_at(end_of(tag));
        // A blank in its place: what is before and behind it must not become a tag.
        quiet.push_str(&if is_loud(tag) { " ".to_owned() } else { without_handler(tag) });
        rest = behind;
    }
    quiet.push_str(rest);
    quiet
}

/// Where the next tag begins whose text begins with one of these.
fn next(text: &str, tags: &[&str]) -> Option<usize> {
    let is_it = |at: &usize| {
        let begins = |tag: &&str| {
            let found = text.get(*at..at.saturating_add(tag.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(tag))
        };
        tags.iter().any(begins)
    };
    text.match_indices('<').map(|(at, _)| at).find(is_it)
}

/// Where a tag ends, as a browser reads it: a quotation mark opens a value only behind an equals sign.
fn end_of(tag: &str) -> usize {
    let (mut quote, mut is_value) = (None, false);
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '>') => return at.saturating_add(1),
            (None, '"' | '\'') if is_value => quote = Some(c),
            _ => {}
        }
        is_value = c == '=' || is_value && c.is_ascii_whitespace();
    }
    tag.len()
}

/// A style sheet with the name of its handler as data, which the platform's script looks for: themes load a sheet for paper
/// and have a handler apply it to the screen.
fn without_handler(tag: &str) -> String {
    tag.replacen(" onload=", " data-onload=", 1)
}

/// Whether a tag could lead or connect elsewhere, or loads a script ahead. A scheme, two slashes, or a reference that could
/// stand for them is enough: files of the shop are paths.
fn is_loud(tag: &str) -> bool {
    let plain: String = tag.chars().filter(|c| !c.is_ascii_control()).collect();
    let plain = plain.to_ascii_lowercase();
    if plain.starts_with("<meta") {
        return plain.contains("http-equiv");
    }
    let is_script = plain.contains("preload") && plain.contains(".js");
    is_script || plain.contains("//") || plain.contains([':', '\\', '&'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_refreshes_to_elsewhere_are_left_out() {
        for loud in [
            "<meta http-equiv=\"refresh\" content=\"0;url=https://evil.example/?a\">",
            "<META content='0;url=//evil.example' HTTP-EQUIV=ref&#114;esh>",
            "<meta\nhttp-equiv=refresh>",
            "<meta/http-equiv=refresh content=1>",
            "<link rel=preconnect href=\"https://a.evil.example\">",
            "<link rel=dns-prefetch href=//a.evil.example>",
            "<link rel=preconnect href=\"/\t/a.evil.example\">",
            "<link rel=preconnect href=\"\\\\a.evil.example\">",
            "<link rel=preconnect href=&#47;/a.evil.example>",
            "<link rel=preconnect href=\"https:a.evil.example\">",
            "<link x\" y=\">\" rel=preconnect href=//a.evil.example>",
            "<link title= \">\" rel=preconnect href=//a.evil.example>",
            "<link rel=preconnect href=//a.evil.example",
        ] {
            let page = quiet(&format!("<p>a</p>{loud}"));
            assert_eq!(page, "<p>a</p> ", "{loud}");
        }
        let within = "<li<link href=//a>nk rel=preconnect href=//a.evil.example>";
        assert_eq!(quiet(within), "<li nk rel=preconnect href=//a.evil.example>");
    }

    #[test]
    fn the_rest_of_a_page_stays() {
        let page = "<meta charset=\"utf-8\"><meta name='description' content=\"a: b\">\
             <link rel=\"stylesheet\" href=\"/assets/1/a.css\" media=\"print\" data-onload=\"this.media='all'\">\
             <a href=\"https://example.com/?a&amp;b\">x</a><p title='<'>é < 3 <\u{20ac}</p>";
        assert_eq!(quiet(page), page);
        let handled = page.replace("data-onload", "onload");
        assert_eq!(quiet(&handled), page);
    }

    #[test]
    fn scripts_are_left_out() {
        for script in [
            "<script src=\"/a.js\" defer></script>",
            "<SCRIPT\ntype='module'>const a = \"<p>\" + (1 < 2);</Script >",
            "<script>document.write('<script>');</script>",
            "<script title=\">\">a</script\n>",
            "<link rel=modulepreload href=/assets/1/a.js>",
            "<link rel=\"preload\" as=\"script\" href=\"/assets/1/a.js?v=1\">",
        ] {
            assert_eq!(
                quiet(&format!("<p>a</p>{script}<p>b</p>")),
                "<p>a</p> <p>b</p>",
                "{script}"
            );
        }
        // Nothing of the page is lost with them.
        for page in ["<p>a</p><!-- <script> --><p>b</p><script></script>", "<p>a</p><script>b"] {
            assert!(
                quiet(page).starts_with(page.split("<script></script>").next().unwrap()),
                "{page}"
            );
        }
        assert_eq!(quiet("<!-- <script>a</script> -->"), "<!-- <script>a</script> -->");
        for many in ["<script>", "<script", "<!-- <script> "] {
            let page = many.repeat(200_000);
            assert_eq!(quiet(&page).len(), page.len(), "a page is read once");
        }
        // What is left of two tags is none.
        let split = quiet("<me<script></script>ta http-equiv=refresh><scr<script></script>ipt>");
        assert_eq!(split, "<me ta http-equiv=refresh><scr ipt>");
        let within = quiet("<!-- --!><script><meta http-equiv=refresh></script>");
        assert!(!within.contains("meta"), "{within}");
    }
}
