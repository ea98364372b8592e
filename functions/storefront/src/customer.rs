//! A customer's account: sign-in, sign-out, profile, orders, deletion.
//!
//! A request about an e-mail address gets the same response, for the same work, whether or not it has an
//! account. That holds for a registration, too: the account is created when the mailed code is returned
//! ([`otp`](crate::customer_otp)).

use axum::extract::State;
use core_types::fields::{Email, PersonName, Phone};
use core_types::id::OrderId;
use core_types::key;
use core_types::mail::Mail;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Accepted, Either, Json, NoContent, NoStore, Page, Typed};
use gateway::request::{Body, IfMatch, Inbound, Path, Raw};
use identity::account::Account;
use identity::authentication::{self, PresentedCode, SignOutRequest, confirm};
use identity::customer::{
    AccountView, BY_CUSTOMER, CUSTOMER_UPDATED, Customer, CustomerDeleted, CustomerSession,
    erase_items_except, remove,
};
use identity::notifications;
use identity::password::Guess;
use identity::session::CreatedVia;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Patch};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::cart;
use sales::order::shopper::ShopperOrderView;
use sales::order::{Order, OrderStatus};
use schemars::JsonSchema;
use serde::Serialize;
use table::item::Item;
use table::{Query, Write};

use crate::customer_email::{self, AccountWithEmailChange};
use crate::store_in_body::{StoreBody, StoreInBody};

/// The response to a sign-in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CustomerSignedIn {
    /// The account.
    customer: AccountView,
    /// The token, returned once.
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds until the session expires.
    expires_in: i64,
    expires_at: Timestamp,
}

/// Begins a session, and builds the response with its token.
pub(crate) fn begin<const STATUS: u16>(
    account: &Customer,
    via: CreatedVia,
    inbound: &Inbound,
    now: Timestamp,
) -> (CustomerSession, NoStore<Typed<STATUS, CustomerSignedIn>>) {
    let (session, token) = CustomerSession::begin(account, via, inbound.client_prefix(), now);
    let body = CustomerSignedIn {
        customer: account.into(),
        access_token: token,
        token_type: "Bearer",
        expires_in: now.seconds_until(session.expires_at),
        expires_at: session.expires_at,
    };
    (session, Typed::new(&body).no_store())
}

/// A sign-in of a customer.
#[request]
#[derive(Debug)]
pub(crate) struct CustomerLoginRequest {
    /// The address of the account.
    email: Email,
    /// The password.
    password: Guess,
}

/// `POST /v1/storefront/customer/login` (`signInCustomer`): Sign in a customer with a password.
///
/// Begins a session at the store.
///
/// # Errors
/// `store_required`, `storefront_not_found`; `invalid_credentials`, the same for an unknown address;
/// `account_disabled`, only with the right password; `too_many_attempts`.
pub(crate) async fn login(
    named: StoreInBody,
    State(app): State<App>,
    Raw(inbound): Raw,
    StoreBody(input): StoreBody<CustomerLoginRequest>,
) -> Result<NoStore<Json<CustomerSignedIn>>, Problem> {
    let at = (&named.store.id, &input.email);
    let (account, subject): (Customer, _) =
        authentication::by_password(&app, at, &input.password, &inbound.client_prefix()).await?;
    let now = app.clock.now();
    let (session, answer) = begin(&account, CreatedVia::Password, &inbound, now);
    app.table
        .write()
        .create(&session, Code::VersionConflict)
        .delete(&subject.key())
        .answer(answer, now)
        .await
}

/// `POST /v1/storefront/customer/logout` (`signOutCustomer`): Sign out a customer.
///
/// Ends the session; with `all`, every session of the customer.
pub(crate) async fn logout(
    caller: callers::Customer,
    State(app): State<App>,
    Body(input): Body<SignOutRequest>,
) -> Result<NoContent, Problem> {
    let session = (&caller.account, &caller.session);
    let completion = answering(|(): &()| NoContent::default());
    authentication::sign_out(&app, session, &input, &completion).await
}

fn to_response(account: &Customer) -> Json<AccountView> {
    Json::new(&AccountView::from(account)).version(account.version)
}

/// `GET /v1/storefront/customer/me` (`getCustomerAccount`): Get the customer's own account.
///
/// Returns the account of the session.
pub(crate) async fn get(caller: callers::Customer) -> Result<Json<AccountView>, Problem> {
    Ok(to_response(&caller.account))
}

/// A change of a customer's account.
#[request]
#[derive(Debug)]
pub(crate) struct UpdateCustomerAccountRequest {
    /// The person's name; `null` clears it.
    name: Patch<PersonName>,
    /// The person's telephone number; `null` clears it.
    phone: Patch<Phone>,
    /// Whether the store may send marketing.
    accepts_marketing: Option<Flag>,
    /// A new e-mail address, which must be verified.
    email: Option<Email>,
    /// The current password, if the account has one; required for a new address.
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's address, if it has no password; required for a new address.
    one_time_code: Option<PresentedCode>,
}

/// The updated account; with a new address, the account and the pending change.
type UpdateReply = Either<Json<AccountView>, Accepted<AccountWithEmailChange>>;

