//! What every command is given: how to print, and where and as whom it acts.

use std::io::{IsTerminal, Write as _};
use std::net::IpAddr;

use serde_json::Value;
use url::{Host, Url};

use crate::args::Global;
use crate::client::Client;
use crate::failure::Failure;
use crate::output::Output;
use crate::profile::{Directory, Profile};
use crate::request::Request;
use crate::secret::Secret;

/// Where a local system listens.
const LOCAL: &str = "http://127.0.0.1:3000";

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    pub output: Output,
    pub directory: Directory,
    global: Global,
    /// The credential of `COMMERCE_TOKEN`, which stands in for the profile's session.
    token: Option<Secret>,
}

impl Context {
    pub fn new(global: Global) -> Result<Self, Failure> {
        let output = Output::new(global.json, global.quiet);
        let directory = Directory::open(global.config_dir.clone())?;
        let token = global.token.clone().filter(|token| !token.is_empty()).map(Secret::from);
        Ok(Self { output, directory, global, token })
    }

    pub fn profile_name(&self) -> &str {
        &self.global.profile
    }

    /// The profile; an empty one if it was not made yet.
    pub fn profile(&self) -> Result<Profile, Failure> {
        Ok(self.directory.load(self.profile_name())?.unwrap_or_default())
    }

    pub fn change_profile(&self, change: impl FnOnce(&mut Profile)) -> Result<(), Failure> {
        self.directory.change(self.profile_name(), change)
    }

    /// The address of the API: of the command line, of the profile, or of a local system.
    pub fn api(&self) -> Result<Url, Failure> {
        let profile = self.profile()?;
        let own = Some(profile.api.as_str()).filter(|api| !api.is_empty());
        parse_api(self.global.api.as_deref().or(own).unwrap_or(LOCAL))
    }

    /// A client without a session.
    pub fn stranger(&self) -> Result<Client<'_>, Failure> {
        Client::new(self, &self.api()?, None)
    }

    /// A client with the session, for what belongs to no store.
    pub fn merchant(&self) -> Result<Client<'_>, Failure> {
        let api = self.api()?;
        if let Some(token) = &self.token {
            return Client::new(self, &api, Some(token.clone()));
        }
        let profile = self.profile()?;
        let name = self.profile_name();
        let Some(session) = profile.session else {
            let text = format!("Profile {name} is not signed in: commerce login");
            return Err(Failure::NotSignedIn(text));
        };
        // A token goes to nobody but its issuer.
        if parse_api(&profile.api)? != api {
            let text = format!(
                "Profile {name} is signed in at {}, not at {api}: use another --profile",
                profile.api
            );
            return Err(Failure::NotSignedIn(text));
        }
        Client::new(self, &api, Some(session.token)).map(Client::of_profile)
    }

    /// A client that acts on the store of `--store`, or of the profile. Without either the API decides: a
    /// merchant's only store needs no name.
    pub async fn client(&self) -> Result<Client<'_>, Failure> {
        let client = self.merchant()?;
        match self.store(&client).await? {
            Some(store) => Ok(client.on_store(store)),
            None => Ok(client),
        }
    }

    async fn store(&self, client: &Client<'_>) -> Result<Option<String>, Failure> {
        match &self.global.store {
            Some(id) if id.starts_with("sto_") => Ok(Some(id.clone())),
            Some(subdomain) => find_store(client, subdomain).await.map(|store| Some(store.id)),
            None if self.token.is_some() => Ok(None),
            None => Ok(self.profile()?.store.map(|store| store.id)),
        }
    }

    /// What to say when the API no longer takes the credential.
    pub fn session_over(&self) -> String {
        if self.token.is_some() {
            "COMMERCE_TOKEN is not valid any more".to_owned()
        } else {
            format!("The session of profile {} has ended: commerce login", self.profile_name())
        }
    }
}

/// Asks for a line. On a terminal what is typed is shown only if it is no secret.
pub fn ask(prompt: &str, is_secret: bool) -> Result<String, Failure> {
    let answer = if is_secret && std::io::stdin().is_terminal() {
        rpassword::prompt_password(prompt)?
    } else {
        if std::io::stdin().is_terminal() {
            let mut err = std::io::stderr().lock();
            write!(err, "{prompt}").and_then(|()| err.flush())?;
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        line
    };
    let answer = answer.trim_end_matches(['\r', '\n']).to_owned();
    let what = prompt.trim_end_matches([' ', ':']);
    if answer.is_empty() {
        return Err(Failure::Usage(format!("{what} is missing")));
    }
    Ok(answer)
}

/// Asks for consent, unless it was given by `--yes`.
pub fn confirm(question: &str, is_given: bool) -> Result<(), Failure> {
    if is_given {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(format!("{question} Say so with --yes")));
    }
    let answer = ask(&format!("{question} [y/N] "), false)?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if is_yes { Ok(()) } else { Err(Failure::Interrupted("Nothing was done".into())) }
}

/// Finds a store that the session may act on by its id or its subdomain.
pub async fn find_store(client: &Client<'_>, name: &str) -> Result<crate::profile::Store, Failure> {
    let session = client.json(&Request::get("/v1/auth/custom/session")).await?;
    let stores = session.get("stores").and_then(Value::as_array);
    let text = |store: &Value, member: &str| {
        store.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found = stores.into_iter().flatten().find(|store| {
        [text(store, "id"), text(store, "subdomain")].iter().any(|known| known == name)
    });
    let found = found.ok_or_else(|| {
        Failure::Usage(format!("No store of yours is called {name}: commerce stores list"))
    })?;
    Ok(crate::profile::Store { id: text(found, "id"), subdomain: text(found, "subdomain") })
}

/// The address of an API: https, or a machine's own.
fn parse_api(text: &str) -> Result<Url, Failure> {
    let fault = |why: &str| Failure::Usage(format!("--api {text}: {why}"));
    let url: Url = text.parse().map_err(|_| fault("this is no URL"))?;
    if url.path() != "/" || url.query().is_some() || !url.username().is_empty() {
        return Err(fault("name the scheme and the host alone"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(fault("a token is sent to other machines by https alone")),
        _ => Err(fault("this is no URL of the web")),
    }
}

/// Whether an address is of this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_https_or_stays_on_the_machine() {
        for good in ["https://api.example.com", "http://127.0.0.1:3000", "http://[::1]:1/"] {
            assert!(parse_api(good).is_ok(), "{good}");
        }
        for bad in ["http://api.example.com", "ftp://localhost", "https://x/v1", "https://u@x", "x"]
        {
            assert!(parse_api(bad).is_err(), "{bad}");
        }
    }
}
