#!/usr/bin/env python3
"""Draws docs/crates.svg, the crates and what they depend on, from their manifests. With `--check` it only
says whether the picture is current.

Functions are at the left, those with the same dependencies in one box. The crates of `shared/` are one
column in their order, each below whatever depends on it. An arrow that follows from others is left out."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/crates.svg"

ROW, BOX = 46, 30  # from crate to crate; the height of one
LEFT, LEFT_WIDTH = 8, 104  # boxes of functions
CRATE, CRATE_WIDTH = 164, 104  # boxes of crates
TRACK, PORT, LINE, TOP = 9, 5, 15, 34

STYLE = """
  .canvas { fill: #ffffff } .crate { fill: #eef4ff; stroke: #3b6cb4 } .function { fill: #fff6e5; stroke: #b07d1c }
  text { fill: #1b1f24; font: 13px system-ui, sans-serif } .head { fill: #57606a; font-size: 11px }
  path { fill: none; stroke-width: 1.2 } .use { stroke: #b07d1c } .below { stroke: #3b6cb4 }
  .use-tip { fill: #b07d1c } .below-tip { fill: #3b6cb4 }
  @media (prefers-color-scheme: dark) {
    .canvas { fill: #0d1117 } .crate { fill: #15243b; stroke: #79a9ef } .function { fill: #33270f; stroke: #dcae52 }
    text { fill: #e6edf3 } .head { fill: #9aa4af }
    .use { stroke: #dcae52 } .below { stroke: #79a9ef } .use-tip { fill: #dcae52 } .below-tip { fill: #79a9ef }
  }
"""


def main():
    crates, functions = manifests()
    picture = draw(crates, functions)
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/crates.svg is not what the manifests say: run .ci/draw_crates.py")


def manifests():
    """The crates of `shared/` and the functions that are deployed, each with its direct dependencies."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    crates, functions = {}, {}
    for package in json.loads(done.stdout)["packages"]:
        folder = Path(package["manifest_path"]).parent.relative_to(ROOT)
        uses = {one["name"] for one in package["dependencies"] if one["kind"] is None}
        is_macro = any("proc-macro" in target["kind"] for target in package["targets"])
        if folder.parts[0] == "shared" and not is_macro:
            crates[package["name"]] = uses
        elif folder.parts[0] == "functions" and len(folder.parts) == 2:
            functions[package["name"]] = (folder.name, uses)
    # `local` is all of them in one process, and is deployed nowhere.
    names = set(functions)
    deployed = {name: uses for name, uses in functions.values() if not uses & names}
    reached = reachable({name: uses & set(crates) for name, uses in crates.items()})
    return (
        {name: reduced(uses & set(crates), reached) for name, uses in crates.items()},
        {name: reduced(uses & set(crates), reached) for name, uses in deployed.items()},
    )


def reachable(uses):
    """Everything that each crate depends on, directly or not."""
    def below(name):
        return uses[name].union(*map(below, uses[name])) if uses[name] else set()
    return {name: below(name) for name in uses}


def reduced(uses, reached):
    """The dependencies that do not follow from another one."""
    return {name for name in uses if not any(name in reached[other] for other in uses)}


def draw(crates, functions):
    def depth(name):
        return 1 + max(map(depth, crates[name]), default=0)

    order = sorted(crates, key=lambda name: (-depth(name), name))
    row = {name: TOP + place * ROW for place, name in enumerate(order)}
    height = TOP + len(order) * ROW
    shapes, width = crate_arrows(crates, row)
    shapes += function_boxes(functions, row, height)
    for name in order:
        shapes.append(box("crate", CRATE, row[name], CRATE_WIDTH, BOX, [name]))
    heads = (("functions", LEFT), ("shared crates", CRATE))
    shapes += [f'<text class="head" x="{x}" y="20">{head}</text>' for head, x in heads]
    uses = ", ".join(f"{name} on {' and '.join(sorted(uses))}" for name, uses in sorted(crates.items()) if uses)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>The crates and their dependencies</title>\n<desc>{escape(uses)}</desc>\n<style>{STYLE}</style>\n"
        f'<rect class="canvas" width="{width}" height="{height}"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def crate_arrows(crates, row):
    """Arrows among crates, at the right of the column: each has a track that no other uses at that height."""
    edges = sorted(
        ((name, other) for name, uses in crates.items() for other in uses),
        key=lambda edge: (row[edge[1]] - row[edge[0]], row[edge[0]]),
    )
    tracks, placed, sides = [], [], defaultdict(list)
    for name, other in edges:
        start, end = row[name], row[other]
        if end - start == ROW:
            placed.append((name, other, None))
            continue
        free = (n for n, taken in enumerate(tracks) if all(end < a or b < start for a, b in taken))
        track = next(free, len(tracks))
        if track == len(tracks):
            tracks.append([])
        tracks[track].append((start, end))
        placed.append((name, other, track))
    # Inner tracks end nearest to the side that they come from, so that arrows of one box do not cross.
    for name, other, track in placed:
        if track is not None:
            sides[name].append((track, "out", other))
            sides[other].append((track, "in", name))
    port = {}
    for name, ends in sides.items():
        leaving = sorted((end for end in ends if end[1] == "out"), reverse=True)
        coming = sorted(end for end in ends if end[1] == "in")
        ends = coming + leaving
        first = row[name] + BOX / 2 - PORT * (len(ends) - 1) / 2
        for place, (_, way, other) in enumerate(ends):
            port[name, way, other] = first + place * PORT
    edge = CRATE + CRATE_WIDTH
    shapes = []
    for name, other, track in placed:
        if track is None:
            middle = CRATE + CRATE_WIDTH / 2
            shapes.append(line("below", f"M{middle} {row[name] + BOX}V{row[other] - 5}"))
            shapes.append(tip("below", middle, row[other], (-4, -7), (4, -7)))
            continue
        start, end = port[name, "out", other], port[other, "in", name]
        x = edge + 14 + track * TRACK
        shapes.append(line("below", f"M{edge} {start}H{x - 4}q4 0 4 4V{end - 4}q0 4 -4 4H{edge + 5}"))
        shapes.append(tip("below", edge, end, (7, -3.5), (7, 3.5)))
    return shapes, edge + 14 + len(tracks) * TRACK + 4


def function_boxes(functions, row, height):
    """Boxes of functions with the same dependencies, and their arrows."""
    groups = defaultdict(list)
    for name, uses in functions.items():
        groups[tuple(sorted(uses))].append(name)
    def middle(uses):
        return sum(row[name] for name in uses) / len(uses)
    ordered = sorted(groups.items(), key=lambda group: (middle(group[0]), group[0]))
    tall = [len(names) * LINE + 12 for _, names in ordered]
    gap = min(24, (height - TOP - sum(tall)) / max(1, len(tall) - 1))
    places, y = [], TOP
    for (uses, _), size in zip(ordered, tall):
        y = max(y, middle(uses) + BOX / 2 - size / 2)
        places.append(y)
        y += size + gap
    # What would hang over the lower edge pushes the ones above it up.
    limit = height - 10
    for place in reversed(range(len(places))):
        places[place] = min(places[place], limit - tall[place])
        limit = places[place] - gap
    arriving = defaultdict(list)
    for place, (uses, _) in enumerate(ordered):
        for name in uses:
            arriving[name].append(place)
    shapes = []
    for place, ((uses, names), y, size) in enumerate(zip(ordered, places, tall)):
        for nth, name in enumerate(sorted(uses, key=row.get)):
            start = y + size / 2 + (nth - (len(uses) - 1) / 2) * 8
            mine = arriving[name]
            end = row[name] + BOX / 2 + (mine.index(place) - (len(mine) - 1) / 2) * 7
            left, right = LEFT + LEFT_WIDTH, CRATE - 5
            shapes.append(line("use", f"M{left} {start:g}C{left + 26} {start:g} {right - 26} {end:g} {right} {end:g}"))
            shapes.append(tip("use", CRATE, end, (-7, -3.5), (-7, 3.5)))
        shapes.append(box("function", LEFT, y, LEFT_WIDTH, size, sorted(names)))
    return shapes


def line(kind, path):
    return f'<path class="{kind}" d="{path}"/>'


def tip(kind, x, y, *corners):
    points = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in ((0, 0), *corners))
    return f'<polygon class="{kind}-tip" points="{points}"/>'


def box(kind, x, y, width, height, names):
    first = y + (height - LINE * (len(names) - 1)) / 2 + 4.5
    texts = "".join(
        f'<text x="{x + width / 2:g}" y="{first + LINE * n:g}" text-anchor="middle">{escape(name)}</text>'
        for n, name in enumerate(names)
    )
    return f'<rect class="{kind}" x="{x}" y="{y:g}" width="{width}" height="{height}" rx="5"/>{texts}'


if __name__ == "__main__":
    main()
