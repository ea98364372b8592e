#!/usr/bin/env python3
"""How long one waits, on this machine, with nothing else building: prints the table of docs and notes. It builds
in a directory of its own, which it removes, and takes a quarter of an hour."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A handler, its one test, and a file of the lowest crate.
HANDLER = ROOT / "functions/orders/src/lib.rs"
LOWEST = ROOT / "shared/primitives/src/lib.rs"
ONE_TEST = ["cargo", "test", "-p", "tests", "--test", "it", "--", "placing::an_order_is_found_by_its_number"]


def main():
    place = tempfile.mkdtemp(prefix="loop-")
    environment = {**os.environ, "CARGO_TARGET_DIR": place}
    try:
        rows = list(measure(environment))
    finally:
        shutil.rmtree(place)
    print("\n| | minutes:seconds |\n|---|---|")
    for what, seconds in rows:
        print(f"| {what} | {int(seconds // 60)}:{int(seconds % 60):02} |")


def measure(environment):
    def timed(*command):
        begun = time.monotonic()
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return time.monotonic() - begun

    yield "from clean to the first answer of `cargo run -p local`", first_answer(environment)
    built = timed("cargo", "test", "--no-run")
    yield "to the tests", built
    ran = timed("cargo", "test")
    yield "their run alone", ran
    timed(*ONE_TEST)
    HANDLER.touch()
    yield "a touched handler to its one test", timed(*ONE_TEST)
    LOWEST.touch()
    yield "a touched file of the lowest crate to one test", timed(*ONE_TEST)
    timed(".ci/check")
    yield "`just check`, warm", checked(timed)


def first_answer(environment):
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as data:
        command = ["cargo", "run", "-p", "local", "--", "--port", "0", "--providers-port", "0", "--data", data]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("The API is at"):
                    api = line.removeprefix("The API is at").strip()
                    urllib.request.urlopen(f"{api}/health").read()
                    took = time.monotonic() - begun
                    process.terminate()
                    # What it still says must not hold it up.
                    process.communicate()
                    return took
    sys.exit("the local system did not start")


def checked(timed):
    """With one line more in a handler, which is taken back."""
    before = HANDLER.read_text()
    try:
        HANDLER.write_text(before + "// One line more.\n")
        return timed(".ci/check")
    finally:
        HANDLER.write_text(before)


if __name__ == "__main__":
    main()
