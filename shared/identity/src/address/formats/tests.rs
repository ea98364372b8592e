//! Required parts of an address by country, and accepted spellings.

use super::*;

type Normalized = (Option<String>, Option<String>);

fn normalized(country: &str, region: &str, postal_code: &str) -> Result<Normalized, Vec<String>> {
    let given = |text: &'static str| (!text.is_empty()).then_some(text);
    let (region, postal_code) = (region.to_owned().leak(), postal_code.to_owned().leak());
    let validated = validate(country, given(region), given(postal_code));
    let named = |(field, violation): (&str, Violation)| format!("{field}: {}", violation.code);
    validated.map_err(|field_errors| field_errors.into_iter().map(named).collect())
}

/// Whether people who write in Latin letters read it.
fn latin(c: char) -> bool {
    c < '\u{250}'
}

#[test]
fn the_table_reads_and_its_own_examples_pass() {
    assert!(FORMATS.len() > 240);
    for (country, entry) in FORMATS.iter() {
        let format = entry.format().expect(country);
        if let Some(pattern) = &format.zip {
            Regex::new(pattern).expect(country);
            assert!(!format.examples.is_empty(), "{country}");
            for example in &format.examples {
                let found = format.postal_code(country, Some(example)).unwrap();
                assert_eq!(found.as_ref(), Some(example), "{country}");
            }
        }
        for (code, names) in &format.regions {
            for name in names.iter().chain([code]) {
                let found = format.region(country, Some(name));
                assert!(matches!(found, Ok(Some(_))), "{country}: {name}");
            }
            let name = names.first().unwrap_or(code);
            let found = format.region(country, Some(name)).unwrap();
            assert_eq!(found.as_ref(), Some(code), "{country}: {name}");
            assert!(code.chars().all(|c| !c.is_alphabetic() || latin(c)), "{country}: {code}");
            let iso = format!("{country}-{code}");
            assert_eq!(format.region(country, Some(&iso)).unwrap().as_ref(), Some(code));
        }
    }
}

#[test]
fn addresses_require_the_fields_of_their_country() {
    let ok = |region: &str, postal_code: &str| {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok((some(region), some(postal_code)))
    };
    assert_eq!(normalized("US", "california", "95014-1234"), ok("CA", "95014-1234"));
    assert_eq!(normalized("CA", "Québec", "h3z 2y7"), ok("QC", "H3Z 2Y7"));
    assert_eq!(normalized("IN", "Karnataka", "560001"), ok("KA", "560001"));
    assert_eq!(normalized("IN", "TG", " 500 001 "), ok("TS", "500001"));
    assert_eq!(normalized("GB", "", "sw1a 1aa"), ok("", "SW1A 1AA"));
    assert_eq!(normalized("GB", "Kent", "ME1 1AA"), ok("Kent", "ME1 1AA"));
    assert_eq!(normalized("AU", "nsw", "2060"), ok("NSW", "2060"));
    assert_eq!(normalized("DE", "", "53225"), ok("", "53225"));
    assert_eq!(normalized("AE", "Dubai", ""), ok("DU", ""));
    let wrong = |field_errors: &[&str]| Err(field_errors.iter().map(|f| (*f).to_owned()).collect());
    let both = ["region: required", "postal_code: required"];
    for country in ["US", "CA", "IN", "AU"] {
        assert_eq!(normalized(country, "", ""), wrong(&both), "{country}");
    }
    let both = ["region: invalid_region", "postal_code: invalid_postal_code"];
    assert_eq!(normalized("US", "Bavaria", "9501"), wrong(&both));
    assert_eq!(normalized("CA", "TX", "H3Z 2Y"), wrong(&both));
    assert_eq!(normalized("IN", "Punjabi", "5600012"), wrong(&both));
    assert_eq!(normalized("GB", "", "95014"), wrong(&both[1..]));
    assert_eq!(normalized("DE", "", ""), wrong(&["postal_code: required"]));
}

