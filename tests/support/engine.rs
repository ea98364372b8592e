//! A run on another engine than the embedded one (`SERVICE_TABLE=http://127.0.0.1:8400`): Amazon's own, or whatever
//! speaks its API; or next to the embedded one, with every call made to both (`SERVICE_SHADOW`). Each system has a
//! database of its own, by its access key.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use emulators::aws::REGION;
use emulators::{Credentials, Elsewhere, Options, Shadow, TABLE};
use services::aws;
use uuid::Uuid;

use crate::documented;

/// Access keys that rest before the oldest is used again: a call of the system before may still be on its way.
const RESTING: usize = 16;
/// Tests whose systems stay on the embedded engine, by a part of their names, and why.
const EMBEDDED: [(&str, &[&str]); 3] = [
    (
        "is about the embedded engine's file",
        &["growth::the_stream_of_the_table_does_not_grow_with_orders"],
    ),
    (
        "has more conflicts on an engine of its own than are tried again, and expects no 503 or `version_conflict`",
        &[
            "allocations::parallel_orders_never_oversell_a_location",
            "codes::a_usage_limit_holds_for_1000_parallel_orders",
            "a_notification_has_at_most_20_languages_under_parallel_requests",
        ],
    ),
    (
        "counts units of writes, or of reads that find nothing (docs/platform.md §9)",
        &[
            "cross::costs::an_idle_minute_costs_the_documented_capacity_units",
            "cross::costs::an_order_of_one_line_costs_known_capacity_units",
            "cross::costs::carts::a_cart_costs_known_capacity_units_and_trips",
            "cross::costs::deliveries::a_delivery_of_an_event_costs_four_write_units_together_with_its_batch",
            "cross::costs::deliveries::fan_out_costs_two_write_units_per_subscription",
            "cross::costs::units::the_document_says_what_each_unit_of_an_order_of_two_lines_is",
            "cross::costs::events_of_one_transaction_share_an_item_without_list_keys",
            "cross::costs::notifications_add_no_cost_to_the_request",
            "cross::costs::sign_up_and_app_authorization_cost_known_capacity_units",
            "cross::costs::themes::storefront_theme_reads_have_fixed_unit_costs",
            "cross::costs::themes::theme_operations_have_fixed_unit_costs",
            "payments::costs::a_dispute_costs_one_write_and_its_repetition_none",
            "payments::costs::a_provider_refund_costs_known_capacity_units",
            "shop::costs::a_page_of_a_shop_takes_at_most_four_round_trips_of_a_warm_process",
            "storefront::costs::each_storefront_page_has_a_fixed_read_cost",
            "storefront::facets::a_product_change_costs_the_index_the_same_in_every_store",
            "storefront::charges::shipping_tax_and_discount_cost_known_capacity_units",
        ],
    ),
];

static ENDPOINT: LazyLock<Option<String>> = LazyLock::new(|| endpoint("SERVICE_TABLE"));
static SHADOW: LazyLock<Option<String>> = LazyLock::new(|| endpoint("SERVICE_SHADOW"));
static KEYS: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

#[expect(clippy::disallowed_methods, reason = "of the tests, not of a function")]
fn endpoint(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|url| !url.is_empty())
}

/// Where the engine is; none on the embedded one.
pub fn engine_endpoint() -> Option<String> {
    ENDPOINT.clone()
}

/// The tests whose systems stay on the embedded engine whatever the run is over, by a part of their names.
pub fn embedded_tests() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Whether calls go to another engine, too.
pub(crate) fn is_used() -> bool {
    ENDPOINT.is_some() || SHADOW.is_some()
}

/// A database of the engine, until it is dropped.
pub(crate) struct Database {
    key: String,
    /// Whether other systems open it later, as after a restart over the same directory.
    is_lasting: bool,
}

impl Database {
    /// A database for a system of this test; none on the embedded engine. Systems over one directory share one.
    pub(crate) async fn open(data: Option<&Path>) -> Option<Self> {
        let endpoint = ENDPOINT.as_deref().or(SHADOW.as_deref()).filter(|_| !is_embedded())?;
        if let Some(data) = data {
            let named = Uuid::new_v5(&Uuid::NAMESPACE_OID, data.as_os_str().as_encoded_bytes());
            return Some(Self { key: named.simple().to_string(), is_lasting: true });
        }
        let rested = {
            let mut keys = keys();
            if keys.len() < RESTING { None } else { keys.pop_front() }
        };
        let database = Self {
            key: rested.clone().unwrap_or_else(|| Uuid::now_v7().simple().to_string()),
            is_lasting: false,
        };
        if rested.is_some() {
            database.empty(endpoint).await;
        }
        Some(database)
    }

    /// Puts a system over it, or it next to the system's own.
    pub(crate) fn serve(&self, options: &mut Options) {
        options.elsewhere = Elsewhere {
            dynamodb: ENDPOINT.clone(),
            credentials: Some(self.credentials()),
            ..Elsewhere::default()
        };
        options.shadow = SHADOW
            .clone()
            .zip(documented::notes("shadow"))
            .map(|(endpoint, notes)| Shadow { endpoint, notes });
    }

    fn credentials(&self) -> Credentials {
        Credentials::new(&self.key, "any", None, None, "tests")
    }

    async fn empty(&self, endpoint: &str) {
        let sdk = aws(self.credentials(), REGION);
        // A deletion that is tried again would be done twice, and the second time to the next table.
        let config = aws_sdk_dynamodb::config::Builder::from(&sdk)
            .endpoint_url(endpoint)
            .timeout_config(TimeoutConfig::disabled())
            .retry_config(RetryConfig::disabled());
        let client = aws_sdk_dynamodb::Client::from_conf(config.build());
        // A test that ended before its table was there has left none.
        let _ = client.delete_table().table_name(TABLE).send().await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.is_lasting {
            keys().push_back(std::mem::take(&mut self.key));
        }
    }
}

fn keys() -> MutexGuard<'static, VecDeque<String>> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_embedded() -> bool {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    EMBEDDED.iter().any(|(_, parts)| parts.iter().any(|part| test.contains(part)))
}
