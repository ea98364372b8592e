//! The webhook subscription of an app's `webhook_url`: created, changed and deleted with the app.

use core_types::id::{AppId, SubscriptionId};
use core_types::key;
use crypto::signature::SigningSecret;
use delivery::subscription::{self, Subscription};
use gateway::bridged;
use platform::app::CommerceApp;
use primitives::clock::Timestamp;
use primitives::fields::{Exact, Patch, Violation};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::Write;

/// A new subscription, with its secret, which is returned once.
pub(super) struct Hook {
    pub(super) subscription: Subscription,
    pub(super) secret: String,
}

impl Hook {
    pub(super) async fn new(
        services: &Services,
        id: &AppId,
        url: &str,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let key = services.secrets.webhook_key().await?;
        let secret = SigningSecret::generate();
        let hook_id = SubscriptionId::mint(now);
        let sealed = subscription::seal_secret(&key, &hook_id, &secret);
        let mut made = Subscription::for_app(id, hook_id, url.to_owned(), sealed, now);
        made.secret_hint = Some(subscription::hint(&secret));
        Ok(Self { subscription: made, secret: secret.reveal() })
    }
}

/// The field error of a webhook URL that the egress policy rejects, or that belongs to this service.
pub(super) async fn validate<const MAX: usize>(
    services: &Services,
    url: Option<&Exact<MAX>>,
) -> Option<FieldError> {
    let url = url?.as_str();
    let violation = if bridged::is_ours(&services.config, url) {
        Violation::new("own_host", "The URL must not point to this service.")
    } else {
        let rejection = services.egress.check(url).await.err()?;
        Violation::new(rejection.code(), rejection.to_string())
    };
    Some(FieldError::at("/webhook_url", violation))
}

/// Creates, changes or deletes the app's subscription as its webhook URL changes. The first URL creates a
/// secret, which is returned; another URL keeps it. A new URL also enables a subscription that the service
/// disabled.
pub(super) async fn change<const MAX: usize>(
    write: Write,
    services: &Services,
    next: &mut CommerceApp,
    url: &Patch<Exact<MAX>>,
    now: Timestamp,
) -> Result<(Write, Option<String>), Problem> {
    let present = next.webhook_subscription_id.clone();
    match (url, present) {
        (Patch::Keep, _) | (Patch::Clear, None) => Ok((write, None)),
        (Patch::Clear, Some(present)) => {
            next.webhook_url = None;
            next.webhook_subscription_id = None;
            Ok((write.delete(&key::app_subscription(&next.id, &present)), None))
        }
        (Patch::Set(url), Some(present)) => {
            next.webhook_url = Some(url.as_str().to_owned());
            let before: Option<Subscription> =
                services.table.get(&key::app_subscription(&next.id, &present)).await?;
            let before =
                before.ok_or_else(|| Problem::internal("the webhook of an app is missing"))?;
            let after = before.moved_to(url.as_str().to_owned(), now);
            Ok((after.save(write, &before), None))
        }
        (Patch::Set(url), None) => {
            let hook = Hook::new(services, &next.id, url.as_str(), now).await?;
            next.webhook_url = Some(hook.subscription.url.clone());
            next.webhook_subscription_id = Some(hook.subscription.id.clone());
            let write = write.create(&hook.subscription, Code::VersionConflict);
            Ok((write, Some(hook.secret)))
        }
    }
}
