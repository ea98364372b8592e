"""Opens the local system's reference page in headless Chromium, takes a picture of it, and finds every
operation of the document on it.
"""

import re
import sys

import system
from browser import look

PICTURE = system.TARGET / "reference.png"


def main():
    with system.running("--no-demo") as (url, _):
        document = system.call(url, "GET", "/v1/openapi.json")
        page = look(f"{url}/_local/docs", "--dump-dom")
        look(f"{url}/_local/docs", f"--screenshot={PICTURE}")
    operations = [
        (method, path) for path, item in document["paths"].items() for method in item
    ]
    shown = set(re.findall(r'data-path="([^"]+)"', page))
    missing = [path for _, path in operations if path not in shown]
    if missing or not operations:
        sys.exit(f"not on the page: {missing[:10]} ({len(missing)} of {len(operations)})")
    if PICTURE.stat().st_size < 20_000:
        sys.exit("the picture is empty")
    print(f"{len(operations)} operations are on the reference page")


main()
