//! The rules of automated collections.

use core_types::id::CategoryId;
use core_types::money::MAX_AMOUNT;
use deserr::ValuePointerRef;
use primitives::fields::{FieldErrors, FromText, Text, Violation};
use primitives::input::request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facets::FacetRow;
use crate::product::{Product, ProductSummary};

/// The most rules of one collection (our choice).
pub const MAX_RULES: usize = 20;

primitives::string_enum! {
    /// The field of a product that a rule compares.
    RuleField {
        /// The title.
        Title = "title",
        /// The vendor.
        Vendor = "vendor",
        /// The product type.
        ProductType = "product_type",
        /// Any of the tags.
        Tag = "tag",
        /// The product's own category; its ancestors do not count.
        Category = "category_id",
        /// The lowest price, in minor units.
        Price = "price",
        /// Whether any variant costs less than its compare-at price: `true` or `false`.
        OnSale = "on_sale",
    }
}

primitives::string_enum! {
    /// The comparison of a rule; texts are compared regardless of case.
    RuleRelation {
        /// The field equals the value.
        Equals = "equals",
        /// The field does not equal the value.
        NotEquals = "not_equals",
        /// The field contains the value.
        Contains = "contains",
        /// The field starts with the value.
        StartsWith = "starts_with",
        /// The field ends with the value.
        EndsWith = "ends_with",
        /// The field is greater than the value.
        GreaterThan = "greater_than",
        /// The field is less than the value.
        LessThan = "less_than",
    }
}

primitives::string_enum! {
    /// The combination of a collection's rules.
    MatchMode {
        /// A product must meet every rule.
        All = "all",
        /// A product must meet one rule.
        Any = "any",
    }
}

/// A rule of an automated collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CollectionRule")]
pub struct Rule {
    /// The field of the product.
    pub field: RuleField,
    /// The comparison.
    pub relation: RuleRelation,
    /// The value to compare with.
    pub value: String,
}

/// A rule of an automated collection. Its relation and its value must fit its field.
#[request(validate = fitting -> FieldErrors)]
#[derive(Debug, Clone)]
pub struct RuleInput {
    /// The field of the product.
    field: RuleField,
    /// The comparison.
    relation: RuleRelation,
    /// The value to compare with.
    value: Text<1, 200>,
}

impl RuleInput {
    /// The category that the rule compares with, if it is about the category.
    pub fn category(&self) -> Option<CategoryId> {
        let named = (self.field == RuleField::Category).then_some(self.value.as_str())?;
        CategoryId::parse(named)
    }
}

impl From<RuleInput> for Rule {
    fn from(input: RuleInput) -> Self {
        Self { field: input.field, relation: input.relation, value: input.value.into() }
    }
}

fn fitting(input: RuleInput, location: ValuePointerRef<'_>) -> Result<RuleInput, FieldErrors> {
    use RuleField::{Category, OnSale, Price, ProductType, Tag, Title, Vendor};
    use RuleRelation::{Contains, EndsWith, Equals, GreaterThan, LessThan, NotEquals, StartsWith};
    let relations: &[RuleRelation] = match input.field {
        Title | Vendor | ProductType | Tag => &[Equals, NotEquals, Contains, StartsWith, EndsWith],
        Category => &[Equals, NotEquals],
        Price => &[Equals, NotEquals, GreaterThan, LessThan],
        OnSale => &[Equals],
    };
    let mut errors = FieldErrors::default();
    if !relations.contains(&input.relation) {
        let names: Vec<_> = relations.iter().map(|relation| relation.as_str()).collect();
        let detail = format!("For `{}`, must be one of: {}.", input.field, names.join(", "));
        let violation = Violation::new("invalid_relation", detail);
        errors.add_at(location.push_key("relation"), || violation);
    }
    let text = input.value.as_str();
    let wrong = match input.field {
        Category => CategoryId::from_text(text).err(),
        Price => amount(text).is_none().then(|| {
            Violation::new(
                "invalid_rule_value",
                format!("Must be a price in minor units, from 0 to {MAX_AMOUNT}."),
            )
        }),
        OnSale => (!matches!(text, "true" | "false"))
            .then(|| Violation::new("invalid_rule_value", "Must be `true` or `false`.")),
        Title | Vendor | ProductType | Tag => None,
    };
    if let Some(violation) = wrong {
        errors.add_at(location.push_key("value"), || violation);
    }
    if errors.is_empty() { Ok(input) } else { Err(errors) }
}

fn amount(text: &str) -> Option<i64> {
    text.parse().ok().filter(|amount| (0..=MAX_AMOUNT).contains(amount))
}

/// The fields of a product that rules compare.
#[derive(Debug, Clone, Copy)]
pub struct ComparableProduct<'a> {
    title: &'a str,
    vendor: Option<&'a str>,
    product_type: Option<&'a str>,
    category_id: Option<&'a CategoryId>,
    tags: &'a [String],
    /// The lowest price, in minor units.
    price: i64,
    on_sale: bool,
}

impl<'a> From<&'a Product> for ComparableProduct<'a> {
    fn from(product: &'a Product) -> Self {
        Self {
            title: &product.title,
            vendor: product.vendor.as_deref(),
            product_type: product.product_type.as_deref(),
            category_id: product.category_id.as_ref(),
            tags: &product.tags,
            price: product.price_min(),
            on_sale: product.on_sale,
        }
    }
}

