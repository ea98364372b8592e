//! Markdown as HTML: links lead to the pages of this system, and headings have anchors as GitHub writes them.

use std::collections::BTreeMap;

use maud::{Markup, html};
use pulldown_cmark::{
    Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::files::page_of;

/// A document as HTML.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) body: String,
    /// The headings of its table of contents.
    pub(super) headings: Vec<Heading>,
}

/// A heading of the second level.
pub(super) struct Heading {
    pub(super) text: String,
    pub(super) anchor: String,
}

/// Renders a file of the repository.
pub(super) fn render(file: &str, text: &str) -> Document {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    let mut anchors = Anchors::default();
    let (mut title, mut headings) = (String::new(), Vec::new());
    let mut open_links = Vec::new();
    let mut shown = Vec::with_capacity(events.len());
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let text = text_of(events.get(place..).unwrap_or_default());
                let anchor = anchors.of(&text);
                match level {
                    HeadingLevel::H1 if title.is_empty() => title.clone_from(&text),
                    HeadingLevel::H2 => {
                        headings.push(Heading { text, anchor: anchor.clone() });
                    }
                    _ => {}
                }
                shown.push(raw(&format!("<{level} id=\"{anchor}\">")));
            }
            Event::End(TagEnd::Heading(level)) => shown.push(raw(&format!("</{level}>"))),
            Event::Start(Tag::Link { dest_url, title, id, .. }) => {
                let target = target(file, dest_url);
                open_links.push(target.is_some());
                if let Some(target) = target {
                    let (link_type, title, id) = (LinkType::Inline, title.clone(), id.clone());
                    shown.push(Event::Start(Tag::Link {
                        link_type,
                        dest_url: target.into(),
                        title,
                        id,
                    }));
                }
            }
            Event::End(TagEnd::Link) => {
                if open_links.pop().unwrap_or_default() {
                    shown.push(event.clone());
                }
            }
            Event::Start(Tag::Image { dest_url, title, id, .. }) => {
                let (link_type, title, id) = (LinkType::Inline, title.clone(), id.clone());
                let dest_url = target(file, dest_url).unwrap_or_default().into();
                shown.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            // What scrolls must be reachable by keyboard.
            Event::Start(Tag::Table(columns)) => {
                shown.push(raw(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">",
                ));
                // An alignment would be a style of the cell.
                shown.push(Event::Start(Tag::Table(vec![Alignment::None; columns.len()])));
            }
            Event::End(TagEnd::Table) => shown.extend([event.clone(), raw("</div>")]),
            Event::Start(Tag::CodeBlock(_)) => shown.push(raw("<pre tabindex=\"0\"><code>")),
            Event::End(TagEnd::CodeBlock) => shown.push(raw("</code></pre>")),
            Event::Html(_) | Event::InlineHtml(_) => {}
            other => shown.push(other.clone()),
        }
    }
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, shown.into_iter());
    Document { title, body: without_empty_headers(&body), headings }
}

/// Tables without the header cells that name nothing.
fn without_empty_headers(body: &str) -> String {
    let mut shown = String::with_capacity(body.len());
    let mut parts = body.split("<thead>");
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (head, rest) = part.split_once("</thead>").unwrap_or((part, ""));
        if head.replace("<th></th>", "") != "<tr></tr>" {
            shown.push_str("<thead>");
            shown.push_str(&head.replace("<th></th>", "<td></td>"));
            shown.push_str("</thead>");
        }
        shown.push_str(rest);
    }
    shown
}

fn raw(html: &str) -> Event<'static> {
    Event::Html(CowStr::from(html.to_owned()))
}

/// The text of a heading, which begins the events.
fn text_of(events: &[Event<'_>]) -> String {
    let is_inside = |event: &&Event<'_>| !matches!(event, Event::End(TagEnd::Heading(_)));
    let text = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => Some(text.to_string()),
        Event::SoftBreak => Some(" ".to_owned()),
        _ => None,
    };
    events.iter().take_while(is_inside).filter_map(text).collect()
}

/// The target of a link in a file; none if it is a file of the repository that is not served.
fn target(file: &str, link: &str) -> Option<String> {
    if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
        return Some(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, it)| (path, Some(it)));
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    let page = page_of(&parts.join("/"))?;
    Some(anchor.map_or(page.clone(), |anchor| format!("{page}#{anchor}")))
}

/// The anchors of a document so far.
#[derive(Default)]
struct Anchors(BTreeMap<String, u32>);

impl Anchors {
    /// The anchor of a heading: lower case, without punctuation, hyphens for spaces, and numbered from its
    /// second occurrence.
    fn of(&mut self, text: &str) -> String {
        let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let anchor: String = text.to_lowercase().chars().filter(|letter| kept(*letter)).collect();
        let anchor = anchor.replace(' ', "-");
        let count = self.0.entry(anchor.clone()).or_default();
        let numbered = if *count == 0 { anchor } else { format!("{anchor}-{count}") };
        *count = count.saturating_add(1);
        numbered
    }
}

/// A description of the API, whose Markdown is paragraphs, lists and code.
pub(in crate::pages) fn description(text: &str) -> Markup {
    let mut body = String::new();
    let inert = Parser::new(text).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    pulldown_cmark::html::push_html(&mut body, inert);
    html! { (maud::PreEscaped(body)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_pages_of_files() {
        let link = |file, to| target(file, to);
        assert_eq!(link("README.md", "docs/ids.md"), Some("/_local/docs/ids".to_owned()));
        assert_eq!(link("docs/ids.md", "errors.md#a"), Some("/_local/docs/errors#a".to_owned()));
        assert_eq!(
            link("docs/ids.md", "../CONTRIBUTING.md"),
            Some("/_local/docs/contributing".to_owned())
        );
        assert_eq!(link("README.md", "docs/drill.png"), Some("/_local/docs/drill.png".to_owned()));
        let app = Some("/_local/docs/example-app".to_owned());
        assert_eq!(link("docs/quickstart.md", "../clients/example-app"), app);
        assert_eq!(link("docs/quickstart.md", "../clients/example-app/"), app);
        assert_eq!(link("docs/quickstart.md", "../clients/examples"), None);
        assert_eq!(link("README.md", "shared/table/src/lib.rs"), None);
        assert_eq!(link("README.md", "../../../etc/passwd"), None);
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let document = render(
            "docs/ids.md",
            "# A page\n\n## 4. Walks, `code` – more\n\n## A page\n\n<script>x</script>\n",
        );
        assert_eq!(document.title, "A page");
        let anchors: Vec<_> = document.headings.iter().map(|it| it.anchor.as_str()).collect();
        assert_eq!(anchors, ["4-walks-code--more", "a-page-1"]);
        assert!(!document.body.contains("<script"));
    }

    #[test]
    fn tables_have_no_empty_headers_and_no_styles() {
        let both = render("docs/ids.md", "| | |\n|---|--:|\n| a | b |\n").body;
        assert!(both.contains("<td>b</td>") && !both.contains("<th") && !both.contains("style"));
        let one = render("docs/ids.md", "| | n |\n|---|---|\n| a | b |\n").body;
        assert!(one.contains("<td></td><th>n</th>"), "{one}");
    }
}
