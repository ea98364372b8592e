//! Who may see a shop that asks for a password: who has entered it, and who has the token of a preview.

use axum::response::{IntoResponse, Response};
use crypto::seal::MacKey;
use http::{HeaderValue, StatusCode, header};
use identity::settings::Shop;
use primitives::clock::{DAY, Timestamp};

use crate::fault::Fault;
use crate::visit::{ACCESS, Visit};

/// The page that asks for the password.
pub(crate) const PASSWORD_PAGE: &str = "/password";
/// The domain separator of the MAC: tags of other things never equal it.
const PURPOSE: &str = "shop-password-v1";
/// The days for which a visitor need not enter the password again.
const DAYS: u32 = 30;

/// Ensures that the visitor may see the shop. Others are led to the page that asks for the password.
pub(crate) async fn ensure_admitted(visit: &Visit) -> Result<(), Response> {
    if !visit.store().password_protected {
        return Ok(());
    }
    match has_password(visit).await {
        Ok(true) => Ok(()),
        Ok(false) if has_preview(visit).await => Ok(()),
        Ok(false) => Err(found(PASSWORD_PAGE)),
        Err(fault) => Err(fault.into_response()),
    }
}

/// A redirect that nobody keeps: the shop may be open soon.
fn found(to: &'static str) -> Response {
    let headers = [
        (header::LOCATION, HeaderValue::from_static(to)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::FOUND, headers).into_response()
}

async fn has_password(visit: &Visit) -> Result<bool, Fault> {
    let Some(cookie) = visit.cookie(ACCESS) else { return Ok(false) };
    let keys = visit.shops.app.secrets.keys().await?;
    let shop = &visit.settings().await?.shop;
    let now = visit.shops.app.clock.now();
    Ok(is_valid(cookie, &keys.shops, (visit.store().id.as_str(), shop), now))
}

/// Whether the visitor has the token of a preview that is not over.
async fn has_preview(visit: &Visit) -> bool {
    visit.preview_session().await.is_ok_and(|session| session.is_some())
}

/// The value of the cookie of a visitor who has entered the password.
///
/// # Errors
/// 503.
pub(crate) async fn pass(visit: &Visit) -> Result<String, Fault> {
    let keys = visit.shops.app.secrets.keys().await?;
    let shop = &visit.settings().await?.shop;
    let expires = visit.shops.app.clock.now().plus(DAY.saturating_mul(DAYS));
    Ok(signed(&keys.shops, (visit.store().id.as_str(), shop), expires))
}

fn signed(key: &MacKey, (store, shop): (&str, &Shop), expires: Timestamp) -> String {
    // The hash has a salt: another password, or the same set again, has another one.
    let hash = shop.password_hash.as_deref().unwrap_or_default();
    let expires = expires.millis();
    let tag = key.token(format!("{PURPOSE}\n{store}\n{expires}\n{hash}").as_bytes());
    format!("{expires}.{tag}")
}

fn is_valid(cookie: &str, key: &MacKey, of: (&str, &Shop), now: Timestamp) -> bool {
    let expires = cookie.split_once('.').and_then(|(expires, _)| expires.parse().ok());
    let expires = expires.map(Timestamp::from_millis).filter(|expires| now < *expires);
    let has_password = of.1.password_hash.is_some();
    expires.filter(|_| has_password).is_some_and(|expires| {
        let own = signed(key, of, expires);
        crypto::signature::constant_time_eq(own.as_bytes(), cookie.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_with_its_password() {
        let key = MacKey::generate();
        let now = Timestamp::from_millis(1_000);
        let shop = |hash: &str| Shop { password_hash: Some(hash.into()), ..Shop::default() };
        let pass = signed(&key, ("sto_1", &shop("a")), Timestamp::from_millis(2_000));
        let admits = |cookie: &str, store: &str, shop: &Shop, now| {
            is_valid(cookie, &key, (store, shop), now)
        };
        assert!(admits(&pass, "sto_1", &shop("a"), now));
        assert!(!admits(&pass, "sto_1", &shop("b"), now), "another password");
        assert!(!admits(&pass, "sto_2", &shop("a"), now), "another shop");
        assert!(!admits(&pass, "sto_1", &shop("a"), Timestamp::from_millis(2_000)), "over");
        assert!(!admits(&pass, "sto_1", &Shop::default(), now));
        let later = pass.replacen("2000", "9000", 1);
        for forged in ["", ".", "9000.", "x.y", &later, &format!("{pass}x")] {
            assert!(!admits(forged, "sto_1", &shop("a"), now), "{forged}");
        }
    }
}
