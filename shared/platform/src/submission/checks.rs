//! The automatic checks of a submission, before an operator reviews it.

use egress::DestinationRejection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Proposal;
use crate::app::{AppClient, AppHosts, CommerceApp, is_public_https};

primitives::string_enum! {
    /// The verdict of a check.
    #[schemars(rename = "CheckVerdict")]
    Verdict {
        /// The check passed.
        Pass = "pass",
        /// The check found something that an operator will inspect.
        Warn = "warn",
        /// The check failed, and the version cannot be submitted.
        Fail = "fail",
    }
}

/// The result of an automatic check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubmissionCheck {
    /// The name of the check, like `version_is_greater`.
    pub check: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, in one sentence.
    pub detail: String,
}

/// The least characters of an informative description (our choice).
pub const MIN_DESCRIPTION: usize = 50;

/// Facts about an app's URLs that the checks need.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings {
    /// The egress policy's rejection of its `webhook_url`, if it rejects it.
    pub webhook: Option<DestinationRejection>,
    /// Whether its `app_url` leads to this service itself.
    pub is_ours: bool,
    /// The hosts that a published app may run at.
    pub hosts: AppHosts,
}

/// Runs all checks of a proposed version, with the configuration that the developer proposes.
pub fn run_checks(
    app: &CommerceApp,
    client: Option<&AppClient>,
    around: Surroundings,
    proposal: &Proposal,
) -> Vec<SubmissionCheck> {
    let before = app.configuration();
    let wanted = app.wanted();
    let changes = app.approved_version.as_ref().map(|_| wanted.differences(&before));
    let app = &app.clone().configured(wanted);
    vec![
        version(app, proposal),
        description(proposal),
        listing_links(proposal),
        privacy_policy(proposal),
        redirect_uris(app, around.hosts),
        app_url(app, around.hosts),
        own_host(around.is_ours),
        changed(changes.as_deref()),
        client_secret(app, client),
        scopes(app),
        write_scopes(app, proposal),
        webhook_url(app, around.webhook),
    ]
}

fn check(name: &str, verdict: Verdict, detail: impl Into<String>) -> SubmissionCheck {
    SubmissionCheck { check: name.to_owned(), verdict, detail: detail.into() }
}

/// A check with `verdict` and the text `why` if something is wrong, otherwise `pass` with the text
/// `well`.
fn checked(name: &str, wrong: bool, verdict: Verdict, why: &str, well: &str) -> SubmissionCheck {
    if wrong { check(name, verdict, why) } else { check(name, Verdict::Pass, well) }
}

fn version(app: &CommerceApp, proposal: &Proposal) -> SubmissionCheck {
    match &app.approved_version {
        Some(approved) if !proposal.app_version.is_after(approved) => check(
            "version_is_greater",
            Verdict::Fail,
            format!("The version must be higher than {approved}, the approved one."),
        ),
        _ => check(
            "version_is_greater",
            Verdict::Pass,
            "The version is higher than any approved one.",
        ),
    }
}

fn description(proposal: &Proposal) -> SubmissionCheck {
    checked(
        "listing_is_complete",
        proposal.listing.description.chars().count() < MIN_DESCRIPTION,
        Verdict::Fail,
        "The description needs at least 50 characters to tell merchants what the app does.",
        "Tagline, description, category and pricing are complete.",
    )
}

fn listing_links(proposal: &Proposal) -> SubmissionCheck {
    let missing: Vec<&str> = [
        ("an icon", proposal.listing.icon_url.is_none()),
        ("a support URL", proposal.listing.support_url.is_none()),
        ("a screencast", proposal.screencast_url.is_none()),
    ]
    .into_iter()
    .filter_map(|(name, missing)| missing.then_some(name))
    .collect();
    let why = format!("The listing lacks {}.", missing.join(" and "));
    let well = "Icon, support URL and screencast are present.";
    checked("listing_has_links", !missing.is_empty(), Verdict::Warn, &why, well)
}

fn privacy_policy(proposal: &Proposal) -> SubmissionCheck {
    checked(
        "privacy_policy_is_public",
        !is_public_https(proposal.listing.privacy_policy_url.as_str()),
        Verdict::Fail,
        "The privacy policy must be on https and not on a loopback address.",
        "The privacy policy is on https.",
    )
}

fn redirect_uris(app: &CommerceApp, hosts: AppHosts) -> SubmissionCheck {
    let wrong =
        app.redirect_uris.is_empty() || app.redirect_uris.iter().any(|uri| !hosts.allow(uri));
    checked(
        "redirect_uris_are_public",
        wrong,
        Verdict::Fail,
        "Every redirect URI of a published app must be on https and not on a loopback address.",
        "Every redirect URI is on https.",
    )
}

fn app_url(app: &CommerceApp, hosts: AppHosts) -> SubmissionCheck {
    if !hosts.allow(app.app_url.as_str()) {
        let why = "The app URL must be on https and not on a loopback address.";
        return check("app_url_is_public", Verdict::Fail, why);
    }
    let origin = app.origin();
    let same = app.redirect_uris.iter().any(|uri| origin_of(uri) == origin);
    let why = "No redirect URI has the origin of the app URL, which may confuse merchants.";
    checked("app_url_is_public", !same, Verdict::Warn, why, "The app URL is on https.")
}

fn own_host(is_ours: bool) -> SubmissionCheck {
    checked(
        "app_url_is_its_own",
        is_ours,
        Verdict::Fail,
        "The app URL must not point to this service.",
        "The app URL does not point to this service.",
    )
}

