//! What `primitives::input` and `table::item` export.

mod item;

use proc_macro::TokenStream;
use quote::quote;
use syn::{
    DeriveInput, Expr, Field, Fields, ItemStruct, LitStr, Token, Type, parse_macro_input,
    parse_quote,
};

/// Field types with a default, so that the field is optional.
const OPTIONAL: [&str; 3] = ["Option", "Patch", "Flag"];

/// Marks the type of a request body or query.
///
/// Its fields are read by `deserr`, which names all field errors at once and rejects unknown members, and are
/// described by `schemars`. A field of type `Option`, `Patch` or `Flag` is optional; another is if it has
/// `#[deserr(default)]`.
///
/// ```ignore
/// #[request]
/// pub struct ReplyRequest {
///     /// The text of the answer.
///     body: Text<1, 5000>,
///     /// Whether customers see it; true by default.
///     published: Option<Flag>,
/// }
/// ```
#[proc_macro_attribute]
pub fn request(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = proc_macro2::TokenStream::from(arguments);
    let mut item = parse_macro_input!(item as ItemStruct);
    if let Fields::Named(fields) = &mut item.fields {
        for field in &mut fields.named {
            describe(field);
        }
    }
    let arguments = if arguments.is_empty() { quote!() } else { quote!(, #arguments) };
    quote! {
        #[derive(::deserr::Deserr, ::schemars::JsonSchema)]
        #[deserr(error = ::primitives::fields::FieldErrors, deny_unknown_fields #arguments)]
        #[schemars(deny_unknown_fields)]
        #item
    }
    .into()
}

/// Adds the attributes that follow from a field's type, and repeats `deserr`'s attributes for `schemars`.
fn describe(field: &mut Field) {
    let told = Told::of(field);
    if is_optional(&field.ty) && !told.default {
        field.attrs.push(parse_quote!(#[deserr(default)]));
    }
    if is_optional(&field.ty) || told.default {
        field.attrs.push(parse_quote!(#[schemars(default)]));
    }
    if let Some(name) = told.name {
        field.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
}

/// The attributes of a field that `deserr` reads.
#[derive(Default)]
struct Told {
    /// Whether it has a default.
    default: bool,
    /// Its name in the request, if renamed.
    name: Option<LitStr>,
}

impl Told {
    fn of(field: &Field) -> Self {
        let mut told = Self::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("deserr"))
        {
            // `deserr` validates whatever is not understood here.
            let _ = attribute.parse_nested_meta(|meta| {
                told.default |= meta.path.is_ident("default");
                if meta.path.is_ident("rename") {
                    told.name = Some(meta.value()?.parse()?);
                } else if meta.input.peek(Token![=]) {
                    let _: Expr = meta.value()?.parse()?;
                }
                Ok(())
            });
        }
        told
    }
}

fn is_optional(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| OPTIONAL.iter().any(|name| segment.ident == name))
}

/// Implements `table::item::Item` for a struct: an item of the table says in one place how it is stored.
///
/// - `kind`: the `entity` attribute. `key`: the primary key. Both are required.
/// - `version`: `self.version` by default.
/// - `indexes`: the keys in the secondary indexes, none by default.
/// - `forget_at`: when DynamoDB may delete it, `None` by default.
/// - `packed`: packed but for keys and version; `plain`: packed but for these attributes too.
/// - `octets`: it has binary members, and is never packed.
///
/// ```ignore
/// #[derive(Serialize, Deserialize, Item)]
/// #[item(kind = "installation", key = key::installation(&self.id), plain = ["status", "generation"])]
/// #[item(indexes = vec![key::installations_of_store(&self.store_id, &self.id)])]
/// pub struct Installation {
/// ```
#[proc_macro_derive(Item, attributes(item))]
pub fn item(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    item::implementation(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
