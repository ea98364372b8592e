"""Follows a shopper through the demo store's shop, in headless Chromium, on a screen and on a telephone: a filtered list, a
product with three options, the cart beside the page, the checkout, 3-D Secure, the order, its webhook and its mail. Then the
merchant publishes another look, and rolls back. With `--documents` as the last argument, the pictures of docs/shop.md are made anew.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import system
from browser import chromium
from look_at_consent import FOLDER, MERCHANT, install


def main():
    documents = sys.argv[-1] == "--documents" and sys.argv.pop()
    install()
    port = str(system.free_port())
    with tempfile.TemporaryDirectory() as place:
        with system.running("--reset", "--shop-port", port, data=place) as (url, bank):
            asked = {
                "shop": f"http://demo-store.localhost:{port}", "bank": bank, "api": url, "merchant": MERCHANT,
                "mails": str(Path(place) / "mail"), "pictures": str(system.TARGET), "browser": chromium(),
                "documents": str(system.ROOT / "docs") if documents else None,
            }
            if subprocess.run(["node", "journey.mjs", json.dumps(asked)], cwd=FOLDER).returncode:
                sys.exit("the way through the shop is not as it should be")
    print(f"shoppers find, choose, pay and are told; {system.TARGET}/shop-journey-*.png")


if __name__ == "__main__":
    main()
