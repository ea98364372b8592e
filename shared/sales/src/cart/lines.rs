//! The lines of a cart: units of variants, merged by variant and properties as those of an order are.

use std::collections::BTreeMap;

use core_types::id::{CartId, CartLineId, VariantId};
use core_types::money::Money;
use primitives::problem::{Code, FieldError, Problem};
use serde::{Deserialize, Serialize};

use super::Cart;
use crate::order::MAX_QUANTITY;
use crate::order::cart::{self, CartLine, LineInput, LineSize, violation};

/// A line of a cart.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
pub struct CartItem {
    /// The variant.
    #[serde(rename = "variant")]
    pub variant_id: VariantId,
    /// The number of units.
    pub quantity: u32,
    /// The price of one unit when the cart was last changed, in minor units of the cart's currency; none if it
    /// was never priced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<i64>,
    /// Properties by which these units differ from others of the variant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Key-value pairs of the line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Its index in the request that adds it.
    #[serde(skip)]
    pub given: Option<usize>,
}

/// What is stored is compared: where a request has named the line makes no other one of it.
impl PartialEq for CartItem {
    fn eq(&self, other: &Self) -> bool {
        self.is_like(other)
            && self.quantity == other.quantity
            && self.price == other.price
            && self.metadata == other.metadata
    }
}

impl CartItem {
    /// The id of the line: it follows from what tells lines of the cart apart.
    pub fn id(&self, cart: &CartId) -> CartLineId {
        let properties = serde_json::to_string(&self.properties).unwrap_or_default();
        CartLineId::derive(&[cart.as_str(), self.variant_id.as_str(), &properties])
    }

    fn size(&self) -> LineSize<'_> {
        LineSize {
            position: self.given.unwrap_or_default(),
            quantity: self.quantity,
            properties: &self.properties,
            metadata: &self.metadata,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.variant_id == other.variant_id && self.properties == other.properties
    }
}

fn of_input((position, input): (usize, LineInput)) -> CartItem {
    CartItem {
        variant_id: input.variant_id,
        quantity: u32::try_from(input.quantity.0).unwrap_or(0),
        price: None,
        properties: input.properties.map(|properties| properties.0).unwrap_or_default(),
        metadata: input.metadata.map(|metadata| metadata.0).unwrap_or_default(),
        given: Some(position),
    }
}

/// The most units of a line.
fn most_units() -> u32 {
    u32::try_from(MAX_QUANTITY).unwrap_or(u32::MAX)
}

/// Adds lines of a request to others. Equal ones are merged; metadata of the request replaces that of before.
fn merge(mut lines: Vec<CartItem>, named: Vec<LineInput>) -> Result<Vec<CartItem>, Problem> {
    let mut errors = Vec::new();
    for line in &mut lines {
        line.given = None;
    }
    for line in named.into_iter().enumerate().map(of_input) {
        let position = line.given.unwrap_or_default();
        let Some(known) = lines.iter_mut().find(|known| known.is_like(&line)) else {
            lines.push(line);
            continue;
        };
        known.quantity = known.quantity.saturating_add(line.quantity);
        let is_of_request = known.given.is_some();
        known.given = known.given.or(line.given);
        if line.metadata.is_empty() {
            continue;
        }
        if is_of_request && line.metadata != known.metadata {
            let detail = "Lines of one variant with equal properties are merged, and must not differ in \
                          `metadata`. Use `properties` to keep them apart.";
            let pointer = format!("/lines/{position}/metadata");
            errors.push(violation(&pointer, "metadata_conflict", detail));
        }
        known.metadata = line.metadata;
    }
    errors.extend(limit_errors(&lines));
    if errors.is_empty() { Ok(lines) } else { Err(Problem::invalid(errors)) }
}

/// The field errors of lines beyond the limits of an order.
fn limit_errors(lines: &[CartItem]) -> Vec<FieldError> {
    cart::limit_errors("/lines", &lines.iter().map(CartItem::size).collect::<Vec<_>>())
}

impl Cart {
    /// The cart with these lines instead of its own. Lines that it had keep the price that was seen.
    ///
    /// # Errors
    /// `validation_failed`.
    pub fn with_lines(mut self, named: Vec<LineInput>) -> Result<Self, Problem> {
        let before = std::mem::take(&mut self.lines);
        self.lines = merge(Vec::new(), named)?;
        for line in &mut self.lines {
            line.price = before.iter().find(|known| known.is_like(line)).and_then(|one| one.price);
        }
        Ok(self)
    }

    /// The cart with more lines; quantities of equal ones are added up.
    ///
    /// # Errors
    /// `validation_failed`.
    pub fn with_added(mut self, named: Vec<LineInput>) -> Result<Self, Problem> {
        self.lines = merge(self.lines, named)?;
        Ok(self)
    }

    /// The position of a line.
    ///
    /// # Errors
    /// `not_found`.
    fn position(&self, id: &CartLineId) -> Result<usize, Problem> {
        let found = self.lines.iter().position(|line| line.id(&self.id) == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// The cart with another quantity or metadata of a line. With a quantity of 0 it is without the line.
    ///
    /// # Errors
    /// `not_found`; `validation_failed` if it becomes too large.
    pub fn with_line(
        mut self,
        id: &CartLineId,
        quantity: Option<u32>,
        metadata: Option<BTreeMap<String, String>>,
    ) -> Result<Self, Problem> {
        let position = self.position(id)?;
        if quantity == Some(0) {
            self.lines.remove(position);
            return Ok(self);
        }
        if let Some(line) = self.lines.get_mut(position) {
            line.quantity = quantity.unwrap_or(line.quantity);
            line.metadata = metadata.unwrap_or_else(|| std::mem::take(&mut line.metadata));
        }
        let errors: Vec<FieldError> = limit_errors(&self.lines)
            .into_iter()
            .map(|error| FieldError { pointer: "/metadata".to_owned(), ..error })
            .collect();
        if errors.is_empty() { Ok(self) } else { Err(Problem::invalid(errors)) }
    }

    /// The cart with the lines of another: quantities are added up to the limit, and lines beyond the limit of
    /// lines, or of their texts, are left out.
    #[must_use]
    pub fn with_lines_of(mut self, other: &Self) -> Self {
        for line in &other.lines {
            if let Some(known) = self.lines.iter_mut().find(|known| known.is_like(line)) {
                known.quantity = known.quantity.saturating_add(line.quantity).min(most_units());
                continue;
            }
            self.lines.push(line.clone());
            if !limit_errors(&self.lines).is_empty() {
                self.lines.pop();
            }
        }
        self
    }

    /// The lines as those of an order, each at its position.
    pub fn order_lines(&self) -> Vec<CartLine> {
        let line = |(position, line): (usize, &CartItem)| CartLine {
            variant_id: line.variant_id.clone(),
            quantity: line.quantity,
            properties: line.properties.clone(),
            metadata: line.metadata.clone(),
            position,
        };
        self.lines.iter().enumerate().map(line).collect()
    }

    /// The cart with the prices that the response to its change shows, by position.
    #[must_use]
    pub fn with_prices<'p>(mut self, prices: impl IntoIterator<Item = (usize, &'p Money)>) -> Self {
        for (position, price) in prices {
            if let Some(line) = self.lines.get_mut(position) {
                line.price = Some(price.amount);
            }
        }
        self
    }
}
