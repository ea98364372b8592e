//! `if` and `unless`.

use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Condition, Head, Parser};
use crate::template::{Block, Flow, Render};

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

/// The branches in order. The first that holds is rendered; `else` always does.
struct Branches {
    branches: Vec<(Option<Condition>, Block)>,
    negated: bool,
}

pub(super) fn if_true(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    branches(head, parser, false)
}

pub(super) fn unless(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    branches(head, parser, true)
}

fn branches(head: Head<'_>, parser: &mut Parser<'_, '_>, negated: bool) -> Parsed {
    let mut branches = Vec::new();
    let mut condition = Some(parser.arguments(&head).condition()?);
    loop {
        let (block, end) = parser.block(&head, &["elsif", "else"])?;
        branches.push((condition, block));
        condition = match end.name {
            "elsif" => Some(parser.arguments(&end).condition()?),
            "else" => None,
            _ => break,
        };
    }
    let mut tag = Branches { branches, negated };
    if tag.is_blank() {
        tag.branches.iter_mut().for_each(|(_, block)| block.remove_blank_text());
    }
    Ok(Box::new(tag))
}

impl Render for Branches {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let mut negated = self.negated;
        for (condition, block) in &self.branches {
            let holds = match condition {
                Some(condition) => condition.holds(cx)? != std::mem::take(&mut negated),
                None => true,
            };
            if holds {
                return block.render(cx, out);
            }
        }
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.branches.iter().all(|(_, block)| block.is_blank())
    }
}
