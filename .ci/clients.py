"""Generates, type-checks and tests the clients in clients/ against a local system, and runs the programs of the
quickstart."""

import os
import shutil
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


def typescript_program(url):
    """The program of a developer who has installed the client."""
    folder, client = system.TARGET / "quickstart", CLIENTS / "typescript"
    for package, place in {"commerce-gateway": client, "@types/node": client / "node_modules/@types/node"}.items():
        link = folder / "node_modules" / package
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(place)
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(CLIENTS / "examples/quickstart.ts", folder)
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]
    run(folder, client / "node_modules/.bin/tsc", *options, "quickstart.ts")
    run(folder, "node", "quickstart.js", GATEWAY_URL=url)


def python(url):
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    python = VENV / "bin/python"
    packages = ["--quiet", "--disable-pip-version-check", "--requirement", "requirements.txt"]
    run("python", python, "-m", "pip", "install", *packages)
    run("python", python, "generate.py")
    run("python", python, "-m", "mypy")
    run("python", python, "-m", "pytest", "--quiet", GATEWAY_URL=url, PYTHONPATH="src")
    run("python", python, "../examples/quickstart.py", GATEWAY_URL=url, PYTHONPATH="src")


def main():
    with system.running() as (url, _):
        typescript(url)
        typescript_program(url)
        python(url)
        run("examples", "bash", "quickstart.sh", GATEWAY_URL=url)
    print("clients: generated, type-checked, and tested against a local system; the quickstart's programs work")


main()
