//! Updates the tables of docs/costs.md: `cargo run -p benches --bin costs`.

use std::error::Error;
use std::fs;

use benches::costs;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/costs.md");

fn main() -> Result<(), Box<dyn Error>> {
    let renewed = costs::renewed(&fs::read_to_string(DOCUMENT)?)?;
    Ok(fs::write(DOCUMENT, renewed)?)
}
