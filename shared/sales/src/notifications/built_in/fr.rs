//! The words of mails in French.

use super::wording::{
    AccountWords, CartWords, CodeWords, GiftCardWords, Heading, Labels, OrderWords, Wording,
};

pub(super) const FR: Wording = Wording {
    language: "fr",
    decimal: ",",
    to_gift_card: "{amount} sur une carte cadeau",
    labels: Labels {
        subtotal: "Sous-total",
        discount: "Réduction, ",
        shipping_by: "Expédition, ",
        shipping: "Expédition",
        includes: "Dont ",
        rounding: "Arrondi",
        total: "Total",
        gift_cards: "Payé par carte cadeau",
        outstanding: "Reste à payer",
        payment: "Paiement : ",
        is_paid: "La commande est payée.",
        is_processing: "Le paiement est en cours de traitement.",
        pickup: "À retirer à l’adresse suivante",
        shipping_address: "Adresse de livraison",
        billing_address: "Adresse de facturation",
        tax_number: "Votre numéro fiscal : ",
        note: "Message à la boutique",
        see_order: "Voir votre commande :",
        shop_tax_number: "Numéro fiscal de la boutique : ",
        phone: "Téléphone : ",
        terms: "Conditions",
        carrier: "Transporteur : ",
        tracking_number: "Numéro de suivi : ",
        tracking_url: "Suivre le colis : ",
        restocking_fee: "Frais de remise en stock",
        refunded: "Remboursé",
        reason: "Motif : ",
        code: "Code : ",
        token: "Jeton : ",
    },
    orders: OrderWords {
        placed: Heading(
            "Votre commande {{ order_number }}",
            "Merci pour votre commande {{ order_number }} auprès de la boutique",
        ),
        shipped: Heading(
            "Votre commande {{ order_number }} est en route",
            "Des articles de votre commande {{ order_number }} ont été expédiés par la boutique",
        ),
        delivered: Heading(
            "Votre commande {{ order_number }} est arrivée",
            "Un colis de votre commande {{ order_number }} est arrivé de la boutique",
        ),
        refunded: Heading(
            "Votre commande {{ order_number }} a été remboursée",
            "Vous êtes remboursé pour votre commande {{ order_number }} par la boutique",
        ),
        cancelled: Heading(
            "Votre commande {{ order_number }} a été annulée",
            "Votre commande {{ order_number }} a été annulée auprès de la boutique",
        ),
        expired: Heading(
            "Votre commande {{ order_number }} a expiré",
            "Votre commande {{ order_number }} n’a pas été payée à temps à la boutique",
        ),
        not_charged: "Rien n’a été débité. Vous pouvez commander à nouveau.",
        payment: Heading(
            "Votre commande {{ order_number }} attend son paiement",
            "Votre commande {{ order_number }} attend son paiement auprès de la boutique",
        ),
        left_to_pay: "Reste à payer : {{ outstanding }}",
        pay_here: "Payer ici :",
    },
    gift_card: GiftCardWords {
        heading: Heading(
            "Vous avez reçu une carte cadeau",
            "Vous avez reçu une carte cadeau pour la boutique",
        ),
        value: "Sa valeur est de {{ value }}.",
        message: "Avec ces mots :",
        valid_until: "Elle est valable jusqu’au {{ expires_on }}.",
        keep: "Quiconque a le code peut la dépenser : gardez-le pour vous.",
    },
    cart: CartWords {
        heading: Heading(
            "Vous avez laissé des articles dans votre panier",
            "Votre panier vous attend dans la boutique",
        ),
        go_on: "Continuer ici :",
        why: "Vous recevez cet e-mail car vous acceptez les nouveautés de la boutique.\n\
             Vous pouvez changer cela dans votre compte.",
    },
    account: AccountWords {
        code_validity: "Il est valable 10 minutes et ne sert qu’une fois.",
        keep_code: "Ne le communiquez à personne.",
        sign_in: CodeWords {
            heading: Heading(
                "Votre code de connexion",
                "Utilisez ce code pour vous connecter à la boutique",
            ),
            before: "",
            unwanted: "Si vous ne l’avez pas demandé, ne faites rien :\n\
             personne ne peut se connecter sans lui.",
        },
        registration: CodeWords {
            heading: Heading(
                "Confirmez votre nouveau compte",
                "Un compte a été demandé avec cette adresse auprès de la boutique",
            ),
            before: "Si c’était vous, confirmez-le avec ce code.",
            unwanted: "Sinon, ne faites rien : aucun compte n’est créé sans le code.",
        },
        exists: CodeWords {
            heading: Heading(
                "Vous avez déjà un compte",
                "Un nouveau compte a été demandé avec cette adresse à la boutique",
            ),
            before: "Vous y avez déjà un compte, et il reste tel quel.\n\
             Connectez-vous avec votre mot de passe ou avec ce code.",
            unwanted: "Si ce n’était pas vous, ne faites rien.",
        },
        email_change: CodeWords {
            heading: Heading(
                "Confirmez votre nouvelle adresse e-mail",
                "Un compte doit passer à cette adresse auprès de la boutique",
            ),
            before: "Si c’est vous qui l’avez demandé, confirmez-le avec ce code.",
            unwanted: "Sinon, ne faites rien : aucun compte ne change sans le code.",
        },
        email_in_use: (
            Heading(
                "Votre compte reste tel quel",
                "Un compte devait passer à cette adresse auprès de la boutique",
            ),
            "Cette adresse y a déjà un compte, et les deux restent tels quels.\n\
             Si c’était vous, connectez-vous à ce compte,\n\
             ou supprimez-le et réessayez.",
        ),
        password_reset: Heading(
            "Définir un nouveau mot de passe",
            "Un nouveau mot de passe a été demandé pour votre compte à la boutique",
        ),
        open_link: "Pour le définir, ouvrez",
        token_instead: "Une application peut vous demander ce jeton à la place.",
        link_validity: "C’est possible pendant 30 minutes, et une seule fois.\n\
             Si vous ne l’avez pas demandé, ne faites rien :\n\
             votre mot de passe reste le même.",
        password_updated: (
            Heading(
                "Votre mot de passe a été modifié",
                "Le mot de passe de votre compte a été modifié à la boutique",
            ),
            "Moment de la modification : {{ changed_at }}\n\
             Si ce n’était pas vous, définissez tout de suite un nouveau mot de passe :\n\
             cela met fin à toutes les sessions.",
        ),
        email_updated: (
            Heading(
                "Votre adresse e-mail a été modifiée",
                "L’adresse e-mail de votre compte a été modifiée à la boutique",
            ),
            "Depuis {{ changed_at }}, c’est {{ new_email }}.\n\
             L’ancienne adresse ne permet plus de se connecter.\n\
             Si ce n’était pas vous, contactez tout de suite la boutique.",
        ),
        deleted: (
            Heading(
                "Votre compte a été supprimé",
                "Votre compte a été supprimé auprès de la boutique",
            ),
            "Moment de la suppression : {{ deleted_at }}\n\
             Vos adresses et votre liste d’envies ont été supprimées aussi.\n\
             De vos commandes, la boutique garde ce qu’elle doit conserver.",
        ),
    },
};
