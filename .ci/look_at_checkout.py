"""Has shoppers buy in the demo store's shop, in headless Chromium: cart, checkout, 3-D Secure, a declined card, the order,
the account; on a telephone and on a screen, in light and dark, with and without scripts. axe-core looks at every page.
"""

import json
import subprocess
import sys
import tempfile

import system
from browser import chromium
from look_at_consent import FOLDER, install

CUSTOMER = {"email": "demo-customer@example.com", "password": "demo-customer-1"}


def main():
    install()
    port = str(system.free_port())
    with tempfile.TemporaryDirectory() as place:
        with system.running("--reset", "--shop-port", port, data=place) as (url, bank):
            products = system.call(url, "GET", "/v1/storefront/demo-store/products?limit=1")
            asked = {
                "shop": f"http://demo-store.localhost:{port}", "bank": bank, "customer": CUSTOMER,
                "variant": products["data"][0]["variants"][0]["id"],
                "pictures": str(system.TARGET), "browser": chromium(),
            }
            if subprocess.run(["node", "checkout.mjs", json.dumps(asked)], cwd=FOLDER).returncode:
                sys.exit("the shop is not as it should be")
    print(f"shoppers buy in the demo store's shop; {system.TARGET}/shop-*.png")


if __name__ == "__main__":
    main()
