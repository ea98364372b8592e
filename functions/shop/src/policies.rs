//! The store's policies, to which the platform's own pages link.

use std::sync::Arc;

use identity::storefront::CACHE_TIME;
use maud::{Markup, html};
use serde_json::Value;
use services::Services;

use crate::paths::segment;
use crate::values::{items, text};
use crate::visit::Visit;
use crate::words::Words;

/// The policies by whose terms an order is placed.
const OF_ORDERS: [&str; 2] = ["terms", "refund"];

/// The published policies of a store, with titles in its language.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policies(Vec<Value>);

impl Policies {
    /// Loads the policies, up to [`CACHE_TIME`] old, as the store is. A page goes on without them.
    pub(crate) async fn load(visit: &Visit) -> Arc<Self> {
        let (services, now): (&Services, _) = (&visit.shops.app, visit.shops.app.clock.now());
        let store = visit.store().id.as_str();
        if let Some(known) = services.cache.get(store, now) {
            return known;
        }
        let Ok(page) = visit.get("/policies").await else { return Arc::default() };
        let titled = items(&page).into_iter().map(|policy| visit.words().with_title(policy));
        let loaded = Arc::new(Self(titled.collect()));
        services.cache.insert(store, Arc::clone(&loaded), now, CACHE_TIME);
        loaded
    }

    /// The links at the foot of a page.
    pub(crate) fn at_foot(&self, words: &Words) -> Markup {
        html! {
            @if !self.0.is_empty() {
                nav.policies aria-label=(words.policies) { @for policy in &self.0 { (link(policy)) " " } }
            }
        }
    }

    /// What is said before an order is placed: by which terms.
    pub(crate) fn of_order(&self, words: &Words) -> Markup {
        let mut named = self.0.iter().filter(|it| OF_ORDERS.contains(&text(it, "handle")));
        let first = named.next();
        html! {
            @if let Some(first) = first {
                p.faint {
                    (words.terms_of_order) " " (link(first))
                    @for policy in named { " · " (link(policy)) }
                }
            }
        }
    }
}

/// A link that leaves the form open.
fn link(policy: &Value) -> Markup {
    let to = format!("/policies/{}", segment(text(policy, "handle")));
    html! { a href=(to) target="_blank" rel="noopener" { (text(policy, "title")) } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn policies_are_linked_and_those_of_an_order_named() {
        let policy = |handle: &str, title: &str| json!({"handle": handle, "title": title});
        let all =
            [policy("privacy", "Privacy"), policy("terms", "Terms"), policy("refund", "Refunds")];
        let policies = Policies(all.to_vec());
        let words = Words::english();
        let foot = policies.at_foot(words).into_string();
        assert_eq!(foot.matches("target=\"_blank\" rel=\"noopener\"").count(), 3, "{foot}");
        assert!(foot.contains("href=\"/policies/privacy\""), "{foot}");
        let order = policies.of_order(words).into_string();
        assert!(order.contains(">Terms</a> · <a") && !order.contains("Privacy"), "{order}");
        let none = Policies::default();
        assert_eq!(none.at_foot(words).into_string() + &none.of_order(words).into_string(), "");
    }
}
