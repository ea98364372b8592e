"""Opens the pages of a local system in headless Chromium: on a screen and on a telephone, in the light and the dark
scheme. None has a fault that axe finds, an error in its console, a request to another host, or anything wider than the
screen. The reference is searched, and an operation is opened and sent; an account's token is copied.
"""

import http.server
import json
import shutil
import subprocess
import sys
import threading
import time
import uuid
from urllib.request import urlopen

import system
from browser import browsing

PICTURES = system.TARGET / "front-door"
# https://github.com/dequelabs/axe-core
AXE = "axe-core@4.14.1"
SIZES = {"telephone": (360, 780), "screen": (1280, 900)}
PATIENCE = 30
# What was found: all pages are opened before it is said.
FAULTS = []
# Every page, with a text that it shows.
PAGES = {
    "start": ("", "First steps"),
    "activity": ("activity", "/v1/orders"),
    "events": ("activity/events", "order.paid"),
    "mail": ("mail", "Order"),
    "sell": ("store/sell", "Add a product"),
    "orders": ("store/orders", "paid"),
    "webhooks": ("store/webhooks", "127.0.0.1"),
    "apps": ("store/apps", "No apps yet"),
    "reference": ("reference", "operations"),
    "operation": ("reference/createProduct", "Try it"),
    "document": ("docs/quickstart", "Quickstart"),
    "tables": ("docs/errors", "invalid_request"),
    "operations": ("operations", "Runtime overview"),
    "missing": ("mail/nothing", "There is no such mail"),
}


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    axe = have_axe().read_text()
    with system.running() as (url, _), browsing() as tab:
        pages = dict(PAGES)
        pages |= happened(url)
        for name, (path, shown) in pages.items():
            for size, (width, height) in SIZES.items():
                for scheme in ["light", "dark"]:
                    tab.show(width, height, scheme)
                    tab.open(f"{url}/_local/{path}")
                    seen(tab, axe, f"{name}-{size}-{scheme}", shown)
        tab.show(1280, 900, "light")
        used(tab, url, axe)
        sold(tab, url, axe)
    if FAULTS:
        sys.exit("\n".join(FAULTS))
    print(f"{len(pages)} pages are as they should be; {PICTURES}/*.png")


def have_axe():
    folder = system.TARGET / "axe"
    script = folder / "package/axe.min.js"
    if not script.exists():
        system.install_npm()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        packed = subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, capture_output=True, text=True)
        subprocess.run(["tar", "-xzf", packed.stdout.strip()], cwd=folder, check=True)
    return script


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def happened(url):
    """Places and pays an order with a receiver of its events; the pages of a mail and of a rejected request."""
    asked = {"email": "demo@example.com", "password": "demo-merchant-1"}
    token = system.call(url, "POST", "/v1/auth/signin", asked)["session"]["access_token"]
    session = {"authorization": f"Bearer {token}"}
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    for port in [receiver.server_port, system.free_port()]:
        hook = {"url": f"http://127.0.0.1:{port}/hooks", "event_types": ["order.*"]}
        system.call(url, "POST", "/v1/operations/webhook-subscriptions", hook, **session)
    products = system.call(url, "GET", "/v1/storefront/demo-store/products?limit=1")
    cart = {
        "email": "shopper@example.com", "payment": {"provider": "manual"},
        "items": [{"variant_id": products["data"][0]["variants"][0]["id"], "quantity": 1}],
        "shipping_address": {"line1": "1 MG Road", "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN"},
    }
    order = system.call(url, "POST", "/v1/storefront/demo-store/orders", cart, Idempotency_Key=uuid.uuid4().hex)["order"]
    system.call(url, "POST", f"/v1/orders/{order['id']}/mark-paid", {}, Idempotency_Key=uuid.uuid4().hex, **session)
    rejected = subprocess.run(
        ["curl", "-sS", "-H", "Content-Type: application/json", "-d", '{"email":"x","password":"hunter-22"}', f"{url}/v1/auth/signup"],
        check=True, capture_output=True, text=True,
    ).stdout
    until("the three steps are done", lambda: read(url, "").count("✓") == 3)
    until("the order has a mail", lambda: "/_local/mail/mai_" in read(url, "mail"))
    mail = read(url, "mail").split('href="/_local/mail/mai_')[1].split('"')[0]
    return {
        "letter": (f"mail/mai_{mail}", "As HTML"),
        "request": ("activity/" + json.loads(rejected)["request_id"], "Repeat it"),
    }


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"not so in {PATIENCE} s: {what}")
        time.sleep(0.3)


def read(url, path):
    with urlopen(f"{url}/_local/{path}") as answer:
        return answer.read().decode()


def seen(tab, axe, name, shown):
    text = tab.evaluate("document.body.innerText")
    check(f"{name} shows {shown}", shown in text)
    width = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check(f"{name} is no wider than the screen", width == 0)
    examine(tab, axe, name)
    tab.picture(PICTURES / f"{name}.png")
    # An error page is an error to the console, too.
    faults = [fault for fault in tab.faults() if not name.startswith("missing")]
    check(f"{name} has no fault: {faults}", not faults)


