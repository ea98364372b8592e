//! Products and commerce administration: the store data that merchants and their apps manage, apart from
//! settings, orders and payments.
//!
//! One family under several prefixes (docs/decisions.md §15.2): `/v1/products` with variants,
//! collections, categories and gift cards, `/v1/inventory` with locations, `/v1/customers`, `/v1/discounts`,
//! `/v1/media`, `/v1/reviews`, `/v1/form-submissions`, `/v1/imports` and `/v1/exports`.

mod categories;
mod collections;
mod customer_merges;
mod customer_privacy;
mod customers;
mod discounts;
mod exports;
mod forms;
mod gift_cards;
mod guests;
mod imports;
mod inventory;
mod locations;
mod media;
mod products;
mod reviews;
mod variants;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    catalogue_routes()
        .merge(customer_routes())
        .merge(inventory_routes())
        .merge(discount_routes())
        .merge(file_routes())
}

/// `/v1/products`.
fn catalogue_routes() -> Routes {
    Routes::default()
        .get("/v1/products", Cost::List, products::list)
        .post("/v1/products", Cost::WRITE, products::create)
        .post("/v1/products/bulk", Cost::BULK, products::bulk)
        .get("/v1/products/{id}", Cost::READ, products::get)
        .patch("/v1/products/{id}", Cost::WRITE, products::update)
        .delete("/v1/products/{id}", Cost::WRITE, products::delete)
        .get("/v1/products/{id}/variants", Cost::List, variants::list)
        .post("/v1/products/{id}/variants", Cost::WRITE, variants::create)
        .patch("/v1/products/{id}/variants/{vid}", Cost::WRITE, variants::update)
        .delete("/v1/products/{id}/variants/{vid}", Cost::WRITE, variants::delete)
        .get("/v1/products/collections", Cost::List, collections::list)
        .post("/v1/products/collections", Cost::WRITE, collections::create)
        .get("/v1/products/collections/{id}", Cost::READ, collections::get)
        .patch("/v1/products/collections/{id}", Cost::WRITE, collections::update)
        .delete("/v1/products/collections/{id}", Cost::WRITE, collections::delete)
        .get("/v1/products/collections/{id}/products", Cost::List, collections::list_products)
        .post("/v1/products/collections/{id}/products", Cost::WRITE, collections::update_products)
        .delete("/v1/products/collections/{id}/products", Cost::WRITE, collections::remove_products)
        .get("/v1/products/categories", Cost::List, categories::list)
        .post("/v1/products/categories", Cost::WRITE, categories::create)
        .get("/v1/products/categories/{id}", Cost::READ, categories::get)
        .patch("/v1/products/categories/{id}", Cost::WRITE, categories::update)
        .delete("/v1/products/categories/{id}", Cost::WRITE, categories::delete)
        .get("/v1/products/gift-cards", Cost::List, gift_cards::list)
        .post("/v1/products/gift-cards", Cost::WRITE, gift_cards::create)
        .get("/v1/products/gift-cards/{id}", Cost::READ, gift_cards::get)
        .patch("/v1/products/gift-cards/{id}", Cost::WRITE, gift_cards::update)
        .post("/v1/products/gift-cards/{id}/disable", Cost::WRITE, gift_cards::disable)
        .post("/v1/products/gift-cards/{id}/enable", Cost::WRITE, gift_cards::enable)
        .post("/v1/products/gift-cards/{id}/credit", Cost::WRITE, gift_cards::credit)
        .post("/v1/products/gift-cards/{id}/debit", Cost::WRITE, gift_cards::debit)
        .get("/v1/products/gift-cards/{id}/transactions", Cost::List, gift_cards::list_transactions)
}

/// `/v1/customers`.
fn customer_routes() -> Routes {
    Routes::default()
        .get("/v1/customers", Cost::List, customers::list)
        .post("/v1/customers", Cost::WRITE, customers::create)
        .get("/v1/customers/guests", Cost::List, guests::list)
        .post("/v1/customers/guests/data-request", Cost::WRITE, guests::data_request)
        .post("/v1/customers/guests/redact", Cost::WRITE, guests::redact)
        .get("/v1/customers/guests/redactions/{id}", Cost::READ, guests::get_redaction)
        .delete("/v1/customers/guests/redactions/{id}", Cost::WRITE, guests::cancel_redaction)
        .get("/v1/customers/{id}", Cost::READ, customers::get)
        .patch("/v1/customers/{id}", Cost::WRITE, customers::update)
        .delete("/v1/customers/{id}", Cost::WRITE, customers::delete)
        .get("/v1/customers/{id}/addresses", Cost::List, customers::list_addresses)
        .get("/v1/customers/{id}/orders", Cost::List, customers::list_orders)
        .get("/v1/customers/{id}/merges", Cost::List, customer_merges::list)
        .post("/v1/customers/{id}/merges", Cost::WRITE, customer_merges::create)
        .post("/v1/customers/{id}/data-request", Cost::WRITE, customer_privacy::data_request)
        .post("/v1/customers/{id}/redact", Cost::WRITE, customer_privacy::redact)
        .get("/v1/customers/{id}/redaction", Cost::READ, customer_privacy::get_redaction)
        .delete("/v1/customers/{id}/redaction", Cost::WRITE, customer_privacy::cancel_redaction)
}