/// The changes of the configuration since the last approval, for the operator to review.
fn changed(changes: Option<&[&str]>) -> SubmissionCheck {
    let name = "configuration_is_as_approved";
    match changes {
        None => check(name, Verdict::Pass, "No version has been approved yet."),
        Some([]) => check(name, Verdict::Pass, "The app is unchanged since its approval."),
        Some(names) => {
            let what = names.join(", ");
            check(
                name,
                Verdict::Warn,
                format!("The configuration differs from the approved version: {what}."),
            )
        }
    }
}

fn client_secret(app: &CommerceApp, client: Option<&AppClient>) -> SubmissionCheck {
    let ready = client.is_some_and(|client| {
        client.confidential == app.confidential && client.secrets.is_empty() != app.confidential
    });
    checked(
        "client_can_authenticate",
        !ready || !(app.confidential || app.require_pkce),
        Verdict::Fail,
        "A confidential app must have a client secret, a public one must require PKCE.",
        "The client can authenticate.",
    )
}

fn scopes(app: &CommerceApp) -> SubmissionCheck {
    if app.scopes.is_empty() {
        let detail = "The app requests no scopes: it is active as soon as it is installed.";
        return check("scopes_are_registered", Verdict::Pass, detail);
    }
    check("scopes_are_registered", Verdict::Pass, format!("The app requests {}.", app.scopes))
}

fn write_scopes(app: &CommerceApp, proposal: &Proposal) -> SubmissionCheck {
    let unexplained: Vec<&str> = app
        .scopes
        .iter()
        .filter(|scope| scope.starts_with("write_"))
        .filter(|scope| !proposal.test_instructions.contains(scope))
        .collect();
    let why = format!("The test instructions do not say what {} is for.", unexplained.join(", "));
    let well = "The test instructions explain every write scope.";
    checked("write_scopes_are_explained", !unexplained.is_empty(), Verdict::Warn, &why, well)
}

fn webhook_url(app: &CommerceApp, rejection: Option<DestinationRejection>) -> SubmissionCheck {
    match (&app.webhook_url, rejection) {
        (None, _) => check("webhook_url_is_allowed", Verdict::Pass, "The app has no webhook URL."),
        (Some(_), None) => {
            check("webhook_url_is_allowed", Verdict::Pass, "The webhook URL is allowed.")
        }
        (Some(_), Some(rejection)) => {
            check("webhook_url_is_allowed", Verdict::Fail, rejection.to_string())
        }
    }
}

fn origin_of(uri: &str) -> Option<String> {
    Some(url::Url::parse(uri).ok()?.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{ClientSecret, Configuration, draft};
    use crate::submission::SubmissionView;
    use core_types::event::Example;
    use primitives::fields::FromText;

    fn client(app: &CommerceApp) -> AppClient {
        let secret = ClientSecret { digest: "d".into(), expires_at: None };
        AppClient {
            client_id: app.client_id.clone(),
            app_id: app.id.clone(),
            confidential: true,
            secrets: vec![secret],
            version: 1,
        }
    }

    fn named(verdict: Verdict, checks: &[SubmissionCheck]) -> Vec<&str> {
        let with = checks.iter().filter(|check| check.verdict == verdict);
        with.map(|check| check.check.as_str()).collect()
    }

    #[test]
    fn a_valid_proposal_passes_with_warnings_about_missing_parts() {
        let (app, proposal) = (draft(), SubmissionView::example().proposal);
        let found = run_checks(&app, Some(&client(&app)), Surroundings::default(), &proposal);
        assert_eq!(named(Verdict::Fail, &found), [""; 0]);
        assert_eq!(
            named(Verdict::Warn, &found),
            ["listing_has_links", "write_scopes_are_explained"]
        );
    }

    #[test]
    fn an_app_on_loopback_passes_in_a_local_system_alone() {
        let proposal = SubmissionView::example().proposal;
        for url in ["http://127.0.0.1:4000", "http://localhost:4000", "https://app.localhost:4443"]
        {
            let app = CommerceApp {
                app_url: core_types::fields::WebUrl::from_text(url).unwrap(),
                redirect_uris: vec![format!("{url}/callback")],
                ..draft()
            };
            for (hosts, failed) in [
                (AppHosts::Public, &["redirect_uris_are_public", "app_url_is_public"][..]),
                (AppHosts::PublicAndLoopback, &[]),
            ] {
                let around = Surroundings { hosts, ..Surroundings::default() };
                let found = run_checks(&app, Some(&client(&app)), around, &proposal);
                assert_eq!(named(Verdict::Fail, &found), failed, "{url} {hosts:?}");
            }
        }
    }

    #[test]
    fn every_failed_check_is_reported() {
        let mut proposal = SubmissionView::example().proposal;
        proposal.listing.description = "Short".into();
        let app = CommerceApp {
            approved_version: Some("1.2.0".into()),
            proposed: Some(Configuration {
                redirect_uris: vec!["http://localhost/cb".into()],
                ..draft().configuration()
            }),
            webhook_url: Some("https://10.0.0.1/".into()),
            ..draft()
        };
        let webhook = Some(DestinationRejection::Address);
        let around = Surroundings { webhook, is_ours: true, ..Surroundings::default() };
        let found = run_checks(&app, None, around, &proposal);
        let names = named(Verdict::Warn, &found);
        assert!(names.contains(&"configuration_is_as_approved"), "{names:?}");
        assert_eq!(
            named(Verdict::Fail, &found),
            [
                "version_is_greater",
                "listing_is_complete",
                "redirect_uris_are_public",
                "app_url_is_its_own",
                "client_can_authenticate",
                "webhook_url_is_allowed",
            ]
        );
    }
}
