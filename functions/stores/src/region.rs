//! The region of a request.

use core_types::fields::Country;
use identity::address;
use primitives::fields::Text;
use primitives::problem::{FieldError, Problem};

/// The code of a region of a country.
///
/// # Errors
/// `invalid_region` as a field error of `region`.
pub(crate) fn region_code(country: &Country, region: &Text<1, 120>) -> Result<String, Problem> {
    let code = address::region_of(country.as_str(), region.as_str());
    code.map_err(|violation| Problem::invalid(vec![FieldError::at("/region", violation)]))
}