/// `/v1/inventory`.
fn inventory_routes() -> Routes {
    Routes::default()
        .get("/v1/inventory/locations", Cost::List, locations::list)
        .post("/v1/inventory/locations", Cost::WRITE, locations::create)
        .get("/v1/inventory/locations/{id}", Cost::READ, locations::get)
        .patch("/v1/inventory/locations/{id}", Cost::WRITE, locations::update)
        .post("/v1/inventory/locations/{id}/deactivate", Cost::WRITE, locations::deactivate)
        .post("/v1/inventory/locations/{id}/activate", Cost::WRITE, locations::activate)
        .get("/v1/inventory/levels", Cost::List, inventory::list)
        .post("/v1/inventory/levels/adjust", Cost::WRITE, inventory::adjust_levels)
        .post("/v1/inventory/levels/set", Cost::WRITE, inventory::set_levels)
        .post("/v1/inventory/levels/move", Cost::WRITE, inventory::move_levels)
        .get("/v1/inventory/levels/{item}/{location}/ledger", Cost::List, inventory::list_movements)
        .get("/v1/inventory/levels/{item}/{location}/verify", Cost::BULK, inventory::verify_ledger)
}

/// `/v1/discounts`, `/v1/form-submissions`, `/v1/media` and `/v1/reviews`.
fn discount_routes() -> Routes {
    Routes::default()
        .get("/v1/discounts", Cost::List, discounts::list)
        .post("/v1/discounts", Cost::WRITE, discounts::create)
        .get("/v1/discounts/{id}", Cost::READ, discounts::get)
        .patch("/v1/discounts/{id}", Cost::WRITE, discounts::update)
        .delete("/v1/discounts/{id}", Cost::WRITE, discounts::delete)
        .post("/v1/discounts/{id}/enable", Cost::WRITE, discounts::enable)
        .post("/v1/discounts/{id}/disable", Cost::WRITE, discounts::disable)
        .get("/v1/form-submissions", Cost::List, forms::list)
        .get("/v1/form-submissions/{id}", Cost::READ, forms::get)
        .patch("/v1/form-submissions/{id}", Cost::WRITE, forms::update)
        .delete("/v1/form-submissions/{id}", Cost::WRITE, forms::delete)
        .get("/v1/media", Cost::List, media::list)
        .post_large("/v1/media", Cost::FILE, media::create)
        .get("/v1/media/{id}", Cost::READ, media::get)
        .patch("/v1/media/{id}", Cost::WRITE, media::update)
        .delete("/v1/media/{id}", Cost::WRITE, media::delete)
        .get("/v1/reviews", Cost::List, reviews::list)
        .get("/v1/reviews/{id}", Cost::READ, reviews::get)
        .post("/v1/reviews/{id}/approve", Cost::WRITE, reviews::approve)
        .post("/v1/reviews/{id}/reject", Cost::WRITE, reviews::reject)
        .post("/v1/reviews/{id}/reply", Cost::WRITE, reviews::reply)
}

/// `/v1/imports` and `/v1/exports`.
fn file_routes() -> Routes {
    Routes::default()
        .get("/v1/imports", Cost::List, imports::list)
        .post("/v1/imports", Cost::WRITE, imports::create)
        .get("/v1/imports/{id}", Cost::READ, imports::get)
        .get("/v1/imports/{id}/findings", Cost::List, imports::list_findings)
        .put_large("/v1/imports/{id}/parts/{part}", Cost::FILE, imports::put_part)
        .post("/v1/imports/{id}/start", Cost::WRITE, imports::start)
        .post("/v1/imports/{id}/cancel", Cost::WRITE, imports::cancel)
        .get("/v1/exports", Cost::List, exports::list)
        .post("/v1/exports", Cost::WRITE, exports::create)
        .get("/v1/exports/{id}", Cost::READ, exports::get)
        .post("/v1/exports/{id}/cancel", Cost::WRITE, exports::cancel)
        .get("/v1/exports/{id}/parts/{part}", Cost::READ, exports::get_part)
}
