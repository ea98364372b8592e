//! The markup of the consent page and of its error page. All content of apps is escaped, and neither page
//! loads anything.

use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use core_types::scope::{self, Scopes};
use gateway::reply::{Html, Reply, TextOf};
use http::header;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use platform::app::CommerceApp;
use platform::developer::Developer;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The only style of both pages.
const STYLE: &str = include_str!("style.css");
/// The only script of the consent page.
const SCRIPT: &str = include_str!("script.js");

/// The content security policy of both pages: [`STYLE`], [`SCRIPT`], and requests to this service. No page may
/// frame them (RFC 9700 §4.16).
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
});

/// Why a request gets an error page instead of a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    /// The client id is of no app in the catalogue.
    Client,
    /// The redirect URI is not one of the app's.
    RedirectUri,
}

impl Mistake {
    /// The error page. It repeats nothing of the request, and leads nowhere.
    pub(super) fn page(self) -> TextOf<Html, 400> {
        let (code, detail) = match self {
            Self::Client => ("invalid_client", "It names no app that is in the app store."),
            Self::RedirectUri => (
                "invalid_redirect_uri",
                "It asks to send you to an address that the app has not registered.",
            ),
        };
        let content = html! {
            h1 { "This link does not work" }
            p { (detail) " Nothing was approved. You can close this page." }
            p.fine { "For the app's developer: " code { (code) } }
        };
        guarded(&document("This link does not work", &content))
    }
}

/// What the consent page shows.
pub(super) struct Consent<'a> {
    pub(super) app: &'a CommerceApp,
    pub(super) developer: Option<&'a Developer>,
    /// The requested scopes.
    pub(super) scopes: &'a Scopes,
    pub(super) redirect_uri: &'a str,
    /// The fields of the operation that approves it.
    pub(super) fields: Map<String, Value>,
    /// Where the browser goes on if the merchant cancels.
    pub(super) denied: String,
}

