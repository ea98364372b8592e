//! Events about submissions.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::id::{AppId, SubmissionId};

use super::{Proposal, Release, SubmissionCheck, SubmissionStatus, SubmissionView, Verdict};
use crate::app::samples::{configuration, listing};

core_types::topics! {
    APP_SUBMITTED = "app.submitted", "submission", None, SubmissionView,
        "A developer submitted a version of an app.";
    APP_SUBMISSION_WITHDRAWN = "app.submission_withdrawn", "submission", None, SubmissionView,
        "A developer withdrew a submission.";
    APP_APPROVED = "app.approved", "submission", None, SubmissionView,
        "An operator approved a version of an app.";
    APP_REJECTED = "app.rejected", "submission", None, SubmissionView,
        "An operator rejected a version of an app.";
    APP_CHANGES_REQUESTED = "app.changes_requested", "submission", None, SubmissionView,
        "An operator requested changes to a version of an app.";
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
            checks: vec![SubmissionCheck {
                check: "version_is_greater".into(),
                verdict: Verdict::Pass,
                detail: "The version is higher than any approved one.".into(),
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
