//! `/v1/storefront`: the public storefront.

mod addresses;
mod carts;
mod catalog;
mod checkout;
mod customer;
mod customer_data;
mod customer_email;
mod customer_otp;
mod customer_password;
mod forms;
mod gift_cards;
mod lookup;
mod media;
mod order_token;
mod pages;
mod payment;
mod reviews;
mod shipping_rates;
mod store_in_body;
mod theme;
mod viewer;
mod wishlist;

pub use catalog::{FilteredProducts, Selection, filtered_products, products_by_id};
use gateway::budget::Cost;
use gateway::routes::Routes;
pub use payment::ask_provider;
pub use shipping_rates::pickup_place;

/// Path prefixes of the routes that sign in a customer or send a mail to a given address.
const SIGN_IN: &[&str] = &[
    "/v1/storefront/customer/login",
    "/v1/storefront/customer/register",
    "/v1/storefront/customer/password",
];

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    let routes = Routes::default()
        .open_to_any_origin(callers::cross_origin::is_open)
        .rate_limit_fails_closed(SIGN_IN)
        .get("/v1/storefront/lookup", Cost::READ, lookup::get)
        .get_cached("/v1/storefront/{subdomain}", Cost::READ, pages::get_store)
        .get_cached("/v1/storefront/{subdomain}/products", Cost::List, catalog::list)
        .get_cached("/v1/storefront/{subdomain}/products/{handle}", Cost::READ, catalog::get)
        .get_cached(
            "/v1/storefront/{subdomain}/product-filters",
            Cost::SEARCH,
            catalog::get_filters,
        )
        .get_cached("/v1/storefront/{subdomain}/categories", Cost::List, catalog::list_categories)
        .get_cached(
            "/v1/storefront/{subdomain}/categories/{handle}",
            Cost::READ,
            catalog::get_category,
        )
        .get_cached("/v1/storefront/{subdomain}/collections", Cost::List, catalog::list_collections)
        .get_cached(
            "/v1/storefront/{subdomain}/collections/{handle}",
            Cost::READ,
            catalog::get_collection,
        )
        .get_cached("/v1/storefront/{subdomain}/navigation", Cost::List, pages::list_menus)
        .get_cached("/v1/storefront/{subdomain}/navigation/{handle}", Cost::READ, pages::get_menu)
        .get_cached("/v1/storefront/{subdomain}/policies", Cost::List, pages::list_policies)
        .get_cached("/v1/storefront/{subdomain}/policies/{handle}", Cost::READ, pages::get_policy)
        .get_cached("/v1/storefront/{subdomain}/theme", Cost::READ, theme::get)
        .get("/v1/storefront/{subdomain}/theme/files/{sha256}", Cost::READ, theme::get_file)
        .post("/v1/storefront/{subdomain}/shipping-rates", Cost::WRITE, shipping_rates::list)
        .post_atomic("/v1/storefront/{subdomain}/carts", Cost::CHECKOUT, carts::create)
        .get("/v1/storefront/{subdomain}/carts/{id}", Cost::SEARCH, carts::get)
        .patch("/v1/storefront/{subdomain}/carts/{id}", Cost::WRITE, carts::update)
        .delete("/v1/storefront/{subdomain}/carts/{id}", Cost::WRITE, carts::delete)
        .post_atomic("/v1/storefront/{subdomain}/carts/{id}/lines", Cost::WRITE, carts::lines::add)
        .patch(
            "/v1/storefront/{subdomain}/carts/{id}/lines/{line_id}",
            Cost::WRITE,
            carts::lines::update,
        )
        .delete(
            "/v1/storefront/{subdomain}/carts/{id}/lines/{line_id}",
            Cost::WRITE,
            carts::lines::remove,
        )
        .post_atomic("/v1/storefront/{subdomain}/carts/{id}/merge", Cost::WRITE, carts::own::merge)
        .post_atomic(
            "/v1/storefront/{subdomain}/carts/{id}/checkout",
            Cost::CHECKOUT,
            carts::checkout::convert,
        )
        .post_atomic("/v1/storefront/{subdomain}/orders", Cost::CHECKOUT, checkout::create_order)
        .get("/v1/storefront/{subdomain}/orders/{id}", Cost::READ, checkout::get_order)
        .post("/v1/storefront/{subdomain}/orders/{id}/cancel", Cost::WRITE, checkout::cancel_order)
        .post(
            "/v1/storefront/{subdomain}/payments/{provider}/order",
            Cost::CHECKOUT,
            payment::create,
        )
        .post("/v1/storefront/{subdomain}/payments/{provider}/verify", Cost::WRITE, payment::verify)
        .post(
            "/v1/storefront/{subdomain}/payments/{provider}/webhook",
            Cost::READ,
            payment::receive,
        )
        .get("/v1/storefront/{subdomain}/payments/methods", Cost::READ, payment::list_methods);
    of_customers(routes)
}

