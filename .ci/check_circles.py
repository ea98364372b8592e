#!/usr/bin/env python3
"""That no circle of a crate's files has more than three: in a larger one, something stands in the wrong file.

A file depends on another if it names what is defined there; through a re-export, that is the file behind it. What a
file re-exports counts as its own, and `mod` is no dependency. Tests and samples do not count. Names are resolved from
the text: methods, and what macros make, are not seen."""

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 3
# Comments, texts and letters, but no lifetimes.
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""", re.S)
UNCOUNTED = re.compile(r"#\[cfg\(test\)\]|(?:\bpub(?:\([^)]*\))? )?\bmod samples\b")
MODULE = re.compile(r"\bmod (\w+);")
USE = re.compile(r"(\bpub(?:\([^)]*\))? )?\buse ([^;]+);")
PART = re.compile(r"[^\s,][^,]*")
GROUP = re.compile(r"([\w:]*)\{([^{}]*)\}")
PATH = re.compile(r"(?<![\w:$])\w+(?:::\w+)+\b(?!!)")


class Module:
    def __init__(self, file, path):
        self.file, self.path = file, path
        code = counted(NO_CODE.sub('""', file.read_text()))
        self.children = MODULE.findall(code)
        uses = [(public, *use) for public, tree in USE.findall(code) for use in flat(tree)]
        self.imported = {name: path for _, path, name in uses}
        own = {name for public, _, name in uses if public}
        paths = (tuple(path.split("::")) for path in PATH.findall(USE.sub("", code)))
        self.named = [path for public, path, _ in uses if not public] + [path for path in paths if path[0] not in own]


def counted(code):
    """The code without tests and samples: each ends with its semicolon, or with its braces."""
    while found := UNCOUNTED.search(code):
        depth = 0
        for mark in re.compile(r"[;{}]|\Z").finditer(code, found.end()):
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if not depth or not mark[0]:
                break
        code = code[: found.start()] + code[mark.end() :]
    return code


def flat(tree):
    """The paths of a `use`, each with the name that it gets."""
    while "{" in tree:
        tree = GROUP.sub(lambda group: ",".join(group[1] + one for one in PART.findall(group[2])), tree)
    for path, alias in re.findall(r"([\w:*]+)(?: as (\w+))?", tree):
        path = tuple(path.removesuffix("::self").split("::"))
        yield path, alias or path[-1]


def modules(file, path, folder):
    """A module and those below it, with their paths."""
    module = Module(file, path)
    yield path, module
    for name in module.children:
        yield from modules(folder / f"{name}.rs", (*path, name), folder / name)


def origin(known, here, path, left=9):
    """The module that defines what a path in a module names, and its name; nothing for another crate's."""
    at, imported = here.path, here.imported.get(path[0])
    if path[0] in ("crate", "self", "super"):
        while path and path[0] in ("crate", "self", "super"):
            at, path = {"crate": (), "self": at, "super": at[:-1]}[path[0]], path[1:]
    elif (*at, path[0]) not in known:
        return origin(known, here, imported + path[1:], left - 1) if left and imported not in (None, path) else None
    while path and (*at, path[0]) in known:
        at, path = (*at, path[0]), path[1:]
    module, name = known[at], path[0] if path else None
    if left and name in module.imported:
        return origin(known, module, module.imported[name] + path[1:], left - 1)
    return (module, name) if name else None


def dependencies(root):
    """What each file of a target names of which other."""
    known, found = dict(modules(root, (), root.parent)), {}
    for here in known.values():
        for there, name in filter(None, (origin(known, here, path) for path in here.named)):
            if there is not here:
                found.setdefault(here.file, {}).setdefault(there.file, set()).add(name)
    return found


def circles(uses):
    below = {file: set(others) for file, others in uses.items()}
    for middle, file in product(below, below):
        if middle in below[file]:
            below[file] |= below[middle]
    return {tuple(sorted(other for other in below[file] if file in below.get(other, ()))) for file in below}


def main():
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    targets = (target for package in metadata["packages"] for target in package["targets"])
    faults = []
    for root in sorted({Path(it["src_path"]) for it in targets if {"lib", "rlib", "bin"} & set(it["kind"])}):
        uses = dependencies(root)
        for circle in sorted(circle for circle in circles(uses) if len(circle) > LARGEST):
            faults.append(f"{root.relative_to(ROOT)}: {len(circle)} files depend on each other")
            for file, other in product(circle, circle):
                if names := ", ".join(sorted(uses[file].get(other, ()))):
                    faults.append(f"    {file.relative_to(root.parent)} -> {other.relative_to(root.parent)}: {names}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"no circle has more than {LARGEST} files")


if __name__ == "__main__":
    main()
