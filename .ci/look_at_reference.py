"""Opens the local system's reference in headless Chromium, finds every operation of the document on it, opens one, and
takes a picture of it.
"""

import sys

import system
from browser import browsing

PICTURE = system.TARGET / "reference.png"
OPENED = "createWebhookSubscription"


def main():
    with system.running("--no-demo") as (url, _), browsing() as tab:
        document = system.call(url, "GET", "/v1/openapi.json")
        tab.show(1280, 1000, "light")
        tab.open(f"{url}/_local/reference")
        shown = tab.evaluate("[...document.querySelectorAll('[data-operation]')].map((it) => it.dataset.operation)")
        tab.evaluate(
            "const field = document.querySelector('[data-search]'); field.value = 'webhook-subscriptions';"
            "field.dispatchEvent(new Event('input'));"
        )
        operation = f"document.querySelector('[data-operation*={OPENED}]')"
        tab.evaluate(f"{operation}.open = true")
        tab.until(f"{operation}.querySelector('form')")
        tab.evaluate(f"{operation}.scrollIntoView()")
        tab.picture(PICTURE, whole=False)
    ids = {operation["operationId"] for item in document["paths"].values() for operation in item.values()}
    missing = ids - {link.split("/")[-1].split("?")[0] for link in shown}
    if missing or not ids:
        sys.exit(f"not on the page: {sorted(missing)[:10]} ({len(missing)} of {len(ids)})")
    if PICTURE.stat().st_size < 20_000:
        sys.exit("the picture is empty")
    print(f"{len(ids)} operations are on the reference page")


main()
