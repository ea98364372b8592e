//! The catalogue of events: every topic that a noun declares, with its entity, its scope and its
//! data.

use catalogue::category;
use catalogue::collection;
use catalogue::form;
use catalogue::inventory;
use catalogue::location;
use catalogue::media;
use catalogue::navigation;
use catalogue::policy;
use catalogue::product;
use catalogue::review;
use delivery::replay;
use delivery::subscription;
use ground::event::Entry;
use identity::customer;
use identity::domain;
use identity::member;
use identity::merchant;
use identity::settings;
use identity::store;
use platform::app;
use platform::app_review;
use platform::developer;
use platform::installation;
use platform::submission;
use privacy::{merge, redaction};
use reliability::incident;
use sales::discount;
use sales::dispute;
use sales::gift_card;
use sales::notifications;
use sales::order;
use sales::payment;
use sales::shipping;
use sales::tax;
use themes::installed;
use themes::licensed;
use themes::published;
use themes::upload;
use transfers::export;
use transfers::import;

/// What each noun declares, in document order.
const DECLARED: &[&[Entry]] = &[
    store::TOPICS,
    settings::TOPICS,
    member::TOPICS,
    domain::TOPICS,
    navigation::TOPICS,
    policy::TOPICS,
    product::TOPICS,
    collection::TOPICS,
    category::TOPICS,
    order::TOPICS,
    order::fulfillment::TOPICS,
    order::refund::TOPICS,
    payment::TOPICS,
    dispute::TOPICS,
    location::TOPICS,
    inventory::TOPICS,
    gift_card::TOPICS,
    notifications::TOPICS,
    discount::TOPICS,
    shipping::TOPICS,
    tax::TOPICS,
    customer::TOPICS,
    merge::TOPICS,
    redaction::TOPICS,
    review::TOPICS,
    form::TOPICS,
    media::TOPICS,
    installed::TOPICS,
    published::TOPICS,
    licensed::TOPICS,
    upload::TOPICS,
    installation::TOPICS,
    app::TOPICS,
    submission::TOPICS,
    app::publication::TOPICS,
    app_review::TOPICS,
    developer::TOPICS,
    merchant::TOPICS,
    subscription::TOPICS,
    incident::TOPICS,
    replay::TOPICS,
    import::TOPICS,
    export::TOPICS,
];

/// Every topic, in document order.
pub fn catalogue() -> Vec<Entry> {
    DECLARED.concat()
}

/// The topic of this name.
pub fn find(name: &str) -> Option<Entry> {
    DECLARED.iter().copied().flatten().find(|entry| entry.name == name).cloned()
}

/// What an app needs to read events of this name; none when no scope reads them.
pub fn scope_of(name: &str) -> Option<&'static str> {
    find(name).and_then(|entry| entry.scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_named_once_and_by_noun_and_verb() {
        let mut names: Vec<_> = catalogue().iter().map(|entry| entry.name).collect();
        assert!(names.iter().all(|name| name.split('.').count() == 2));
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
