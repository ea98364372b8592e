//! Handlers of a store's settings.

use axum::extract::State;
use callers::Admin;
use core_types::fields::{CartLinkTemplate, DisplayName, LinkTemplate};
use core_types::key;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch};
use identity::domain::Domains;
use identity::password::NewPassword;
use identity::settings::{
    Checkout, LONGEST_DRAFT_HOLD_DAYS, LONGEST_MANUAL_PAYMENT_WINDOW, LONGEST_PAYMENT_WINDOW,
    LONGEST_REDACTION_DAYS, Notifications, Privacy, Reviews, STORE_SETTINGS_UPDATED, Settings,
    SettingsView, ShippingTax, Shop, Taxes,
};
use identity::store::{Store, set_password_protection};
use primitives::fields::{Flag, Int, Patch, Text};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use replies::ResourceReply;
use services::Services;
use table::item::Item;
use table::{Write, retry};

use crate::configuration::{save, written};

/// `GET /v1/stores/{id}/settings` (`getSettings`): Get the settings of a store.
///
/// Settings that were never changed have their defaults.
pub async fn get(caller: Admin, State(app): State<App>) -> Result<Json<SettingsView>, Problem> {
    load(&app, &caller.store).await.map(|settings| settings.to_response())
}

async fn load(services: &Services, store: &Store) -> Result<Settings, Problem> {
    let defaults = Settings::of(store);
    let found = services.table.get(&defaults.key()).await?;
    Ok(found.unwrap_or(defaults))
}

/// Loads the settings, with the store's domains, which the hosts of page settings are checked against.
async fn load_with_domains(
    services: &Services,
    store: &Store,
) -> Result<(Settings, Domains), Problem> {
    let (defaults, domains_key) = (Settings::of(store), key::domains(&store.id));
    let settings_key = defaults.key();
    let mut found = services.table.get_many(&[&settings_key, &domains_key]).await?;
    let domains = Domains::of(&store.id, found.take(&domains_key)?);
    Ok((found.take(&settings_key)?.unwrap_or(defaults), domains))
}

/// The changes of a store's settings. Omitted settings keep their values; `null` resets a group, or one
/// setting, to its default.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The settings of the checkout.
    checkout: Patch<CheckoutRequest>,
    /// The settings of mails to customers.
    notifications: Patch<NotificationsRequest>,
    /// The settings of product reviews.
    reviews: Patch<ReviewsRequest>,
    /// The settings of taxes.
    taxes: Patch<TaxesRequest>,
    /// The settings of redactions.
    privacy: Patch<PrivacyRequest>,
    /// The settings of the shop.
    shop: Patch<ShopRequest>,
}

/// The changes of the checkout settings.
#[request]
#[derive(Debug, Clone)]
pub struct CheckoutRequest {
    /// The minutes for which an unpaid order reserves its stock.
    payment_window_minutes: Patch<Int<5, LONGEST_PAYMENT_WINDOW>>,
    /// The minutes for which an order with a manual payment reserves its stock; 0: until it is paid
    /// or cancelled.
    manual_payment_window_minutes: Patch<Int<0, LONGEST_MANUAL_PAYMENT_WINDOW>>,
    /// The days for which a draft order reserves its stock; 0: until it is paid, confirmed or cancelled.
    draft_hold_days: Patch<Int<0, LONGEST_DRAFT_HOLD_DAYS>>,
    /// Whether customers can order without an account.
    guest_checkout: Patch<Flag>,
    /// Whether customers must give a telephone number.
    require_phone: Patch<Flag>,
}

/// The changes of the notification settings.
#[request]
#[derive(Debug, Clone)]
pub struct NotificationsRequest {
    /// Whether a mail confirms an order.
    order_confirmation: Patch<Flag>,
    /// Whether a mail announces a shipment.
    shipping_confirmation: Patch<Flag>,
    /// Whether a mail confirms a delivery.
    delivery_confirmation: Patch<Flag>,
    /// Whether a mail confirms a refund.
    refund_confirmation: Patch<Flag>,
    /// Whether a mail confirms that an order was cancelled, or was not paid in time.
    cancellation_confirmation: Patch<Flag>,
    /// Whether the owner is mailed about new orders, messages and requests for data.
    owner_alerts: Patch<Flag>,
    /// The sender's name in mails; the store's name by default.
    sender_name: Patch<DisplayName<1, 100>>,
    /// The store's page that shows an order: `https://shop.example/orders/{order_id}?token={token}`.
    /// Mails about orders link to it while its host is a domain that the store has verified, or the
    /// platform's.
    order_status_url: Patch<LinkTemplate>,
    /// The store's page on which an order is paid; `order_status_url` by default.
    payment_url: Patch<LinkTemplate>,
    /// The store's page that shows a cart: `https://shop.example/cart/{cart_id}#{token}`. With it, customers
    /// who accept marketing are mailed a reminder of a cart that they left.
    cart_url: Patch<CartLinkTemplate>,
    /// The store's terms and other legal notices, at the end of mails that confirm an order. Links are not
    /// allowed.
    terms: Patch<Text<1, 5_000>>,
}