impl<'a> From<&'a ProductSummary> for ComparableProduct<'a> {
    fn from(summary: &'a ProductSummary) -> Self {
        Self {
            title: &summary.title,
            vendor: summary.vendor.as_deref(),
            product_type: summary.product_type.as_deref(),
            category_id: summary.category_id.as_ref(),
            tags: &summary.tags,
            price: summary.price_min(),
            on_sale: summary.on_sale,
        }
    }
}

impl<'a> From<&'a FacetRow> for ComparableProduct<'a> {
    fn from(row: &'a FacetRow) -> Self {
        Self {
            title: &row.title,
            vendor: row.vendor.as_deref(),
            product_type: row.product_type.as_deref(),
            category_id: row.category_id.as_ref(),
            tags: &row.tags,
            price: row.price_min(),
            on_sale: row.on_sale,
        }
    }
}

/// Whether a product belongs to a collection with these rules; without rules none does.
pub fn matches_rules<'a>(
    rules: &[Rule],
    mode: MatchMode,
    product: impl Into<ComparableProduct<'a>>,
) -> bool {
    let product = &product.into();
    match mode {
        MatchMode::All => !rules.is_empty() && rules.iter().all(|rule| rule.matches(product)),
        MatchMode::Any => rules.iter().any(|rule| rule.matches(product)),
    }
}

impl Rule {
    /// Whether a product meets this rule.
    fn matches(&self, product: &ComparableProduct<'_>) -> bool {
        let text = |text: Option<&str>| self.compares(text.unwrap_or_default());
        match self.field {
            RuleField::Title => text(Some(product.title)),
            RuleField::Vendor => text(product.vendor),
            RuleField::ProductType => text(product.product_type),
            RuleField::Category => text(product.category_id.map(CategoryId::as_str)),
            // `not_equals` must hold for every tag, the others for any tag.
            RuleField::Tag if self.relation == RuleRelation::NotEquals => {
                product.tags.iter().all(|tag| self.compares(tag))
            }
            RuleField::Tag => product.tags.iter().any(|tag| self.compares(tag)),
            RuleField::Price => amount(&self.value).is_some_and(|value| match self.relation {
                RuleRelation::Equals => product.price == value,
                RuleRelation::NotEquals => product.price != value,
                RuleRelation::GreaterThan => product.price > value,
                RuleRelation::LessThan => product.price < value,
                _ => false,
            }),
            RuleField::OnSale => product.on_sale == (self.value == "true"),
        }
    }

    fn compares(&self, text: &str) -> bool {
        let (text, value) = (text.to_lowercase(), self.value.to_lowercase());
        match self.relation {
            RuleRelation::Equals => text == value,
            RuleRelation::NotEquals => text != value,
            RuleRelation::Contains => text.contains(&value),
            RuleRelation::StartsWith => text.starts_with(&value),
            RuleRelation::EndsWith => text.ends_with(&value),
            RuleRelation::GreaterThan | RuleRelation::LessThan => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use primitives::input::read;
    use serde_json::json;

    use super::*;
    use crate::product::tests::product;

    fn rule(field: RuleField, relation: RuleRelation, value: &str) -> Rule {
        Rule { field, relation, value: value.into() }
    }

    #[test]
    fn rules_compare_their_field() {
        use RuleField::{OnSale, Price, Tag, Title, Vendor};
        use RuleRelation::{Contains, Equals, GreaterThan, LessThan, NotEquals, StartsWith};
        let product = Product {
            title: "Blue Mug".into(),
            tags: vec!["Sale".into(), "kitchen".into()],
            prices: vec![500],
            on_sale: true,
            ..product()
        };
        for (field, relation, value, expected) in [
            (Title, Contains, "mug", true),
            (Title, StartsWith, "mug", false),
            (Vendor, Equals, "acme", false),
            (Vendor, NotEquals, "acme", true),
            (Tag, Equals, "sale", true),
            (Tag, NotEquals, "sale", false),
            (Tag, NotEquals, "garden", true),
            (Price, GreaterThan, "499", true),
            (Price, LessThan, "500", false),
            (OnSale, Equals, "true", true),
            (OnSale, Equals, "false", false),
        ] {
            let rule = rule(field, relation, value);
            assert_eq!(rule.matches(&ComparableProduct::from(&product)), expected, "{rule:?}");
        }
    }

    #[test]
    fn rules_are_combined_by_all_or_any_and_no_rules_match_nothing() {
        let mug = rule(RuleField::Title, RuleRelation::Contains, "mug");
        let tag = rule(RuleField::Tag, RuleRelation::Equals, "sale");
        let product = Product { title: "Mug".into(), tags: Vec::new(), ..product() };
        let rules = [mug, tag];
        assert!(!matches_rules(&rules, MatchMode::All, &product));
        assert!(matches_rules(&rules, MatchMode::Any, &product));
        assert!(
            !matches_rules(&[], MatchMode::All, &product)
                && !matches_rules(&[], MatchMode::Any, &product)
        );
    }

    #[test]
    fn a_rule_fits_its_field() {
        let errors = |body| {
            let problem = read::<RuleInput>(body).unwrap_err();
            let found = problem.errors().iter().map(|e| (e.pointer.clone(), e.violation.code));
            found.collect::<Vec<_>>()
        };
        let found = errors(json!({"field": "price", "relation": "contains", "value": "1.5"}));
        let expected = [
            ("/relation".to_owned(), "invalid_relation"),
            ("/value".to_owned(), "invalid_rule_value"),
        ];
        assert_eq!(found, expected);
        let good = json!({"field": "title", "relation": "contains", "value": "mug"});
        assert!(read::<RuleInput>(good).is_ok());
    }
}