#[test]
fn a_region_is_taken_by_any_of_its_names() {
    for (country, names, code) in [
        ("BR", &["Sao Paulo", "SÃO PAULO", "sp", "BR-SP"][..], "SP"),
        ("ES", &["Malaga", "Málaga", "Provincia de Málaga", "Màlaga"], "MA"),
        ("ES", &["Gipuzkoa", "Guipúzcoa", "guipuzcoa"], "SS"),
        ("ES", &["Girona", "Gerona", "Provincia de Gerona", "Province of Girona"], "GI"),
        ("ES", &["Islas Baleares", "Illes Balears"], "PM"),
        ("ES", &["Vizcaya", "Bizkaia", "Biscaia"], "BI"),
        ("ES", &["Alacant", "alicante"], "A"),
        ("IE", &["Dublin", "Co. Dublin", "County Dublin"], "D"),
        ("IE", &["County Cork", "Co Cork", "Cork", "Contae Chorcaí"], "CO"),
        ("IN", &["Orissa", "Odisha", "ଓଡ଼ିଶା", "OR"], "OD"),
        ("IN", &["Uttaranchal", "उत्तराखण्ड"], "UK"),
        ("IN", &["Pondicherry"], "PY"),
        (
            "IN",
            &["Delhi", "NCT of Delhi", "National Capital Territory of Delhi", "New Delhi"],
            "DL",
        ),
        ("IN", &["State of Kerala", "Kerala State"], "KL"),
        ("IN", &["Karnataka", "ಕರ್ನಾಟಕ", "कर्नाटक"], "KA"),
        ("CN", &["北京", "北京市", "Beijing", "Peking", "BJ"], "11"),
        ("CN", &["陕西省", "Shaanxi"], "61"),
        ("CN", &["山西", "Shanxi"], "14"),
        ("JP", &["東京", "東京都", "Tōkyō", "Tokyo", "Tokyo-to", "Tokyo Metropolis"], "13"),
        ("JP", &["大阪", "大阪府", "Osaka", "Osaka-fu", "Ōsaka fu"], "27"),
        ("JP", &["Kyoto", "Kyoto-fu", "京都府"], "26"),
        ("VN", &["Thành phố Hồ Chí Minh", "TP. Hồ Chí Minh", "Hồ Chí Minh"], "SG"),
        ("VN", &["Tỉnh Đồng Tháp", "Dong Thap Province"], "45"),
        ("JP", &["Kumamoto", "Kumamoto-ken", "Kumamoto Prefecture", "熊本県"], "43"),
        (
            "KR",
            &["Seoul", "Seoul-si", "Seoul City", "Seoul Special City", "서울시", "서울특별시"],
            "11",
        ),
        ("KR", &["Busan-si", "Busan Metropolitan City", "부산"], "26"),
        ("CO", &["Bogotá", "Bogota D.C.", "Bogotá, D.C.", "Distrito Capital"], "DC"),
        ("AR", &["CABA", "Capital Federal", "Ciudad de Buenos Aires", "City of Buenos Aires"], "C"),
        ("AR", &["Buenos Aires", "Provincia de Buenos Aires", "Buenos Aires Province"], "B"),
        ("MY", &["Penang", "PNG"], "07"),
        ("AE", &["دبي", "Dubai", "Dubayy"], "DU"),
        ("EG", &["القاهرة", "Cairo"], "C"),
        ("MX", &["CDMX", "Ciudad de Mexico", "DIF", "Mexico City", "DF", "México, D.F."], "CMX"),
        ("MX", &["México", "State of Mexico", "Estado de México", "Edo. Mex."], "MEX"),
        ("MX", &["Q ROO", "Q. Roo", "Quintana Roo"], "ROO"),
        ("UA", &["Kiev", "Kyiv", "Київ"], "30"),
        ("IT", &["Bolzano", "Südtirol"], "BZ"),
        ("CA", &["Quebec", "Québec", "Province of Quebec", "PQ"], "QC"),
        ("CA", &["Newfoundland", "Labrador", "Newfoundland & Labrador", "NL", "NF"], "NL"),
        ("US", &["california", "US-CA", "State of California", "CA State"], "CA"),
        ("HK", &["Kowloon", "九龍", "KL"], "Kowloon"),
        ("HK", &["Hong Kong Island", "香港島", "HK"], "Hong Kong Island"),
        ("TW", &["Kinmen", "Kinmen County", "金門縣", "金門"], "KIN"),
    ] {
        for name in names {
            let found = region_of(country, name).map_err(|violation| violation.code);
            assert_eq!(found.as_deref(), Ok(code), "{country}: {name}");
        }
    }
    assert!(region_of("IE", "County Kent").is_err());
    assert!(region_of("US", "State").is_err());
}