/// `PATCH /v1/storefront/customer/me` (`updateCustomerAccount`): Update the customer's own account.
///
/// A new address takes effect when the code mailed there is verified, like a sign-in code. Until then the
/// response is 202, with `email_change` in addition to the account.
///
/// # Errors
/// `owner_unverified`, for a new address; `invalid_credentials`, `invalid_or_expired_code`,
/// `too_many_attempts`.
pub(crate) async fn update(
    caller: callers::Customer,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(input): Body<UpdateCustomerAccountRequest>,
) -> Result<UpdateReply, Problem> {
    let account = &caller.account;
    if_match.check(account.version)?;
    let mut next = account.changed(app.clock.now());
    input.name.apply(&mut next.name);
    if input.phone != Patch::Keep {
        let mut phone = None;
        input.phone.apply(&mut phone);
        next = next.reached_at(phone, &caller.store.country);
    }
    if let Some(accepts) = input.accepts_marketing {
        next = next.with_consent(accepts.0, BY_CUSTOMER, app.clock.now());
    }
    let pending = match input.email {
        None => None,
        // An address that differs in case alone needs no verification.
        Some(email)
            if account.email.as_ref().map(Email::normalized) == Some(email.normalized()) =>
        {
            next.email = Some(email);
            None
        }
        Some(email) => {
            let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
            Some(customer_email::request(&app, &caller, email, proof, &inbound).await?)
        }
    };
    let fields = |account: &Customer| {
        let (name, phone) = (account.name.clone(), account.phone.clone());
        (name, phone, account.accepts_marketing, account.email.clone())
    };
    let changed = fields(&next) != fields(account);
    let current = if changed { &next } else { account };
    if !changed && pending.is_none() {
        return Ok(Either::Left(to_response(current)));
    }
    let now = app.clock.now();
    let answer = match &pending {
        None => Either::Left(to_response(current)),
        Some(wait) => Either::Right(wait.answer(current)),
    };
    let write = app.table.write().when_some(changed.then_some(&next), |write, next| {
        next.save(write, Code::VersionConflict).emit(next.event(&CUSTOMER_UPDATED, now))
    });
    write.when_some(pending, Write::emit).answer(answer, now).await
}

/// The deletion of a customer's account.
#[request]
#[derive(Debug)]
pub(crate) struct DeleteCustomerAccountRequest {
    /// The current password, if the account has one (our choice: a stolen token must not suffice).
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's address, if it has no password.
    one_time_code: Option<PresentedCode>,
}

/// `DELETE /v1/storefront/customer/me` (`deleteCustomerAccount`): Delete the customer's own account.
///
/// Deletes the account with its cart, addresses, wishlist and sessions at once (our choice). Orders stay, as the
/// store must retain them; reviews stay under the first name that they show.
///
/// **After a crash.** Before the account itself is removed, it has fewer addresses and wishes, and can be
/// deleted again. After that, items may remain that nobody can reach.
///
/// # Errors
/// `invalid_credentials`, `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn delete(
    caller: callers::Customer,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(input): Body<DeleteCustomerAccountRequest>,
) -> Result<Accepted<CustomerDeleted>, Problem> {
    let account = &caller.account;
    if_match.check(account.version)?;
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Required to delete the account.";
    let confirmed = confirm(&app, account, proof, needed_to, &inbound.client_prefix()).await?;
    let key = app.secrets.mail_key().await?;
    // The session is removed with the account: after a failure below, the caller can try again.
    cart::owned::erase(&app, &account.store_id, &account.id).await?;
    erase_items_except(&app, &account.key(), key::SESSIONS).await?;
    let now = app.clock.now();
    let mail = account.email.as_ref().map(|email| {
        let content = notifications::customer::deleted(email, now);
        Mail::compose(&key, &content.from_store(Some(&account.store_id)), now)
    });
    let mail = mail.transpose()?;
    let deleted = CustomerDeleted { id: account.id.clone(), deleted_at: now };
    let write = confirmed.add_use(app.table.write(), now);
    let answer = remove(write, account, Code::Unauthenticated, now)
        .when_some(mail, Write::emit)
        .answer(Accepted::new(&deleted), now)
        .await?;
    // Removes items that were added meanwhile; nothing more can be added now.
    erase_items_except(&app, &account.key(), "").await?;
    Ok(answer)
}

/// `GET /v1/storefront/customer/orders` (`listOwnOrders`): List the customer's own orders.
///
/// Lists the customer's orders, newest first.
///
/// Drafts are left out.
pub(crate) async fn list_orders(
    caller: callers::Customer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ShopperOrderView>, Problem> {
    let account = &caller.account;
    let all = key::list::orders_of_customer(&account.store_id, &account.id);
    let query = Query::list(all).newest_first();
    let placed = |order: &Order| order.status != OrderStatus::Draft;
    let now = app.clock.now();
    paging.query(&app, &query, placed, |order| ShopperOrderView::of(&order, now)).await
}

/// `GET /v1/storefront/customer/orders/{id}` (`getOwnOrder`): Get one of the customer's own orders.
///
/// The response has its fulfillments and its allowed actions.
///
/// # Errors
/// `not_found`, also for another customer's.
pub(crate) async fn get_order(
    caller: callers::Customer,
    State(app): State<App>,
    Path(id): Path<OrderId>,
) -> Result<Json<ShopperOrderView>, Problem> {
    let account = &caller.account;
    let order: Option<Order> = app.table.get(&key::order(&account.store_id, &id)).await?;
    let own = |order: &Order| {
        order.customer_id.as_ref() == Some(&account.id) && order.status != OrderStatus::Draft
    };
    let order = order.filter(own).ok_or(Code::NotFound)?;
    let view = ShopperOrderView::of(&order, app.clock.now());
    Ok(Json::new(&view).version(order.version))
}
