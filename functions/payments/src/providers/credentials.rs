//! The keys of a store's account with a provider, in a request.

use core_types::provider::ProviderName;
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::FieldError;
use sales::payment::Mode;
use sales::payment::credentials::ProviderCredentials;

/// The keys of a provider. Razorpay: `key_id`, `key_secret`. Stripe: `publishable_key`, `secret_key`. A connected
/// account takes a `webhook_secret` alone: its keys stay.
#[request]
#[derive(Clone)]
pub struct CredentialsRequest {
    /// Razorpay's public key.
    key_id: Option<Exact<128>>,
    /// Razorpay's secret key.
    key_secret: Option<Exact<256>>,
    /// Stripe's public key.
    publishable_key: Option<Exact<256>>,
    /// Stripe's secret key.
    secret_key: Option<Exact<256>>,
    /// The signing secret of the provider's webhooks.
    webhook_secret: Option<Exact<256>>,
}

impl std::fmt::Debug for CredentialsRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CredentialsRequest([redacted])")
    }
}

/// The prefixes of the public and secret keys of a mode. They are checked because a live key in an account in
/// test mode would make real payments.
fn prefixes(provider: ProviderName, mode: Mode) -> (&'static str, &'static [&'static str]) {
    match (provider, mode) {
        (ProviderName::Razorpay, Mode::Test) => ("rzp_test_", &[""]),
        (ProviderName::Razorpay, Mode::Live) => ("rzp_live_", &[""]),
        (ProviderName::Stripe, Mode::Test) => ("pk_test_", &["sk_test_", "rk_test_"]),
        (ProviderName::Stripe, Mode::Live) => ("pk_live_", &["sk_live_", "rk_live_"]),
        (ProviderName::Manual, _) => ("", &[""]),
    }
}

impl CredentialsRequest {
    /// The signing secret, if nothing else is given: the stored keys stay.
    pub(super) fn webhook_secret_alone(&self) -> Option<&str> {
        let Self { key_id, key_secret, publishable_key, secret_key, webhook_secret } = self;
        let keys = [
            key_id.is_some(),
            key_secret.is_some(),
            publishable_key.is_some(),
            secret_key.is_some(),
        ];
        text(webhook_secret.as_ref()).filter(|_| !keys.contains(&true))
    }

    /// Validates the keys of this provider in this mode.
    pub(super) fn validate(
        &self,
        provider: ProviderName,
        mode: Mode,
    ) -> Result<ProviderCredentials, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut violation = |name: &str, code: &'static str, detail: String| {
            let pointer = format!("/credentials/{name}");
            errors.push(FieldError::new(pointer, code, detail));
        };
        let Self { key_id, key_secret, publishable_key, secret_key, webhook_secret } = self;
        let razorpay =
            [("key_id", text(key_id.as_ref())), ("key_secret", text(key_secret.as_ref()))];
        let stripe = [
            ("publishable_key", text(publishable_key.as_ref())),
            ("secret_key", text(secret_key.as_ref())),
        ];
        let ([public, secret], others) = match provider {
            ProviderName::Stripe => (stripe, razorpay),
            ProviderName::Razorpay | ProviderName::Manual => (razorpay, stripe),
        };
        for (name, _) in others.iter().filter(|(_, value)| value.is_some()) {
            violation(name, "unknown_field", format!("{provider} has no credential of this name."));
        }
        let (public_prefix, secret_prefixes) = prefixes(provider, mode);
        for ((name, value), known) in [(public, &[public_prefix][..]), (secret, secret_prefixes)] {
            match value {
                None => violation(name, "required", "This field is required.".to_owned()),
                Some(value) => {
                    let visible = value.bytes().all(|b| b.is_ascii_graphic());
                    if !visible || !known.iter().any(|prefix| value.starts_with(prefix)) {
                        let begin = known.join("` or `");
                        violation(
                            name,
                            "invalid_key",
                            format!("Must begin with `{begin}` in {mode} mode."),
                        );
                    }
                }
            }
        }
        match (public.1, secret.1) {
            (Some(key_id), Some(secret)) if errors.is_empty() => Ok(ProviderCredentials {
                key_id: key_id.to_owned(),
                secret: secret.to_owned(),
                webhook_secret: text(webhook_secret.as_ref()).map(str::to_owned),
            }),
            _ => Err(errors),
        }
    }
}

fn text<const MAX: usize>(field: Option<&Exact<MAX>>) -> Option<&str> {
    field.map(Exact::as_str)
}
