//! Paths of a shop.

/// A segment of a path.
pub(crate) fn segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Whether a text is a path of this origin: `//host` and `/\host` are other sites to a browser.
pub(crate) fn is_path(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_to_a_path_of_its_own_shop() {
        for path in ["/", "/cart?x=1", "/collections/all"] {
            assert!(is_path(path), "{path}");
        }
        for other in
            ["", "cart", "//evil.example", "/\\evil.example", "https://evil.example", "/a b"]
        {
            assert!(!is_path(other), "{other}");
        }
    }
}
