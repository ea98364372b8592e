//! A cart and its checkout at a shop, by the forms of the pages.

use serde_json::Value;

use crate::{Browser, Shown, unique};

/// The fields of an address in India.
pub const ADDRESS_FIELDS: [(&str, &str); 8] = [
    ("ship[first_name]", "Asha"),
    ("ship[last_name]", "Rao"),
    ("ship[line1]", "12 MG Road"),
    ("ship[city]", "Bengaluru"),
    ("ship[region]", "KA"),
    ("ship[postal_code]", "560001"),
    ("ship[country]", "IN"),
    ("bill_choice", "same"),
];

/// The checkout's form with an address, and more.
pub fn with_address<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = ADDRESS_FIELDS.to_vec();
    all.extend_from_slice(more);
    all
}

/// A checkout that was filled in: its page, and its form as the button sends it.
#[derive(Debug, Clone)]
pub struct Review {
    /// The page that shows what is ordered.
    pub page: Shown,
    fields: Vec<(String, String)>,
}

impl Review {
    /// Fills in the checkout of an order that is paid by arrangement.
    pub async fn of(browser: &mut Browser) -> Self {
        Self::filled(browser, &[]).await.with("payment", "manual")
    }

    /// As [`Review::of`], with another method of payment.
    pub async fn paid_by(browser: &mut Browser, method: &str) -> Self {
        Self::filled(browser, &[("payment", method)]).await.with("payment", method)
    }

    async fn filled(browser: &mut Browser, chosen: &[(&str, &str)]) -> Self {
        let email = format!("{}@example.com", unique("shopper"));
        let mut step = with_address(&[("email", &email), ("act", "to:shipping")]);
        step.extend_from_slice(chosen);
        let page = browser.submit("/checkout", &step).await.expect(200);
        let fields = with_address(&[("email", &email), ("act", "place")]);
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { page: page.clone(), fields: fields.collect() }.renewed(page)
    }

    /// The same form on another page, which shows what the cart has by then.
    pub fn renewed(self, page: Shown) -> Self {
        let shown = ["key", "total", "cart"].map(|name| (name, page.input(name)));
        let review = Self { page, ..self };
        shown.iter().fold(review, |review, (name, value)| review.with(name, value))
    }

    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut review = self.without(name);
        review.fields.push((name.to_owned(), value.to_owned()));
        review
    }

    pub fn without(&self, name: &str) -> Self {
        let mut review = self.clone();
        review.fields.retain(|(other, _)| other != name);
        review
    }

    /// The form's fields.
    pub fn fields(&self) -> Vec<(&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Presses the button.
    pub async fn place(&self, browser: &mut Browser) -> Shown {
        browser.submit("/checkout", &self.fields()).await
    }
}

impl Browser {
    /// Puts units of a variant into the cart, by a product's form.
    pub async fn add(&mut self, variant: &str, quantity: u32) {
        let quantity = quantity.to_string();
        let form = [("id", variant), ("quantity", quantity.as_str())];
        self.submit_once("/cart/add", &form).await.expect(303);
    }

    /// The cart, as scripts of themes read it.
    pub async fn cart(&mut self) -> Value {
        self.fetch("/cart.js").await.expect(200).json()
    }

    /// Orders what is in the cart. Returns the path of the order's page.
    pub async fn order(&mut self) -> String {
        let placed = Review::of(self).await.place(self).await.expect(200);
        format!("/orders/{}", placed.order())
    }
}

impl Shown {
    /// The id of the order that the page shows.
    #[track_caller]
    pub fn order(&self) -> String {
        let id = self.path.strip_prefix("/orders/").and_then(|rest| rest.split(['?', '#']).next());
        id.unwrap_or_else(|| panic!("no order: {} {}", self.path, self.text)).to_owned()
    }
}
