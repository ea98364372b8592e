//! What the regions of countries are called in each language.

use super::wording::RegionWords;

pub(super) const EN: RegionWords = RegionWords {
    state: "State",
    province: "Province",
    prefecture: "Prefecture",
    county: "County",
    emirate: "Emirate",
    department: "Department",
    choose_state: "Please choose a state.",
    choose_province: "Please choose a province.",
    choose_prefecture: "Please choose a prefecture.",
    choose_county: "Please choose a county.",
    choose_emirate: "Please choose an emirate.",
    choose_department: "Please choose a department.",
    choose_region: "Please choose a region.",
};

pub(super) const DE: RegionWords = RegionWords {
    state: "Bundesstaat",
    province: "Provinz",
    prefecture: "Präfektur",
    county: "Landkreis",
    emirate: "Emirat",
    department: "Departamento",
    choose_state: "Bitte wählen Sie einen Bundesstaat.",
    choose_province: "Bitte wählen Sie eine Provinz.",
    choose_prefecture: "Bitte wählen Sie eine Präfektur.",
    choose_county: "Bitte wählen Sie einen Landkreis.",
    choose_emirate: "Bitte wählen Sie ein Emirat.",
    choose_department: "Bitte wählen Sie ein Departamento.",
    choose_region: "Bitte wählen Sie eine Region.",
};

pub(super) const FR: RegionWords = RegionWords {
    state: "État",
    province: "Province",
    prefecture: "Préfecture",
    county: "Comté",
    emirate: "Émirat",
    department: "Département",
    choose_state: "Veuillez choisir un État.",
    choose_province: "Veuillez choisir une province.",
    choose_prefecture: "Veuillez choisir une préfecture.",
    choose_county: "Veuillez choisir un comté.",
    choose_emirate: "Veuillez choisir un émirat.",
    choose_department: "Veuillez choisir un département.",
    choose_region: "Veuillez choisir une région.",
};

pub(super) const ES: RegionWords = RegionWords {
    state: "Estado",
    province: "Provincia",
    prefecture: "Prefectura",
    county: "Condado",
    emirate: "Emirato",
    department: "Departamento",
    choose_state: "Elija un estado.",
    choose_province: "Elija una provincia.",
    choose_prefecture: "Elija una prefectura.",
    choose_county: "Elija un condado.",
    choose_emirate: "Elija un emirato.",
    choose_department: "Elija un departamento.",
    choose_region: "Elija una provincia o región.",
};

pub(super) const JA: RegionWords = RegionWords {
    state: "州",
    province: "州・省",
    prefecture: "都道府県",
    county: "県・郡",
    emirate: "首長国",
    department: "県",
    choose_state: "州を選択してください。",
    choose_province: "州・省を選択してください。",
    choose_prefecture: "都道府県を選択してください。",
    choose_county: "県・郡を選択してください。",
    choose_emirate: "首長国を選択してください。",
    choose_department: "県を選択してください。",
    choose_region: "地域を選択してください。",
};

pub(super) const HI: RegionWords = RegionWords {
    state: "राज्य",
    province: "प्रांत",
    prefecture: "प्रीफ़ेक्चर",
    county: "काउंटी",
    emirate: "अमीरात",
    department: "विभाग",
    choose_state: "कृपया राज्य चुनें।",
    choose_province: "कृपया प्रांत चुनें।",
    choose_prefecture: "कृपया प्रीफ़ेक्चर चुनें।",
    choose_county: "कृपया काउंटी चुनें।",
    choose_emirate: "कृपया अमीरात चुनें।",
    choose_department: "कृपया विभाग चुनें।",
    choose_region: "कृपया क्षेत्र चुनें।",
};