/// The changes of the review settings.
#[request]
#[derive(Debug, Clone)]
pub struct ReviewsRequest {
    /// Whether only customers who have bought a product may review it.
    purchase_required: Patch<Flag>,
    /// Whether a review is public at once, without the store's approval.
    auto_publish: Patch<Flag>,
}

/// The changes of the tax settings.
#[request]
#[derive(Debug, Clone)]
pub struct TaxesRequest {
    /// Whether prices include tax.
    prices_include_tax: Patch<Flag>,
    /// Whether the store's own tax is deducted from prices that include it for exempt customers and buyers in
    /// places without tax.
    deducts_tax_when_exempt: Patch<Flag>,
    /// The rates by which shipping is taxed.
    shipping: Patch<ShippingTax>,
}

/// The changes of the privacy settings.
#[request]
#[derive(Debug, Clone)]
pub struct PrivacyRequest {
    /// The days between the request for a redaction and its start; 0: it starts at once.
    redaction_days: Patch<Int<0, LONGEST_REDACTION_DAYS>>,
}

/// The changes of the shop's settings.
#[request]
#[derive(Debug, Clone)]
pub struct ShopRequest {
    /// Whether visitors need the password.
    password_protected: Patch<Flag>,
    /// A new password. It is stored as a hash and never returned; whoever has entered the former one must enter this one.
    password: Patch<NewPassword>,
    /// What the password page tells visitors.
    password_message: Patch<Text<1, 1_000>>,
}

/// Changes one setting.
fn set<A, T>(field: &mut T, change: Patch<A>, default: T, value: impl FnOnce(A) -> T) {
    match change {
        Patch::Keep => {}
        Patch::Clear => *field = default,
        Patch::Set(given) => *field = value(given),
    }
}

impl CheckoutRequest {
    /// The settings with these changes.
    fn apply(self, mut group: Checkout) -> Checkout {
        let default = Checkout::default();
        let minutes = |Int(minutes): Int<5, LONGEST_PAYMENT_WINDOW>| minutes.unsigned_abs();
        let window = &mut group.payment_window_minutes;
        set(window, self.payment_window_minutes, default.payment_window_minutes, minutes);
        let minutes = |Int(minutes): Int<0, LONGEST_MANUAL_PAYMENT_WINDOW>| minutes.unsigned_abs();
        let window = &mut group.manual_payment_window_minutes;
        let manual = self.manual_payment_window_minutes;
        set(window, manual, default.manual_payment_window_minutes, minutes);
        let days = |Int(days): Int<0, LONGEST_DRAFT_HOLD_DAYS>| days.unsigned_abs();
        set(&mut group.draft_hold_days, self.draft_hold_days, default.draft_hold_days, days);
        let guest = &mut group.guest_checkout;
        set(guest, self.guest_checkout, default.guest_checkout, |flag| flag.0);
        set(&mut group.require_phone, self.require_phone, default.require_phone, |flag| flag.0);
        group
    }
}

impl NotificationsRequest {
    /// The settings with these changes.
    fn apply(self, mut group: Notifications) -> Notifications {
        let default = Notifications::default();
        let order = &mut group.order_confirmation;
        set(order, self.order_confirmation, default.order_confirmation, |flag| flag.0);
        let shipping = &mut group.shipping_confirmation;
        set(shipping, self.shipping_confirmation, default.shipping_confirmation, |flag| flag.0);
        let delivery = &mut group.delivery_confirmation;
        set(delivery, self.delivery_confirmation, default.delivery_confirmation, |flag| flag.0);
        let refund = &mut group.refund_confirmation;
        set(refund, self.refund_confirmation, default.refund_confirmation, |flag| flag.0);
        let cancelled = &mut group.cancellation_confirmation;
        let on = default.cancellation_confirmation;
        set(cancelled, self.cancellation_confirmation, on, |flag| flag.0);
        set(&mut group.owner_alerts, self.owner_alerts, default.owner_alerts, |flag| flag.0);
        self.sender_name.apply(&mut group.sender_name);
        set(&mut group.order_status_url, self.order_status_url, None, Some);
        set(&mut group.payment_url, self.payment_url, None, Some);
        set(&mut group.cart_url, self.cart_url, None, Some);
        self.terms.apply(&mut group.terms);
        group
    }
}

