//! The words of mails in German.

use super::wording::{
    AccountWords, CartWords, CodeWords, GiftCardWords, Heading, Labels, OrderWords, Wording,
};

pub(super) const DE: Wording = Wording {
    language: "de",
    decimal: ",",
    to_gift_card: "{amount} auf einen Gutschein",
    labels: Labels {
        subtotal: "Zwischensumme",
        discount: "Rabatt, ",
        shipping_by: "Versand, ",
        shipping: "Versand",
        includes: "Enthält ",
        rounding: "Rundung",
        total: "Summe",
        gift_cards: "Mit Gutschein bezahlt",
        outstanding: "Noch zu zahlen",
        payment: "Zahlung: ",
        is_paid: "Die Bestellung ist bezahlt.",
        is_processing: "Die Zahlung wird noch bearbeitet.",
        pickup: "Abholung bei",
        shipping_address: "Lieferadresse",
        billing_address: "Rechnungsadresse",
        tax_number: "Ihre Steuernummer: ",
        note: "Nachricht an den Shop",
        see_order: "Ihre Bestellung ansehen:",
        shop_tax_number: "Steuernummer des Shops: ",
        phone: "Telefon: ",
        terms: "Bedingungen",
        carrier: "Versanddienst: ",
        tracking_number: "Sendungsnummer: ",
        tracking_url: "Sendung verfolgen: ",
        restocking_fee: "Rücknahmegebühr",
        refunded: "Erstattet",
        reason: "Grund: ",
        code: "Code: ",
        token: "Token: ",
    },
    orders: OrderWords {
        placed: Heading(
            "Ihre Bestellung {{ order_number }}",
            "Vielen Dank für Ihre Bestellung {{ order_number }} im Shop",
        ),
        shipped: Heading(
            "Ihre Bestellung {{ order_number }} ist unterwegs",
            "Unterwegs ist Ware aus Ihrer Bestellung {{ order_number }} vom Shop",
        ),
        delivered: Heading(
            "Ihre Bestellung {{ order_number }} ist angekommen",
            "Angekommen ist ein Paket Ihrer Bestellung {{ order_number }} vom Shop",
        ),
        refunded: Heading(
            "Ihre Bestellung {{ order_number }} wurde erstattet",
            "Sie erhalten Geld zurück für Ihre Bestellung {{ order_number }} im Shop",
        ),
        cancelled: Heading(
            "Ihre Bestellung {{ order_number }} wurde storniert",
            "Storniert wurde Ihre Bestellung {{ order_number }} im Shop",
        ),
        expired: Heading(
            "Ihre Bestellung {{ order_number }} ist abgelaufen",
            "Nicht rechtzeitig bezahlt wurde Ihre Bestellung {{ order_number }} im Shop",
        ),
        not_charged: "Es wurde nichts abgebucht. Sie können erneut bestellen.",
        payment: Heading(
            "Ihre Bestellung {{ order_number }} ist noch nicht bezahlt",
            "Noch nicht bezahlt ist Ihre Bestellung {{ order_number }} im Shop",
        ),
        left_to_pay: "Noch zu zahlen: {{ outstanding }}",
        pay_here: "Hier bezahlen:",
    },
    gift_card: GiftCardWords {
        heading: Heading(
            "Sie haben einen Gutschein erhalten",
            "Sie haben einen Gutschein erhalten für den Shop",
        ),
        value: "Sein Wert beträgt {{ value }}.",
        message: "Mit diesen Worten:",
        valid_until: "Er ist gültig bis {{ expires_on }}.",
        keep: "Wer den Code hat, kann ihn einlösen: Bitte behalten Sie ihn für sich.",
    },
    cart: CartWords {
        heading: Heading(
            "Sie haben etwas im Warenkorb gelassen",
            "Ihr Warenkorb wartet auf Sie im Shop",
        ),
        go_on: "Hier geht es weiter:",
        why: "Sie erhalten diese E-Mail, weil Sie Neuigkeiten des Shops abonniert haben.\n\
             Das können Sie dort in Ihrem Konto ändern.",
    },
    account: AccountWords {
        code_validity: "Er ist 10 Minuten lang gültig und nur einmal verwendbar.",
        keep_code: "Geben Sie ihn an niemanden weiter.",
        sign_in: CodeWords {
            heading: Heading("Ihr Anmeldecode", "Mit diesem Code melden Sie sich an im Shop"),
            before: "",
            unwanted: "Falls Sie ihn nicht angefordert haben, müssen Sie nichts tun:\n\
             Ohne den Code kann sich niemand anmelden.",
        },
        registration: CodeWords {
            heading: Heading(
                "Bestätigen Sie Ihr neues Konto",
                "Mit dieser Adresse wurde ein Konto angefordert im Shop",
            ),
            before: "Falls Sie das waren, bestätigen Sie es mit diesem Code.",
            unwanted: "Falls nicht, müssen Sie nichts tun: Ohne den Code entsteht kein Konto.",
        },
        exists: CodeWords {
            heading: Heading(
                "Sie haben bereits ein Konto",
                "Mit dieser Adresse wurde ein neues Konto angefordert im Shop",
            ),
            before: "Sie haben dort bereits ein Konto, und es bleibt, wie es ist.\n\
             Melden Sie sich mit Ihrem Passwort oder mit diesem Code an.",
            unwanted: "Falls Sie das nicht waren, müssen Sie nichts tun.",
        },
        email_change: CodeWords {
            heading: Heading(
                "Bestätigen Sie Ihre neue E-Mail-Adresse",
                "Auf diese Adresse soll ein Konto umgestellt werden im Shop",
            ),
            before: "Falls Sie das angefordert haben, bestätigen Sie es mit diesem Code.",
            unwanted: "Falls nicht, müssen Sie nichts tun: Ohne den Code ändert sich kein Konto.",
        },
        email_in_use: (
            Heading(
                "Ihr Konto bleibt, wie es ist",
                "Auf diese Adresse sollte ein Konto umgestellt werden im Shop",
            ),
            "Zu dieser Adresse gibt es dort bereits ein Konto.\n\
             Beide Konten bleiben, wie sie sind.\n\
             Falls Sie das angefordert haben, melden Sie sich in jenem Konto an,\n\
             oder löschen Sie es und versuchen Sie es noch einmal.",
        ),
        password_reset: Heading(
            "Neues Passwort festlegen",
            "Ein neues Passwort wurde angefordert für Ihr Konto im Shop",
        ),
        open_link: "Um es festzulegen, öffnen Sie",
        token_instead: "Eine App fragt vielleicht stattdessen nach diesem Token.",
        link_validity: "Das ist 30 Minuten lang und nur einmal möglich.\n\
             Falls Sie das nicht angefordert haben, müssen Sie nichts tun:\n\
             Ihr Passwort bleibt, wie es ist.",
        password_updated: (
            Heading(
                "Ihr Passwort wurde geändert",
                "Geändert wurde das Passwort Ihres Kontos im Shop",
            ),
            "Zeitpunkt: {{ changed_at }}\n\
             Falls Sie das nicht waren, legen Sie sofort ein neues Passwort fest:\n\
             Damit enden alle Sitzungen.",
        ),
        email_updated: (
            Heading(
                "Ihre E-Mail-Adresse wurde geändert",
                "Geändert wurde die E-Mail-Adresse Ihres Kontos im Shop",
            ),
            "Seit {{ changed_at }} lautet sie {{ new_email }}.\n\
             Mit der bisherigen Adresse können Sie sich nicht mehr anmelden.\n\
             Falls Sie das nicht waren, wenden Sie sich sofort an den Shop.",
        ),
        deleted: (
            Heading("Ihr Konto wurde gelöscht", "Gelöscht wurde Ihr Konto im Shop"),
            "Zeitpunkt: {{ deleted_at }}\n\
             Auch Ihre Adressen und Ihre Wunschliste wurden gelöscht.\n\
             Von Ihren Bestellungen behält der Shop, was er aufbewahren muss.",
        ),
    },
};
