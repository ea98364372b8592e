//! Developer profiles. A merchant with a profile is a developer.

use axum::extract::State;
use callers::{Developer as DeveloperCaller, Merchant};
use core_types::fields::{Country, Email, WebUrl};
use core_types::id::DeveloperId;
use core_types::key;
use core_types::resource::Resource;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Created, Json};
use gateway::request::{Body, IfMatch, Ruled};
use platform::developer::{
    DEVELOPER_REGISTERED, DEVELOPER_UPDATED, Developer, DeveloperStatus, DeveloperView,
};
use primitives::fields::{FieldErrors, Patch, Text, Violation};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use replies::ResourceReply;

/// `GET /v1/app-store/developers/register` (`getDeveloperProfile`): Get your developer profile.
///
/// The profile has the contact data, whether the platform has verified the developer, and whether the
/// developer may publish.
///
/// # Errors
/// `developer_profile_not_found` for a merchant without a profile.
pub async fn get(
    merchant: Merchant,
    State(app): State<App>,
) -> Result<Json<DeveloperView>, Problem> {
    let profile: Option<Developer> = app.table.get(&key::developer(&merchant.account.id)).await?;
    let profile = profile.ok_or(Code::DeveloperProfileNotFound)?;
    Ok(profile.to_response())
}

/// The boolean `true`; anything else is rejected.
#[derive(Debug)]
pub struct Agreed;

primitives::inline_schema!([] Agreed, "Agreed", |_generator| {
    schemars::json_schema!({"const": true})
});

impl Deserr<FieldErrors> for Agreed {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let violation = match value {
            Value::Boolean(true) => return Ok(Self),
            Value::Boolean(false) => {
                let detail = "Must be `true`: registration requires agreement to the terms.";
                Violation::new("terms_not_agreed", detail)
            }
            _ => Violation::new("invalid_type", "Must be a boolean."),
        };
        Err(FieldErrors::at(location, violation))
    }
}

/// A new developer profile.
#[request]
#[derive(Debug)]
pub struct RegisterDeveloperRequest {
    /// The name of the company. Send this or `name`.
    company: Option<Text<1, 200>>,
    /// The name of a person without a company.
    name: Option<Text<1, 200>>,
    /// The e-mail address for the platform and for merchants.
    contact_email: Email,
    /// The developer's website.
    website: Option<WebUrl>,
    /// The developer's country.
    country: Country,
    /// The agreement to the platform's terms: must be `true`.
    #[expect(dead_code, reason = "to hold it is to have agreed")]
    agree_terms: Agreed,
}

impl Rules for RegisterDeveloperRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let violation = match (given.has("company"), given.has("name")) {
            (false, false) => ("/company", "required", "`company` or `name` is required."),
            (true, true) => ("/name", "conflicting_fields", "Send `company` or `name`, not both."),
            _ => return Vec::new(),
        };
        vec![FieldError::new(violation.0, violation.1, violation.2)]
    }
}

/// `POST /v1/app-store/developers/register` (`createDeveloperProfile`): Register as a developer.
///
/// The signed-in merchant gets a developer profile, and can then create apps and submit themes. An account
/// has one profile. Send either `company` or `name`. It emits `developer.registered`.
///
/// # Errors
/// `already_registered`.
pub async fn register(
    merchant: Merchant,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<RegisterDeveloperRequest>>,
) -> Result<Created<DeveloperView>, Problem> {
    // The rules require exactly one of them.
    let company = input.company.or(input.name).map(String::from).unwrap_or_default();
    let now = app.clock.now();
    let profile = Developer {
        id: DeveloperId::mint(now),
        merchant_id: merchant.account.id,
        company,
        contact_email: input.contact_email,
        website: input.website,
        country: input.country,
        status: DeveloperStatus::Active,
        verified: false,
        terms_agreed_at: now,
        apps: 0,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    app.table
        .write()
        .create(&profile, Code::AlreadyRegistered)
        .emit(profile.event(&DEVELOPER_REGISTERED, now))
        .answer(profile.to_created_response(), now)
        .await
}

/// Changes to a developer profile. An omitted field keeps its value.
#[request]
#[derive(Debug)]
pub struct UpdateDeveloperRequest {
    /// The name of the company or the person.
    company: Option<Text<1, 200>>,
    /// The e-mail address for the platform and for merchants.
    contact_email: Option<Email>,
    /// The developer's website; `null` removes it.
    website: Patch<WebUrl>,
    /// The developer's country.
    country: Option<Country>,
}

/// `PATCH /v1/app-store/developers/me` (`updateDeveloperProfile`): Update your developer profile.
///
/// Another name or country ends the verification of the profile. It emits `developer.updated`.
///
/// # Errors
/// `developer_required`, `precondition_failed`.
pub async fn update(
    developer: DeveloperCaller,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<UpdateDeveloperRequest>,
) -> Result<Json<DeveloperView>, Problem> {
    let before = developer.profile;
    if_match.check(before.version)?;
    let now = app.clock.now();
    let mut profile = before.changed(now);
    if let Some(company) = input.company {
        profile.company = company.into();
    }
    if let Some(email) = input.contact_email {
        profile.contact_email = email;
    }
    if let Some(country) = input.country {
        profile.country = country;
    }
    input.website.apply(&mut profile.website);
    let same = profile.company == before.company && profile.country == before.country;
    profile.verified = before.verified && same;
    profile
        .replace(app.table.write(), Code::VersionConflict)
        .emit(profile.event(&DEVELOPER_UPDATED, now))
        .answer(profile.to_response(), now)
        .await
}
