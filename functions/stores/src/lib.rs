//! `/v1/stores`: stores and their lifecycle, members, domains, menus, policy pages, settings, mail
//! templates, shipping zones and tax rates.

mod branding;
mod configuration;
mod domains;
mod entries;
mod invitations;
mod lifecycle;
mod mail_usage;
mod members;
mod navigation;
mod notifications;
mod policies;
mod readiness;
mod region;
mod settings;
mod shipping_zones;
mod stores;
mod tax_rates;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
        .get("/v1/stores", Cost::List, stores::list)
        .post("/v1/stores", Cost::WRITE, stores::create)
        .get("/v1/stores/{id}", Cost::READ, stores::get)
        .patch("/v1/stores/{id}", Cost::WRITE, stores::update)
        .get("/v1/stores/{id}/readiness", Cost::READ, readiness::get)
        .post("/v1/stores/{id}/activate", Cost::WRITE, lifecycle::activate)
        .post("/v1/stores/{id}/pause", Cost::WRITE, lifecycle::pause)
        .post("/v1/stores/{id}/close", Cost::WRITE, lifecycle::close)
        .post("/v1/stores/{id}/reopen", Cost::WRITE, lifecycle::reopen)
        .delete("/v1/stores/{id}", Cost::WRITE, lifecycle::delete)
        .get("/v1/stores/{id}/members", Cost::List, members::list)
        .post("/v1/stores/{id}/members", Cost::CODE, invitations::create)
        .get("/v1/stores/{id}/members/{member_id}", Cost::READ, members::get)
        .patch("/v1/stores/{id}/members/{member_id}", Cost::WRITE, members::update)
        .delete("/v1/stores/{id}/members/{member_id}", Cost::WRITE, members::delete)
        .post("/v1/stores/invitations/accept", Cost::CODE, invitations::accept)
        .get("/v1/stores/{id}/domains", Cost::List, domains::list)
        .post("/v1/stores/{id}/domains", Cost::WRITE, domains::create)
        .get("/v1/stores/{id}/domains/{host}", Cost::READ, domains::get)
        .patch("/v1/stores/{id}/domains/{host}", Cost::WRITE, domains::update)
        .delete("/v1/stores/{id}/domains/{host}", Cost::WRITE, domains::delete)
        .post("/v1/stores/{id}/domains/{host}/verify", Cost::CODE, domains::verify)
        .get("/v1/stores/{id}/mail-usage", Cost::READ, mail_usage::get)
        .get("/v1/stores/{id}/navigation/{handle}", Cost::READ, navigation::get)
        .put("/v1/stores/{id}/navigation/{handle}", Cost::WRITE, navigation::put)
        .delete("/v1/stores/{id}/navigation/{handle}", Cost::WRITE, navigation::delete)
        .get("/v1/stores/{id}/notifications", Cost::List, notifications::list)
        .get("/v1/stores/{id}/notifications/{kind}/{locale}", Cost::READ, notifications::get)
        .put("/v1/stores/{id}/notifications/{kind}/{locale}", Cost::WRITE, notifications::put)
        .delete("/v1/stores/{id}/notifications/{kind}/{locale}", Cost::WRITE, notifications::delete)
        .post("/v1/stores/{id}/notifications/{kind}/preview", Cost::READ, notifications::preview)
        .get("/v1/stores/{id}/policies/{handle}", Cost::READ, policies::get)
        .put("/v1/stores/{id}/policies/{handle}", Cost::WRITE, policies::put)
        .get("/v1/stores/{id}/shipping-zones", Cost::List, shipping_zones::list)
        .post("/v1/stores/{id}/shipping-zones", Cost::WRITE, shipping_zones::create)
        .get("/v1/stores/{id}/shipping-zones/{zone_id}", Cost::READ, shipping_zones::get)
        .patch("/v1/stores/{id}/shipping-zones/{zone_id}", Cost::WRITE, shipping_zones::update)
        .delete("/v1/stores/{id}/shipping-zones/{zone_id}", Cost::WRITE, shipping_zones::delete)
        .get("/v1/stores/{id}/tax-rates", Cost::List, tax_rates::list)
        .post("/v1/stores/{id}/tax-rates", Cost::WRITE, tax_rates::create)
        .get("/v1/stores/{id}/tax-rates/{rate_id}", Cost::READ, tax_rates::get)
        .patch("/v1/stores/{id}/tax-rates/{rate_id}", Cost::WRITE, tax_rates::update)
        .delete("/v1/stores/{id}/tax-rates/{rate_id}", Cost::WRITE, tax_rates::delete)
        .get("/v1/stores/{id}/settings", Cost::READ, settings::get)
        .patch("/v1/stores/{id}/settings", Cost::WRITE, settings::update)
}