def examine(tab, axe, name):
    tab.evaluate(axe)
    found = tab.evaluate(
        "axe.run({iframes: false}).then((it) => it.violations.map((one) => "
        "`${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`))"
    )
    check(f"axe finds nothing on {name}: {found}", not found)


def used(tab, url, axe):
    """The reference is searched, an operation is opened and sent, and a token is copied."""
    took = tab.open(f"{url}/_local/reference")
    print(f"the reference is there after {took:.2f} s")
    tab.evaluate("const field = document.querySelector('[data-search]'); field.value = 'listorders'; field.dispatchEvent(new Event('input'))")
    operation = "document.querySelector('.operation:not([hidden])')"
    begun = time.monotonic()
    tab.evaluate(f"{operation}.open = true")
    tab.until(f"{operation}.querySelector('form')")
    print(f"an operation is open after {time.monotonic() - begun:.2f} s")
    examine(tab, axe, "an open operation")
    tab.evaluate(f"{operation}.querySelector('form').requestSubmit()")
    tab.until("document.querySelector('output .chip')")
    answer = tab.evaluate("document.querySelector('output').innerText")
    check(f"the operation is answered: {answer[:200]}", answer.startswith("200") and '"data"' in answer)
    check("with its call of curl", "$TOKEN" in tab.evaluate("document.querySelector('output').textContent"))
    examine(tab, axe, "an answered operation")
    tab.picture(PICTURES / "answered.png")
    check("without faults", not list(tab.faults()))
    tab.open(f"{url}/_local/reference/uploadThemePackage")
    tab.evaluate("""{ const kinds = document.querySelector('[data-kinds]');
        kinds.value = 'multipart/form-data'; kinds.dispatchEvent(new Event('change', {bubbles: true})); }""")
    shown = "document.querySelector('[data-kind]:not([hidden]) input[type=file][data-part]').name"
    check("a multipart form has a field for its file", tab.evaluate(shown) == "file")
    examine(tab, axe, "a multipart form")
    tab.open(f"{url}/_local/store/webhooks")
    for kind in ["test", "redeliver"]:
        tab.evaluate(f"document.querySelector('[data-post$=\"/{kind}\"]').click()")
        tab.until(f"document.querySelector('[data-post$=\"/{kind}\"]').textContent === 'Sent'")
    check("both buttons send without faults", not list(tab.faults()))
    tab.open(f"{url}/_local/")
    tab.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    tab.evaluate("document.querySelector('[data-token=merchant]').click()")
    tab.until("document.querySelector('td [role=status]').textContent.includes('••••••')")
    tab.picture(PICTURES.parent / "front-door.png", whole=False)


def sold(tab, url, axe):
    """A store is opened and filled by the forms of the page to sell, and its shop shows what it sells."""
    tab.open(f"{url}/_local/store/sell")
    fill(tab, "[data-form=store]", {"name": "Lamps & Co", "subdomain": "Lamps!", "country": "US"})
    tab.until("document.querySelector('[data-form=store] .wrong')")
    examine(tab, axe, "a form with a fault")
    fill(tab, "[data-form=store]", {"subdomain": "lamps"})
    tab.until("document.querySelector('h2').textContent.startsWith('Lamps & Co') && document.readyState === 'complete'")
    product = {"title": "Desk lamp", "price": "49.50", "quantity": "5", "option": "Colour", "values": "Black, Red"}
    steps = [
        ("[data-form=product]", product, "document.querySelector('#products td')"),
        ("[data-path$='/shipping-zones']", {"rates.0.price": "4.90"}, lacks("no shipping rate")),
        ("[data-path$='/tax-rates']", {"basis_points": "8.25"}, lacks("no tax rate")),
        ("[data-path$='/stripe']", {}, lacks("no payment provider")),
        ("[data-path$='/harbor/publish']", {}, "true"),
        ("[data-path$='/activate']", {}, "document.querySelector('#opening a')"),
    ]
    for form, values, done in steps:
        tab.evaluate("window.isBefore = true")
        fill(tab, form, values)
        tab.until(f"!window.isBefore && document.readyState === 'complete' && {done}")
    examine(tab, axe, "an open store")
    tab.picture(PICTURES / "sold.png")
    tab.open(tab.evaluate("document.querySelector('#opening a').href") + "products/desk-lamp")
    shown = tab.evaluate("document.body.innerText")
    check(f"the shop sells: {shown[:400]}", "Desk lamp" in shown and "49.50" in shown and "Black" in shown)
    tab.picture(PICTURES / "shop.png")
    # The rejected subdomain is an error to the console, too.
    check("without other faults", len(list(tab.faults())) <= 1)


def lacks(what):
    """That the page does not say any more that the store lacks this."""
    return f"!(document.querySelector('.missing')?.innerText.toLowerCase().includes('{what}') ?? false)"


def fill(tab, form, values):
    """Fills the fields of a form by their names, and submits it."""
    tab.evaluate(
        "((form, values) => { for (const [name, value] of Object.entries(values)) form.elements[name].value = value; "
        f"form.requestSubmit(); }})(document.querySelector(\"form{form}\"), {json.dumps(values)})"
    )


def check(what, holds):
    if not holds:
        FAULTS.append(f"not so: {what}")


main()
