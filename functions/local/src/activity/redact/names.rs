//! Which names of headers, parameters and members are of secrets.

/// Parts of names whose values are secrets.
const SECRET: [&str; 14] = [
    "password",
    "secret",
    "token",
    "authorization",
    "cookie",
    "signature",
    "hmac",
    "credential",
    "verifier",
    "assertion",
    "totp",
    "cvc",
    "cvv",
    "card_number",
];
/// Names whose values are secrets, and whose parts are not.
const SECRET_NAMES: [&str; 7] = ["code", "codes", "otp", "pin", "pan", "api_key", "key"];
/// Names that look like those of secrets, and are none.
const HARMLESS: [&str; 10] = [
    "token_type",
    "issued_token_type",
    "requested_token_type",
    "subject_token_type",
    "token_type_hint",
    "token_endpoint",
    "token_exchanges",
    "secret_hint",
    "token_endpoint_auth_methods_supported",
    "x-service-cost-requested",
];
/// Names of codes that are no secrets.
const PLAIN_CODES: [&str; 9] = [
    "country_code",
    "currency_code",
    "postal_code",
    "postal_codes",
    "region_code",
    "hs_code",
    "status_code",
    "last_status_code",
    "failure_code",
];
/// Segments of the paths that take or give credentials. There a misspelt name must not show a password.
const CREDENTIAL_SEGMENTS: &[&str] = &[
    "auth",
    "challenge",
    "credentials",
    "invitations",
    "login",
    "logout",
    "me",
    "mfa",
    "oauth",
    "otp",
    "password",
    "preview-session",
    "promote",
    "refresh",
    "register",
    "reset",
    "revoke",
    "rotate",
    "secret",
    "session",
    "sessions",
    "signin",
    "signout",
    "signup",
    "token",
    "tokens",
    "totp",
    "verify",
];
/// Names of what those paths take and return that is no secret.
pub(super) const PLAIN: &[&str] = &[
    "accepts_marketing",
    "active",
    "agree_terms",
    "all",
    "allowed_actions",
    "app_id",
    "aud",
    "channel",
    "city",
    "client_id",
    "code_challenge_method",
    "company",
    "config_version",
    "contact_email",
    "country",
    "created_at",
    "created_via",
    "currency",
    "currency_exponent",
    "current",
    "default_address_id",
    "delete_at",
    "draft_version",
    "email",
    "email_verified",
    "event_types",
    "exp",
    "expires_at",
    "expires_in",
    "first_name",
    "grant_type",
    "granted_scopes",
    "has_more",
    "has_password",
    "iat",
    "id",
    "idle_expires_at",
    "installation_id",
    "inventory_policy",
    "ip_prefix",
    "iss",
    "issued_token_type",
    "issuer",
    "last_name",
    "last_used_at",
    "limit",
    "locale",
    "merchant_id",
    "mfa_enabled",
    "name",
    "network",
    "operator",
    "order_id",
    "order_prefix",
    "orders_count",
    "owner_id",
    "payment_id",
    "phone",
    "phone_e164",
    "plan",
    "primary_domain",
    "provider",
    "recovery_codes_left",
    "redirect_uri",
    "refresh_token_expires_in",
    "region",
    "requested_token_type",
    "resend_after",
    "response_type",
    "revoke_other_sessions",
    "role",
    "scope",
    "scopes",
    "sessions_revoked",
    "since",
    "slug",
    "status",
    "status_reason",
    "store_id",
    "store_name",
    "stores",
    "sub",
    "subdomain",
    "subject_token_type",
    "timezone",
    "token_type",
    "token_type_hint",
    "updated_at",
    "url",
    "verified",
    "version",
];

/// Which members and parameters are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fields {
    /// All but those whose names are of secrets.
    NotSecret,
    /// Only those whose names are known to be of none.
    Plain,
    /// As [`Fields::NotSecret`], and the `code` of a problem.
    OfProblem,
}

impl Fields {
    /// Those of a request to this path, and of an answer to a write.
    pub(crate) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let is_of_credentials =
            path.split('/').any(|segment| CREDENTIAL_SEGMENTS.contains(&segment));
        if is_of_credentials { Self::Plain } else { Self::NotSecret }
    }

    pub(super) fn hides(self, name: &str) -> bool {
        match self {
            Self::NotSecret => is_secret(name),
            Self::Plain => !PLAIN.contains(&name),
            Self::OfProblem => is_secret(name) && name != "code",
        }
    }
}

/// Whether the value of this name is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix("[]").unwrap_or(&name);
    if HARMLESS.contains(&name) || PLAIN_CODES.contains(&name) {
        return false;
    }
    SECRET.iter().any(|part| name.contains(part))
        || SECRET_NAMES.contains(&name)
        || name.ends_with("_code")
        || name.ends_with("_codes")
        || name.ends_with("_key")
        || name.ends_with("-key")
}
