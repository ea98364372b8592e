//! `/v1/auth` — merchant identity: sign-up, sign-in by password or one-time code with an optional second
//! factor, sessions, passwords, the account itself.
//!
//! A request about an e-mail address gets the same response, for the same work, whether or not it has an
//! account; only sign-up reports that an address is taken. Every guess is counted before it is validated
//! ([`identity::throttle`]). Codes and links are mailed in the transaction that makes them valid
//! ([`core_types::mail`]).

mod account;
mod email;
mod mfa;
mod otp;
mod password;
mod session;
mod signin;

use gateway::budget::Cost;
use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
        .rate_limit_fails_closed(&["/v1/auth/"])
        .post("/v1/auth/signup", Cost::WRITE, signin::signup)
        .post("/v1/auth/signin", Cost::WRITE, signin::signin)
        .post("/v1/auth/signin/otp", Cost::CODE, otp::request)
        .post("/v1/auth/signin/otp/verify", Cost::WRITE, otp::verify)
        .post("/v1/auth/signout", Cost::WRITE, signin::signout)
        .post("/v1/auth/password/reset", Cost::CODE, password::reset)
        .post("/v1/auth/password/update", Cost::WRITE, password::update)
        .get("/v1/auth/custom/session", Cost::READ, session::custom)
        .post("/v1/auth/email/verify", Cost::WRITE, email::verify)
        .post("/v1/auth/email/verify/resend", Cost::CODE, email::resend)
        .get("/v1/auth/sessions", Cost::List, session::list)
        .delete("/v1/auth/sessions/{id}", Cost::WRITE, session::delete)
        .existence_check("/v1/auth/sessions/{id}", session::ensure_exists)
        .post("/v1/auth/session/refresh", Cost::WRITE, session::refresh)
        .post("/v1/auth/mfa/totp", Cost::WRITE, mfa::enrol)
        .post("/v1/auth/mfa/totp/confirm", Cost::WRITE, mfa::confirm_totp)
        .delete("/v1/auth/mfa/totp", Cost::WRITE, mfa::delete)
        .get("/v1/auth/me", Cost::READ, account::get)
        .patch("/v1/auth/me", Cost::WRITE, account::update)
        .delete("/v1/auth/me", Cost::WRITE, account::delete)
}
