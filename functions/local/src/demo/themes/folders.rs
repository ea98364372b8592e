//! The folders of the themes, and their packages.

use std::io::Write;

use emulators::AnyError;

/// A theme: its slug, and its files by path.
pub struct Folder {
    /// The slug.
    pub slug: &'static str,
    /// The path and content of each file.
    pub files: &'static [(&'static str, &'static str)],
}

/// The folders, each with its own files. Those that all themes share are in Harbor's folder, which is a theme by itself.
macro_rules! folders {
    ($($slug:literal: [$($own:literal)*])* shared: $shared:tt) => {
        [$(folders!(@one $slug [$($own)*] $shared)),*]
    };
    (@one $slug:literal [$($own:literal)*] [$($shared:literal)*]) => {
        Folder {
            slug: $slug,
            files: &[
                $(($own, include_str!(concat!("../../../themes/", $slug, "/", $own))),)*
                $(($shared, include_str!(concat!("../../../themes/harbor/", $shared))),)*
            ],
        }
    };
}

/// All themes of the demo.
pub const FOLDERS: [Folder; 2] = folders! {
    "harbor": [
        "assets/base.css"
        "config/settings_data.json"
        "config/settings_schema.json"
        "sections/featured-collection.liquid"
        "sections/footer.liquid"
        "sections/header.liquid"
        "sections/hero.liquid"
        "templates/index.json"
        "theme.json"
    ]
    "atelier": [
        "assets/base.css"
        "config/settings_data.json"
        "config/settings_schema.json"
        "sections/featured-collection.liquid"
        "sections/footer.liquid"
        "sections/header.liquid"
        "sections/hero.liquid"
        "sections/quote.liquid"
        "templates/index.json"
        "theme.json"
    ]
    shared: [
        "assets/cart-api.js"
        "assets/cart-drawer.js"
        "assets/cart-items.js"
        "assets/components.css"
        "assets/facets.js"
        "assets/icon-close.svg"
        "assets/icon-minus.svg"
        "assets/icon-plus.svg"
        "assets/icon-search.svg"
        "assets/localization-form.js"
        "assets/predictive-search.js"
        "assets/product-form.js"
        "assets/product-info.js"
        "assets/product-recommendations.js"
        "assets/quantity-input.js"
        "assets/sections.js"
        "layout/password.liquid"
        "layout/theme.liquid"
        "locales/de.json"
        "locales/en.default.json"
        "sections/announcement-bar.liquid"
        "sections/cart-drawer.liquid"
        "sections/cart-icon-bubble.liquid"
        "sections/collection-list.liquid"
        "sections/footer-group.json"
        "sections/header-group.json"
        "sections/main-404.liquid"
        "sections/main-account.liquid"
        "sections/main-activate-account.liquid"
        "sections/main-addresses.liquid"
        "sections/main-cart.liquid"
        "sections/main-login.liquid"
        "sections/main-order.liquid"
        "sections/main-page.liquid"
        "sections/main-password.liquid"
        "sections/main-product.liquid"
        "sections/main-register.liquid"
        "sections/main-reset-password.liquid"
        "sections/main-search.liquid"
        "sections/predictive-search.liquid"
        "sections/product-grid.liquid"
        "sections/related-products.liquid"
        "snippets/address-fields.liquid"
        "snippets/buy-form.liquid"
        "snippets/cart-count.liquid"
        "snippets/cart-form.liquid"
        "snippets/cart-line.liquid"
        "snippets/facet-price.liquid"
        "snippets/facets-active.liquid"
        "snippets/facets.liquid"
        "snippets/form-errors.liquid"
        "snippets/header-links.liquid"
        "snippets/listing.liquid"
        "snippets/localization.liquid"
        "snippets/look.liquid"
        "snippets/meta.liquid"
        "snippets/pages.liquid"
        "snippets/price.liquid"
        "snippets/product-card.liquid"
        "snippets/quantity.liquid"
        "snippets/scripts.liquid"
        "snippets/search-form.liquid"
        "snippets/tax-note.liquid"
        "snippets/variant-list.liquid"
        "snippets/variant-picker.liquid"
        "templates/404.json"
        "templates/cart.json"
        "templates/collection.json"
        "templates/customers/account.json"
        "templates/customers/activate_account.json"
        "templates/customers/addresses.json"
        "templates/customers/login.json"
        "templates/customers/order.json"
        "templates/customers/register.json"
        "templates/customers/reset_password.json"
        "templates/list-collections.json"
        "templates/page.json"
        "templates/password.json"
        "templates/product.json"
        "templates/search.json"
    ]
};

impl Folder {
    /// Packs the folder as a theme package, without compression: it is small, and stays on this machine.
    ///
    /// # Errors
    /// None in practice: it is written to memory.
    pub fn zipped(&self) -> Result<Vec<u8>, AnyError> {
        let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
        for (path, content) in self.files {
            let (mut entry, config) = archive.new_file(*path).start()?;
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content.as_bytes())?;
            let (_, descriptor) = writer.finish()?;
            entry.finish(descriptor)?;
        }
        Ok(archive.finish()?)
    }
}
