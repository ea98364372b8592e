//! How a store presents itself: its pictures, its colours, its words, and where else it is found.

use core_types::fields::{Subdomain, WebUrl};
use core_types::id::{MediaId, StoreId};
use core_types::image;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::problem::{FieldError, Problem};
use primitives::fields::{AtMost, Fault, FieldErrors, FromText};
use gateway::request::request;
use table::Write;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Profiles of one store elsewhere. With the length of their URLs it keeps a store, which every
/// request reads, small.
pub const MAX_SOCIAL_LINKS: usize = 12;
/// Bytes of a profile's URL.
const MAX_URL: usize = 255;

/// A colour as style sheets write it: `#rrggbb`, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^#[0-9a-fA-F]{6}$"))]
pub struct Color(String);

impl FromText for Color {
    const EXPECTS: &'static str = "a colour";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let digits = text.trim().strip_prefix('#').unwrap_or_default();
        if digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(format!("#{}", digits.to_ascii_lowercase())))
        } else {
            Err(Fault::new("invalid_color", "Must be a colour like `#1a2b3c`."))
        }
    }
}

primitives::string_enum! {
    /// A network that a store can have a profile on.
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

/// Where a profile is: an `https` URL of at most 255 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ProfileUrl(WebUrl);

impl FromText for ProfileUrl {
    const EXPECTS: &'static str = "an https URL";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        if text.len() > MAX_URL {
            return Err(Fault::new("too_long", format!("Must have at most {MAX_URL} bytes.")));
        }
        // Shoppers follow it: plain http, which `WebUrl` lets pass for loopback, leads nobody.
        let secure = text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        match WebUrl::from_text(text) {
            Ok(url) if secure => Ok(Self(url)),
            _ => Err(Fault::new("invalid_url", "Must be an https URL.")),
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
    /// Where the profile is.
    pub url: ProfileUrl,
}

/// A store's profiles in the order they are shown: at most one of each network, but any of
/// others.
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
                    Fault::new("duplicate", "Name each network once.")
                });
            }
            seen.push(link.network);
        }
        if errors.is_empty() { Ok(Self(links)) } else { Err(errors) }
    }
}

/// How a store presents itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branding {
    /// The picture that stands for it.
    pub logo: Option<MediaId>,
    /// The picture that browsers show beside its name.
    pub favicon: Option<MediaId>,
    /// What stands out.
    pub primary_color: Option<Color>,
    /// What goes with it.
    pub secondary_color: Option<Color>,
    /// The store in a line.
    pub slogan: Option<String>,
    /// The store in a paragraph.
    pub short_description: Option<String>,
    /// Where else it is found.
    pub social_links: Vec<SocialLink>,
}

impl Branding {
    /// Its pictures, each with the field that names it.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, &MediaId)> {
        let named = [("logo", &self.logo), ("favicon", &self.favicon)];
        named.into_iter().filter_map(|(field, id)| Some((field, id.as_ref()?)))
    }

    fn shows(&self, id: &MediaId) -> bool {
        self.pictures().any(|(_, shown)| shown == id)
    }

    /// Its pictures, each once, that `other` does not show.
    fn beyond<'a>(&'a self, other: &Self) -> Vec<(&'static str, &'a MediaId)> {
        let mut beyond: Vec<_> = self.pictures().filter(|(_, id)| !other.shows(id)).collect();
        // The logo may be the favicon too, and is held once: no transaction touches it twice.
        beyond.dedup_by_key(|(_, id)| *id);
        beyond
    }
}

/// `unknown_media` as a fault of a branding's picture.
pub fn unknown_picture(field: &str) -> FieldError {
    let fault = Fault::new("unknown_media", "There is no such image on this store.");
    FieldError { pointer: format!("/branding/{field}/media_id"), fault }
}

/// Holds the pictures that a store shows from now on, and releases those it shows no longer.
pub fn hold_pictures(write: Write, store: &StoreId, before: &Branding, after: &Branding) -> Write {
    let write = after.beyond(before).into_iter().fold(write, |write, (field, id)| {
        image::hold(write, store, id, Problem::invalid(vec![unknown_picture(field)]))
    });
    let gone = before.beyond(after).into_iter();
    gone.fold(write, |write, (_, id)| image::release(write, store, id))
}

/// A picture as it is shown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PictureView {
    /// The media it is.
    pub media_id: MediaId,
    /// Where everybody finds it.
    pub url: String,
}

core_types::view! {
    /// How a store presents itself, as everybody sees it.
    #[derive(Default)]
    BrandingView of (branding: Branding, base_url: &str, subdomain: &Subdomain) {
        /// The picture that stands for it.
        logo: Option<PictureView> = PictureView::of(branding.logo.as_ref(), base_url, subdomain),
        /// The picture that browsers show beside its name.
        favicon: Option<PictureView> = PictureView::of(branding.favicon.as_ref(), base_url, subdomain),
        /// What stands out.
        primary_color: Option<Color>,
        /// What goes with it.
        secondary_color: Option<Color>,
        /// The store in a line.
        slogan: Option<String>,
        /// The store in a paragraph.
        short_description: Option<String>,
        /// Where else it is found.
        social_links: Vec<SocialLink>,
    }
}

impl PictureView {
    /// A picture, on the storefront of this subdomain.
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
    fn a_picture_is_held_once_however_often_it_is_shown() {
        let [one, two] = ["1", "2"].map(|id| MediaId::derive(&[id]));
        let plain = Branding::default();
        let both = Branding { logo: Some(one.clone()), favicon: Some(one.clone()), ..plain };
        assert_eq!(both.beyond(&Branding::default()), [("logo", &one)]);
        // It stays held as long as one of them shows it.
        let one_left = Branding { logo: Some(two.clone()), ..both.clone() };
        assert_eq!(one_left.beyond(&both), [("logo", &two)]);
        assert!(both.beyond(&one_left).is_empty());
        let swapped = Branding { logo: Some(one), favicon: Some(two), ..Branding::default() };
        assert!(swapped.beyond(&one_left).is_empty() && one_left.beyond(&swapped).is_empty());
    }
}
