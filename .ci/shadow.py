#!/usr/bin/env python3
"""Runs the black-box tests with every call of the table made to the embedded engine and to another one, and lists how
their answers differ: `just shadow`, or `.ci/engine SERVICE_SHADOW .ci/shadow.py [names …]`. Ends with a failure when a
test does, or when a difference is not among those that docs/platform.md §9 explains."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

NOTES = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "debug/shadow"
# Differences that docs/platform.md explains: the operation, or * for all of them, and the kind.
KNOWN = {("Scan", "page"), ("Query", "page"), ("*", "capacity")}
# Examples of each difference that are shown.
SHOWN = 2


def shortened(value, most=600):
    text = json.dumps(value)
    return text if len(text) <= most else text[:most] + " …"


def main():
    names = sys.argv[1:]
    shutil.rmtree(NOTES, ignore_errors=True)
    # Each call waits for the one before of its test: a test takes longer.
    outcome = subprocess.run(["cargo", "test", "--test", "it", "--", *names], check=False).returncode
    calls, found = 0, collections.defaultdict(list)
    for file in NOTES.glob("*"):
        for line in file.read_text().splitlines():
            note = json.loads(line)
            if "calls" in note:
                calls += note["calls"]
            else:
                found[note["operation"], note["kind"]].append(note)
    print(f"{calls} calls of the table were made to both engines")
    unknown = 0
    for (operation, kind), notes in sorted(found.items()):
        is_known = (operation, kind) in KNOWN or ("*", kind) in KNOWN
        unknown += not is_known
        print(f"{operation} {kind}: {len(notes)}{'' if is_known else ', which docs/platform.md does not explain'}")
        for note in notes[: 0 if is_known else SHOWN]:
            for member in ("input", "embedded", "shadow"):
                print(f"    {member}: {shortened(note[member])}")
    if calls == 0:
        print("no call was made to both: is SERVICE_SHADOW set?")
    sys.exit(outcome or unknown > 0 or calls == 0)


if __name__ == "__main__":
    main()
