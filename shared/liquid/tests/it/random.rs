//! Random templates: whatever they are, nothing panics.

use std::sync::Arc;

use liquid::{Language, Limits, Map, Mode, OnError, Runtime, Template};

use crate::support::Itself;

/// Numbers that are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

const SOUP: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{%-",
    "-%}",
    "{{-",
    "-}}",
    "{",
    "}",
    "%",
    "-",
    " ",
    "\n",
    "é",
    "'",
    "\"",
    "|",
    ":",
    ",",
    ".",
    "..",
    "[",
    "]",
    "(",
    ")",
    "=",
    "==",
    "<",
    ">",
    "!=",
    "<>",
    "a",
    "b",
    "x",
    "items",
    "size",
    "first",
    "last",
    "self",
    "1",
    "0",
    "-1",
    "2.5",
    "9999999999999999999",
    "1e5",
    "nil",
    "true",
    "blank",
    "empty",
    "and",
    "or",
    "contains",
    "if",
    "elsif",
    "else",
    "endif",
    "unless",
    "endunless",
    "for",
    "in",
    "endfor",
    "reversed",
    "limit",
    "offset",
    "continue",
    "break",
    "case",
    "when",
    "endcase",
    "assign",
    "capture",
    "endcapture",
    "cycle",
    "increment",
    "decrement",
    "tablerow",
    "cols",
    "endtablerow",
    "render",
    "include",
    "with",
    "as",
    "'p'",
    "comment",
    "endcomment",
    "raw",
    "endraw",
    "doc",
    "enddoc",
    "liquid",
    "echo",
    "#",
    "ifchanged",
    "endifchanged",
    "plus",
    "minus",
    "times",
    "divided_by",
    "modulo",
    "round",
    "ceil",
    "floor",
    "abs",
    "at_least",
    "at_most",
    "append",
    "prepend",
    "split",
    "join",
    "sort",
    "sort_natural",
    "map",
    "where",
    "reject",
    "find",
    "find_index",
    "has",
    "uniq",
    "compact",
    "concat",
    "reverse",
    "sum",
    "slice",
    "truncate",
    "truncatewords",
    "replace",
    "replace_first",
    "replace_last",
    "remove",
    "date",
    "default",
    "escape",
    "escape_once",
    "strip_html",
    "url_encode",
    "url_decode",
    "base64_encode",
    "base64_decode",
    "capitalize",
    "upcase",
    "newline_to_br",
    "squish",
    "'%Y %-d %10N %::z'",
    "'2026-03-14T10:15:00+02:00'",
    "'\\\\0'",
];

fn data() -> Map {
    let text = r#"{"a": [1, "b", null, 2.5, [3], {"x": 1}], "b": {"x": "y", "a": [1, 2]}, "x": "é<b>\n",
                   "items": [{"x": 2}, {"x": 1}, {"a": 1}]}"#;
    serde_json::from_str(text).unwrap()
}

fn survive(source: &str) {
    let mut language = Language::standard();
    let partials = Itself(language.clone(), "{{ x }}{% if p %}{% include 'p' %}{% endif %}");
    for mode in [Mode::Lax, Mode::Strict] {
        language.set_mode(mode);
        language.ignore_unknown_tags(mode == Mode::Lax);
        let Ok(template) = Template::parse_in(&language, "t", source) else { continue };
        for escape in [false, true] {
            let mut runtime = Runtime::new(Arc::new(data()));
            runtime.partials = &partials;
            runtime.escape = escape;
            runtime.on_error = OnError::Print;
            runtime.limits = Limits { steps: 20_000, memory: 1 << 20, ..Limits::default() };
            let _page = template.render(&runtime);
        }
    }
}

#[test]
fn random_words_of_the_language_never_panic() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..8_000 {
        let words = numbers.below(30);
        let mut source = String::new();
        for _ in 0..words {
            source.push_str(SOUP[numbers.below(SOUP.len())]);
            if numbers.below(3) == 0 {
                source.push(' ');
            }
        }
        survive(&source);
    }
}

#[test]
fn random_filters_and_tags_never_panic() {
    let mut numbers = Numbers(42);
    let words = &SOUP[31..];
    for _ in 0..8_000 {
        let mut word = || words[numbers.below(words.len())];
        let filters =
            format!("{} | {}: {}, {} | {}: {}", word(), word(), word(), word(), word(), word());
        let source = match word().len() % 4 {
            0 => format!("{{{{ {filters} }}}}"),
            1 => format!("{{% assign a = {filters} %}}{{% for x in a %}}{{{{ x }}}}{{% endfor %}}"),
            2 => format!(
                "{{% if {} {} {} %}}{{{{ {filters} }}}}{{% endif %}}",
                word(),
                word(),
                word()
            ),
            _ => format!("{{% {} {} {} {} %}}{{{{ {filters} }}}}", word(), word(), word(), word()),
        };
        survive(&source);
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut numbers = Numbers(7);
    for _ in 0..8_000 {
        let length = numbers.below(60);
        let bytes: Vec<u8> =
            (0..length).map(|_| u8::try_from(numbers.below(128)).unwrap()).collect();
        survive(&format!("{{{{ {} }}}}", String::from_utf8_lossy(&bytes)));
        survive(&format!("{{% {} %}}", String::from_utf8_lossy(&bytes)));
        survive(&String::from_utf8_lossy(&bytes));
    }
}
