//! Topics of customers' events.

use super::{CustomerDeleted, CustomerView};

core_types::topics! {
    CUSTOMER_CREATED = "customer.created", "customer", Some("read_customers"), CustomerView,
        "A customer made an account, and proved their address; or the store made it.";
    CUSTOMER_UPDATED = "customer.updated", "customer", Some("read_customers"), CustomerView,
        "A customer's data changed.";
    CUSTOMER_DELETED = "customer.deleted", "customer", Some("read_customers"), CustomerDeleted,
        "A customer deleted their account, or the store did: remove what you hold of them.";
}
