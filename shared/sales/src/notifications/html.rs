//! The HTML of a mail, made from its text: paragraphs, indented blocks, links, and tables of labels and amounts.
//! Styles are inline, because mail programs drop others.

use core_types::fields::Locale;
use minijinja::HtmlEscape;

const PAGE: &str = "margin:0;padding:24px 12px;background:#f4f4f5";
const SHEET: &str = "max-width:600px;margin:0 auto;padding:32px 24px;background:#ffffff;border-radius:8px;\
                     font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;\
                     line-height:1.5;color:#18181b";
const HEADING: &str = "margin:0 0 24px;font-size:22px;line-height:1.3;font-weight:600";
const PARAGRAPH: &str = "margin:0 0 16px;overflow-wrap:anywhere";
const BLOCK: &str =
    "margin:0 0 16px;padding-left:12px;border-left:3px solid #d4d4d8;overflow-wrap:anywhere";
const TABLE: &str = "width:100%;margin:0 0 16px;border-collapse:collapse";
const LABEL: &str = "padding:6px 12px 6px 0;border-top:1px solid #e4e4e7;vertical-align:top;text-align:left;\
                     font-weight:400;overflow-wrap:anywhere";
const AMOUNT: &str = "padding:6px 0;border-top:1px solid #e4e4e7;vertical-align:top;text-align:right;\
                      white-space:nowrap";
const LINK: &str = "color:#1d4ed8;overflow-wrap:anywhere";

/// A part of a text that is shown in one way.
#[derive(Debug, PartialEq, Eq)]
enum TextBlock<'t> {
    /// Lines that stand together.
    Paragraph(Vec<&'t str>),
    /// Indented lines, such as an address.
    Block(Vec<&'t str>),
    /// Labels and their amounts.
    Table(Vec<(&'t str, &'t str)>),
}

/// A character that stands for a link in a text, and its URL.
pub(super) type MarkedLink<'t> = (char, &'t str);

/// The HTML page of a mail's subject and text, in this language. Only a marked link becomes one: where it ends does not
/// depend on what follows it.
pub(super) fn page(
    subject: &str,
    text: &str,
    links: &[MarkedLink<'_>],
    language: &Locale,
) -> String {
    let body: String = parts(text).iter().map(|part| render(part, links)).collect();
    let (subject, language) = (HtmlEscape(subject), HtmlEscape(language.as_str()));
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{subject}</title>\n</head>\n<body style=\"{PAGE}\">\n<main style=\"{SHEET}\">\n\
         <h1 style=\"{HEADING}\">{subject}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The text as it is read without HTML: a tab becomes a colon.
pub(super) fn plain(text: &str) -> String {
    text.replace('\t', ": ")
}

fn parts(text: &str) -> Vec<TextBlock<'_>> {
    let mut parts: Vec<TextBlock<'_>> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        let cells = line.split_once('\t');
        match (parts.last_mut().filter(|_| !is_new), cells) {
            (Some(TextBlock::Table(rows)), Some(row)) => rows.push(row),
            (_, Some(row)) => parts.push(TextBlock::Table(vec![row])),
            (Some(TextBlock::Block(lines)), None) if line.starts_with("    ") => {
                lines.push(line.trim());
            }
            (_, None) if line.starts_with("    ") => {
                parts.push(TextBlock::Block(vec![line.trim()]));
            }
            (Some(TextBlock::Paragraph(lines)), None) => lines.push(line),
            (_, None) => parts.push(TextBlock::Paragraph(vec![line])),
        }
        is_new = false;
    }
    parts
}

fn render(part: &TextBlock<'_>, links: &[MarkedLink<'_>]) -> String {
    let inline = |line: &str| inline(line, links);
    let lines =
        |lines: &[&str]| lines.iter().map(|line| inline(line)).collect::<Vec<_>>().join("<br>\n");
    match part {
        TextBlock::Paragraph(all) => format!("<p style=\"{PARAGRAPH}\">{}</p>\n", lines(all)),
        TextBlock::Block(all) => format!("<p style=\"{BLOCK}\">{}</p>\n", lines(all)),
        TextBlock::Table(rows) => {
            let row = |(label, amount): &(&str, &str)| {
                let (label, amount) = (inline(label), inline(amount));
                format!(
                    "<tr><th scope=\"row\" style=\"{LABEL}\">{label}</th><td style=\"{AMOUNT}\">{amount}</td></tr>\n"
                )
            };
            let rows: String = rows.iter().map(row).collect();
            format!("<table style=\"{TABLE}\">\n{rows}</table>\n")
        }
    }
}

/// A line with its links.
fn inline(line: &str, links: &[MarkedLink<'_>]) -> String {
    let url_of = |c: char| links.iter().find(|(mark, _)| *mark == c).map(|(_, url)| *url);
    let part = |part: &str| {
        let text = part.trim_end_matches(|c| url_of(c).is_some());
        let url = part.chars().next_back().and_then(url_of).map(HtmlEscape);
        let link = url.map(|url| format!("<a href=\"{url}\" style=\"{LINK}\">{url}</a>"));
        format!("{}{}", HtmlEscape(text), link.unwrap_or_default())
    };
    line.split_inclusive(|c| url_of(c).is_some()).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_paragraphs_blocks_and_tables() {
        let text = "Thanks!\nYours\n\n    7 <Street>\n    IN\n2 x Mug\t10.00\nTotal\t10.00\n\n\u{a0}\u{e000}.\n";
        let expected = [
            TextBlock::Paragraph(vec!["Thanks!", "Yours"]),
            TextBlock::Block(vec!["7 <Street>", "IN"]),
            TextBlock::Table(vec![("2 x Mug", "10.00"), ("Total", "10.00")]),
            TextBlock::Paragraph(vec!["\u{a0}\u{e000}."]),
        ];
        assert_eq!(parts(text), expected);
        let link = ('\u{e000}', "https://a.example/x?a=1&b=2");
        let page = page("Your <order>", text, &[link], &Locale::default());
        assert!(page.contains("<title>Your &lt;order&gt;</title>"), "{page}");
        assert!(page.contains("7 &lt;Street&gt;<br>"), "{page}");
        assert!(page.contains("a=1&amp;b=2</a>.</p>"), "{page}");
        assert!(page.contains(">\u{a0}<a href=\"https:"), "{page}");
        assert_eq!(plain("Total\t10.00"), "Total: 10.00");
    }
}
