"""Headless Chromium for the scripts in this folder. It is Debian's package, installed where it is missing."""

import shutil
import subprocess
import tempfile

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
    """What Chromium says of a page, asked by its options."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), *OPTIONS, f"--user-data-dir={profile}", *what, page]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=180).stdout
