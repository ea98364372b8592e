//! Sample data of events about apps.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Slug, WebUrl};
use core_types::id::AppId;
use core_types::rating::Rating;
use core_types::scope::Scopes;

use super::{AppStatus, AppView, Category, Configuration, Listing};

/// The listing of a sample app.
pub(crate) fn listing() -> Listing {
    Listing {
        tagline: "Every order in your books.".into(),
        description: "Writes every order, refund and fee to your accounts, day by day.".into(),
        category: Category::Finance,
        icon_url: Some(sample::<WebUrl>("https://books.example.com/icon.png")),
        privacy_policy_url: sample::<WebUrl>("https://books.example.com/privacy"),
        support_url: Some(sample::<WebUrl>("https://books.example.com/help")),
        pricing: "Free".into(),
    }
}

/// The configuration of a sample app.
pub(crate) fn configuration() -> Configuration {
    Configuration {
        app_url: sample::<WebUrl>("https://books.example.com"),
        redirect_uris: vec!["https://books.example.com/callback".into()],
        scopes: Scopes::normalize(["read_orders read_refunds"]).unwrap_or_default(),
        embedded: true,
        require_pkce: true,
    }
}

impl Example for AppView {
    fn example() -> Self {
        Self {
            id: AppId::derive(&["example"]),
            name: "Books".into(),
            slug: sample::<Slug>("books"),
            app_url: sample::<WebUrl>("https://books.example.com"),
            redirect_uris: vec!["https://books.example.com/callback".into()],
            scopes: vec!["read_orders".into(), "read_refunds".into()],
            embedded: true,
            webhook_url: Some("https://books.example.com/webhooks".into()),
            client_id: "cli_019b76da880070008000000000000001".into(),
            confidential: true,
            require_pkce: true,
            status: AppStatus::Published,
            proposed: None,
            suspension: None,
            listing: Some(listing()),
            approved_version: Some("1.2.0".into()),
            open_submission_id: None,
            published_at: Some(EXAMPLE_TIME),
            rating: Rating::of(9, 2),
            active_installs: 12,
            allowed_actions: vec!["update", "unpublish", "submit"],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 5,
        }
    }
}
