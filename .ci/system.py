"""A local system for the scripts in this folder: on free ports, in a directory that goes with it."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where cargo builds, and what the scripts leave.
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
# What it says when it is ready.
API, PROVIDERS = "The API is at", "Payment providers are played at"


def binary():
    """The binary that is named on the command line, or one that is built."""
    if sys.argv[1:]:
        return Path(sys.argv[1]).resolve()
    # With the features that `cargo test` builds with, so that nothing is built twice.
    subprocess.run(["cargo", "build", "--quiet", "--bin", "local"], cwd=ROOT, check=True)
    return TARGET / "debug/local"


@contextlib.contextmanager
def running(*options, data=None):
    """Where a system's API and its payment providers are, as long as the block lasts."""
    program = binary()
    with contextlib.nullcontext(data) if data else tempfile.TemporaryDirectory() as place:
        command = [program, "--port", "0", "--providers-port", "0", "--data", place, *options]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            yield addresses(process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def addresses(process):
    found = {}
    for line in process.stdout:
        for name in [API, PROVIDERS]:
            if line.startswith(name):
                found[name] = line.removeprefix(name).strip()
        if len(found) == 2:
            # Its log goes on; nobody reads it, and it must not stand still for that.
            subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
            return found[API], found[PROVIDERS]
    sys.exit("the local system did not start")


def install_npm():
    """Debian's npm, where there is none."""
    if shutil.which("npm"):
        return
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "npm"], check=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def call(url, method, path, body=None, **headers):
    """A JSON answer; ends the script when it is rejected."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    names["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, names, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")
