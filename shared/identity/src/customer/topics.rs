//! Topics of customers' events.

use super::{CustomerDeleted, CustomerView};

core_types::topics! {
    CUSTOMER_CREATED = "customer.created", "customer", Some("read_customers"), CustomerView,
        "A customer account was created, by the customer, who has verified the address, or by the store.";
    CUSTOMER_UPDATED = "customer.updated", "customer", Some("read_customers"), CustomerView,
        "A customer's data changed.";
    CUSTOMER_DELETED = "customer.deleted", "customer", Some("read_customers"), CustomerDeleted,
        "A customer account was deleted, by the customer or the store: delete what you store about them.";
}
