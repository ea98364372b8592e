//! The words of mails in Spanish.

use super::wording::{
    AccountWords, CartWords, CodeWords, GiftCardWords, Heading, Labels, OrderWords, Wording,
};

pub(super) const ES: Wording = Wording {
    language: "es",
    decimal: ",",
    to_gift_card: "{amount} a una tarjeta regalo",
    labels: Labels {
        subtotal: "Subtotal",
        discount: "Descuento, ",
        shipping_by: "Envío, ",
        shipping: "Envío",
        includes: "Incluye ",
        rounding: "Redondeo",
        total: "Total",
        gift_cards: "Pagado con tarjeta regalo",
        outstanding: "Queda por pagar",
        payment: "Pago: ",
        is_paid: "El pedido está pagado.",
        is_processing: "El pago se está procesando.",
        pickup: "Recogida en",
        shipping_address: "Dirección de entrega",
        billing_address: "Dirección de facturación",
        tax_number: "Su número fiscal: ",
        note: "Nota para la tienda",
        see_order: "Ver su pedido:",
        shop_tax_number: "Número fiscal de la tienda: ",
        phone: "Teléfono: ",
        terms: "Condiciones",
        carrier: "Transportista: ",
        tracking_number: "Número de seguimiento: ",
        tracking_url: "Seguir el envío: ",
        restocking_fee: "Gasto de reposición",
        refunded: "Reembolsado",
        reason: "Motivo: ",
        code: "Código: ",
        token: "Token: ",
    },
    orders: OrderWords {
        placed: Heading(
            "Su pedido {{ order_number }}",
            "Gracias por su pedido {{ order_number }} en la tienda",
        ),
        shipped: Heading(
            "Su pedido {{ order_number }} está en camino",
            "Artículos de su pedido {{ order_number }} han salido de la tienda",
        ),
        delivered: Heading(
            "Su pedido {{ order_number }} ha llegado",
            "Ha llegado un paquete de su pedido {{ order_number }} de la tienda",
        ),
        refunded: Heading(
            "Su pedido {{ order_number }} se ha reembolsado",
            "Se le devuelve dinero por su pedido {{ order_number }} en la tienda",
        ),
        cancelled: Heading(
            "Su pedido {{ order_number }} se ha cancelado",
            "Se ha cancelado su pedido {{ order_number }} en la tienda",
        ),
        expired: Heading(
            "Su pedido {{ order_number }} ha caducado",
            "No se pagó a tiempo su pedido {{ order_number }} en la tienda",
        ),
        not_charged: "No se ha cobrado nada. Puede volver a hacer el pedido.",
        payment: Heading(
            "Su pedido {{ order_number }} está pendiente de pago",
            "Está pendiente de pago su pedido {{ order_number }} en la tienda",
        ),
        left_to_pay: "Queda por pagar: {{ outstanding }}",
        pay_here: "Pagar aquí:",
    },
    gift_card: GiftCardWords {
        heading: Heading("Tiene una tarjeta regalo", "Tiene una tarjeta regalo para la tienda"),
        value: "Su valor es de {{ value }}.",
        message: "Con estas palabras:",
        valid_until: "Es válida hasta el {{ expires_on }}.",
        keep: "Quien tenga el código puede gastarla: no lo comparta con nadie.",
    },
    cart: CartWords {
        heading: Heading("Ha dejado algo en su carrito", "Su carrito le espera en la tienda"),
        go_on: "Continuar aquí:",
        why: "Recibe este correo porque acepta novedades de la tienda.\n\
             Puede cambiarlo en su cuenta de la tienda.",
    },
    account: AccountWords {
        code_validity: "Es válido durante 10 minutos y solo sirve una vez.",
        keep_code: "No lo comparta con nadie.",
        sign_in: CodeWords {
            heading: Heading(
                "Su código para iniciar sesión",
                "Use este código para iniciar sesión en la tienda",
            ),
            before: "",
            unwanted: "Si no lo ha solicitado, no haga nada:\n\
             nadie puede iniciar sesión sin él.",
        },
        registration: CodeWords {
            heading: Heading(
                "Confirme su nueva cuenta",
                "Se ha solicitado una cuenta con esta dirección en la tienda",
            ),
            before: "Si ha sido usted, confírmelo con este código.",
            unwanted: "Si no ha sido usted, no haga nada: sin el código no se crea ninguna cuenta.",
        },
        exists: CodeWords {
            heading: Heading(
                "Ya tiene una cuenta",
                "Se ha solicitado una nueva cuenta con esta dirección en la tienda",
            ),
            before: "Ya tiene una cuenta allí, y queda como está.\n\
             Inicie sesión con su contraseña o con este código.",
            unwanted: "Si no ha sido usted, no haga nada.",
        },
        email_change: CodeWords {
            heading: Heading(
                "Confirme su nuevo correo electrónico",
                "Se ha pedido pasar una cuenta a esta dirección en la tienda",
            ),
            before: "Si ha sido usted, confírmelo con este código.",
            unwanted: "Si no ha sido usted, no haga nada:\n\
             sin el código no cambia ninguna cuenta.",
        },
        email_in_use: (
            Heading(
                "Su cuenta queda como está",
                "Se ha pedido pasar una cuenta a esta dirección en la tienda",
            ),
            "Esta dirección ya tiene una cuenta allí, y ambas quedan como están.\n\
             Si ha sido usted, inicie sesión en esa cuenta,\n\
             o elimínela y vuelva a intentarlo.",
        ),
        password_reset: Heading(
            "Establecer una nueva contraseña",
            "Se ha solicitado una nueva contraseña para su cuenta en la tienda",
        ),
        open_link: "Para establecerla, abra",
        token_instead: "Una aplicación puede pedirle este token en su lugar.",
        link_validity: "Es posible durante 30 minutos y una sola vez.\n\
             Si no lo ha solicitado, no haga nada: su contraseña queda como está.",
        password_updated: (
            Heading(
                "Su contraseña ha cambiado",
                "Se ha cambiado la contraseña de su cuenta en la tienda",
            ),
            "Momento del cambio: {{ changed_at }}\n\
             Si no ha sido usted, establezca enseguida una nueva contraseña:\n\
             así se cierran todas las sesiones.",
        ),
        email_updated: (
            Heading(
                "Su correo electrónico ha cambiado",
                "Se ha cambiado el correo electrónico de su cuenta en la tienda",
            ),
            "Desde {{ changed_at }} es {{ new_email }}.\n\
             La dirección anterior ya no sirve para iniciar sesión.\n\
             Si no ha sido usted, póngase en contacto con la tienda enseguida.",
        ),
        deleted: (
            Heading("Su cuenta se ha eliminado", "Se ha eliminado su cuenta en la tienda"),
            "Momento de la eliminación: {{ deleted_at }}\n\
             También se han eliminado sus direcciones y su lista de deseos.\n\
             De sus pedidos, la tienda conserva lo que debe conservar.",
        ),
    },
};