/// The routes of a customer, and what customers and guests send.
fn of_customers(routes: Routes) -> Routes {
    routes
        .post("/v1/storefront/customer/login", Cost::WRITE, customer::login)
        .post("/v1/storefront/customer/register", Cost::CODE, customer_otp::register)
        .post("/v1/storefront/customer/login/otp", Cost::CODE, customer_otp::request)
        .post("/v1/storefront/customer/login/otp/verify", Cost::WRITE, customer_otp::verify)
        .post("/v1/storefront/customer/logout", Cost::WRITE, customer::logout)
        .post("/v1/storefront/customer/password/reset", Cost::CODE, customer_password::reset)
        .post("/v1/storefront/customer/password/update", Cost::WRITE, customer_password::update)
        .get("/v1/storefront/customer/me", Cost::READ, customer::get)
        .patch("/v1/storefront/customer/me", Cost::WRITE, customer::update)
        .delete("/v1/storefront/customer/me", Cost::WRITE, customer::delete)
        .post("/v1/storefront/customer/me/data-request", Cost::WRITE, customer_data::create)
        .get("/v1/storefront/customer/orders", Cost::List, customer::list_orders)
        .get("/v1/storefront/customer/orders/{id}", Cost::READ, customer::get_order)
        .get("/v1/storefront/customer/cart", Cost::SEARCH, carts::own::get)
        .get("/v1/storefront/customer/addresses", Cost::List, addresses::list)
        .post("/v1/storefront/customer/addresses", Cost::WRITE, addresses::create)
        .patch("/v1/storefront/customer/addresses", Cost::WRITE, addresses::update_named)
        .delete("/v1/storefront/customer/addresses", Cost::WRITE, addresses::delete_named)
        .get("/v1/storefront/customer/addresses/{id}", Cost::READ, addresses::get)
        .patch("/v1/storefront/customer/addresses/{id}", Cost::WRITE, addresses::update)
        .delete("/v1/storefront/customer/addresses/{id}", Cost::WRITE, addresses::delete)
        .get("/v1/storefront/customer/wishlist", Cost::List, wishlist::list)
        .post("/v1/storefront/customer/wishlist", Cost::WRITE, wishlist::create)
        .delete("/v1/storefront/customer/wishlist", Cost::WRITE, wishlist::delete)
        .get("/v1/storefront/customer/wishlist/{product_id}", Cost::READ, wishlist::get)
        .delete(
            "/v1/storefront/customer/wishlist/{product_id}",
            Cost::WRITE,
            wishlist::remove_product,
        )
        .get("/v1/storefront/{subdomain}/products/{handle}/reviews", Cost::List, reviews::list)
        .post("/v1/storefront/{subdomain}/products/{handle}/reviews", Cost::WRITE, reviews::create)
        .existence_check(
            "/v1/storefront/{subdomain}/products/{handle}/reviews",
            reviews::ensure_exists,
        )
        .post("/v1/storefront/{subdomain}/forms/{form}", Cost::WRITE, forms::submit)
        .get("/v1/storefront/{subdomain}/media/{id}", Cost::READ, media::get)
        .post("/v1/storefront/{subdomain}/gift-cards/balance", Cost::WRITE, gift_cards::get_balance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_routes_fail_closed() {
        let closed = |path: &str| {
            let routes = routes();
            let mut rows = routes.rows().iter().filter(|row| row.path.starts_with(path)).peekable();
            assert!(rows.peek().is_some(), "{path}");
            let closed: Vec<bool> = rows.map(|row| row.fails_closed).collect();
            closed
        };
        for below in SIGN_IN {
            assert!(closed(below).into_iter().all(|closed| closed), "{below}");
        }
        for open in ["/v1/storefront/customer/orders", "/v1/storefront/{subdomain}"] {
            assert!(closed(open).into_iter().all(|closed| !closed), "{open}");
        }
    }
}
