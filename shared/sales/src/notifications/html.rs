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

/// The HTML page of a mail's subject and text, in this language.
pub(super) fn page(subject: &str, text: &str, language: &Locale) -> String {
    let body: String = parts(text).iter().map(render).collect();
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

fn render(part: &TextBlock<'_>) -> String {
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

/// A line with its links. The text has no other addresses than those that may be followed.
fn inline(line: &str) -> String {
    let word = |word: &str| {
        let is_link = word.starts_with("https://") || word.starts_with("http://");
        let text = HtmlEscape(word);
        if is_link {
            format!("<a href=\"{text}\" style=\"{LINK}\">{text}</a>")
        } else {
            text.to_string()
        }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_paragraphs_blocks_and_tables() {
        let text = "Thanks!\nYours\n\n    7 <Street>\n    IN\n2 x Mug\t10.00\nTotal\t10.00\n\nhttps://a.example/x?a=1&b=2\n";
        let expected = [
            TextBlock::Paragraph(vec!["Thanks!", "Yours"]),
            TextBlock::Block(vec!["7 <Street>", "IN"]),
            TextBlock::Table(vec![("2 x Mug", "10.00"), ("Total", "10.00")]),
            TextBlock::Paragraph(vec!["https://a.example/x?a=1&b=2"]),
        ];
        assert_eq!(parts(text), expected);
        let page = page("Your <order>", text, &Locale::default());
        assert!(page.contains("<title>Your &lt;order&gt;</title>"), "{page}");
        assert!(page.contains("7 &lt;Street&gt;<br>"), "{page}");
        assert!(page.contains("a=1&amp;b=2</a>"), "{page}");
        assert_eq!(plain("Total\t10.00"), "Total: 10.00");
    }
}
