//! The settings of templates: the merchant's values or the schema's defaults, as objects of their types.

use std::sync::Arc;

use liquid::{Items, Object, Shape, Value};
use serde_json::{Map, Value as Json};

use crate::fragment;
use crate::globals;
use crate::objects;
use crate::objects::color::Color;
use crate::objects::font::Font;
use crate::objects::plain::plain;
use crate::schema::Declared;
use crate::shop::Shop;

/// The settings of a theme, a section or a block. Their values are made when they are asked for.
pub(crate) struct Settings {
    shop: Arc<Shop>,
    declared: Arc<Declared>,
    values: Arc<Map<String, Json>>,
    /// The resources that dynamic sources refer to; those of the page by default.
    closest: Option<Value>,
}

impl Settings {
    pub(crate) fn value(
        shop: &Arc<Shop>,
        declared: Arc<Declared>,
        values: Arc<Map<String, Json>>,
        closest: Option<Value>,
    ) -> Value {
        Value::object(Self { shop: Arc::clone(shop), declared, values, closest })
    }

    /// The stored value of a setting.
    fn raw(&self, name: &str) -> Option<&Json> {
        let given = self.values.get(name).filter(|value| !value.is_null());
        given.or_else(|| self.declared.settings.get(name).map(|setting| &setting.default))
    }

    /// The objects of CSS properties among the values, for `class_list`.
    pub(crate) fn styles(&self) -> impl Iterator<Item = Style> {
        let settings = self.declared.settings.iter();
        settings.filter_map(|(id, setting)| Style::of(&setting.kind, self.raw(id)?))
    }

    fn typed(&self, name: &str) -> Option<Value> {
        let chosen = self.raw(name)?;
        let setting = self.declared.settings.get(name);
        let kind = setting.map_or("text", |setting| setting.kind.as_str());
        if let Some(path) = chosen.as_str().and_then(dynamic) {
            let value = self.resolve(path);
            // A resource is taken as it is; a text is read as the setting's type.
            return match value.as_str() {
                Some(text) => Some(typed(&self.shop, kind, &text.into())),
                None if value.is_nil() => Some(typed(&self.shop, kind, &Json::Null)),
                None => Some(value),
            };
        }
        if kind == "color_scheme_group" {
            let definition = setting.and_then(|setting| setting.definition.clone());
            return Some(Value::object(Schemes {
                shop: Arc::clone(&self.shop),
                definition: definition.unwrap_or_default(),
                named: chosen.as_object().cloned().unwrap_or_default(),
            }));
        }
        match chosen.as_str().filter(|text| text.contains("{{")) {
            Some(text) if kind != "liquid" => {
                let filled = self.filled(text, HTML.contains(&kind));
                Some(typed(&self.shop, kind, &filled.into()))
            }
            _ => Some(typed(&self.shop, kind, chosen)),
        }
    }

    /// The value of a dynamic source's path.
    fn resolve(&self, path: &str) -> Value {
        let mut parts = path.split('.').map(str::trim);
        let root = parts.next().unwrap_or_default();
        let start = match (root, &self.closest) {
            ("closest", Some(closest)) => closest.clone(),
            _ => globals::global(&self.shop, root).unwrap_or_default(),
        };
        parts.fold(start, |value, name| match &value {
            Value::Object(object) => object.get(name).unwrap_or_default(),
            _ => Value::Nil,
        })
    }

    /// A text with the values of the dynamic sources in it.
    fn filled(&self, text: &str, is_html: bool) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((path, after)) = behind.split_once("}}") else {
                filled.push_str("{{");
                rest = behind;
                continue;
            };
            // Filters are not a part of dynamic sources.
            let path = path.split('|').next().unwrap_or_default().trim();
            let value = self.resolve(path);
            match &value {
                Value::Html(html) => filled.push_str(html),
                _ if is_html => filled.push_str(&liquid::escape(value.to_text())),
                _ => filled.push_str(&value.to_text()),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

/// The path of a text that is one dynamic source and nothing else.
fn dynamic(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("}}")).then(|| inner.split('|').next().unwrap_or_default().trim())
}

impl Object for Settings {
    fn get(&self, name: &str) -> Option<Value> {
        self.typed(name)
    }

    fn shape(&self) -> Shape {
        Shape::Hash
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.declared.order.iter().map(|id| {
            let value = self.typed(id).unwrap_or_default();
            Value::Array(Arc::from([Value::from(id.as_str()), value]))
        })))
    }
}

/// Types whose value is HTML, which was sanitized by its type when it was saved.
const HTML: [&str; 3] = ["html", "inline_richtext", "richtext"];

/// The CSS properties of a setting such as `style.layout_panel`.
pub(crate) struct Style {
    properties: Map<String, Json>,
    /// Whether they are of a flex container.
    pub(crate) is_flex: bool,
}

