//! The changes of an account with a provider, and their validation.

use core_types::fields::Handle;
use core_types::provider::ProviderName;
use gateway::request::{RequestRules, Validation};
use identity::settings::LONGEST_MANUAL_PAYMENT_WINDOW;
use primitives::fields::{AtMost, Flag, FromText, Int, Patch, Text, Violation};
use primitives::input::{Given, request};
use primitives::problem::{FieldError, Problem};
use sales::payment::account::ProviderAccount;
use sales::payment::credentials::ProviderCredentials;
use sales::payment::manual_method::{MAX_METHODS, ManualMethod};
use sales::payment::{CaptureMethod, Mode};

use super::credentials::CredentialsRequest;

/// The changes of an account with a provider. Missing fields stay as they are.
#[request]
#[derive(Debug, Clone)]
pub struct SaveRequest {
    /// The provider's keys, which replace all old ones; a `webhook_secret` alone replaces only the old one.
    /// `manual` has none.
    credentials: Option<CredentialsRequest>,
    /// Test (the provider's sandbox) or live.
    mode: Option<Mode>,
    /// The capture method.
    capture_method: Option<CaptureMethod>,
    /// Whether customers can pay with it.
    enabled: Option<Flag>,
    /// The instructions for customers, such as the account for a bank transfer.
    instructions: Patch<Text<0, 2_000>>,
    /// The manual payment methods, in the order in which customers see them. They replace all old ones; only
    /// `manual` has any.
    methods: Option<AtMost<MethodRequest, MAX_METHODS>>,
}

/// A manual payment method.
#[request]
#[derive(Debug, Clone)]
pub struct MethodRequest {
    /// The id, unique in the store: `bank-transfer`.
    id: Handle,
    /// The name that customers see.
    name: Text<1, 100>,
    /// The instructions for customers, such as the account for a bank transfer.
    instructions: Option<Text<0, 2_000>>,
    /// The period in which an order with this method reserves its stock, in minutes. With 0, it does so until it
    /// is paid or cancelled. By default the store's `manual_payment_window_minutes` applies.
    payment_window_minutes: Option<Int<0, LONGEST_MANUAL_PAYMENT_WINDOW>>,
    /// Whether customers can choose it; they can by default.
    enabled: Option<Flag>,
}

impl From<MethodRequest> for ManualMethod {
    fn from(input: MethodRequest) -> Self {
        let minutes = input.payment_window_minutes;
        Self {
            id: input.id,
            name: input.name.into(),
            instructions: input.instructions.map(String::from),
            payment_window_minutes: minutes.and_then(|minutes| u64::try_from(minutes.0).ok()),
            enabled: input.enabled.is_none_or(|flag| flag.0),
        }
    }
}

/// Finds methods of one id, and methods of a provider that has none.
fn method_errors(provider: ProviderName, methods: &[ManualMethod]) -> Vec<FieldError> {
    if provider != ProviderName::Manual && !methods.is_empty() {
        let detail = "Only `manual` has payment methods.";
        return vec![FieldError::new("/methods", "not_applicable", detail)];
    }
    let ids = methods.iter().map(|method| &method.id).enumerate();
    let is_repeated =
        |at: usize, id: &Handle| methods.iter().take(at).any(|earlier| earlier.id == *id);
    let repeated = ids.filter(|(at, id)| is_repeated(*at, id)).map(|(at, _)| {
        FieldError::new(
            format!("/methods/{at}/id"),
            "duplicate",
            "Another payment method of the request has this id.",
        )
    });
    repeated.collect()
}

/// The credentials that a request brings.
pub(super) enum NewCredentials {
    /// All keys.
    All(ProviderCredentials),
    /// The signing secret of webhooks; the keys stay.
    WebhookSecret(String),
}

impl RequestRules for SaveRequest {
    /// Validates the keys if the request has their mode. Otherwise `apply` does, for the stored mode.
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let provider = validation.inbound.param("provider").unwrap_or_default();
        let provider = ProviderName::from_text(provider).ok();
        let keys = given.get::<CredentialsRequest>("credentials");
        match (provider, keys, given.get("mode")) {
            (None | Some(ProviderName::Manual), ..) | (_, None, _) | (.., None) => Vec::new(),
            (_, Some(keys), _) if keys.webhook_secret_alone().is_some() => Vec::new(),
            (Some(provider), Some(keys), Some(mode)) => {
                keys.validate(provider, mode).err().unwrap_or_default()
            }
        }
    }
}

impl SaveRequest {
    /// Applies the changes to the account, and returns its new credentials.
    pub(super) fn apply(
        self,
        stored: &ProviderAccount,
    ) -> Result<(ProviderAccount, Option<NewCredentials>), Problem> {
        let mut next = stored.clone();
        next.mode = self.mode.unwrap_or(next.mode);
        next.capture_method = self.capture_method.unwrap_or(next.capture_method);
        next.enabled = self.enabled.map_or(next.enabled, |flag| flag.0);
        self.instructions.apply(&mut next.instructions);
        if let Some(methods) = self.methods {
            next.methods = methods.0.into_iter().map(ManualMethod::from).collect();
            let errors = method_errors(next.provider, &next.methods);
            if !errors.is_empty() {
                return Err(Problem::invalid(errors));
            }
        }
        if next.provider == ProviderName::Manual {
            return manual(next, self.credentials.is_some(), stored);
        }
        let keeps_keys = stored.sealed_credentials.is_some() && next.mode == stored.mode;
        let keys = self.credentials.as_ref();
        let secret = keys.and_then(CredentialsRequest::webhook_secret_alone).filter(|_| keeps_keys);
        let credentials = match keys {
            Some(_) if secret.is_some() => {
                secret.map(|secret| NewCredentials::WebhookSecret(secret.to_owned()))
            }
            Some(keys) => {
                let keys = keys.validate(next.provider, next.mode).map_err(Problem::invalid)?;
                Some(NewCredentials::All(keys))
            }
            None if stored.sealed_credentials.is_none() => {
                return Err(required(
                    "/credentials",
                    "Credentials are required to connect a provider.",
                ));
            }
            None if next.mode != stored.mode => {
                return Err(required("/credentials", "Send the credentials of the new mode."));
            }
            None => None,
        };
        if self.enabled.is_none() && stored.is_new() {
            next.enabled = true;
        }
        Ok((next, credentials))
    }
}

/// Ensures that `manual` has no keys, no test mode and only manual capture.
fn manual(
    next: ProviderAccount,
    has_credentials: bool,
    stored: &ProviderAccount,
) -> Result<(ProviderAccount, Option<NewCredentials>), Problem> {
    let mut errors = Vec::new();
    let rules = [
        (has_credentials, "/credentials", "`manual` has no credentials."),
        (next.mode != stored.mode, "/mode", "The mode of `manual` cannot be changed."),
        (
            next.capture_method != stored.capture_method,
            "/capture_method",
            "The capture method of `manual` cannot be changed.",
        ),
    ];
    for (_, pointer, detail) in rules.into_iter().filter(|(is_wrong, ..)| *is_wrong) {
        let violation = Violation::new("not_applicable", detail);
        errors.push(FieldError::at(pointer, violation));
    }
    if errors.is_empty() { Ok((next, None)) } else { Err(Problem::invalid(errors)) }
}

fn required(pointer: &str, detail: &'static str) -> Problem {
    Problem::field(pointer, "required", detail)
}
