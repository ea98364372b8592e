//! Sample data of events about apps, their submissions, reviews and developers.

use super::{AppStatus, AppView, Category, Configuration, Listing, Rating};
use crate::app_review::{AppReviewView, Reply};
use crate::developer::{DeveloperStatus, DeveloperView};
use crate::event::{EXAMPLE_TIME, Example, sample};
use crate::fields::{Country, Email, Handle, WebUrl};
use crate::id::{AppId, DeveloperId, ReviewId, SubmissionId};
use crate::scope::Scopes;
use crate::submission::{Check, Proposal, Release, SubmissionStatus, SubmissionView, Verdict};

fn listing() -> Listing {
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

fn configuration() -> Configuration {
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
            slug: sample::<Handle>("books"),
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

impl Example for SubmissionView {
    fn example() -> Self {
        Self {
            id: SubmissionId::derive(&["example"]),
            app_id: AppId::derive(&["example"]),
            app_name: "Books".into(),
            proposal: Proposal {
                app_version: sample::<Release>("1.2.0"),
                listing: listing(),
                changelog: "Refunds are written too.".into(),
                test_instructions: "Install it on a store with a paid order.".into(),
                screencast_url: None,
            },
            configuration: configuration(),
            checks: vec![Check {
                check: "version_is_greater".into(),
                verdict: Verdict::Pass,
                detail: "The version is new.".into(),
            }],
            status: SubmissionStatus::Approved,
            notes: vec!["Welcome to the catalogue.".into()],
            decided_at: Some(EXAMPLE_TIME),
            allowed_actions: vec![],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for AppReviewView {
    fn example() -> Self {
        Self {
            id: ReviewId::derive(&["example"]),
            app_id: AppId::derive(&["example"]),
            store_name: "Blue Bottle Books".into(),
            rating: 5,
            body: "Saves us an hour a day.".into(),
            reply: Some(Reply { body: "Thank you!".into(), created_at: EXAMPLE_TIME }),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for DeveloperView {
    fn example() -> Self {
        Self {
            id: DeveloperId::derive(&["example"]),
            status: DeveloperStatus::Active,
            company: "Example Software".into(),
            contact_email: sample::<Email>("dev@example.com"),
            website: Some(sample::<WebUrl>("https://example.com")),
            country: sample::<Country>("IN"),
            verified: true,
            terms_agreed_at: EXAMPLE_TIME,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
