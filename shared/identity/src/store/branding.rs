//! The branding of a store: images, colors, texts and social profiles.

use core_types::fields::{Subdomain, WebUrl};
use core_types::id::{MediaId, StoreId};
use core_types::image;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::fields::{AtMost, FieldErrors, FromText, Violation};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::Write;

/// The maximum number of social profiles of a store. With the length of their URLs it bounds the size of
/// the store's item, which every request reads.
pub const MAX_SOCIAL_LINKS: usize = 12;
/// The maximum length of a profile's URL in bytes.
const MAX_URL: usize = 255;

/// A CSS color: `#rrggbb`, stored in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^#[0-9a-fA-F]{6}$"))]
pub struct Color(String);

impl Color {
    /// The color as CSS has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for Color {
    const EXPECTS: &'static str = "a colour";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let digits = text.trim().strip_prefix('#').unwrap_or_default();
        if digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(format!("#{}", digits.to_ascii_lowercase())))
        } else {
            Err(Violation::new("invalid_color", "Must be a colour like `#1a2b3c`."))
        }
    }
}

primitives::string_enum! {
    /// A social network on which a store can have a profile.
    SocialNetwork {
        /// Bluesky.
        Bluesky = "bluesky",
        /// Facebook.
        Facebook = "facebook",
        /// Instagram.
        Instagram = "instagram",
        /// LinkedIn.
        Linkedin = "linkedin",
        /// Mastodon.
        Mastodon = "mastodon",
        /// Pinterest.
        Pinterest = "pinterest",
        /// Snapchat.
        Snapchat = "snapchat",
        /// Telegram.
        Telegram = "telegram",
        /// Threads.
        Threads = "threads",
        /// TikTok.
        Tiktok = "tiktok",
        /// WhatsApp.
        Whatsapp = "whatsapp",
        /// X.
        X = "x",
        /// YouTube.
        Youtube = "youtube",
        /// Any other.
        Other = "other",
    }
}

/// The URL of a profile: `https`, at most 255 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ProfileUrl(WebUrl);

impl FromText for ProfileUrl {
    const EXPECTS: &'static str = "an https URL";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim();
        if text.len() > MAX_URL {
            return Err(Violation::new("too_long", format!("Must have at most {MAX_URL} bytes.")));
        }
        // `WebUrl` allows plain http for loopback, which is of no use to shoppers.
        let secure = text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        match WebUrl::from_text(text) {
            Ok(url) if secure => Ok(Self(url)),
            _ => Err(Violation::new("invalid_url", "Must be an https URL.")),
        }
    }
}

primitives::text_field!(Color, ProfileUrl);

/// A store's profile on a network.
#[request]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocialLink {
    /// The network.
    pub network: SocialNetwork,
    /// The URL of the profile.
    pub url: ProfileUrl,
}

/// A store's social profiles in display order: at most one of each network, except `other`.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct SocialLinks(pub Vec<SocialLink>);

impl Deserr<FieldErrors> for SocialLinks {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let AtMost(links) =
            AtMost::<SocialLink, MAX_SOCIAL_LINKS>::deserialize_from_value(value, location)?;
        let (mut seen, mut errors) = (Vec::new(), FieldErrors::default());
        for (index, link) in links.iter().enumerate() {
            if link.network != SocialNetwork::Other && seen.contains(&link.network) {
                let link = location.push_index(index);
                errors.add_at(link.push_key("network"), || {
                    Violation::new("duplicate", "Another entry has this network.")
                });
            }
            seen.push(link.network);
        }
        if errors.is_empty() { Ok(Self(links)) } else { Err(errors) }
    }
}

/// The branding of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branding {
    /// The logo.
    pub logo: Option<MediaId>,
    /// The favicon.
    pub favicon: Option<MediaId>,
    /// The primary color.
    pub primary_color: Option<Color>,
    /// The secondary color.
    pub secondary_color: Option<Color>,
    /// The slogan: one line about the store.
    pub slogan: Option<String>,
    /// The description: one paragraph about the store.
    pub short_description: Option<String>,
    /// The profiles on social networks.
    pub social_links: Vec<SocialLink>,
}

