#!/usr/bin/env python3
"""What can be checked of the documents and the tests without running anything: links, citations of their
sections in the code, the paths that they name, the README's length, the example of a webhook signature, the
programs in the quickstart, the crates that tests name, the length of tests' names, and markers of merges."""

import base64
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
README_LINES = 120
TEST = re.compile(r"#\[(?:\w+::)?test\b|\bproptest!")
CITATION = re.compile(r"docs/([\w-]+\.md)(?:((?:,? §\d+)+))?")
# Places in the tree that a document names; a placeholder is none.
PLACE = re.compile(r"`((?:shared|functions|tests|events|docs|\.ci|\.github)/[\w./-]+)`")
NOTICED = re.compile(r"\b(?:shared|functions|tests|clients)/[\w./-]+\b")

GLOSSARY = ROOT / "docs/glossary.md"
# Of the left column of docs/glossary.md what has no other sense in this tree.
NOT_USED = re.compile(
    r"\b(?:refus(?:e[sd]?|als?|ing)|judge[sd]?|judging|glance[sd]?|sightings?|lanes?|pumps?|locators?|pieces|overseer|"
    r"observer|lets go|done with|what it comes to|money is there|words!)(?![\w-])",
    re.IGNORECASE,
)
# Names that clients or the table know, and the standard library's.
KNOWN = re.compile(r"\b(?:rejected_writes|with_refused_write|refusals|refused|refused connection|connection refused|zip64 locator)\b")
STRING = re.compile(r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"', re.DOTALL)
SENTENCE_WORDS = 40
TEST_NAME = re.compile(r"#\[(?:\w+::)?test\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:async )?fn (\w+)")
TEST_NAME_LENGTH = 79
# The tests of what the system declares of itself.
SYSTEM_TESTS = ("tests/it/cross.rs", "tests/it/cross/", "tests/it/main.rs")


def main():
    faults = [*links(), *places(), *citations(), *readme(), *signature(), *programs(), *tests(), *clients(), *words(), *conflicts()]
    for sentence in long_sentences():
        print(sentence)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"{len(PAGES)} documents, no faults")


