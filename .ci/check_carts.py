"""Prices random carts twice, by an independent implementation and by the server's own sums, and compares them.

    python3 .ci/check_carts.py [COUNT [SEED]]"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "shared/sales/src/order/tests"
TEST = "order::tests::carts::carts_of_a_file_match_an_independent_implementation"


def main(count="10000", seed="7"):
    # Cargo may build elsewhere, so that a new clone need not have a folder for it.
    with tempfile.TemporaryDirectory() as folder:
        compare(count, seed, Path(folder) / "carts.json")
    print(f"{count} carts of the seed {seed} have the same sums in both")


def compare(count, seed, file):
    subprocess.run([sys.executable, TESTS / "carts.py", count, seed, file], check=True)
    # Of all crates, whose tests are built already: the features of one crate alone would build its dependencies again.
    test = ["cargo", "test", "--quiet", "--lib", "--", "--ignored", "--exact", TEST]
    done = subprocess.run(test, cwd=ROOT, env={**os.environ, "CARTS": str(file)}, capture_output=True, text=True)
    if done.returncode or "1 passed" not in done.stdout:
        sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
