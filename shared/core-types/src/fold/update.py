"""Rebuilds latin_ascii.txt from CLDR's transform Latin-ASCII, which ICU has as well:

    apt-get download unicode-cldr-core && dpkg -x unicode-cldr-core_*.deb cldr
    python3 update.py cldr/usr/share/unicode/cldr/common/transforms/Latin-ASCII.xml

One line for each small letter, apostrophe or dash that has no decomposition: the character, and what it is in ASCII."""

import re, sys, unicodedata
from pathlib import Path
from xml.etree import ElementTree

rules = next(ElementTree.parse(sys.argv[1]).iter("tRule")).text
lines = []
for character, written in re.findall(r"^\s*(\S)\s*→\s*(.*?)\s*;", rules, re.MULTILINE):
    written = re.sub(r"\\(.)|'([^']*)'", lambda quoted: quoted[1] or quoted[2], written)
    is_letter = written.isalpha() and unicodedata.category(character)[0] == "L"
    is_word = is_letter or written in ("'", "-")
    is_whole = unicodedata.normalize("NFKD", character) == character
    if is_word and is_whole and not character.isascii() and character.lower() == character:
        lines.append(f"{character} {written.lower()}\n")
Path(__file__).with_name("latin_ascii.txt").write_text("".join(sorted(lines)))
