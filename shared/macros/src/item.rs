//! The derivation of `table::item::Item`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parse;
use syn::{DeriveInput, Error, Expr, ExprArray, LitStr, Result};

/// The `#[item(…)]` attributes of a struct.
#[derive(Default)]
struct Said {
    kind: Option<LitStr>,
    key: Option<Expr>,
    version: Option<Expr>,
    indexes: Option<Expr>,
    forget_at: Option<Expr>,
    packing: Option<TokenStream>,
    octets: bool,
}

impl Said {
    fn of(input: &DeriveInput) -> Result<Self> {
        let mut said = Self::default();
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("item")) {
            attribute.parse_nested_meta(|meta| said.read(&meta))?;
        }
        Ok(said)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "kind" => self.kind = Some(value(meta)?),
            "key" => self.key = Some(value(meta)?),
            "version" => self.version = Some(value(meta)?),
            "indexes" => self.indexes = Some(value(meta)?),
            "forget_at" => self.forget_at = Some(value(meta)?),
            "packed" => self.packing = Some(quote!(::table::item::Packing::ALL)),
            "plain" => {
                let plain: ExprArray = value(meta)?;
                self.packing = Some(
                    quote!(::table::item::Packing { plain: &#plain, text: None, keyed: false }),
                );
            }
            "octets" => self.octets = true,
            _ => return Err(meta.error("not known to `#[item]`")),
        }
        Ok(())
    }
}

fn value<T: Parse>(meta: &ParseNestedMeta<'_>) -> Result<T> {
    meta.value()?.parse()
}

pub fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    let Said { kind, key, version, indexes, forget_at, packing, octets } = Said::of(input)?;
    let missing =
        |what| Error::new_spanned(&input.ident, format!("`#[item({what} = …)]` is missing"));
    let kind = kind.ok_or_else(|| missing("kind"))?;
    let key = key.ok_or_else(|| missing("key"))?;
    let version = version.map_or_else(|| quote!(self.version), |version| quote!(#version));
    let packing = packing.map(|packing| {
        quote!(const PACKING: ::core::option::Option<::table::item::Packing> = Some(#packing);)
    });
    let octets = octets.then(|| {
        quote!(
            const HAS_OCTETS: bool = true;
        )
    });
    let indexes = indexes.map(|indexes| {
        quote! {
            fn indexes(&self) -> ::std::vec::Vec<(::table::item::Index, ::table::item::Key)> {
                #indexes
            }
        }
    });
    let forget_at = forget_at.map(|at| {
        quote! {
            fn forget_at(&self) -> ::core::option::Option<::primitives::clock::Timestamp> {
                #at
            }
        }
    });
    let name = &input.ident;
    Ok(quote! {
        impl ::table::item::Item for #name {
            const KIND: &'static str = #kind;
            #packing
            #octets
            fn key(&self) -> ::table::item::Key {
                #key
            }
            fn version(&self) -> u64 {
                #version
            }
            #indexes
            #forget_at
        }
    })
}
