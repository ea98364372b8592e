//! What stands between the begin and the end of a block.

use super::variable::Filtered;
use crate::context::Context;
use crate::error::Result;
use crate::language::{Flow, Render};

/// Text, outputs and tags in order.
#[derive(Default)]
pub struct Block {
    nodes: Vec<Node>,
    solid: bool,
}

pub(crate) enum Node {
    Text(Box<str>),
    Output(Filtered, u32),
    Tag(Box<dyn Render>, u32),
}

impl Block {
    pub(crate) fn push(&mut self, node: Node) {
        let blank = match &node {
            Node::Text(text) => text.chars().all(super::tokens::is_space),
            Node::Output(..) => false,
            Node::Tag(tag, _) => tag.is_blank(),
        };
        self.solid |= !blank;
        self.nodes.push(node);
    }

    /// Whether it writes nothing but whitespace.
    pub fn is_blank(&self) -> bool {
        !self.solid
    }

    /// Takes the text out of a block that is nothing but whitespace otherwise.
    pub fn remove_blank_text(&mut self) {
        if !self.solid {
            self.nodes.retain(|node| !matches!(node, Node::Text(_)));
        }
    }

    /// Writes it, and stops at `break` and `continue`.
    pub fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        cx.nested(|cx| {
            for node in &self.nodes {
                cx.step(1)?;
                let flow = node.render(cx, out)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })
    }
}

impl Node {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        match self {
            Self::Text(text) => {
                out.push_str(text);
                cx.check_output(out)?;
                Ok(Flow::Next)
            }
            Self::Output(output, line) => {
                let written = output.evaluate(cx).and_then(|value| cx.write(&value, out));
                match written {
                    Ok(()) => Ok(Flow::Next),
                    Err(error) => cx.failed(error, (*line, false), out),
                }
            }
            Self::Tag(tag, line) => match tag.render(cx, out) {
                Err(error) => cx.failed(error, (*line, tag.is_blank()), out),
                flow => flow,
            },
        }
    }
}
