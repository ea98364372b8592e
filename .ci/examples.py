"""Picks the examples of docs/openapi.json, docs/examples.json, of the answers that the last run of all
tests has seen (target/debug/answers). An example that is there and is still valid stays."""

import json
import os
import pathlib
import re

FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "debug/answers"
CHOSEN = pathlib.Path("docs/examples.json")
SECRET = re.compile(r"(_token|secret|^token|^url)$")
# What an answer is long enough to show, in characters of JSON.
ENOUGH = 2_500


def whole(value):
    """How many members say something."""
    if isinstance(value, dict):
        return sum(whole(member) for member in value.values())
    if isinstance(value, list):
        return sum(whole(member) for member in value[:2])
    return 0 if value is None else 1


def veiled(value, name=""):
    """The same, without what opens something."""
    if isinstance(value, dict):
        return {key: veiled(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [veiled(member) for member in value]
    if isinstance(value, str) and SECRET.search(name) and len(value) > 24 and not value.startswith("http"):
        return value[:12] + "…"
    return value


def worth(answer):
    length = len(json.dumps([answer["request"], answer["response"]]))
    return (length <= ENOUGH, min(whole(answer["response"]) + whole(answer["request"]), 60), -length)


operations = {
    f"{method.upper()} {path}": operation
    for path, item in json.load(open("docs/openapi.json"))["paths"].items()
    for method, operation in item.items()
}
seen = {}
for file in sorted(FOLDER.iterdir()):
    for line in file.read_text().splitlines():
        answer = json.loads(line)
        if answer["operation"] in operations:
            seen.setdefault(answer["operation"], []).append(answer)
chosen = {name: kept for name, kept in json.loads(CHOSEN.read_text()).items() if name in operations}
for name, answers in sorted(seen.items()):
    if name not in chosen:
        best = max(answers, key=worth)
        chosen[name] = {key: veiled(best[key]) for key in ("status", "request", "response")}
CHOSEN.write_text(json.dumps(dict(sorted(chosen.items())), indent=1, ensure_ascii=False) + "\n")
print(f"{CHOSEN}: {len(chosen)} examples; none of {sorted(set(operations) - set(chosen))}")