def conflicts():
    """Files in which a merge has left its markers."""
    found = subprocess.run(
        ["git", "grep", "-nIE", r"^(<{7}|={7}|>{7})( |$)"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for line in found.stdout.splitlines():
        yield f"{line}: a marker of a merge"


def name(path):
    return str(path.relative_to(ROOT))


def prose(page):
    """A page's text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def headings(page):
    return re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)


def anchor(heading):
    """What GitHub makes of a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def links():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, fragment = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{name(page)}: {target} leads nowhere"
            elif fragment and fragment not in map(anchor, headings(file)):
                yield f"{name(page)}: {target} leads to no heading"


def places():
    for page in PAGES:
        for place in PLACE.findall(prose(page)):
            if not (ROOT / place).exists():
                yield f"{name(page)}: {place} is not in the tree"
    for place in NOTICED.findall((ROOT / "NOTICE").read_text()):
        if not (ROOT / place).exists():
            yield f"NOTICE: {place} is not in the tree"


def citations():
    """`docs/conventions.md §3` stands for the heading `3. …` of that page."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         "*.rs", "*.py", "*.toml", "*.yaml"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    )
    files = [file for file in map(ROOT.joinpath, listed.stdout.split()) if file.exists()]
    for file in files:
        if file == Path(__file__).resolve():
            continue
        for page, sections in CITATION.findall(file.read_text()):
            cited = ROOT / "docs" / page
            if not cited.exists():
                yield f"{name(file)}: docs/{page} is not in the tree"
                continue
            known = {heading.split(".")[0] for heading in headings(cited)}
            for section in re.findall(r"\d+", sections):
                if section not in known:
                    yield f"{name(file)}: docs/{page} has no section {section}"


def words():
    """Names, comments and documents keep to the right column of the glossary; strings may be names on the wire."""
    for file in tracked("*.rs"):
        text = STRING.sub('""', (ROOT / file).read_text())
        for number, line in enumerate(text.splitlines(), 1):
            if found := NOT_USED.search(KNOWN.sub("", line)):
                yield f"{file}:{number}: `{found[0]}` is not used (docs/glossary.md)"
    for page in PAGES:
        if page == GLOSSARY:
            continue
        for number, line in enumerate(prose(page).splitlines(), 1):
            line = re.sub(r"`[^`]*`", "", line)
            if found := NOT_USED.search(KNOWN.sub("", line)):
                yield f"{name(page)}: line {number} without code: `{found[0]}` is not used (docs/glossary.md)"


def long_sentences():
    for page in PAGES:
        text = re.sub(r"^(\||#|- |\d+\. ).*$|`[^`]*`", "", prose(page), flags=re.MULTILINE)
        for sentence in re.split(r"(?<=[.!?:])\s+|\n\n", text):
            if len(sentence.split()) > SENTENCE_WORDS:
                yield f"{name(page)}: a sentence of {len(sentence.split())} words: {' '.join(sentence.split()[:8])} …"


def readme():
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        yield f"README.md has {lines} lines, more than {README_LINES}"


def signature():
    """The vector of docs/conventions.md, computed anew with `openssl`."""
    text = (ROOT / "docs/conventions.md").read_text()
    row = dict(re.findall(r"^\| ([\w`-]+(?: id)?) \| `(.*)` \|$", text, re.MULTILINE))
    names = ["secret", "timestamp", "event id", "body"]
    if any(wanted not in row for wanted in names):
        yield "docs/conventions.md: the example of a signature is not there"
        return
    secret, time, event, body = (row[wanted] for wanted in names)
    key = base64.b64decode(secret.removeprefix("whsec_")).hex()
    expected = {
        "`X-Service-Hmac-SHA256`": mac(key, f"{time}.{body}"),
        "`webhook-signature`": "v1," + mac(key, f"{event}.{time}.{body}"),
    }
    for header, value in expected.items():
        if row.get(header) != value:
            yield f"docs/conventions.md: {header} of the example is {value}"


def programs():
    """The first walk of the quickstart is the programs of clients/examples, which .ci/clients.py runs."""
    walk = (ROOT / "docs/quickstart.md").read_text().split("\n## An app\n")[0]
    for language in ["sh", "ts", "py"]:
        blocks = re.findall(rf"^```{language}\n(.*?)^```$", walk, re.DOTALL | re.MULTILINE)
        program = ROOT / f"clients/examples/quickstart.{language}"
        if "\n".join(blocks) != program.read_text():
            yield f"docs/quickstart.md: its `{language}` blocks are not {name(program)}"


def tests():
    """A crate says `test = false` to link no empty binary; what has a test must not."""
    for manifest in map(ROOT.joinpath, tracked("*Cargo.toml")):
        sources = manifest.parent / "src"
        main = sources / "main.rs"
        for part, files in {"lib": set(sources.rglob("*.rs")) - {main}, "bin": {main}}.items():
            section = re.search(rf"^\[+{part}\]+\n((?:.+\n)*)", manifest.read_text(), re.MULTILINE)
            if not section or "test = false" not in section[1].splitlines():
                continue
            for file in filter(Path.exists, files):
                if TEST.search(file.read_text()):
                    yield f"{name(manifest)}: `test = false` loses the tests of {name(file)}"


def clients():
    """A test is a client: it names `support`, and no crate that it tests. What the system declares of itself is
    tested in `cross`, which may. And a name says what the system does, in short."""
    dependencies = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    crates = [crate.replace("-", "_") for crate, how in dependencies.items() if "path" in how]
    named = re.compile(rf"(?<![\w:.])({'|'.join(crates)})::")
    for file in tracked("tests/it/*.rs"):
        text = (ROOT / file).read_text()
        for test in TEST_NAME.findall(text):
            if len(test) > TEST_NAME_LENGTH:
                yield f"{file}: `{test}` has {len(test)} characters, more than {TEST_NAME_LENGTH}"
        if file.startswith(SYSTEM_TESTS):
            continue
        for number, line in enumerate(STRING.sub('""', text).splitlines(), 1):
            if found := named.search(line.split("//")[0]):
                yield f"{file}:{number}: a test names `{found[1]}`; what it needs of it is in tests/support"


def tracked(pattern):
    command = ["git", "ls-files", pattern]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def mac(key, text):
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key}", "-binary"]
    done = subprocess.run(command, input=text.encode(), check=True, stdout=subprocess.PIPE)
    return base64.b64encode(done.stdout).decode()


if __name__ == "__main__":
    main()
