//! Path parameters.

use schemars::JsonSchema;

use super::FromText;

/// The parameters of a path: one value that is parsed from text, or a tuple of two or three.
pub trait FromPath: Sized {
    /// Parses the values, in path order. There is none if one cannot be parsed.
    fn from_path(values: &[&str]) -> Option<Self>;

    /// Describes the parameters, in path order.
    fn describe(description: &mut impl PathDescription);
}

/// A description of an operation's path parameters.
pub trait PathDescription {
    /// Adds the parameter at `index`.
    fn add<T: JsonSchema>(&mut self, index: usize);
}

impl<A: FromText + JsonSchema> FromPath for A {
    fn from_path(values: &[&str]) -> Option<Self> {
        match values {
            [first] => A::from_text(first).ok(),
            _ => None,
        }
    }

    fn describe(description: &mut impl PathDescription) {
        description.add::<A>(0);
    }
}

impl<A: FromText + JsonSchema, B: FromText + JsonSchema> FromPath for (A, B) {
    fn from_path(values: &[&str]) -> Option<Self> {
        match values {
            [first, second] => Some((A::from_text(first).ok()?, B::from_text(second).ok()?)),
            _ => None,
        }
    }

    fn describe(description: &mut impl PathDescription) {
        description.add::<A>(0);
        description.add::<B>(1);
    }
}

impl<A, B, C> FromPath for (A, B, C)
where
    A: FromText + JsonSchema,
    B: FromText + JsonSchema,
    C: FromText + JsonSchema,
{
    fn from_path(values: &[&str]) -> Option<Self> {
        let [first, second, third] = values else { return None };
        let (first, second) = (A::from_text(first).ok()?, B::from_text(second).ok()?);
        Some((first, second, C::from_text(third).ok()?))
    }

    fn describe(description: &mut impl PathDescription) {
        description.add::<A>(0);
        description.add::<B>(1);
        description.add::<C>(2);
    }
}
