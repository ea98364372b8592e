//! Writing of records: products, customers and quantities, as requests would write them.

mod categories;
mod customers;
mod declarations;
mod order;
mod products;
mod stock;
mod work;

use primitives::problem::Problem;

use super::ImportKind;
use super::records::Record;
use super::seen::SeenValues;

pub(super) use stock::unknown_locations;
pub(super) use work::{RecordOutcome, RecordResult, Work};

impl Work<'_> {
    /// Writes the records; in a dry run, returns their outcomes without writing.
    ///
    /// # Errors
    /// 503: the page is repeated, and nothing is lost.
    pub(super) async fn apply(
        &self,
        records: Vec<Record>,
        seen: &mut SeenValues,
    ) -> Result<Vec<RecordOutcome>, Problem> {
        match self.import.kind {
            ImportKind::Products => products::apply(self, records, seen).await,
            ImportKind::Customers => customers::apply(self, records, seen).await,
            ImportKind::Inventory => stock::apply(self, records).await,
        }
    }
}
