//! The schema of a theme: the settings, sections and blocks that a merchant can configure.
//!
//! The shapes are those of Shopify's themes (shopify.dev, "Input settings", "Section schema"), so that
//! their themes can be read here: `config/settings_schema.json`, and the JSON between `{% schema %}` and
//! `{% endschema %}` in each section and block.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::settings::{Content, Sections};

pub(crate) mod read;
pub(crate) mod section;
mod setting;

/// The maximum number of steps of a range (our choice).
pub const MAX_STEPS: i128 = 1_000;
/// The maximum number of settings of the whole theme (our choice).
pub const MAX_SETTINGS: usize = 500;
/// The maximum number of settings of one section or block (our choice).
pub const MAX_SECTION_SETTINGS: usize = 100;
/// The maximum number of blocks of one section, whatever its schema declares.
pub const MAX_BLOCKS: u32 = 50;
/// The maximum depth of nested blocks.
pub const MAX_BLOCK_DEPTH: usize = 8;

primitives::string_enum! {
    /// The type of a setting: its control in the editor, and the values that it accepts.
    SettingKind {
        /// A boolean.
        Checkbox = "checkbox",
        /// A number.
        Number = "number",
        /// One of the options.
        Radio = "radio",
        /// A number between two bounds, in steps.
        Range = "range",
        /// One of the options.
        Select = "select",
        /// One line of text.
        Text = "text",
        /// CSS properties of a layout, by name.
        StyleLayout = "style.layout_panel",
        /// CSS properties of a size, by name.
        StyleSize = "style.size_panel",
        /// CSS properties of margins and paddings, by name.
        StyleSpacing = "style.spacing_panel",
        /// `left`, `center` or `right`.
        TextAlignment = "text_alignment",
        /// Several lines of text.
        Textarea = "textarea",
        /// The handle of an article, as `blog/article`.
        Article = "article",
        /// The handle of a blog.
        Blog = "blog",
        /// The handle of a collection.
        Collection = "collection",
        /// Handles of articles, each as `blog/article`.
        ArticleList = "article_list",
        /// Handles of collections.
        CollectionList = "collection_list",
        /// A color in CSS notation.
        Color = "color",
        /// A CSS background: a color or a gradient.
        ColorBackground = "color_background",
        /// Colors by name.
        ColorPalette = "color_palette",
        /// The name of a color scheme.
        ColorScheme = "color_scheme",
        /// Color schemes by name, each with the settings of the group's definition.
        ColorSchemeGroup = "color_scheme_group",
        /// The handle of a font: `assistant_n4`.
        FontPicker = "font_picker",
        /// HTML, sanitized of everything that runs.
        Html = "html",
        /// An image: a media id, a file of the theme's assets, or an https URL.
        ImagePicker = "image_picker",
        /// One line of text, with emphasis and links.
        InlineRichtext = "inline_richtext",
        /// The handle of a menu.
        LinkList = "link_list",
        /// Template code, which a page runs.
        Liquid = "liquid",
        /// The handle of a metaobject, of which there are none here.
        Metaobject = "metaobject",
        /// Handles of metaobjects.
        MetaobjectList = "metaobject_list",
        /// The handle of a page.
        Page = "page",
        /// The handle of a product.
        Product = "product",
        /// Handles of products.
        ProductList = "product_list",
        /// Paragraphs, lists and headings, with emphasis and links.
        Richtext = "richtext",
        /// A link: a path of the storefront, or a web, mail or telephone URL.
        Url = "url",
        /// A video: a media id, a file of the theme's assets, or an https URL.
        Video = "video",
        /// The URL of a video at YouTube or Vimeo.
        VideoUrl = "video_url",
        /// A heading between settings; it has no value.
        Header = "header",
        /// A text between settings; it has no value.
        Paragraph = "paragraph",
    }
}

impl SettingKind {
    /// Whether it is a text between settings, without a value.
    pub const fn is_sidebar(self) -> bool {
        matches!(self, Self::Header | Self::Paragraph)
    }
}

/// A text of the editor: literal, by language, or the key of a translation (`t:…`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeLabel")]
#[serde(untagged)]
pub enum Label {
    /// One text.
    Text(String),
    /// A text for each language.
    ByLocale(BTreeMap<String, String>),
}

