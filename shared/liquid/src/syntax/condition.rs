//! Comparisons between `and` and `or`.

use std::cmp::Ordering;

use super::expression::Expression;
use super::markup::Markup;
use crate::compare;
use crate::context::Context;
use crate::error::{Error, ParseError, Result};

/// Comparisons, each with what binds it to the next.
///
/// They are read from the right: `a and b or c` is `a and (b or c)`.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    terms: Vec<(Comparison, Relation)>,
}

#[derive(Debug, Clone)]
pub(super) struct Comparison {
    left: Expression,
    right: Option<(Operator, Expression)>,
}

/// What binds a comparison to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    And,
    Or,
    Last,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    Unknown(Box<str>),
}

impl Operator {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "==" => Self::Equal,
            "!=" | "<>" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "contains" => Self::Contains,
            other => Self::Unknown(other.into()),
        }
    }
}

impl Comparison {
    pub(super) fn new(left: Expression, right: Option<(Operator, Expression)>) -> Self {
        Self { left, right }
    }

    fn holds(&self, cx: &mut Context<'_>) -> Result<bool> {
        let left = self.left.operand(cx);
        let Some((operator, right)) = &self.right else {
            cx.step(1)?;
            return Ok(left.is_truthy());
        };
        let right = right.operand(cx);
        cx.step(left.weight())?;
        Ok(match operator {
            Operator::Equal => compare::equal(&left, &right),
            Operator::Unequal => !compare::equal(&left, &right),
            Operator::Contains => compare::contains(&left, &right),
            Operator::Less => is(compare::relation(&left, &right)?, Ordering::is_lt),
            Operator::LessOrEqual => is(compare::relation(&left, &right)?, Ordering::is_le),
            Operator::Greater => is(compare::relation(&left, &right)?, Ordering::is_gt),
            Operator::GreaterOrEqual => is(compare::relation(&left, &right)?, Ordering::is_ge),
            Operator::Unknown(name) => {
                return Err(Error::argument(format!("Unknown operator {name}")));
            }
        })
    }
}

fn is(relation: Option<Ordering>, wanted: impl Fn(Ordering) -> bool) -> bool {
    relation.is_some_and(wanted)
}

impl Condition {
    pub(super) fn push(&mut self, comparison: Comparison, relation: Relation) {
        self.terms.push((comparison, relation));
    }

    /// Whether it holds in a page.
    pub fn holds(&self, cx: &mut Context<'_>) -> Result<bool> {
        let mut holds = false;
        for (comparison, relation) in &self.terms {
            holds = comparison.holds(cx)?;
            match relation {
                Relation::And if holds => {}
                Relation::Or if !holds => {}
                _ => break,
            }
        }
        Ok(holds)
    }
}

impl Markup<'_, '_> {
    /// Takes the whole rest: comparisons between `and` and `or`.
    pub fn condition(&mut self) -> std::result::Result<Condition, ParseError> {
        parse(self)
    }
}

fn parse(markup: &mut Markup<'_, '_>) -> std::result::Result<Condition, ParseError> {
    let before = markup.clone();
    match strict(markup) {
        Err(error) if markup.is_lax() => {
            *markup = before;
            markup.lax_condition().ok_or(error)
        }
        outcome => outcome,
    }
}

fn strict(markup: &mut Markup<'_, '_>) -> std::result::Result<Condition, ParseError> {
    let mut condition = Condition::default();
    loop {
        let comparison = strict_comparison(markup)?;
        let relation = if markup.keyword("and") {
            Relation::And
        } else if markup.keyword("or") {
            Relation::Or
        } else {
            Relation::Last
        };
        condition.push(comparison, relation);
        if relation == Relation::Last {
            break;
        }
    }
    if markup.at_end() { Ok(condition) } else { Err(markup.unexpected("end_of_string")) }
}

fn strict_comparison(markup: &mut Markup<'_, '_>) -> std::result::Result<Comparison, ParseError> {
    let left = markup.strict_expression()?;
    let symbols = ["==", "!=", "<>", "<=", ">=", "<", ">"];
    let symbol = symbols.into_iter().find(|symbol| markup.take(symbol));
    let operator = symbol.or_else(|| markup.keyword("contains").then_some("contains"));
    let right = match operator {
        Some(name) => Some((Operator::named(name), markup.strict_expression()?)),
        None => None,
    };
    Ok(Comparison::new(left, right))
}
