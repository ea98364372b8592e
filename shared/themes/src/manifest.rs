//! The manifest, `theme.json`: a theme's slug, name, version, author and price.

use std::cmp::Ordering;
use std::fmt;

use core_types::fields::{self, Currency, misleads};
use core_types::id::MerchantId;
use core_types::money::Money;
use primitives::fields::{FromText, Text, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::file::Digest;
use crate::finding::{Code, FileFindings, below};
use crate::findings::Findings;
use crate::schema::ThemeInfo;

/// Its path in a package.
pub const PATH: &str = "theme.json";
/// Reserved slugs: literal segments of routes.
const RESERVED: &[&str] = &["packages"];
/// The maximum length of a slug in characters (our choice).
const MAX_SLUG: usize = 64;
/// The regular expression of a version: three numbers of up to nine digits, and an optional pre-release.
const VERSION: &str = "^(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})){2}\
    (-(0|[1-9][0-9]{0,8}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)([.](0|[1-9][0-9]{0,8}|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?$";
/// The known members of the manifest.
const MEMBERS: &[&str] = &["slug", "name", "version", "author", "description", "category", "price"];

/// A theme's name in URLs: `plain-linen`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "ThemeSlug")]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength" = MAX_SLUG))]
pub struct Slug(String);

impl Slug {
    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Slug {
    /// The slug of an owner's own copy of a theme whose slug belongs to somebody else.
    #[must_use]
    pub fn of_owner(&self, owner: &MerchantId) -> Self {
        const SUFFIX: usize = 8;
        let digest = Digest::of(owner.as_str().as_bytes()).to_string();
        let suffix = digest.get(..SUFFIX).unwrap_or_default();
        let most = MAX_SLUG.saturating_sub(SUFFIX).saturating_sub(1);
        let base = self.0.get(..self.0.len().min(most)).unwrap_or_default();
        Self(format!("{}-{suffix}", base.trim_end_matches('-')))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromText for Slug {
    const EXPECTS: &'static str = "a theme's slug";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let is_slug = fields::Slug::from_text(text).is_ok() && !text.starts_with("xn--");
        if !is_slug || text.len() > MAX_SLUG {
            let detail = "Must be 1 to 64 lower-case letters, digits and inner hyphens.";
            return Err(Violation::new("invalid_slug", detail));
        }
        if RESERVED.contains(&text) {
            return Err(Violation::new("slug_reserved", "This slug is reserved."));
        }
        Ok(Self(text.to_owned()))
    }
}

primitives::text_field!(Slug);

/// A version of a theme (Semantic Versioning 2.0.0), without build metadata, which orders nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeVersion")]
#[serde(transparent)]
pub struct Version(
    #[schemars(with = "String", extend("pattern" = VERSION, "maxLength" = 64))] semver::Version,
);

impl Version {
    /// Whether it is a pre-release.
    pub fn is_prerelease(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// The version as text that sorts by precedence (Semantic Versioning 2.0.0 §11).
    ///
    /// Numbers are padded to ten digits. A release ends in `~`, which sorts after the `-…` of its
    /// pre-releases. Numeric identifiers begin with `0`, others with `1`. The separator of identifiers,
    /// `!`, sorts before all characters in them.
    pub fn sort_key(&self) -> String {
        let identifier = |text: &str| match text.parse::<u64>() {
            Ok(number) => format!("0{number:010}"),
            Err(_) => format!("1{text}"),
        };
        let rest = if self.0.pre.is_empty() {
            "~".to_owned()
        } else {
            let identifiers: Vec<String> = self.0.pre.split('.').map(identifier).collect();
            format!("-{}", identifiers.join("!"))
        };
        format!("{:010}.{:010}.{:010}{rest}", self.0.major, self.0.minor, self.0.patch)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromText for Version {
    const EXPECTS: &'static str = "a semantic version";

    fn from_text(text: &str) -> Result<Self, Violation> {
        const MAX: u64 = 999_999_999;
        let small = |version: &semver::Version| {
            let numbers = [version.major, version.minor, version.patch];
            let before = version.pre.split('.');
            numbers.iter().all(|number| *number <= MAX)
                && before
                    .filter(|part| part.bytes().all(|b| b.is_ascii_digit()))
                    .all(|part| part.len() <= 9)
        };
        let version = semver::Version::parse(text).ok().filter(|version| version.build.is_empty());
        match version.filter(small) {
            Some(version) if text.len() <= 64 => Ok(Self(version)),
            _ => Err(Violation::new("invalid_version", "Must be a semantic version like `1.2.0`.")),
        }
    }
}

primitives::text_field!(Version);

/// The manifest of a theme, from `theme.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeManifest")]
pub struct Manifest {
    /// The theme's name in URLs.
    pub slug: Slug,
    /// The display name.
    pub name: String,
    /// The version.
    pub version: Version,
    /// The author.
    pub author: String,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The kind of shop that it suits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<fields::Slug>,
    /// The price of a licence for one store; absent for a free theme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
}

impl Manifest {
    /// Derives the manifest of a theme without `theme.json` from its description; none if that has no
    /// usable name, which is reported.
    pub(crate) fn derive(info: &ThemeInfo, findings: &mut Findings) -> Option<Self> {
        let mut report = FileFindings::new(PATH, findings);
        let name = Name::from_text(&info.theme_name).ok();
        let Some((Name(name), slug)) = name.zip(slug_of(&info.theme_name)) else {
            let detail = "The file is required, unless the `theme_info` of \
                          `config/settings_schema.json` has a `theme_name` with letters or digits.";
            report.say_of_file(Code::ManifestMissing, detail);
            return None;
        };
        let version = version_of(info.theme_version.as_deref())?;
        let author = info.theme_author.as_deref().and_then(|author| Name::from_text(author).ok());
        let author = author.map_or_else(|| name.clone(), |Name(author)| author);
        let detail = format!(
            "The file is missing; the theme is `{slug}` {version}, after its `theme_info`."
        );
        report.say_of_file(Code::ManifestDerived, detail);
        Some(Self { slug, name, version, author, description: None, category: None, price: None })
    }

    /// Reads `theme.json`; none if it is invalid, which findings explain.
    pub(crate) fn read(value: &Value, findings: &mut Findings) -> Option<Self> {
        let mut report = FileFindings::new(PATH, findings);
        let Some(object) = value.as_object() else {
            report.say(Code::JsonShape, "", "Must be an object.");
            return None;
        };
        let slug = field(object, "slug", Code::SlugInvalid, &mut report);
        let name = field(object, "name", Code::ManifestInvalid, &mut report);
        let version = field(object, "version", Code::VersionInvalid, &mut report);
        let author = field(object, "author", Code::ManifestInvalid, &mut report);
        let description: Result<Option<Text<1, 1_000>>, Reported> =
            optional(object, "description", &mut report);
        let category = optional(object, "category", &mut report);
        let price = price(object, &mut report);
        for member in object.keys().filter(|member| !MEMBERS.contains(&member.as_str())) {
            let known = format!("Unknown member; the members are {}.", MEMBERS.join(", "));
            report.say(Code::ManifestUnknownField, &below("", member), known);
        }
        let (Name(name), Name(author)) = (name.ok()?, author.ok()?);
        Some(Self {
            slug: slug.ok()?,
            name,
            version: version.ok()?,
            author,
            description: description.ok()?.map(String::from),
            category: category.ok()?,
            price: price.ok()?,
        })
    }
}

/// A name of a theme or a person: one line of 1 to 100 characters, without misleading ones.
struct Name(String);

impl FromText for Name {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let line = Text::<1, 100>::from_text(text)?;
        if line.as_str().chars().any(misleads) {
            let detail = "Must not contain @ < > \" or invisible characters.";
            return Err(Violation::new("invalid_characters", detail));
        }
        Ok(Self(line.into()))
    }
}

/// The slug of a display name: its ASCII letters and digits, with hyphens between its words.
fn slug_of(name: &str) -> Option<Slug> {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    let slug = slug.get(..slug.len().min(MAX_SLUG)).unwrap_or_default();
    Slug::from_text(slug.trim_end_matches('-')).ok()
}

/// The version that a theme states, which may have fewer than three numbers; 1.0.0 by default.
fn version_of(stated: Option<&str>) -> Option<Version> {
    let stated = stated.map(str::trim).unwrap_or_default();
    let spelled = [stated.to_owned(), format!("{stated}.0"), format!("{stated}.0.0")];
    let known = spelled.iter().find_map(|text| Version::from_text(text).ok());
    known.or_else(|| Version::from_text("1.0.0").ok())
}

/// The marker of an error that is in the findings already.
struct Reported;

/// Parses a required member.
fn field<T: FromText>(
    object: &Map<String, Value>,
    name: &str,
    code: Code,
    report: &mut FileFindings<'_>,
) -> Result<T, Reported> {
    let Some(value) = object.get(name) else {
        report.say(Code::ManifestInvalid, &below("", name), "This field is required.");
        return Err(Reported);
    };
    parsed(value, name, code, report)
}

/// Parses an optional member.
fn optional<T: FromText>(
    object: &Map<String, Value>,
    name: &str,
    report: &mut FileFindings<'_>,
) -> Result<Option<T>, Reported> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => parsed(value, name, Code::ManifestInvalid, report).map(Some),
    }
}

fn parsed<T: FromText>(
    value: &Value,
    name: &str,
    code: Code,
    report: &mut FileFindings<'_>,
) -> Result<T, Reported> {
    let not_text = || Violation::new("invalid_type", format!("Must be {}.", T::EXPECTS));
    value.as_str().ok_or_else(not_text).and_then(T::from_text).map_err(|violation| {
        let code = if violation.code == "slug_reserved" { Code::SlugReserved } else { code };
        report.say(code, &below("", name), violation.detail);
        Reported
    })
}

/// Reads the price. An amount of zero is free, in any currency.
fn price(
    object: &Map<String, Value>,
    report: &mut FileFindings<'_>,
) -> Result<Option<Money>, Reported> {
    let price = match object.get("price") {
        None | Some(Value::Null) => return Ok(None),
        Some(price) => price,
    };
    let currency = price.get("currency").and_then(Value::as_str);
    let currency = currency.and_then(|currency| Currency::from_text(currency).ok());
    let amount = price.get("amount").and_then(Value::as_i64);
    let money = currency.zip(amount).and_then(|(currency, amount)| Money::new(amount, &currency));
    let Some(money) = money else {
        let detail = "Must be an `amount` in minor units and a `currency` (ISO 4217).";
        report.say(Code::PriceInvalid, "/price", detail);
        return Err(Reported);
    };
    Ok(Some(money).filter(|money| !money.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_their_keys_do() {
        // The order of Semantic Versioning 2.0.0 §11, and more versions.
        let ordered = [
            "0.0.1",
            "0.2.0",
            "0.10.0",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-alpha-x",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "2.0.0",
            "10.0.0",
            "999999999.0.0",
        ];
        let versions: Vec<Version> =
            ordered.iter().map(|text| Version::from_text(text).unwrap()).collect();
        assert!(versions.is_sorted() && versions.is_sorted_by(|a, b| a.sort_key() < b.sort_key()));
        let prereleases = versions.iter().filter(|version| version.is_prerelease()).count();
        assert_eq!(prereleases, 11);
        assert_eq!(versions[18].to_string(), "999999999.0.0");
        for bad in [
            "1",
            "1.0",
            "v1.0.0",
            "1.0.0+1",
            "01.0.0",
            "1.0.0-01",
            "1000000000.0.0",
            "1.0.0-1234567890",
        ] {
            assert!(Version::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_slug_is_a_handle_that_is_not_reserved() {
        assert_eq!(Slug::from_text("plain-linen-2").unwrap().as_str(), "plain-linen-2");
        for (bad, code) in [
            ("packages", "slug_reserved"),
            ("", "invalid_slug"),
            ("Plain", "invalid_slug"),
            ("a--b", "invalid_slug"),
            ("-a", "invalid_slug"),
            ("xn--a", "invalid_slug"),
            ("../a", "invalid_slug"),
        ] {
            assert_eq!(Slug::from_text(bad).unwrap_err().code, code, "{bad}");
        }
        assert!(Slug::from_text(&"a".repeat(65)).is_err());
    }
}
