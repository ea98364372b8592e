//! The body of a cart's creation and change.

use core_types::fields::{Country, Email, Locale, Metadata, Phone, TaxNumber};
use core_types::id::{GiftCardId, ShippingRateId};
use identity::address::{AddressInput, PostalAddress};
use identity::phone;
use identity::store::Store;
use primitives::fields::{AtMost, Flag, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use sales::cart::change::CartChange;
use sales::cart::{Cart, CartGiftCard, codes};
use sales::discount::{DiscountCode, MAX_CODES};
use sales::gift_card::GiftCardCode;
use sales::order::cart::{LineInput, PaymentInput};
use sales::order::{MAX_GIFT_CARDS, OrderContact};

use super::save::Session;

/// The name and telephone number of a buyer.
#[request]
#[derive(Debug, Clone)]
#[schemars(rename = "CartContactRequest")]
pub(crate) struct ContactRequest {
    /// The given name.
    first_name: Option<Text<1, 100>>,
    /// The family name.
    last_name: Option<Text<1, 100>>,
    /// The telephone number.
    phone: Option<Phone>,
}

impl ContactRequest {
    /// The contact; a number without a country code is one of `country`.
    fn in_country(self, country: &Country) -> OrderContact {
        OrderContact {
            first_name: self.first_name.map(String::from),
            last_name: self.last_name.map(String::from),
            phone_e164: phone::e164_of(self.phone.as_ref(), country),
            phone: self.phone,
        }
    }
}

/// A cart, or changes of one: omitted members stay, `null` clears.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct CartRequest {
    /// All lines; those of the same variant with equal properties are merged.
    lines: Option<AtMost<LineInput, 200>>,
    /// All discount codes; at most one is applied.
    discount_codes: Option<AtMost<DiscountCode, MAX_CODES>>,
    /// Gift cards to pay with, in addition to those that the cart has. Their codes are not stored.
    add_gift_card_codes: Option<AtMost<GiftCardCode, MAX_GIFT_CARDS>>,
    /// Gift cards of the cart that it is not paid with any more.
    remove_gift_card_ids: Option<AtMost<GiftCardId, MAX_GIFT_CARDS>>,
    /// The address for the confirmation; that of the signed-in customer by default.
    email: Patch<Email>,
    /// The name and telephone number.
    contact: Patch<ContactRequest>,
    /// Whether the buyer accepts marketing. `false` ends reminders of this cart; they need the consent of the
    /// account in any case.
    accepts_marketing: Patch<Flag>,
    /// The language of mails about the order; by default the store's.
    locale: Patch<Locale>,
    /// The shipping address.
    shipping_address: Patch<AddressInput>,
    /// The billing address.
    billing_address: Patch<AddressInput>,
    /// A shipping rate of the store; a pickup is one at its location.
    shipping_rate_id: Patch<ShippingRateId>,
    /// The payment method.
    payment: Patch<PaymentInput>,
    /// The buyer's tax registration number, such as a VAT or GST number. It does not change the tax.
    tax_number: Patch<TaxNumber>,
    /// A note to the merchant.
    note: Patch<Text<0, 2000>>,
    /// All metadata to store with the order.
    metadata: Patch<Metadata>,
}

/// The patch with its value converted.
fn map<T, U>(patch: Patch<T>, convert: impl FnOnce(T) -> U) -> Patch<U> {
    match patch {
        Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
        Patch::Set(value) => Patch::Set(convert(value)),
    }
}

/// A request whose codes were looked up.
pub(super) struct PreparedRequest {
    input: CartRequest,
    cards: Vec<CartGiftCard>,
    /// The field errors found so far.
    errors: Vec<FieldError>,
}

impl CartRequest {
    /// Looks up the codes of the request.
    ///
    /// # Errors
    /// `too_many_attempts`.
    pub(super) async fn prepared(self, session: &Session<'_>) -> Result<PreparedRequest, Problem> {
        let (services, store, network) = (session.app, &session.store().id, &session.network);
        let named = self.discount_codes.as_ref().map(|codes| codes.0.as_slice());
        let named = named.unwrap_or_default();
        let mut errors = codes::unknown_discounts(services, store, network, named).await?;
        let added = self.add_gift_card_codes.as_ref().map(|codes| codes.0.as_slice());
        let added = added.unwrap_or_default();
        let (cards, unknown) = codes::find_gift_cards(services, store, network, added).await?;
        errors.extend(unknown);
        if let Patch::Set(payment) = &self.payment {
            payment.validate(&mut errors);
        }
        Ok(PreparedRequest { input: self, cards, errors })
    }

    fn into_change(self, country: &Country) -> CartChange {
        CartChange {
            lines: self.lines.map(|lines| lines.0),
            discount_codes: self.discount_codes.map(|codes| codes.0),
            added_gift_cards: Vec::new(),
            removed_gift_cards: self.remove_gift_card_ids.map(|ids| ids.0).unwrap_or_default(),
            email: self.email,
            contact: map(self.contact, |contact| contact.in_country(country)),
            accepts_marketing: map(self.accepts_marketing, |flag| flag.0),
            locale: self.locale,
            shipping_address: map(self.shipping_address, PostalAddress::from),
            billing_address: map(self.billing_address, PostalAddress::from),
            shipping_rate_id: self.shipping_rate_id,
            payment: map(self.payment, Into::into),
            tax_number: self.tax_number,
            note: map(self.note, String::from),
            metadata: map(self.metadata, |metadata| metadata.0),
        }
    }
}

impl PreparedRequest {
    /// The cart with the changes of the request.
    ///
    /// # Errors
    /// `validation_failed`.
    pub(super) fn apply(&self, store: &Store, cart: &Cart) -> Result<Cart, Problem> {
        let country = self.country(store, cart);
        let change = self.input.clone().into_change(&country);
        let change = CartChange { added_gift_cards: self.cards.clone(), ..change };
        match cart.applied(change) {
            Ok(next) if self.errors.is_empty() => Ok(next),
            Ok(_) => Err(Problem::invalid(self.errors.clone())),
            Err(rejected) if rejected.code == Code::ValidationFailed => {
                let all = self.errors.iter().chain(rejected.errors().iter()).cloned();
                Err(Problem::invalid(all.collect::<Vec<FieldError>>()))
            }
            Err(rejected) => Err(rejected),
        }
    }

    /// The country whose telephone numbers need no country code.
    fn country(&self, store: &Store, cart: &Cart) -> Country {
        let given = match &self.input.shipping_address {
            Patch::Set(address) => Some(PostalAddress::from(address.clone()).country),
            Patch::Keep | Patch::Clear => None,
        };
        let known = cart.buyer.shipping_address.as_ref().map(|address| address.country.clone());
        given.or(known).unwrap_or_else(|| store.country.clone())
    }
}
