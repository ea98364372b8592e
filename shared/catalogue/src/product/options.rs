//! Validation of options and of the values that variants choose; derived handles and titles.

use std::collections::HashSet;

use primitives::fields::Violation;
use primitives::problem::{FieldError, Problem};

use super::{DEFAULT_TITLE, ProductOption};

/// The field errors of a request, collected.
#[derive(Debug, Default)]
pub struct FieldErrorList(Vec<FieldError>);

impl FieldErrorList {
    /// Adds a field error.
    pub fn add(
        &mut self,
        pointer: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) {
        let violation = Violation::new(code, detail.into());
        self.0.push(FieldError::at(pointer, violation));
    }

    /// The value of `Ok`; an error is collected, and the result is none.
    pub fn collect<T>(
        &mut self,
        pointer: impl Into<String>,
        value: Result<T, Violation>,
    ) -> Option<T> {
        value.map_err(|violation| self.0.push(FieldError::at(pointer, violation))).ok()
    }

    /// The collected field errors.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.0
    }

    /// Ensures that no field error was collected.
    ///
    /// # Errors
    /// `validation_failed` with all of them.
    pub fn into_result(self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::invalid(self.0)) }
    }

    /// Validates the options of a product: names and values must be distinct regardless of case, and
    /// every option needs a value.
    pub fn validate_options(&mut self, options: &[ProductOption]) {
        let mut names = HashSet::new();
        for (option_index, option) in options.iter().enumerate() {
            if !names.insert(option.name.to_lowercase()) {
                let detail = "Another option has this name.";
                self.add(format!("/options/{option_index}/name"), "duplicate_option", detail);
            }
            if option.values.is_empty() {
                let detail = "An option must have at least one value.";
                self.add(format!("/options/{option_index}/values"), "too_few", detail);
            }
            let mut values = HashSet::new();
            for (index, value) in option.values.iter().enumerate() {
                if !values.insert(value.to_lowercase()) {
                    let pointer = format!("/options/{option_index}/values/{index}");
                    self.add(
                        pointer,
                        "duplicate_value",
                        "Another value of the option is the same.",
                    );
                }
            }
        }
    }

    /// Validates the values that a variant chooses: one for each option, in their order. `pointer` is
    /// the JSON pointer of the variant.
    pub fn validate_choice(&mut self, options: &[ProductOption], choice: &[String], pointer: &str) {
        if choice.len() != options.len() {
            let detail = match options {
                [] => "The product has no options.".to_owned(),
                [_] => "Must have one value, for the product's only option.".to_owned(),
                many => format!("Must have {} values, one for each option.", many.len()),
            };
            self.add(format!("{pointer}/options"), "option_count_mismatch", detail);
            return;
        }
        for (option_index, (option, value)) in options.iter().zip(choice).enumerate() {
            if !option.values.contains(value) {
                let detail = format!("Must be one of: {}.", option.values.join(", "));
                self.add(
                    format!("{pointer}/options/{option_index}"),
                    "unknown_option_value",
                    detail,
                );
            }
        }
    }

    /// Validates that no two variants choose the same values. Each choice comes with the JSON pointer
    /// of its variant; an existing variant has none, and gets no field error.
    pub fn validate_distinct<'a>(
        &mut self,
        choices: impl IntoIterator<Item = (&'a [String], Option<String>)>,
    ) {
        let mut seen = HashSet::new();
        for (choice, pointer) in choices {
            if !seen.insert(choice)
                && let Some(pointer) = pointer
            {
                let (field, detail) = match choice {
                    [] => ("", "A product with several variants must have options."),
                    _ => ("/options", "Another variant has the same values."),
                };
                self.add(format!("{pointer}{field}"), "duplicate_variant", detail);
            }
        }
    }
}

/// The title of a variant with these option values.
pub fn variant_title(choice: &[String]) -> String {
    if choice.is_empty() { DEFAULT_TITLE.to_owned() } else { choice.join(" / ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, values: &[&str]) -> ProductOption {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        ProductOption { name: name.into(), values }
    }

    fn choice(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    fn found(field_errors: FieldErrorList) -> Vec<(String, &'static str)> {
        field_errors.0.into_iter().map(|error| (error.pointer, error.violation.code)).collect()
    }

    #[test]
    fn options_have_distinct_names_and_values() {
        let mut field_errors = FieldErrorList::default();
        let options = [option("Size", &["S", "s"]), option("size", &[])];
        field_errors.validate_options(&options);
        let expected = [
            ("/options/0/values/1".to_owned(), "duplicate_value"),
            ("/options/1/name".to_owned(), "duplicate_option"),
            ("/options/1/values".to_owned(), "too_few"),
        ];
        assert_eq!(found(field_errors), expected);
    }

    #[test]
    fn a_variant_chooses_one_value_of_each_option() {
        let options = [option("Size", &["S", "M"]), option("Colour", &["Blue"])];
        let validated = |values: &[&str]| {
            let mut field_errors = FieldErrorList::default();
            field_errors.validate_choice(&options, &choice(values), "/variants/3");
            found(field_errors)
        };
        assert_eq!(validated(&["S", "Blue"]), []);
        assert_eq!(
            validated(&["S"]),
            [("/variants/3/options".to_owned(), "option_count_mismatch")]
        );
        let unknown = [("/variants/3/options/1".to_owned(), "unknown_option_value")];
        assert_eq!(validated(&["M", "Red"]), unknown);
    }

    #[test]
    fn no_two_variants_choose_the_same() {
        let (s, m) = (choice(&["S"]), choice(&["M"]));
        let mut field_errors = FieldErrorList::default();
        let at = |pointer: &str| Some(pointer.to_owned());
        field_errors.validate_distinct([
            (s.as_slice(), None),
            (m.as_slice(), at("/variants/0")),
            (s.as_slice(), at("/variants/1")),
        ]);
        assert_eq!(found(field_errors), [("/variants/1/options".to_owned(), "duplicate_variant")]);
    }

    #[test]
    fn the_title_of_a_variant_has_its_values() {
        assert_eq!(variant_title(&choice(&["M", "Blue"])), "M / Blue");
    }
}