#[test]
fn a_postal_code_is_stored_as_its_country_writes_it() {
    for (country, given, stored) in [
        ("PL", &["00950", "00-950", "00 950", "PL-00950", "PL 00-950"][..], "00-950"),
        ("LV", &["1050", "LV1050", "lv-1050", "LV 1050"], "LV-1050"),
        ("DE", &["10115", "D-10115", "DE-10115", "D 10115", "１０１１５"], "10115"),
        ("FI", &["00100", "FIN-00100", "FI-00100"], "00100"),
        ("CH", &["8001", "CH-8001"], "8001"),
        ("JP", &["1540023", "154-0023", "〒154-0023", "１５４－００２３"], "154-0023"),
        ("GB", &["sw1a1aa", "SW1A 1AA", "SW1A-1AA"], "SW1A 1AA"),
        ("GB", &["m25bq"], "M2 5BQ"),
        ("GB", &["G128QQ"], "G12 8QQ"),
        ("NL", &["1234ab", "1234 AB", "NL-1234AB"], "1234 AB"),
        ("CA", &["h3z2y7", "H3Z-2Y7"], "H3Z 2Y7"),
        ("US", &["950141234", "95014 1234", "95014-1234"], "95014-1234"),
        ("BR", &["01310100", "01310-100"], "01310-100"),
        ("IE", &["d02af30"], "D02 AF30"),
        ("IN", &["500 001", "५००००१"], "500001"),
        ("SE", &["114 55", "S-11455", "SE-114 55"], "11455"),
        ("AD", &["100", "AD100"], "AD100"),
        ("EG", &["١١٥١١"], "11511"),
        ("XK", &["10000"], "10000"),
    ] {
        for text in given {
            let found =
                normalized(country, "", text).map_err(|field_errors| field_errors.join(", "));
            let code = match found {
                Ok((_, code)) => code,
                // The region is missing.
                Err(_) => Some(postal_code_of(country, text)),
            };
            assert_eq!(code.as_deref(), Some(stored), "{country}: {text}");
        }
    }
    let wrong = Err(vec!["postal_code: invalid_postal_code".to_owned()]);
    for (country, text) in [("DE", "F-10115"), ("DE", "1011"), ("PL", "0095"), ("GB", "1A 1AA")] {
        assert_eq!(normalized(country, "", text), wrong, "{country}: {text}");
    }
}

#[test]
fn hong_kong_needs_no_region() {
    assert_eq!(normalized("HK", "", ""), Ok((None, None)));
    assert_eq!(normalized("HK", "Kowloon", ""), Ok((Some("Kowloon".to_owned()), None)));
    assert!(is_same_region("HK", "九龍", "Kowloon") && !is_same_region("HK", "九龍", "新界"));
    assert!(is_same_region("GB", "Kent", "KENT") && !is_same_region("GB", "Kent", "Essex"));
}

#[test]
fn the_nearest_region_is_named() {
    let detail = |country: &str, given: &str| region_of(country, given).unwrap_err().detail;
    for (country, given, nearest) in [
        ("ES", "Girrona", "GI (Girona)"),
        ("ES", "Provincia de Barcellona", "B (Barcelona)"),
        ("US", "Kalifornia", "CA (California)"),
        ("US", "Massachussets", "MA (Massachusetts)"),
        ("IN", "Karnatak", "KA (Karnataka)"),
        ("JP", "Hokaido", "01 (Hokkaido)"),
    ] {
        let detail = detail(country, given);
        assert!(detail.ends_with(&format!("; the nearest is {nearest}.")), "{detail}");
    }
    let none = "Must be a region of ES, by its name or its code of ISO 3166-2.";
    assert_eq!(detail("ES", "Canarias"), none);
    assert_eq!(detail("ES", &"Girona".repeat(20_000)), none);
    let all = detail("HK", "九龍塘x");
    assert!(all.contains("Kowloon (九龍)") && all.contains("New Territories"), "{all}");
    let missing = validate("AU", None, Some("2060")).unwrap_err();
    assert!(missing[0].1.detail.contains(": ACT (Australian Capital Territory), "), "{missing:?}");
}
