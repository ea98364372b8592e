"""Has an OAuth client that knows nothing of this service send a merchant to the consent page, in headless
Chromium: approved, denied, cancelled, with a wrong password, by a mailed code and a second factor; on a
telephone and on a screen. The client is openid-client, and axe-core looks at every step.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import system
from browser import chromium

PROGRAM = system.ROOT / ".ci/consent"
# Beside what cargo builds, so that the sources stay clean of it.
FOLDER = system.TARGET / "consent"
MERCHANT = {"email": "demo@example.com", "password": "demo-merchant-1"}
SCOPES = ["write_store", "write_products", "read_orders", "read_customers"]


def main():
    install()
    with tempfile.TemporaryDirectory() as place, system.running("--reset", data=place) as (url, _):
        asked = {
            "url": url, "app": publish(url), "merchant": MERCHANT, "mails": str(Path(place) / "mail"),
            "pictures": str(system.TARGET), "browser": chromium(),
        }
        if subprocess.run(["node", "flow.mjs", json.dumps(asked)], cwd=FOLDER).returncode:
            sys.exit("the consent page is not as it should be")
    print(f"an OAuth client gets its token by the consent page; {system.TARGET}/consent*.png")


def install():
    system.install_npm()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in PROGRAM.iterdir():
        if file.is_file():
            shutil.copy(file, FOLDER)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=FOLDER, check=True)


def publish(url):
    """An app of the catalogue, with its credentials."""
    def sign_in(who):
        return system.call(url, "POST", "/v1/auth/signin", who)["session"]["access_token"]

    def ask(token, path, body):
        return system.call(url, "POST", f"/v1/app-store/{path}", body, authorization=f"Bearer {token}")

    new = {"email": "developer@example.com", "password": "another horse battery"}
    developer = system.call(url, "POST", "/v1/auth/signup", new)["session"]["access_token"]
    ask(developer, "developers/register", {
        "company": "Acme Apps", "contact_email": new["email"], "country": "IN", "agree_terms": True,
        "website": "https://acme.example.com",
    })
    # Nobody listens there: Chromium is answered in its place.
    redirect_uri = "https://app.example.com/callback"
    app = ask(developer, "developers/apps", {
        "name": "Stock Bell", "slug": "stock-bell", "app_url": "https://app.example.com",
        "redirect_uris": [redirect_uri], "scopes": SCOPES, "embedded": False,
    })
    submission = ask(developer, f"developers/apps/{app['id']}/submissions", {
        "version": "1.0.0", "changelog": "First version.",
        "listing": {
            "tagline": "Rings when stock is low", "category": "operations", "pricing": "Free",
            "description": "Watches the stock of every variant and tells you before it runs out.",
            "privacy_policy_url": "https://app.example.com/privacy",
        },
        "test_instructions": "Install it and look at the products.",
    })
    operator = sign_in({"email": "operator@example.com", "password": "demo-operator-1"})
    ask(operator, f"submissions/{submission['id']}/approve", {})
    ask(developer, f"developers/apps/{app['id']}/publish", {})
    return {"redirect_uri": redirect_uri} | {name: app[name] for name in ["name", "client_id", "client_secret"]}


if __name__ == "__main__":
    main()