impl NotificationsRequest {
    /// The field errors of pages whose host is neither a domain that the store has verified nor the
    /// platform's: readers trust the links in a mail of the platform.
    fn foreign(&self, domains: &Domains, base_url: &str) -> Vec<FieldError> {
        fn given<T>(page: &Patch<T>) -> Option<&T> {
            match page {
                Patch::Set(page) => Some(page),
                Patch::Keep | Patch::Clear => None,
            }
        }
        let pages = [
            ("order_status_url", given(&self.order_status_url).map(LinkTemplate::as_str)),
            ("payment_url", given(&self.payment_url).map(LinkTemplate::as_str)),
            ("cart_url", given(&self.cart_url).map(CartLinkTemplate::as_str)),
        ];
        let is_foreign =
            |page: Option<&str>| page.is_some_and(|page| !domains.is_allowed_link(page, base_url));
        let detail =
            "The host must be a verified domain of the store, or a domain of the platform.";
        let foreign = pages.into_iter().filter(|(_, page)| is_foreign(*page));
        let error = |(name, _)| {
            FieldError::new(format!("/notifications/{name}"), "host_not_verified", detail)
        };
        foreign.map(error).collect()
    }
}

impl ReviewsRequest {
    /// The settings with these changes.
    fn apply(self, mut group: Reviews) -> Reviews {
        let default = Reviews::default();
        let bought = &mut group.purchase_required;
        set(bought, self.purchase_required, default.purchase_required, |flag| flag.0);
        set(&mut group.auto_publish, self.auto_publish, default.auto_publish, |flag| flag.0);
        group
    }
}

impl TaxesRequest {
    /// The settings with these changes.
    fn apply(self, mut group: Taxes) -> Taxes {
        let default = Taxes::default();
        let included = &mut group.prices_include_tax;
        set(included, self.prices_include_tax, default.prices_include_tax, |flag| flag.0);
        let deducts = &mut group.deducts_tax_when_exempt;
        set(deducts, self.deducts_tax_when_exempt, default.deducts_tax_when_exempt, |flag| flag.0);
        set(&mut group.shipping, self.shipping, default.shipping, |shipping| shipping);
        group
    }
}

impl PrivacyRequest {
    /// The settings with these changes.
    fn apply(self, mut group: Privacy) -> Privacy {
        let days = |Int(days): Int<0, LONGEST_REDACTION_DAYS>| days.unsigned_abs();
        let default = Privacy::default().redaction_days;
        set(&mut group.redaction_days, self.redaction_days, default, days);
        group
    }
}

impl ShopRequest {
    /// The settings with these changes. The hash is that of the new password.
    fn apply(self, mut group: Shop, hash: Option<String>) -> Shop {
        let protected = &mut group.password_protected;
        set(protected, self.password_protected, false, |flag| flag.0);
        set(&mut group.password_hash, self.password, None, |_| hash);
        self.password_message.apply(&mut group.password_message);
        group
    }
}

/// Changes one group.
fn regroup<A, T: Default>(group: T, change: Patch<A>, apply: impl FnOnce(A, T) -> T) -> T {
    match change {
        Patch::Keep => group,
        Patch::Clear => T::default(),
        Patch::Set(change) => apply(change, group),
    }
}

