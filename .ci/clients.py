"""Generates, type-checks and tests the clients in clients/ against a local system."""

import os
import subprocess
import sys

import system

CLIENTS = system.ROOT / "clients"
# Beside what cargo builds, so that the sources stay clean of it.
VENV = system.TARGET / "clients-venv"


def run(folder, *command, **variables):
    subprocess.run(command, cwd=CLIENTS / folder, env=os.environ | variables, check=True)


def typescript(url):
    system.install_npm()
    run("typescript", "npm", "ci", "--no-audit", "--no-fund", "--silent")
    run("typescript", "npm", "test", "--silent", GATEWAY_URL=url)


def python(url):
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    python = VENV / "bin/python"
    packages = ["--quiet", "--disable-pip-version-check", "--requirement", "requirements.txt"]
    run("python", python, "-m", "pip", "install", *packages)
    run("python", python, "generate.py")
    run("python", python, "-m", "mypy")
    run("python", python, "-m", "pytest", "--quiet", GATEWAY_URL=url, PYTHONPATH="src")


def main():
    with system.running() as (url, _):
        typescript(url)
        python(url)
    print("clients: generated, type-checked, and tested against a local system")


main()
