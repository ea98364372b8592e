//! The words of mails in Japanese.

use super::wording::{
    AccountWords, CartWords, CodeWords, GiftCardWords, Heading, Labels, OrderWords, Wording,
};

pub(super) const JA: Wording = Wording {
    language: "ja",
    decimal: ".",
    to_gift_card: "{amount}（ギフトカードへ）",
    labels: Labels {
        subtotal: "小計",
        discount: "割引：",
        shipping_by: "配送：",
        shipping: "配送",
        includes: "うち",
        rounding: "端数処理",
        total: "合計",
        gift_cards: "ギフトカードでのお支払い",
        outstanding: "未払い額",
        payment: "お支払い：",
        is_paid: "お支払い済みです。",
        is_processing: "お支払いは処理中です。",
        pickup: "受取場所",
        shipping_address: "お届け先住所",
        billing_address: "請求先住所",
        tax_number: "お客様の税番号：",
        note: "ショップへのメモ",
        see_order: "ご注文を見る：",
        shop_tax_number: "ショップの税番号：",
        phone: "電話番号：",
        terms: "規約",
        carrier: "配送業者：",
        tracking_number: "追跡番号：",
        tracking_url: "追跡ページ：",
        restocking_fee: "返品手数料",
        refunded: "返金額",
        reason: "理由：",
        code: "コード：",
        token: "トークン：",
    },
    orders: OrderWords {
        placed: Heading(
            "ご注文 {{ order_number }}",
            "ご注文 {{ order_number }} ありがとうございます。\n\
             ショップ：",
        ),
        shipped: Heading(
            "ご注文 {{ order_number }} を発送しました",
            "ご注文 {{ order_number }} の商品を発送しました。\n\
             ショップ：",
        ),
        delivered: Heading(
            "ご注文 {{ order_number }} をお届けしました",
            "ご注文 {{ order_number }} の荷物をお届けしました。\n\
             ショップ：",
        ),
        refunded: Heading(
            "ご注文 {{ order_number }} の返金のお知らせ",
            "ご注文 {{ order_number }} の返金をいたしました。\n\
             ショップ：",
        ),
        cancelled: Heading(
            "ご注文 {{ order_number }} はキャンセルされました",
            "ご注文 {{ order_number }} はキャンセルされました。\n\
             ショップ：",
        ),
        expired: Heading(
            "ご注文 {{ order_number }} の期限が切れました",
            "ご注文 {{ order_number }} は期限までにお支払いがありませんでした。\n\
             ショップ：",
        ),
        not_charged: "請求は行われていません。\n\
             もう一度ご注文いただけます。",
        payment: Heading(
            "ご注文 {{ order_number }} のお支払いをお待ちしています",
            "ご注文 {{ order_number }} のお支払いをお待ちしています。\n\
             ショップ：",
        ),
        left_to_pay: "未払い額：{{ outstanding }}",
        pay_here: "お支払いはこちら：",
    },
    gift_card: GiftCardWords {
        heading: Heading(
            "ギフトカードが届きました",
            "ギフトカードが届きました。\n\
             ショップ：",
        ),
        value: "金額は{{ value }}です。",
        message: "メッセージ：",
        valid_until: "有効期限は{{ expires_on }}です。",
        keep: "コードを知っている人は誰でも使えます。\n\
             他の人に教えないでください。",
    },
    cart: CartWords {
        heading: Heading(
            "カートに商品が残っています",
            "カートに商品が残っています。\n\
             ショップ：",
        ),
        go_on: "続きはこちら：",
        why: "ショップからのお知らせを希望された方にお送りしています。\n\
             設定はショップのアカウントで変更できます。",
    },
    account: AccountWords {
        code_validity: "有効期限は10分で、一度だけ使えます。",
        keep_code: "他の人に教えないでください。",
        sign_in: CodeWords {
            heading: Heading(
                "ログイン用の認証コード",
                "このコードでログインしてください。\n\
             ショップ：",
            ),
            before: "",
            unwanted: "お心当たりがない場合は、何もする必要はありません。\n\
             コードがなければ誰もログインできません。",
        },
        registration: CodeWords {
            heading: Heading(
                "新しいアカウントのご確認",
                "このメールアドレスでアカウントの登録が申し込まれました。\n\
             ショップ：",
            ),
            before: "ご本人の場合は、このコードで確認してください。",
            unwanted: "お心当たりがない場合は、何もする必要はありません。\n\
             コードがなければアカウントは作成されません。",
        },
        exists: CodeWords {
            heading: Heading(
                "すでにアカウントをお持ちです",
                "このメールアドレスで新しいアカウントの登録が申し込まれました。\n\
             ショップ：",
            ),
            before: "すでにアカウントをお持ちで、そのアカウントに変更はありません。\n\
             パスワード、またはこのコードでログインしてください。",
            unwanted: "お心当たりがない場合は、何もする必要はありません。",
        },
        email_change: CodeWords {
            heading: Heading(
                "新しいメールアドレスのご確認",
                "アカウントをこのメールアドレスに変更する申し込みがありました。\n\
             ショップ：",
            ),
            before: "ご本人の場合は、このコードで確認してください。",
            unwanted: "お心当たりがない場合は、何もする必要はありません。\n\
             コードがなければアカウントは変更されません。",
        },
        email_in_use: (
            Heading(
                "アカウントに変更はありません",
                "アカウントをこのメールアドレスに変更する申し込みがありました。\n\
             ショップ：",
            ),
            "このメールアドレスにはすでにアカウントがあります。\n\
             どちらのアカウントにも変更はありません。\n\
             ご本人の場合は、そのアカウントにログインするか、\n\
             それを削除してからもう一度お試しください。",
        ),
        password_reset: Heading(
            "パスワードの再設定",
            "アカウントのパスワードの再設定が申し込まれました。\n\
             ショップ：",
        ),
        open_link: "再設定するには、次のリンクを開いてください。",
        token_instead: "アプリでは、代わりにこのトークンが必要な場合があります。",
        link_validity: "有効期限は30分で、一度だけ使えます。\n\
             お心当たりがない場合は、何もする必要はありません。\n\
             パスワードは変わりません。",
        password_updated: (
            Heading(
                "パスワードが変更されました",
                "アカウントのパスワードが変更されました。\n\
             ショップ：",
            ),
            "日時：{{ changed_at }}\n\
             お心当たりがない場合は、すぐにパスワードを再設定してください。\n\
             すべてのログインが解除されます。",
        ),
        email_updated: (
            Heading(
                "メールアドレスが変更されました",
                "アカウントのメールアドレスが変更されました。\n\
             ショップ：",
            ),
            "{{ changed_at }} から {{ new_email }} になりました。\n\
             以前のメールアドレスではログインできません。\n\
             お心当たりがない場合は、すぐにショップにご連絡ください。",
        ),
        deleted: (
            Heading(
                "アカウントが削除されました",
                "アカウントが削除されました。\n\
             ショップ：",
            ),
            "日時：{{ deleted_at }}\n\
             住所とお気に入りも削除されました。\n\
             ご注文の記録は、保存が必要なものに限りショップに残ります。",
        ),
    },
};
