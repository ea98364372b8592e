//! What a page with a customer's data does not do by itself: lead elsewhere, or connect to another host. No policy of a
//! browser forbids either, and both could carry what is on the page.

/// The page without `<meta http-equiv>`, which can lead elsewhere, and without `<link>` to another origin, which can connect
/// there.
pub(super) fn quiet(page: &str) -> String {
    let mut quiet = String::with_capacity(page.len());
    let mut rest = page;
    loop {
        let Some(at) = next(rest) else {
            quiet.push_str(rest);
            return quiet;
        };
        let (before, tag) = rest.split_at(at);
        quiet.push_str(before);
        let (tag, behind) = tag.split_at(end_of(tag));
        // A blank in its place: what is before and behind it must not become a tag.
        quiet.push_str(if is_loud(tag) { " " } else { tag });
        rest = behind;
    }
}

/// Where the next tag of these kinds begins.
fn next(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_it = |at: &usize| {
        let behind = bytes.get(at.saturating_add(1)..).unwrap_or_default();
        let begins = |name: &[u8]| behind.get(..4).is_some_and(|it| it.eq_ignore_ascii_case(name));
        begins(b"meta") || begins(b"link")
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

/// Whether a tag could lead or connect elsewhere. A scheme, two slashes, or a reference that could stand for them is
/// enough: files of the shop are paths.
fn is_loud(tag: &str) -> bool {
    let plain: String = tag.chars().filter(|c| !c.is_ascii_control()).collect();
    let plain = plain.to_ascii_lowercase();
    if plain.starts_with("<meta") {
        return plain.contains("http-equiv");
    }
    plain.contains("//") || plain.contains([':', '\\', '&'])
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
             <link rel=\"stylesheet\" href=\"/assets/1/a.css\" media=\"print\" onload=\"this.media='all'\">\
             <a href=\"https://example.com/?a&amp;b\">x</a><p title='<'>é < 3 <\u{20ac}</p>";
        assert_eq!(quiet(page), page);
    }
}