impl Branding {
    /// Its images, each with the name of its field.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, &MediaId)> {
        let named = [("logo", &self.logo), ("favicon", &self.favicon)];
        named.into_iter().filter_map(|(field, id)| Some((field, id.as_ref()?)))
    }

    fn uses_image(&self, id: &MediaId) -> bool {
        self.images().any(|(_, used)| used == id)
    }

    /// Its images that `other` does not have, without duplicates.
    fn beyond<'a>(&'a self, other: &Self) -> Vec<(&'static str, &'a MediaId)> {
        let mut beyond: Vec<_> = self.images().filter(|(_, id)| !other.uses_image(id)).collect();
        // The logo may also be the favicon: one transaction cannot write an image twice.
        beyond.dedup_by_key(|(_, id)| *id);
        beyond
    }
}

/// The field error `unknown_media` of an image of the branding.
pub fn unknown_image(field: &str) -> FieldError {
    let violation = Violation::new("unknown_media", "There is no such image in the store.");
    FieldError::at(format!("/branding/{field}/media_id"), violation)
}

/// Retains the images that a change of the branding adds, and releases those that it removes.
pub fn retain_media(write: Write, store: &StoreId, before: &Branding, after: &Branding) -> Write {
    let write = after.beyond(before).into_iter().fold(write, |write, (field, id)| {
        image::hold(write, store, id, Problem::invalid(vec![unknown_image(field)]))
    });
    let removed = before.beyond(after).into_iter();
    removed.fold(write, |write, (_, id)| image::release(write, store, id))
}

/// An image in a response.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BrandingImageView {
    /// The media's id.
    pub media_id: MediaId,
    /// The public URL.
    pub url: String,
}

core_types::view! {
    /// The branding of a store, with public URLs of its images.
    #[derive(Default)]
    BrandingView of (branding: Branding, base_url: &str, subdomain: &Subdomain) {
        /// The logo.
        logo: Option<BrandingImageView> = BrandingImageView::of(branding.logo.as_ref(), base_url, subdomain),
        /// The favicon.
        favicon: Option<BrandingImageView> = BrandingImageView::of(branding.favicon.as_ref(), base_url, subdomain),
        /// The primary color.
        primary_color: Option<Color>,
        /// The secondary color.
        secondary_color: Option<Color>,
        /// The slogan: one line about the store.
        slogan: Option<String>,
        /// The description: one paragraph about the store.
        short_description: Option<String>,
        /// The profiles on social networks.
        social_links: Vec<SocialLink>,
    }
}

impl BrandingImageView {
    /// The response about an image, with its URL on the storefront of this subdomain.
    fn of(id: Option<&MediaId>, base_url: &str, subdomain: &Subdomain) -> Option<Self> {
        let media_id = id?.clone();
        let url = image::url(&media_id, base_url, subdomain);
        Some(Self { media_id, url })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_digits() {
        assert_eq!(Color::from_text("#1A2b3C").unwrap(), Color("#1a2b3c".into()));
        for bad in ["", "#", "1a2b3c", "#1a2b3", "#1a2b3c4", "#1a2b3g", "red", "##1a2b3c", "#é1a2"]
        {
            assert!(Color::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn profiles_are_https() {
        assert!(ProfileUrl::from_text("https://instagram.com/blue-bottle").is_ok());
        for bad in [
            "",
            "instagram.com/x",
            "http://instagram.com/x",
            "http://localhost/x",
            "https://",
            "https:instagram.com",
            "https://user@instagram.com",
            "javascript:alert(1)",
            "ééééé",
        ] {
            assert!(ProfileUrl::from_text(bad).is_err(), "{bad}");
        }
        let long = format!("https://example.com/{}", "x".repeat(MAX_URL));
        assert_eq!(ProfileUrl::from_text(&long).unwrap_err().code, "too_long");
    }

    #[test]
    fn an_image_is_held_once() {
        let [one, two] = ["1", "2"].map(|id| MediaId::derive(&[id]));
        let plain = Branding::default();
        let both = Branding { logo: Some(one.clone()), favicon: Some(one.clone()), ..plain };
        assert_eq!(both.beyond(&Branding::default()), [("logo", &one)]);
        // It stays held as long as one field has it.
        let one_left = Branding { logo: Some(two.clone()), ..both.clone() };
        assert_eq!(one_left.beyond(&both), [("logo", &two)]);
        assert!(both.beyond(&one_left).is_empty());
        let swapped = Branding { logo: Some(one), favicon: Some(two), ..Branding::default() };
        assert!(swapped.beyond(&one_left).is_empty() && one_left.beyond(&swapped).is_empty());
    }
}