impl UpdateRequest {
    /// The hash of a new password of the shop.
    async fn password_hash(&self) -> Result<Option<String>, Problem> {
        match &self.shop {
            Patch::Set(ShopRequest { password: Patch::Set(password), .. }) => {
                password.hash().await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The settings with these changes, and this hash of a new password.
    fn apply(self, settings: &Settings, hash: Option<String>) -> Settings {
        let Settings { checkout, notifications, reviews, taxes, privacy, shop, .. } =
            settings.clone();
        Settings {
            checkout: regroup(checkout, self.checkout, CheckoutRequest::apply),
            notifications: regroup(notifications, self.notifications, NotificationsRequest::apply),
            reviews: regroup(reviews, self.reviews, ReviewsRequest::apply),
            taxes: regroup(taxes, self.taxes, TaxesRequest::apply),
            privacy: regroup(privacy, self.privacy, PrivacyRequest::apply),
            shop: regroup(shop, self.shop, |change, group| change.apply(group, hash)),
            ..settings.clone()
        }
    }
}

/// `PATCH /v1/stores/{id}/settings` (`updateSettings`): Update the settings of a store.
///
/// The hosts of pages to which mails link must be domains that the store has verified, or the platform's. The
/// event is `store.settings_updated`; an update without a difference sends none. A shop with
/// `shop.password_protected` shows its pages to visitors who have entered `shop.password`; this API is not affected.
///
/// # Errors
/// `precondition_failed`; `host_not_verified` as a field error of a page; `required` as one of `shop.password`, if
/// visitors need a password and none is set.
pub async fn update(
    caller: Admin,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<SettingsView>, Problem> {
    let store = &caller.store;
    let now = app.clock.now();
    let hash = input.password_hash().await?;
    retry(|| async {
        let (present, domains) = load_with_domains(&app, store).await?;
        if_match.check(present.version)?;
        if let Patch::Set(notifications) = &input.notifications {
            let foreign = notifications.foreign(&domains, &app.config.base_url);
            if !foreign.is_empty() {
                return Err(Problem::invalid(foreign));
            }
        }
        let wanted = input.clone().apply(&present, hash.clone());
        if wanted.shop.lacks_password() {
            let detail = "Required while visitors need a password.";
            return Err(Problem::field("/shop/password", "required", detail));
        }
        let Some(settings) = present.next_version(wanted, now) else {
            return Ok(present.to_response());
        };
        save_settings(&app, &present, &settings)
            .emit(settings.event(&STORE_SETTINGS_UPDATED, now))
            .answer(settings.to_response(), now)
            .await
    })
    .await
}

/// Begins the write of changed settings. Whether visitors need a password is repeated in the store's item.
fn save_settings(services: &Services, present: &Settings, settings: &Settings) -> Write {
    let is_protected = settings.shop.password_protected;
    if is_protected == present.shop.password_protected {
        return save(services, &settings.store_id, settings);
    }
    let write = services.table.write();
    written(set_password_protection(write, &settings.store_id, is_protected), settings)
}

#[cfg(test)]
mod tests {
    use primitives::input::read;
    use serde_json::{Value, json};

    use super::*;

    fn patched(group: Checkout, body: Value) -> Checkout {
        read::<CheckoutRequest>(body).unwrap().apply(group)
    }

    #[test]
    fn a_patch_changes_only_named_settings_and_null_resets_them() {
        let changed = Checkout {
            payment_window_minutes: 60,
            manual_payment_window_minutes: 0,
            draft_hold_days: 2,
            guest_checkout: false,
            require_phone: true,
        };
        let same = patched(changed.clone(), json!({}));
        assert_eq!(same, changed);
        let one = patched(changed.clone(), json!({"guest_checkout": true}));
        assert_eq!(one, Checkout { guest_checkout: true, ..changed.clone() });
        let reset = patched(changed.clone(), json!({"payment_window_minutes": null}));
        assert_eq!(reset, Checkout { payment_window_minutes: 30, ..changed.clone() });
        let reset = patched(changed.clone(), json!({"manual_payment_window_minutes": null}));
        assert_eq!(reset, Checkout { manual_payment_window_minutes: 10_080, ..changed });
    }

    #[test]
    fn payment_windows_have_bounds() {
        let cases: [(&str, &[i64], &[i64]); 2] = [
            ("payment_window_minutes", &[5, 1_440], &[4, 1_441, -30]),
            ("manual_payment_window_minutes", &[0, 1, 43_200], &[-1, 43_201]),
        ];
        for (field, within, beyond) in cases {
            let request =
                |minutes: i64| read::<UpdateRequest>(json!({"checkout": {field: minutes}}));
            assert!(within.iter().all(|minutes| request(*minutes).is_ok()), "{field}");
            for minutes in beyond {
                let problem = request(*minutes).unwrap_err();
                let pointers: Vec<_> =
                    problem.errors().iter().map(|e| e.pointer.as_str()).collect();
                assert_eq!(pointers, [format!("/checkout/{field}")]);
            }
        }
    }
}
