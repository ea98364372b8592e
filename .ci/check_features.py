#!/usr/bin/env python3
"""That one build serves all: `cargo run -p local`, `cargo test` and `cargo test -p <crate>` ask the same features
of what they have in common. Where they do not, cargo builds it, and all that stands on it, once for each of them;
`tests/features/Cargo.toml` is where the missing feature is named."""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# These stand on little, and are tested with little.
APART = {"primitives-macros", "liquid", "shop-theme", "benches", "bases", "features", "runtime-api"}


def main():
    everything = features("--edges", "normal,dev")
    faults = []
    for package in packages() - APART:
        # `local` is run more often than its own tests are.
        edges = "normal" if package == "local" else "normal,dev"
        for name, asked in features("--package", package, "--edges", edges).items():
            # What `cargo test` has not is not built for it a second time.
            if name in everything and asked != everything[name]:
                faults.append(f"{package}: {name} has {said(asked)}; `cargo test` has {said(everything[name])}")
    for fault in sorted(faults):
        print(fault, file=sys.stderr)
    if faults:
        sys.exit("tests/features/Cargo.toml does not name these features")
    print(f"{len(everything)} packages are built once")


def packages():
    listed = cargo("metadata", "--format-version", "1", "--no-deps")
    return {package["name"] for package in json.loads(listed)["packages"]}


def features(*options):
    """By package: the sets of features that are asked of it, by programs and by macros."""
    found = collections.defaultdict(set)
    for line in cargo("tree", "--prefix", "none", "--format", "{p}|{f}", *options).splitlines():
        package, bar, asked = line.removesuffix(" (*)").partition("|")
        if bar:
            found[" ".join(package.split()[:2])].add(asked.strip())
    return found


def said(asked):
    return " and ".join(f"[{one}]" for one in sorted(asked))


def cargo(*command):
    return subprocess.run(["cargo", *command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