impl Style {
    fn of(kind: &str, chosen: &Json) -> Option<Self> {
        let kind = kind.strip_prefix("style.")?;
        let properties = chosen.as_object()?.clone();
        Some(Self { properties, is_flex: kind == "layout_panel" })
    }

    /// The properties, and objects of properties by their media queries.
    pub(crate) fn properties(&self) -> &Map<String, Json> {
        &self.properties
    }
}

impl Object for Style {
    fn get(&self, name: &str) -> Option<Value> {
        self.properties.get(name).map(plain)
    }

    fn shape(&self) -> Shape {
        Shape::Hash
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.properties.iter().map(|(name, value)| {
            Value::Array(Arc::from([Value::from(name.as_str()), plain(value)]))
        })))
    }
}

/// The settings of the whole theme.
pub(crate) fn of_theme(shop: &Arc<Shop>) -> Value {
    let (declared, values) = shop.theme_settings();
    Settings::value(shop, declared, values, None)
}

/// A stored value as an object of its type.
fn typed(shop: &Arc<Shop>, kind: &str, chosen: &Json) -> Value {
    let text = || chosen.as_str().unwrap_or_default();
    let some_of = |one: fn(&Arc<Shop>, &str) -> Option<Value>| {
        let handles = chosen.as_array().into_iter().flatten().filter_map(Json::as_str);
        handles.filter_map(|handle| one(shop, handle)).collect::<Value>()
    };
    match kind {
        "html" | "inline_richtext" | "richtext" => Value::html(text()),
        "liquid" => Value::html(fragment::render(shop, text())),
        "color" => Color::parse(text()).map_or(Value::Nil, Value::object),
        "color_palette" => {
            let colors = chosen.as_object().into_iter().flatten().map(|(name, color)| {
                let color = Color::parse(color.as_str().unwrap_or_default());
                (name.as_str(), color.map_or(Value::Nil, Value::object))
            });
            Value::map(colors)
        }
        "color_scheme" => scheme(shop, text()),
        "font_picker" => Font::parse(text()).map_or(Value::Nil, Value::object),
        "image_picker" => objects::media::picked(shop, text()),
        "video" => objects::media::video(shop, text()),
        "video_url" => objects::media::external(text()),
        "url" => match text() {
            "" => Value::Nil,
            url => objects::links::url(shop, url).into(),
        },
        "collection" => objects::collection::named(shop, text()).unwrap_or_default(),
        "product" => objects::product::named(shop, text()).unwrap_or_default(),
        "page" => objects::links::page(shop, text()).unwrap_or_default(),
        "link_list" => objects::links::menu(shop, text()).unwrap_or_default(),
        "collection_list" => some_of(objects::collection::named),
        "product_list" => some_of(objects::product::named),
        "article" | "blog" | "metaobject" => Value::Nil,
        "article_list" | "metaobject_list" => Value::from(Vec::new()),
        _ => Style::of(kind, chosen).map_or_else(|| plain(chosen), Value::object),
    }
}

/// The color scheme of this name, of the theme's group of schemes.
fn scheme(shop: &Arc<Shop>, name: &str) -> Value {
    let settings = of_theme(shop);
    let Some(settings) = settings.downcast::<Settings>() else { return name.into() };
    let groups = settings.declared.settings.iter();
    let group = groups.filter(|(_, setting)| setting.kind == "color_scheme_group");
    let found = group.filter_map(|(id, _)| settings.typed(id));
    found.map(|schemes| schemes.get(name)).find(|scheme| !scheme.is_nil()).unwrap_or_else(|| {
        // A theme without such a group uses the name alone.
        name.into()
    })
}

/// The color schemes of a theme, by name and as a list.
struct Schemes {
    shop: Arc<Shop>,
    definition: Arc<Declared>,
    named: Map<String, Json>,
}

impl Schemes {
    fn scheme(&self, name: &str, scheme: &Json) -> Value {
        let values = scheme.get("settings").and_then(Json::as_object).cloned();
        let values = Arc::new(values.unwrap_or_default());
        let settings = Settings::value(&self.shop, Arc::clone(&self.definition), values, None);
        Value::object(Scheme { id: Arc::from(name), settings })
    }
}

impl Object for Schemes {
    fn get(&self, name: &str) -> Option<Value> {
        self.named.get(name).map(|scheme| self.scheme(name, scheme))
    }

    fn shape(&self) -> Shape {
        Shape::List
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.named.iter().map(|(name, scheme)| self.scheme(name, scheme))))
    }
}

/// A color scheme, which is its name where a text is wanted.
struct Scheme {
    id: Arc<str>,
    settings: Value,
}

impl Object for Scheme {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "id" => Some(self.id.clone().into()),
            "settings" => Some(self.settings.clone()),
            _ => None,
        }
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.id.clone().into())
    }
}
