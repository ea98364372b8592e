//! How many items a page of a list has, as far as the theme's files say so without being rendered.

use serde_json::Value as Json;

use crate::data::text;
use crate::language::LANGUAGE;
use crate::source;
use crate::theme::{File, Theme};

/// The most items of a page.
const MAX_SIZE: usize = 250;

/// The lists of products that have pages.
const LISTS: [&str; 2] = ["collection.products", "search.results"];

/// The number of products of a page of `template` (`collection`, or `search`): what its first `paginate` tag says, a
/// number or a setting of its section. None where it is computed, or where nothing is paginated.
pub fn page_size(theme: &Theme, template: &str) -> Option<usize> {
    if let Some(file) = theme.files.get(&format!("templates/{template}.liquid")) {
        return in_markup(file, |_| None);
    }
    let list = source::json(theme, &format!("templates/{template}.json"))?.ok()?;
    let sections = list.get("sections")?.as_object()?.values();
    let is_shown = |placed: &&Json| placed.get("disabled") != Some(&Json::Bool(true));
    sections.filter(is_shown).find_map(|placed| in_section(theme, placed))
}

fn in_section(theme: &Theme, placed: &Json) -> Option<usize> {
    let path = format!("sections/{}.liquid", text(placed, "/type"));
    let source = source::liquid(&LANGUAGE, theme, &path)?;
    in_markup(theme.files.get(&path)?, |setting| {
        let own = placed.get("settings").and_then(|settings| settings.get(setting));
        let value = own.or_else(|| source.declared.settings.get(setting).map(|it| &it.default))?;
        value.as_u64().and_then(|size| usize::try_from(size).ok())
    })
}

fn in_markup(file: &File, setting: impl Fn(&str) -> Option<usize>) -> Option<usize> {
    const TAG: &str = "paginate ";
    let markup = String::from_utf8_lossy(&file.bytes);
    let sizes = markup.match_indices(TAG).filter_map(|(at, _)| {
        let before = markup.get(..at)?.trim_end_matches([' ', '-']);
        if !before.ends_with("{%") && !before.ends_with('\n') {
            return None;
        }
        let line = markup.get(at..)?.lines().next()?.split("%}").next()?;
        let (list, size) = line.split_once(" by ")?;
        if !LISTS.contains(&list.trim_start_matches(TAG).trim()) {
            return None;
        }
        let size = size.trim().split([',', ' ', '-']).next()?;
        let assigned = format!("assign {size} = ");
        let mut assigned = markup.split(&assigned).skip(1);
        let size = match (assigned.next(), assigned.next()) {
            (Some(value), None) => value.split([' ', '\n', '%', '-']).next()?,
            (None, _) => size,
            // It depends.
            (Some(_), Some(_)) => return None,
        };
        match size.strip_prefix("section.settings.") {
            Some(name) => setting(name),
            None => size.parse().ok(),
        }
    });
    sizes.into_iter().find(|size| (1..=MAX_SIZE).contains(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::files;

    fn theme(all: &[(&'static str, &'static str)]) -> Theme {
        Theme { files: files(all.iter().copied()), ..Theme::default() }
    }

    #[test]
    fn a_number_or_a_setting_is_found() {
        let schema = r#"{% schema %}{"settings": [{"type": "range", "id": "per", "default": 16}]}{% endschema %}"#;
        let grid: &'static str = Box::leak(
            format!("{{%- paginate collection.products by section.settings.per -%}}{schema}")
                .into_boxed_str(),
        );
        let found = |json: &'static str| {
            let all = [("templates/collection.json", json), ("sections/grid.liquid", grid)];
            page_size(&theme(&all), "collection")
        };
        assert_eq!(found(r#"{"sections": {"a": {"type": "grid"}}}"#), Some(16));
        let own = r#"{"sections": {"a": {"type": "grid", "settings": {"per": 24}}}}"#;
        assert_eq!(found(own), Some(24));
        assert_eq!(found(r#"{"sections": {"a": {"type": "grid", "disabled": true}}}"#), None);
        let plain =
            [("templates/search.liquid", "{% paginate search.results by 12, window_size: 2 %}")];
        assert_eq!(page_size(&theme(&plain), "search"), Some(12));
        let assigned =
            "{% liquid\n  assign size = 18\n%}{% paginate collection.products by size %}";
        let assigned = [("templates/search.liquid", assigned)];
        assert_eq!(page_size(&theme(&assigned), "search"), Some(18));
        let other =
            [("templates/search.liquid", "{% paginate section.settings.list.products by 4 %}")];
        assert_eq!(page_size(&theme(&other), "search"), None);
        let computed = [("templates/search.liquid", "{% paginate search.results by size %}")];
        assert_eq!(page_size(&theme(&computed), "search"), None);
    }
}
