//! `case` and `when`.

use crate::compare;
use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Expression, Head, Markup, Parser};
use crate::template::{Block, Flow, Render};

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

const INVALID_WHEN: &str = "Syntax Error in tag 'case' - Valid when condition: {% when [condition] [or \
                            condition2...] %}";
const INVALID_ELSE: &str =
    "Syntax Error in tag 'case' - Valid else condition: {% else %} (no parameters)";

struct Case {
    subject: Expression,
    /// The values of `when`, nothing of `else`.
    branches: Vec<(Option<Vec<Expression>>, Block)>,
}

pub(super) fn case(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let subject = markup.expression()?;
    markup.end()?;
    let stops = ["when", "else"];
    // What stands before the first branch is never rendered.
    let (_, mut end) = parser.block(&head, &stops)?;
    let mut branches = Vec::new();
    while stops.contains(&end.name) {
        let markup = parser.arguments(&end);
        let values = match end.name {
            "when" => Some(values(markup)?),
            _ if markup.at_end() => None,
            _ => return Err(markup.error(INVALID_ELSE)),
        };
        let (block, next) = parser.block(&head, &stops)?;
        branches.push((values, block));
        end = next;
    }
    let mut tag = Case { subject, branches };
    if tag.is_blank() {
        tag.branches.iter_mut().for_each(|(_, block)| block.remove_blank_text());
    }
    Ok(Box::new(tag))
}

fn values(mut markup: Markup<'_, '_>) -> std::result::Result<Vec<Expression>, ParseError> {
    let mut values = Vec::new();
    if markup.at_end() {
        return Err(markup.error(INVALID_WHEN));
    }
    loop {
        values.push(markup.expression()?);
        if !(markup.take(",") || markup.keyword("or")) || markup.at_end() {
            break;
        }
    }
    markup.end()?;
    Ok(values)
}

impl Render for Case {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let subject = self.subject.evaluate(cx);
        let mut matched = false;
        for (values, block) in &self.branches {
            // A block is rendered once for each of its values that matches.
            let times = match values {
                None => usize::from(!matched),
                Some(values) => {
                    cx.step(values.len().saturating_mul(subject.weight()))?;
                    let equal = |value: &&Expression| compare::equal(&subject, &value.operand(cx));
                    values.iter().filter(equal).count()
                }
            };
            matched |= values.is_some() && times > 0;
            for _ in 0..times {
                let flow = block.render(cx, out)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
        }
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.branches.iter().all(|(_, block)| block.is_blank())
    }
}
