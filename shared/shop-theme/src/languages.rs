//! What languages call months and days, and how they write dates. The names are those of the GNU C Library's locales.

use liquid::DateNames;
use pure_rust_locales::{Locale, locale_match};

/// The regions of languages that are not called like their country, for pages that name none.
const REGIONS: &[(&str, &str)] = &[
    ("ar", "EG"),
    ("bs", "BA"),
    ("ca", "ES"),
    ("cs", "CZ"),
    ("cy", "GB"),
    ("da", "DK"),
    ("el", "GR"),
    ("et", "EE"),
    ("eu", "ES"),
    ("fa", "IR"),
    ("ga", "IE"),
    ("gl", "ES"),
    ("he", "IL"),
    ("hi", "IN"),
    ("hy", "AM"),
    ("ja", "JP"),
    ("ka", "GE"),
    ("ko", "KR"),
    ("ms", "MY"),
    ("nb", "NO"),
    ("nn", "NO"),
    ("sl", "SI"),
    ("sq", "AL"),
    ("sr", "RS"),
    ("sv", "SE"),
    ("ta", "IN"),
    ("uk", "UA"),
    ("ur", "PK"),
    ("vi", "VN"),
    ("zh", "CN"),
];

/// The names of formats, and what they are in English.
const FORMATS: [(&str, &str); 8] = [
    ("abbreviated_date", "%b %e, %Y"),
    ("basic", "%m/%d/%Y"),
    ("date", "%B %e, %Y"),
    ("date_at_time", "%B %e, %Y at %l:%M %P"),
    ("default", "%A, %B %e, %Y at %l:%M %P %z"),
    ("on_date", "on %b %e, %Y"),
    ("short", "%e %b %H:%M"),
    ("long", "%B %e, %Y %H:%M"),
];

/// The locale of a language tag (RFC 5646); none where nothing is known of the language, and for English.
fn locale(tag: &str) -> Option<Locale> {
    let mut parts = tag.split('-');
    let language = parts.next()?.to_ascii_lowercase();
    if language == "en" {
        return None;
    }
    let region = parts.find(|part| part.len() == 2).map(str::to_ascii_uppercase);
    let usual = REGIONS.iter().find(|(known, _)| *known == language);
    let usual =
        usual.map_or_else(|| language.to_ascii_uppercase(), |(_, region)| (*region).to_owned());
    let regions = region.into_iter().chain([usual]);
    regions.flat_map(|region| Locale::try_from(&*format!("{language}_{region}"))).next()
}

/// What dates call months and days in a language; English where nothing is known of it.
pub(crate) fn date_names(tag: &str) -> DateNames {
    let Some(locale) = locale(tag) else { return DateNames::ENGLISH };
    DateNames {
        months: locale_match!(locale => LC_TIME::MON),
        short_months: locale_match!(locale => LC_TIME::ABMON),
        weekdays: locale_match!(locale => LC_TIME::DAY),
        short_weekdays: locale_match!(locale => LC_TIME::ABDAY),
    }
}

/// The format of dates that has a name, as a language writes them.
pub(crate) fn date_format(tag: &str, name: &str) -> Option<String> {
    let english = FORMATS.iter().find(|(known, _)| *known == name)?.1;
    let Some(locale) = locale(tag) else { return Some(english.to_owned()) };
    let (date, short_date, at, on) = match tag.split('-').next().unwrap_or_default() {
        "de" => ("%-d. %B %Y", "%-d. %b %Y", " um ", "am "),
        "es" => ("%-d de %B de %Y", "%-d %b %Y", " a las ", "el "),
        "fr" => ("%-d %B %Y", "%-d %b %Y", " à ", "le "),
        "ja" | "zh" => ("%Y年%-m月%-d日", "%Y年%-m月%-d日", " ", ""),
        _ => ("%-d %B %Y", "%-d %b %Y", ", ", ""),
    };
    Some(match name {
        "abbreviated_date" => short_date.to_owned(),
        "basic" => locale_match!(locale => LC_TIME::D_FMT).to_owned(),
        "date" => date.to_owned(),
        "date_at_time" => format!("{date}{at}%H:%M"),
        "default" => format!("%A, {date}{at}%H:%M %z"),
        "on_date" => format!("{on}{short_date}"),
        "short" => {
            format!("{} %H:%M", short_date.trim_end_matches(" %Y").trim_start_matches("%Y年"))
        }
        _ => format!("{date} %H:%M"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_language() {
        for (tag, month, day) in [
            ("de", "März", "Sonntag"),
            ("de-AT", "März", "Sonntag"),
            ("fr-CH", "mars", "dimanche"),
            ("ja", "3月", "日曜日"),
            ("pt-BR", "março", "domingo"),
            ("zh-Hant-TW", "三月", "週日"),
            ("sv-FI", "mars", "söndag"),
            ("en-GB", "March", "Sunday"),
            ("tlh", "March", "Sunday"),
            ("", "March", "Sunday"),
        ] {
            let names = date_names(tag);
            assert_eq!((names.months[2], names.weekdays[0]), (month, day), "{tag}");
            let counts = [names.months, names.short_months, names.weekdays, names.short_weekdays];
            assert_eq!(counts.map(<[_]>::len), [12, 12, 7, 7], "{tag}");
        }
    }

    #[test]
    fn named_formats_are_those_of_the_language() {
        let of = |tag, name| date_format(tag, name).unwrap();
        assert_eq!(of("en", "on_date"), "on %b %e, %Y");
        assert_eq!(of("de-CH", "date_at_time"), "%-d. %B %Y um %H:%M");
        assert_eq!(of("de", "basic"), "%d.%m.%Y");
        assert_eq!(of("de", "short"), "%-d. %b %H:%M");
        assert_eq!(of("ja", "short"), "%-m月%-d日 %H:%M");
        assert_eq!(date_format("de", "month_day"), None);
    }
}
