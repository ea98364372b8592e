//! How a mail writes amounts and addresses in the language of its text.

use core_types::fields::{Country, Locale};
use core_types::mail::on_one_line;
use core_types::money::Money;
use core_types::provider::ProviderName;
use identity::address::AddressParts;

use super::built_in::Wording;

/// How a language writes values. A language without built-in texts has English words.
#[derive(Clone, Copy)]
pub(super) struct Style<'l> {
    /// The language's tag.
    language: &'l str,
    words: &'static Wording,
}

impl<'l> Style<'l> {
    pub(super) fn of(language: &'l Locale) -> Self {
        let words = Wording::of(language).unwrap_or(Wording::english());
        Self { language: language.as_str(), words }
    }

    pub(super) const fn english() -> Self {
        Self { language: "en", words: Wording::english() }
    }

    /// A number that is written with a point elsewhere.
    pub(super) fn number(self, text: &str) -> String {
        text.replace('.', self.words.decimal)
    }

    pub(super) fn money(self, amount: &Money) -> String {
        format!("{} {}", self.number(&amount.decimal()), amount.currency)
    }

    /// The amount, unless it is zero.
    pub(super) fn some_money(self, amount: &Money) -> Option<String> {
        (!amount.is_zero()).then(|| self.money(amount))
    }

    /// A part of a refund that went to gift cards.
    pub(super) fn to_gift_card(self, amount: &str) -> String {
        self.words.to_gift_card.replace("{amount}", amount)
    }

    /// An address under a name, as its country writes it; the country itself unless it is the store's own.
    pub(super) fn address(
        self,
        name: Option<&str>,
        address: AddressParts<'_>,
        home: &Country,
    ) -> Option<String> {
        let lines = address.lines(self.language, Some(home.as_str()));
        block(name.into_iter().chain(lines.iter().map(String::as_str)))
    }
}

/// Several lines, indented so that they are read as one block.
pub(super) fn block<'t>(lines: impl IntoIterator<Item = &'t str>) -> Option<String> {
    let lines = lines.into_iter().map(on_one_line).filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(|line| format!("    {line}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The name of a provider as it writes it itself; none where the merchant takes the money.
pub(super) fn provider_name(provider: &str) -> Option<String> {
    let known = ProviderName::ALL.iter().find(|known| known.as_str() == provider);
    match known {
        Some(ProviderName::Manual) => None,
        Some(ProviderName::Razorpay) => Some("Razorpay".to_owned()),
        Some(ProviderName::Stripe) => Some("Stripe".to_owned()),
        None => Some(provider.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn values_are_those_of_the_language() {
        let locale = |text| Locale::from_text(text).unwrap();
        let amount: Money =
            serde_json::from_value(serde_json::json!({"amount": 123_450, "currency": "EUR"}))
                .unwrap();
        for (language, written, card) in [
            ("de-AT", "1234,50 EUR", "5,00 EUR auf einen Gutschein"),
            ("en-IN", "1234.50 EUR", "5,00 EUR to a gift card"),
            ("it", "1234.50 EUR", "5,00 EUR to a gift card"),
            ("ja", "1234.50 EUR", "5,00 EUR（ギフトカードへ）"),
        ] {
            let language = locale(language);
            let style = Style::of(&language);
            assert_eq!(style.money(&amount), written);
            assert_eq!(style.to_gift_card("5,00 EUR"), card);
        }
        assert_eq!(provider_name("stripe").as_deref(), Some("Stripe"));
        assert_eq!(provider_name("manual"), None);
    }

    #[test]
    fn an_address_names_its_country_abroad() {
        let (german, home) = (Locale::from_text("de").unwrap(), Country::from_text("US").unwrap());
        let address = AddressParts {
            line1: "1 MG Road\n7 Second line",
            city: "Austin",
            region: "TX",
            postal_code: "78701",
            country: "US",
            ..AddressParts::default()
        };
        let style = Style::of(&german);
        let at_home = "    Shop\n    1 MG Road\n    7 Second line\n    Austin, TX 78701";
        assert_eq!(style.address(Some("Shop"), address, &home).as_deref(), Some(at_home));
        let abroad = style.address(None, address, &Country::from_text("DE").unwrap());
        assert!(abroad.unwrap().ends_with("\n    Vereinigte Staaten"));
    }
}
