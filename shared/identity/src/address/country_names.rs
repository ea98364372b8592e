//! The names of countries by language (Unicode CLDR): a line for each, of its code and its name, by name.

/// In German.
pub const DE: &str = include_str!("country_names/de.txt");
/// In English.
pub const EN: &str = include_str!("country_names/en.txt");
/// In Spanish.
pub const ES: &str = include_str!("country_names/es.txt");
/// In French.
pub const FR: &str = include_str!("country_names/fr.txt");
/// In Hindi.
pub const HI: &str = include_str!("country_names/hi.txt");
/// In Japanese.
pub const JA: &str = include_str!("country_names/ja.txt");

/// The name of a country in a language, which is the beginning of a language tag; in capitals and English for any other
/// language, as the Universal Postal Union advises. The code itself if it is none's.
pub fn country_name(country: &str, language: &str) -> String {
    let names = match language.split('-').next().unwrap_or_default() {
        "de" => Some(DE),
        "en" => Some(EN),
        "es" => Some(ES),
        "fr" => Some(FR),
        "hi" => Some(HI),
        "ja" => Some(JA),
        _ => None,
    };
    let mut all = names.unwrap_or(EN).lines().filter_map(|line| line.split_once(' '));
    let name = all.find(|(code, _)| *code == country).map_or(country, |(_, name)| name);
    if names.is_some() { name.to_owned() } else { name.to_uppercase() }
}
