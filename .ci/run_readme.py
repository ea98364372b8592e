"""Runs the README's own text: every `sh` block from Quickstart to The tree, against a local system of
its own on free ports. The first step that fails ends it.

What differs from the text: the ports, and where the Python package comes from (.venv).
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALL = "python3 -m venv $WORK/venv && $WORK/venv/bin/pip install -q standardwebhooks"
# What must have been said at the end, beside an exit status of 0.
SAID = ["verified by standardwebhooks: store.updated", "verified by openssl", "paid", "refunded"]
LIMIT = 300


def main():
    text = script((ROOT / "README.md").read_text())
    subprocess.run(["cargo", "build", "--quiet", "-p", "local"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as work:
        system, addresses = start(work)
        try:
            said = run(text, addresses, work)
        finally:
            system.send_signal(signal.SIGTERM)
            system.wait(timeout=30)
    missing = [line for line in SAID if line not in said.splitlines()]
    if missing:
        sys.exit(f"README.md: nothing said {missing}")
    print("README.md: every step works")


def script(readme):
    path = readme.split("\n## Quickstart\n", 1)[1].split("\n## The tree\n", 1)[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", path, re.DOTALL | re.MULTILINE)
    if len(blocks) < 10:
        sys.exit(f"README.md: only {len(blocks)} blocks from Quickstart to The tree")
    return "\n".join(blocks)


def start(work):
    """A local system, and where its API and its payment providers are."""
    command = [ROOT / "target/debug/local", "--port", "0", "--providers-port", "0"]
    system = subprocess.Popen(
        [*command, "--data", f"{work}/data"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    found = {}
    for line in system.stdout:
        for name in ["The API is at", "Payment providers are played at"]:
            if line.startswith(name):
                found[name] = line.removeprefix(name).strip()
        if len(found) == 2:
            # Its log goes on; nobody reads it, and it must not stand still for that.
            subprocess.Popen(["cat"], stdin=system.stdout, stdout=subprocess.DEVNULL)
            return system, list(found.values())
    sys.exit("README.md: the local system did not start")


def run(text, addresses, work):
    ports = {"http://127.0.0.1:3000": addresses[0], "http://127.0.0.1:3100": addresses[1]}
    for port in ["4900", "4901"]:
        ports[port] = str(free_port())
    venv = ROOT / ".venv"
    for old, new in {**ports, INSTALL: f"ln -s {venv} $WORK/venv"}.items():
        if old not in text:
            sys.exit(f"README.md: {old} is not in the text any more; mend {__file__}")
        text = text.replace(old, new)
    file = Path(work) / "readme.sh"
    file.write_text(text)
    environment = {**os.environ, "TMPDIR": work}
    try:
        done = subprocess.run(
            ["bash", file], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, timeout=LIMIT, check=False,
        )
    except subprocess.TimeoutExpired as late:
        sys.exit(f"README.md: not done after {LIMIT} s:\n{(late.stdout or b'').decode()}")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}README.md: a step failed")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