impl Default for Label {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// An option of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSettingOption")]
pub struct Choice {
    /// The stored value.
    pub value: String,
    /// The label.
    pub label: Label,
    /// The group in the list of options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Label>,
}

/// A setting of a theme, a section or a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSetting")]
pub struct Setting {
    /// The type.
    #[serde(rename = "type")]
    pub kind: SettingKind,
    /// The id, by which templates read its value; absent for `header` and `paragraph`, which have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The label in the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// A help text; the text of `header` and `paragraph` is `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Label>,
    /// The text of a `header` or `paragraph`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Label>,
    /// The placeholder of an empty control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Label>,
    /// The default value, sanitized like every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// The difference between adjacent numbers of a range; 1 if the theme gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Number>,
    /// The unit of the number, for display: `px`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The options of a `select` or `radio`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// The maximum number of handles in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The accepted video providers: `youtube`, `vimeo`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The settings of each scheme in a `color_scheme_group`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definition: Vec<Setting>,
    /// The roles of a scheme's colors; stored unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Value>,
    /// The editor's expression that says when the setting is visible; stored unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_if: Option<String>,
}

/// A group of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSettingsGroup")]
pub struct Group {
    /// The heading of the group.
    pub name: Label,
    /// The settings, in display order.
    #[serde(default)]
    pub settings: Vec<Setting>,
}

/// The theme's description in `config/settings_schema.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThemeInfo {
    /// The name.
    pub theme_name: String,
    /// The version, for information; the manifest's is authoritative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_version: Option<String>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_author: Option<String>,
    /// The URL of the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_documentation_url: Option<String>,
    /// The URL of support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_support_url: Option<String>,
    /// The e-mail address of support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_support_email: Option<String>,
}

/// A block type: declared by a section or block, or a file of `blocks/`, which every section can allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeBlockType")]
pub struct BlockType {
    /// The type name in content. `@theme` stands for every file of `blocks/`, `@app` for blocks of apps,
    /// of which there are none here.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name in the editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
    /// The maximum number of such blocks in one section or block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The settings.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// The block types allowed inside it; only in files of `blocks/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockType>,
}

/// A preset: a section as the editor offers it to a merchant who adds one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemePreset")]
pub struct Preset {
    /// The name in the editor.
    pub name: Label,
    /// The category in the editor's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Label>,
    /// The section with the preset's settings and blocks.
    pub section: crate::settings::SectionOrBlock,
}

/// A section type: a file of `sections/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSectionType")]
pub struct SectionType {
    /// The type name in content: the file's name without `.liquid`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name in the editor; absent for a section without a schema, which only templates can place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
    /// The HTML element around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The CSS class of that element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The maximum number of such sections on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The maximum number of blocks in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_blocks: Option<u32>,
    /// The settings.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// The block types allowed in it.
    #[serde(default)]
    pub blocks: Vec<BlockType>,
    /// The presets in the editor; a section without one is not offered.
    #[serde(default)]
    pub presets: Vec<Preset>,
}

/// The schema of one version of a theme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeSchema")]
pub struct Schema {
    /// The theme's description.
    pub theme_info: ThemeInfo,
    /// The settings of the whole theme.
    pub settings_schema: Vec<Group>,
    /// The section types, sorted by name.
    pub sections: Vec<SectionType>,
    /// The block types that every section can allow, sorted by name.
    #[serde(default)]
    pub blocks: Vec<BlockType>,
    /// The languages of the theme's texts, the default first.
    pub locales: Vec<String>,
    /// The initial content: the defaults, with `config/settings_data.json` and the sections of
    /// `templates/index.json`, validated.
    pub initial: Content,
    /// The sections of the theme's other JSON templates, by the template's name: `product`, `customers/login`.
    #[serde(default)]
    pub templates: BTreeMap<String, Sections>,
    /// The sections of the theme's section groups, by the group's name: `header-group`.
    #[serde(default)]
    pub section_groups: BTreeMap<String, Sections>,
}

/// The template of the home page.
const INDEX: &str = "index";
/// The maximum length of the suffix of an alternative template, in bytes (our choice).
const MAX_SUFFIX: usize = 40;

impl Schema {
    /// The settings of the whole theme, of all groups.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings_schema.iter().flat_map(|group| &group.settings)
    }

    /// Whether a draft can have sections for the template of this name: one of the theme's, or an alternative to
    /// one, `product.gift`. The home page's own are elsewhere in the draft.
    pub fn has_template(&self, name: &str) -> bool {
        if self.templates.contains_key(name) {
            return true;
        }
        let is_suffix = |suffix: &str| {
            (1..=MAX_SUFFIX).contains(&suffix.len())
                && suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        name.split_once('.').is_some_and(|(base, suffix)| {
            (base == INDEX || self.templates.contains_key(base)) && is_suffix(suffix)
        })
    }

    /// The section type of this name.
    pub fn section(&self, kind: &str) -> Option<&SectionType> {
        self.sections.iter().find(|section| section.kind == kind)
    }
}