impl Consent<'_> {
    /// The page.
    pub(super) fn page(&self) -> TextOf<Html> {
        let content = html! {
            (self.header())
            noscript {
                p.notice {
                    "To sign in and decide, this page needs JavaScript. Allow it for this page and load it \
                     again, or go back to the app."
                }
                p { a.button href=(self.denied) { "Cancel" } }
            }
            p #message .notice role="alert" hidden {}
            p #status .unseen role="status" {}
            (self.sign_in())
            (second_step("code", "Enter the code from your mail", CODE_HINT, "Mail another code"))
            (second_step("totp", "Enter your second factor", TOTP_HINT, "Start again"))
            (self.decision())
            (self.endings())
            script #request type="application/json" { (PreEscaped(self.data())) }
            script { (PreEscaped(SCRIPT)) }
        };
        guarded(&document(&format!("Authorize {}", self.app.name), &content))
    }

    /// The app and its developer.
    fn header(&self) -> Markup {
        let initial = self.app.name.chars().next().map(|letter| letter.to_uppercase().to_string());
        let listing = self.app.listing.as_ref();
        let website = self.developer.and_then(|developer| developer.website.as_ref());
        html! {
            header {
                span.mark aria-hidden="true" { (initial.unwrap_or_default()) }
                h1 { bdi { (self.app.name) } " asks for access to your store" }
                @if let Some(developer) = self.developer {
                    p.by {
                        "By " bdi { (developer.company) } " "
                        @if developer.verified { span.chip.good { "Verified developer" } }
                        @else { span.chip { "Developer not verified" } }
                    }
                }
                @if let Some(listing) = listing { p { bdi { (listing.tagline) } } }
                p.links {
                    @if let Some(listing) = listing {
                        (outside(listing.privacy_policy_url.as_str(), "Privacy policy"))
                    }
                    @if let Some(website) = website {
                        (outside(website.as_str(), "Developer’s website"))
                    }
                }
            }
        }
    }

    /// The first step: address and password.
    fn sign_in(&self) -> Markup {
        html! {
            section data-step="password" hidden {
                h2 tabindex="-1" { "Sign in to continue" }
                form #password-form {
                    label for="email" { "Email" }
                    input #email type="email" autocomplete="username" required maxlength="254"
                        aria-describedby="message";
                    label for="password" { "Password" }
                    input #password type="password" autocomplete="current-password" required
                        maxlength="128" aria-describedby="message";
                    button.primary { "Sign in" }
                }
                div.row {
                    button.plain type="button" #mail-code { "Mail me a code instead" }
                    a.plain href=(self.denied) { "Cancel" }
                }
            }
        }
    }

    /// The last step: the store, what the app may do there, and the decision.
    fn decision(&self) -> Markup {
        html! {
            section data-step="consent" hidden {
                h2 tabindex="-1" { "Review the access" }
                p.fine {
                    "Signed in as " strong #account {} ". "
                    button.plain type="button" #other-account { "Use another account" }
                }
                label for="store" { "Store" }
                select #store {}
                p #note .fine role="status" {}
                (self.permissions())
                div #dropped hidden {
                    h3 { "No longer asked for" }
                    ul {}
                }
                p {
                    "You will be sent to " strong { (host(self.redirect_uri)) }
                    ". You can end this access at any time by uninstalling the app."
                }
                div.row {
                    button.primary type="button" #approve { "Approve" }
                    button.button type="button" #deny { "Deny" }
                }
            }
        }
    }

    /// The requested scopes in words: first those that change something.
    fn permissions(&self) -> Markup {
        let group = |title: &str, of_writes: bool| {
            let in_group = |scope| {
                let (writes, access) = scope::in_words(scope)?;
                (writes == of_writes).then_some((scope, access))
            };
            let all: Vec<(&str, &str)> = self.scopes.iter().filter_map(in_group).collect();
            html! {
                @if !all.is_empty() {
                    h3 { (title) }
                    ul { @for (scope, access) in all {
                        li data-scope=(scope) { (capitalized(access)) " " span.chip.new hidden { "New" } }
                    } }
                }
            }
        };
        html! {
            @if self.scopes.is_empty() { p { "The app asks for none of your store’s data." } }
            (group("It will be able to view and change", true))
            (group("It will be able to view", false))
        }
    }

    /// What is shown when there is nothing to decide, and when it is decided.
    fn endings(&self) -> Markup {
        html! {
            section data-step="none" hidden {
                h2 tabindex="-1" { "No store to choose" }
                p { "This account is not the owner or an admin of any store, so that it cannot approve an app." }
                div.row {
                    button.button type="button" #another-account { "Use another account" }
                    a.plain href=(self.denied) { "Cancel" }
                }
            }
            section data-step="leaving" hidden {
                h2 tabindex="-1" { "Done" }
                p { "You are being sent to " strong { (host(self.redirect_uri)) } "." }
            }
        }
    }

    /// What the script needs to know, as JSON that no HTML parser takes for markup.
    fn data(&self) -> String {
        let text = json!({
            "app_id": self.app.id,
            "approve": self.fields,
            "deny": {
                "redirect_uri": self.redirect_uri,
                "state": self.fields.get("state"),
            },
        })
        .to_string();
        text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

const CODE_HINT: &str = "If there is an account with this address, a code is on its way.";
const TOTP_HINT: &str = "A code of your authenticator app, or a recovery code.";

/// A step that asks for a code.
fn second_step(name: &str, title: &str, hint: &str, other: &str) -> Markup {
    let input = format!("{name}-input");
    html! {
        section data-step=(name) hidden {
            h2 tabindex="-1" { (title) }
            form id=(format!("{name}-form")) {
                label for=(input) { "Code" }
                input id=(input) autocomplete="one-time-code" autocapitalize="off" spellcheck="false" required
                    maxlength="100" aria-describedby=(format!("{name}-hint message"));
                p.fine id=(format!("{name}-hint")) { (hint) }
                button.primary { "Continue" }
            }
            div.row {
                button.plain type="button" id=(format!("{name}-other")) { (other) }
                button.plain type="button" data-start { "Back" }
            }
        }
    }
}

/// A link to a page of somebody else, in a window of its own: this one is in the middle of something.
fn outside(url: &str, text: &str) -> Markup {
    html! { a href=(url) target="_blank" rel="noopener noreferrer nofollow" { (text) } " " }
}

/// The host of a URI, with its port if it has one.
fn host(uri: &str) -> String {
    let parsed = url::Url::parse(uri).ok();
    let host = parsed.as_ref().and_then(url::Url::host_str).unwrap_or_default();
    match parsed.as_ref().and_then(url::Url::port) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn document(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (content) } }
        }
    }
}

/// A page with the headers of both.
fn guarded<const STATUS: u16>(page: &Markup) -> TextOf<Html, STATUS> {
    TextOf::<Html, STATUS>::new(page.0.clone()).map(|answer| {
        answer
            .header(header::CONTENT_SECURITY_POLICY, &POLICY)
            .header(header::X_FRAME_OPTIONS, "DENY")
    })
}
