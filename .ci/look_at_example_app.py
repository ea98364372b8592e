"""Sets up clients/example-app as its README says, and takes the demo's merchant through it in headless Chromium:
installed by the consent page, denied, an order paid and packed, its webhook verified, and embedded in the page that
plays the admin; on a telephone and on a screen. axe-core looks at every page.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import system
from browser import chromium
from look_at_consent import FOLDER, MERCHANT, install

CLIENTS = system.ROOT / "clients"
APP = CLIENTS / "example-app"
SCHEMA = CLIENTS / "typescript/dist/generated/schema.d.ts"


def main():
    install()
    build()
    with tempfile.TemporaryDirectory() as place, system.running("--reset") as (url, _):
        ports = {name: system.free_port() for name in ["app", "admin"]}
        asked = {
            "url": url, "app": f"http://localhost:{ports['app']}", "admin": f"http://127.0.0.1:{ports['admin']}",
            "hooks": f"http://127.0.0.1:{ports['app']}/webhooks", "merchant": MERCHANT, "pictures": str(system.TARGET),
            "browser": chromium(),
        }
        set_up(place, asked, ports)
        with started(place, "dist/dev/demo.js"):
            wait_for(asked["admin"])
            if subprocess.run(["node", "example-app.mjs", json.dumps(asked)], cwd=FOLDER).returncode:
                sys.exit("the example app is not as it should be")
    print(f"the example app is installed, embedded and hears of orders; {system.TARGET}/example-app*.png")


def build():
    def run(folder, *command):
        subprocess.run(command, cwd=folder, check=True)

    sources = [system.ROOT / "docs/openapi.json", *(CLIENTS / "typescript/src").glob("*.ts")]
    if not SCHEMA.exists() or any(SCHEMA.stat().st_mtime < source.stat().st_mtime for source in sources):
        run(CLIENTS / "typescript", "npm", "ci", "--no-audit", "--no-fund", "--silent")
        run(CLIENTS / "typescript", "npm", "run", "build", "--silent")
    run(APP, "npm", "ci", "--no-audit", "--no-fund", "--silent")
    run(APP, "npm", "test", "--silent")


def set_up(place, asked, ports):
    variables = {
        "GATEWAY_URL": asked["url"], "APP_URL": asked["app"], "PORT": str(ports["app"]), "ADMIN_ORIGIN": asked["admin"],
    }
    command = ["node", APP / "dist/dev/setup.js"]
    said = subprocess.run(command, cwd=place, env=os.environ | variables, check=True, capture_output=True, text=True)
    file = Path(place) / ".env"
    secrets = [line.partition("=")[2] for line in file.read_text().splitlines() if "SECRET=" in line]
    if len(secrets) != 2 or any(secret in said.stdout + said.stderr for secret in secrets):
        sys.exit("the setup prints a secret, or has none")
    if file.stat().st_mode & 0o077:
        sys.exit("others can read the secrets")
    again = subprocess.run(command, cwd=place, env=os.environ | variables, check=True, capture_output=True, text=True)
    if again.stdout != said.stdout:
        sys.exit(f"set up again, it is another app: {again.stdout}")


@contextlib.contextmanager
def started(place, program):
    process = subprocess.Popen(["node", "--env-file=.env", APP / program], cwd=place, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(url):
    for _ in range(100):
        try:
            return urllib.request.urlopen(url).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit(f"{url} does not answer")


if __name__ == "__main__":
    main()
