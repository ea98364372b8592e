//! The transitions of an app's status, and the in-place updates of its counters.

use core_types::id::AppId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::{Change, Condition, Write};

use super::{AppHosts, AppStatus, CommerceApp};

/// The suspension of an app by an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AppSuspension")]
pub struct Suspension {
    /// The reason, in the operator's words.
    pub reason: String,
    /// When it was suspended.
    pub suspended_at: Timestamp,
    /// The status before, to which the app returns when it is resumed.
    pub status_before: AppStatus,
}

impl CommerceApp {
    /// The counters. Reviews and installations change them in place, in their own transactions, so
    /// [`CommerceApp::save`] never writes them. They do not change the version: a popular app's developer
    /// does not get conflicts from what merchants do.
    pub const COUNTED: &'static [&'static str] =
        &["rating_count", "rating_sum", "stars", "active_installs"];

    /// Adds the write of this app at its next version, without its counters.
    pub fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace_except(self, Self::COUNTED, Condition::default(), rejected)
    }

    /// Adds the write of this app at its next version, on condition that no store uses it.
    pub fn save_unless_installed(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        let unused = Condition::is("active_installs", 0);
        write.replace_except(self, Self::COUNTED, unused, rejected)
    }

    /// The condition that the app is in the catalogue.
    pub fn still_published() -> Condition {
        Condition::is("status", AppStatus::Published)
    }

    /// Counts another store on which the app is active, on condition that it is in the catalogue.
    pub fn count_install_if_published(
        write: Write,
        id: &AppId,
        rejected: impl Into<Problem>,
    ) -> Write {
        let change = Change::new("SET active_installs = active_installs + :one")
            .only_if("#status = :published")
            .name("#status", "status")
            .value(":published", AppStatus::Published)
            .value(":one", 1_u64);
        write.update(&key::app(id), change, rejected)
    }

    /// The developer's actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let mut actions = match self.status {
            AppStatus::Draft | AppStatus::Unpublished if self.approved_version.is_some() => {
                vec!["update", "publish", "delete"]
            }
            AppStatus::Draft | AppStatus::Unpublished | AppStatus::Suspended => {
                vec!["update", "delete"]
            }
            AppStatus::Published => vec!["update", "unpublish"],
            AppStatus::Deleted => vec![],
        };
        if self.open_submission_id.is_some() {
            actions.push("withdraw");
        } else if !matches!(self.status, AppStatus::Suspended | AppStatus::Deleted) {
            actions.push("submit");
        }
        actions
    }

    fn rejected(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The app published in the catalogue.
    ///
    /// # Errors
    /// `not_approved`; `invalid_state_transition`; `checks_failed` when a redirect URI is at no host where a published
    /// app may run.
    pub fn publish(&self, hosts: AppHosts, now: Timestamp) -> Result<Self, Problem> {
        if !matches!(self.status, AppStatus::Draft | AppStatus::Unpublished) {
            return Err(self.rejected());
        }
        if self.approved_version.is_none() || self.listing.is_none() {
            return Err(Code::NotApproved.into());
        }
        if !self.redirect_uris.iter().all(|uri| hosts.allow(uri)) {
            let detail = "A published app may not redirect to loopback addresses.";
            return Err(Code::ChecksFailed.detail(detail));
        }
        let status = AppStatus::Published;
        Ok(Self { status, published_at: Some(now), ..self.changed(now) })
    }

    /// The app removed from the catalogue; installations keep working.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn unpublish(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != AppStatus::Published {
            return Err(self.rejected());
        }
        Ok(Self { status: AppStatus::Unpublished, ..self.changed(now) })
    }

    /// The app suspended by an operator, from any status but deleted.
    ///
    /// # Errors
    /// `not_found` once it is deleted; `invalid_state_transition` while it is suspended.
    pub fn suspend(&self, reason: String, now: Timestamp) -> Result<Self, Problem> {
        match self.status {
            AppStatus::Draft | AppStatus::Published | AppStatus::Unpublished => {
                let suspension =
                    Suspension { reason, suspended_at: now, status_before: self.status };
                let status = AppStatus::Suspended;
                Ok(Self { status, suspension: Some(suspension), ..self.changed(now) })
            }
            AppStatus::Suspended => Err(Problem::state(self.status.as_str(), &["resume"])),
            AppStatus::Deleted => Err(Code::NotFound.into()),
        }
    }

    /// The app with its status from before the suspension.
    ///
    /// # Errors
    /// `not_found` once it is deleted; `invalid_state_transition` unless it is suspended.
    pub fn resume(&self, now: Timestamp) -> Result<Self, Problem> {
        match (self.status, &self.suspension) {
            (AppStatus::Deleted, _) => Err(Code::NotFound.into()),
            (AppStatus::Suspended, Some(suspension)) => {
                let status = suspension.status_before;
                Ok(Self { status, suspension: None, ..self.changed(now) })
            }
            _ => Err(Problem::state(self.status.as_str(), &["suspend"])),
        }
    }

    /// The app deleted. Its item stays, so that installations and events keep its name.
    ///
    /// # Errors
    /// `invalid_state_transition` while it is published; `app_installed` while a store uses it.
    pub fn delete(&self, now: Timestamp) -> Result<Self, Problem> {
        if matches!(self.status, AppStatus::Published | AppStatus::Deleted) {
            return Err(self.rejected());
        }
        if self.active_installs > 0 {
            return Err(Code::AppInstalled.with("active_installs", self.active_installs));
        }
        Ok(Self {
            status: AppStatus::Deleted,
            open_submission_id: None,
            webhook_url: None,
            webhook_subscription_id: None,
            ..self.changed(now)
        })
    }

    /// Ensures that it may be submitted.
    ///
    /// # Errors
    /// `submission_open`; `invalid_state_transition`.
    pub fn ensure_may_submit(&self) -> Result<(), Problem> {
        if let Some(open) = &self.open_submission_id {
            return Err(Code::SubmissionOpen.with("submission_id", open.as_str()));
        }
        match self.status {
            AppStatus::Draft | AppStatus::Published | AppStatus::Unpublished => Ok(()),
            AppStatus::Suspended | AppStatus::Deleted => Err(self.rejected()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::app::AppView;
    use core_types::event::{EXAMPLE_TIME, Example, sample};
    use core_types::fields::{Slug, WebUrl};
    use core_types::id::MerchantId;
    use core_types::scope::Scopes;

    /// A draft that can be approved.
    pub(crate) fn draft() -> CommerceApp {
        CommerceApp {
            id: AppId::derive(&["a"]),
            owner_id: MerchantId::derive(&["m"]),
            name: "Books".into(),
            slug: sample::<Slug>("books"),
            app_url: sample::<WebUrl>("https://a.example.com"),
            redirect_uris: vec!["https://a.example.com/cb".into()],
            scopes: Scopes::normalize(["write_orders read_products"]).unwrap(),
            embedded: false,
            webhook_url: None,
            webhook_subscription_id: None,
            client_id: "cli_a".into(),
            confidential: true,
            require_pkce: true,
            status: AppStatus::Draft,
            proposed: None,
            suspension: None,
            listing: None,
            approved_version: None,
            open_submission_id: None,
            published_at: None,
            rating_count: 0,
            rating_sum: 0,
            stars: [0; 5],
            active_installs: 0,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }

    #[test]
    fn an_approved_app_without_loopback_redirects_can_be_published() {
        let now = EXAMPLE_TIME;
        assert_eq!(draft().publish(AppHosts::Public, now).unwrap_err().code, Code::NotApproved);
        let listing = AppView::example().listing;
        let approved = CommerceApp { approved_version: Some("1.0.0".into()), listing, ..draft() };
        let published = approved.publish(AppHosts::Public, now).unwrap();
        assert!(published.is_published() && published.version == 2);
        assert_eq!(
            published.publish(AppHosts::Public, now).unwrap_err().code,
            Code::InvalidStateTransition
        );
        assert_eq!(published.unpublish(now).unwrap().status, AppStatus::Unpublished);
        let local = CommerceApp { redirect_uris: vec!["http://[::1]/cb".into()], ..approved };
        assert_eq!(local.publish(AppHosts::Public, now).unwrap_err().code, Code::ChecksFailed);
        assert!(local.publish(AppHosts::PublicAndLoopback, now).unwrap().is_published());
    }

    #[test]
    fn only_an_unpublished_app_without_installations_is_deleted() {
        let now = EXAMPLE_TIME;
        let used = CommerceApp { active_installs: 1, ..draft() };
        assert_eq!(used.delete(now).unwrap_err().code, Code::AppInstalled);
        let published = CommerceApp { status: AppStatus::Published, ..draft() };
        assert_eq!(published.delete(now).unwrap_err().code, Code::InvalidStateTransition);
        let deleted = draft().delete(now).unwrap();
        assert_eq!((deleted.status, deleted.allowed_actions().len()), (AppStatus::Deleted, 0));
    }

    #[test]
    fn a_resumed_app_has_its_former_status() {
        let now = EXAMPLE_TIME;
        for status in [AppStatus::Draft, AppStatus::Published, AppStatus::Unpublished] {
            let app = CommerceApp { status, ..draft() };
            let suspended = app.suspend("Spam.".into(), now).unwrap();
            assert_eq!(suspended.status, AppStatus::Suspended);
            for rejected in [
                suspended.suspend("Again.".into(), now),
                suspended.publish(AppHosts::Public, now),
                suspended.unpublish(now),
                app.resume(now),
            ] {
                assert_eq!(rejected.unwrap_err().code, Code::InvalidStateTransition);
            }
            assert!(suspended.ensure_may_submit().is_err());
            let resumed = suspended.resume(now).unwrap();
            assert_eq!((resumed.status, resumed.suspension), (status, None));
            let deleted = suspended.delete(now).unwrap();
            assert_eq!(deleted.resume(now).unwrap_err().code, Code::NotFound);
        }
    }
}
