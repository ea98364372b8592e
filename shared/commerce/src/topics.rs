//! The catalogue of events: all topics that nouns declare, with their entity, scope and data.

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
use core_types::event::{EventSchema, TopicDeclaration};
use delivery::replay;
use delivery::subscription;
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
use sales::cart;
use sales::discount;
use sales::dispute;
use sales::gift_card;
use sales::notifications;
use sales::order;
use sales::payment;
use sales::shipping;
use sales::tax;
use themes::installed;
use themes::published;
use themes::theme_license;
use themes::upload;
use transfers::export;
use transfers::import;

/// Collects the topics of the nouns, in document order.
macro_rules! declared {
    ($($($noun:ident)::+),* $(,)?) => {
        const TOPICS: &[&[TopicDeclaration]] = &[$($($noun)::+::TOPICS),*];
        const EVENT_SCHEMAS: &[&[EventSchema]] = &[$($($noun)::+::EVENT_SCHEMAS),*];
    };
}

declared! {
    store,
    settings,
    member,
    domain,
    navigation,
    policy,
    product,
    collection,
    category,
    cart,
    order,
    order::fulfillment,
    order::refund,
    payment,
    dispute,
    location,
    inventory,
    gift_card,
    notifications,
    discount,
    shipping,
    tax,
    customer,
    merge,
    redaction,
    review,
    form,
    media,
    installed,
    published,
    theme_license,
    upload,
    installation,
    app,
    submission,
    app::publication,
    app_review,
    developer,
    merchant,
    subscription,
    incident,
    replay,
    import,
    export,
}

/// All topics, in document order.
pub fn catalogue() -> Vec<TopicDeclaration> {
    TOPICS.concat()
}

/// The topic with this name.
pub fn find(name: &str) -> Option<TopicDeclaration> {
    TOPICS.iter().copied().flatten().find(|topic| topic.name == name).copied()
}

/// The schemas of the events of all topics, in the same order.
pub fn event_schemas() -> Vec<EventSchema> {
    EVENT_SCHEMAS.concat()
}

/// The scope that an app needs to read events with this name; none if no scope allows it.
pub fn scope_of(name: &str) -> Option<&'static str> {
    find(name).and_then(|topic| topic.scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_have_unique_names_of_noun_and_verb() {
        let mut names: Vec<_> = catalogue().iter().map(|topic| topic.name).collect();
        assert!(names.iter().all(|name| name.split('.').count() == 2));
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
