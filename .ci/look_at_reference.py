"""Opens the local system's reference page in headless Chromium, takes a picture of it, and finds every
operation of the document on it. Chromium is Debian's package; it is installed where it is missing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import system

PICTURE = system.ROOT / "target/reference.png"
OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
    "--virtual-time-budget=60000", "--window-size=1280,1600",
]


def chromium():
    for name in ["chromium", "chromium-browser", "google-chrome"]:
        if found := shutil.which(name):
            return found
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    return shutil.which("chromium")


def look(page, *what):
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), *OPTIONS, f"--user-data-dir={profile}", *what, page]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=180).stdout


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
