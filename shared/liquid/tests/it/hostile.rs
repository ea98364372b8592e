//! Templates that try to do harm: they fail at a bound, and never by a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use liquid::{
    ErrorKind, Exceeded, Language, Limits, Map, Mode, OnError, Partials, Runtime, Template, Value,
};

fn exceeded(source: &str, limits: Limits<'_>) -> Option<Exceeded> {
    let template = Template::parse(source).unwrap();
    let runtime = Runtime { limits, ..Runtime::default() };
    match template.render(&runtime) {
        Err(error) => match error.kind {
            ErrorKind::Limit(exceeded) => Some(exceeded),
            _ => None,
        },
        Ok(_) => None,
    }
}

#[test]
fn loops_end_at_the_bound_of_steps() {
    let endless = "{% for a in (1..1000000000) %}{% endfor %}";
    assert_eq!(exceeded(endless, Limits::default()), Some(Exceeded::Steps));
    let filter = "{{ (1..1000000000) | join: ',' | size }}";
    assert_eq!(exceeded(filter, Limits::default()), Some(Exceeded::Steps));
}

#[test]
fn output_ends_at_its_bound() {
    let much = "{% for a in (1..1000) %}0123456789{% endfor %}";
    let limits = Limits { output: 5000, ..Limits::default() };
    assert_eq!(exceeded(much, limits), Some(Exceeded::Output));
}

#[test]
fn values_that_double_end_at_the_bound_of_memory() {
    for step in [
        "{% assign s = s | append: s %}",
        "{% capture s %}{{ s }}{{ s }}{% endcapture %}",
        "{% assign s = s | replace: 'a', s %}",
        "{% assign a = a | concat: a %}{% assign s = a | join: s %}",
    ] {
        let begin = "{% assign s = 'aaaaaaaaaaaaaaaa' %}{% assign a = s | split: '' %}";
        let source = format!("{begin}{{% for i in (1..60) %}}{step}{{% endfor %}}");
        let exceeded = exceeded(&source, Limits::default());
        assert!(
            matches!(exceeded, Some(Exceeded::Memory | Exceeded::Output)),
            "{step}: {exceeded:?}"
        );
    }
}

#[test]
fn the_deadline_ends_a_page() {
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    let expired = || LOOKS.fetch_add(1, Ordering::Relaxed) > 10;
    let limits = Limits { expired: Some(&expired), ..Limits::default() };
    let endless = "{% for a in (1..1000000000) %}{% endfor %}";
    assert_eq!(exceeded(endless, limits), Some(Exceeded::Time));
}

/// Half of what a thread of a server has.
const STACK: usize = 1 << 20;

struct Itself(Language, &'static str);

impl Partials for Itself {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        Template::parse_in(&self.0, name, self.1).ok().map(Arc::new)
    }
}

#[test]
fn partials_that_render_themselves_end_at_the_bound_of_depth() {
    let nested = "{% if true %}{% for i in (1..1) %}{% unless false %}{% render 'me' %}\
                  {% endunless %}{% endfor %}{% endif %}";
    for source in ["{% render 'me' %}", "{% include 'me' %}", nested] {
        let partials = Itself(Language::standard(), source);
        let runtime = Runtime { partials: &partials, ..Runtime::default() };
        let error = partials.get("page").unwrap().render(&runtime).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit(Exceeded::Depth), "{source}");
        assert_eq!(&*error.template, "me");
        assert_eq!(error.line, 1);
    }
}

#[test]
fn the_deepest_page_takes_little_stack() {
    let source = "{% for i in (1..1) %}{% case 1 %}{% when 1 %}{% capture c %}{% tablerow i in (1..1) %}\
                  {% ifchanged %}{% render 'me' for (1..1) %}{% endifchanged %}{% endtablerow %}\
                  {% endcapture %}{% endcase %}{% endfor %}";
    let page = move || {
        let partials = Itself(Language::standard(), source);
        let runtime = Runtime { partials: &partials, ..Runtime::default() };
        partials.get("page").unwrap().render(&runtime).unwrap_err().kind
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(page).unwrap();
    assert_eq!(thread.join().unwrap(), ErrorKind::Limit(Exceeded::Depth));
}

#[test]
fn blocks_and_brackets_nest_only_so_deep() {
    let deep = |open: &str, close: &str| [open.repeat(5000), close.repeat(5000)].concat();
    for source in [
        deep("{% if true %}", "{% endif %}"),
        format!("{{{{ {} }}}}", deep("[", "]")),
        format!("{{{{ {} }}}}", deep("(1..", ")")),
        format!("{{{{ a{} }}}}", deep("[a", "]")),
        format!("{{% if {} %}}{{% endif %}}", deep("(", ")")),
        format!("{{% liquid {} %}}", "liquid ".repeat(5000)),
    ] {
        if let Ok(template) = Template::parse(&source) {
            assert!(template.render(&Runtime::default()).is_ok());
        }
    }
}

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

/// How long a template of a size takes to parse and render.
#[expect(clippy::disallowed_methods, reason = "the test measures")]
fn duration(source: &str) -> Duration {
    let begin = Instant::now();
    if let Ok(template) = Template::parse(source) {
        let mut runtime =
            Runtime::new(Arc::new([("s", Value::from(source))].into_iter().collect::<Map>()));
        runtime.limits =
            Limits { steps: u64::MAX, memory: u64::MAX, output: usize::MAX, ..Limits::default() };
        let _page = template.render(&runtime);
    }
    begin.elapsed()
}

#[test]
fn nothing_takes_time_by_the_square_of_its_length() {
    for piece in [
        "{%",
        "{{",
        "{",
        "}",
        "{{ a",
        "{% raw %}",
        "{% comment %}",
        "{% comment %}{%",
        "{{ 'a",
        "{{ \"'",
        "{% # a\n",
        "{% liquid\n",
        "{% if a %}",
        "a{{-",
        " ",
        "{{ a[",
        "{{ (1..",
        "{{ a | ",
        "{% if a and ",
        "{% endraw",
        "{% comment %}{{ {% ",
        "{% doc %}{%",
        "{{ x ' | \" ",
    ] {
        let source = piece.repeat(200_000 / piece.len());
        let wrapped = format!("{{{{ {source} }}}}{{% if {source} %}}{{% endif %}}");
        for source in [&source, &wrapped] {
            let took = duration(source);
            assert!(took < Duration::from_secs(4), "{piece:?} took {took:?}");
        }
    }
    for piece in ["<", "<script", "<!--", "<style>", "&", "&amp", "' ", "aB\n", "%", "%4"] {
        let filters = "{{ s | strip_html | size }}{{ s | escape_once | size }}{{ s | url_decode | size }}\
                       {{ s | split: 'B' | uniq | sort | size }}{{ s | truncatewords: 5 | size }}\
                       {{ s | replace: ' ', 'x' | size }}{{ s | date: '%Y' | size }}";
        let source = format!(
            "{filters}{{% comment %}}{}{{% endcomment %}}",
            piece.repeat(200_000 / piece.len())
        );
        let took = duration(&source);
        assert!(took < Duration::from_secs(4), "{piece:?} took {took:?}");
    }
}
