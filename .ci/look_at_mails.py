"""Sends every mail about an order, and one about an account, and opens each as a mail program would, in headless
Chromium: on a screen and on a telephone. The HTML says what the text says, and nothing is wider than the screen.
"""

import email
import email.policy
import re
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path

import system
from browser import look

PICTURES = system.TARGET
SHOPPER = "shopper@example.com"
# How long the mails may take.
PATIENCE = 60
# The end of each mail's subject, and what it says.
SHOWN = {
    "": ["Subtotal", "Shipping, Standard", "Includes GST 18 %", "Total", "Bank transfer", "account 42",
         "Shipping address", "7 Church Street", "29AAGCB7383J1Z4", "within 14 days"],
    "is on its way": ["1 x ", "Number: AB1", "7 Church Street"],
    "has arrived": ["1 x "],
    "was refunded": ["Refunded", "Includes GST 18 %"],
    "was cancelled": ["Reason: Out of stock", "2 x "],
    "Confirm your new account": ["Demo Store", "Code: ", "valid for 10 minutes", "do nothing"],
}


class Text(HTMLParser):
    """The text of a page."""

    def __init__(self):
        super().__init__()
        self.text = []

    def handle_data(self, data):
        self.text.append(data)


def main():
    with tempfile.TemporaryDirectory() as place, system.running("--reset", data=place) as (url, _):
        order_everything(url)
        mails = wait_for(Path(place) / "mail")
        for ending, shown in SHOWN.items():
            seen(ending, mails[ending], shown)
    print(f"{len(SHOWN)} mails are as they should be; {PICTURES}/mail-*.png")


def order_everything(url):
    """A store with all that a mail shows, an order that is delivered and refunded, and one that is cancelled."""
    session = system.call(url, "POST", "/v1/auth/signin", {"email": "demo@example.com", "password": "demo-merchant-1"})
    token = session["session"]["access_token"]
    store = system.call(url, "GET", "/v1/stores", authorization=f"Bearer {token}")["data"][0]

    def ask(method, path, body=None, **headers):
        headers |= {"authorization": f"Bearer {token}", "X_Service_Store_Id": store["id"]}
        return system.call(url, method, path, body, **headers)

    # What the demo store was made with is restored within ten seconds.
    time.sleep(10)
    own = f"/v1/stores/{store['id']}"
    address = {"company": "Demo Ltd", "line1": "7 Church Street", "city": "Bengaluru", "region": "KA",
               "postal_code": "560001", "country": "IN"}
    ask("PATCH", own, {"tax_number": "29AAGCB7383J1Z4", "contact": {"phone": "+918040000000", "address": address}})
    ask("PATCH", f"{own}/settings", {
        "taxes": {"prices_include_tax": True},
        "notifications": {"terms": "Goods can be returned within 14 days.", "delivery_confirmation": True},
    })
    ask("POST", f"{own}/tax-rates", {"name": "GST", "country": "IN", "percent": "18"})
    price = {"amount": 5_000, "currency": store["currency"]}
    zone = {"name": "India", "countries": ["IN"], "rates": [{"name": "Standard", "kind": "flat", "price": price}]}
    rate = ask("POST", f"{own}/shipping-zones", zone)["rates"][0]["id"]
    bank = {"id": "bank", "name": "Bank transfer", "instructions": "Transfer to account 42.\nName the order."}
    ask("PUT", "/v1/payments/providers/manual", {"methods": [bank]})
    product = ask("POST", "/v1/products", {
        "title": "A mug of stoneware with a long name that wraps on a telephone", "status": "active",
        "variants": [{"price": {"amount": 11_800, "currency": store["currency"]}}],
    })
    cart = {
        "email": SHOPPER, "items": [{"variant_id": product["variants"][0]["id"], "quantity": 2,
                                     "properties": {"Engraving": "Ann"}}],
        "shipping_address": {"first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru",
                             "region": "KA", "postal_code": "560001", "country": "IN"},
        "shipping_rate_id": rate, "payment": {"provider": "manual", "method": "bank"},
    }
    placed = f"/v1/storefront/{store['subdomain']}/orders"
    order = system.call(url, "POST", placed, cart, Idempotency_Key="first-order-of-this-shopper")["order"]
    path = f"/v1/orders/{order['id']}"
    ask("POST", f"{path}/mark-paid", {}, Idempotency_Key="paid")
    one = {"order_item_id": order["items"][0]["id"], "quantity": 1}
    parcel = {"items": [one], "tracking": {"number": "AB1", "company": "Post"}}
    parcel = ask("POST", f"{path}/fulfill", parcel, Idempotency_Key="sent")["fulfillment"]["id"]
    ask("POST", f"{path}/fulfillments/{parcel}/deliver", {})
    ask("POST", f"{path}/refund", {"items": [{**one, "restock_type": "return"}]}, Idempotency_Key="back")
    other = system.call(url, "POST", placed, cart, Idempotency_Key="second-order-of-this-shopper")["order"]
    account = {"subdomain": store["subdomain"], "email": SHOPPER, "password": "a shopper's password"}
    system.call(url, "POST", "/v1/storefront/customer/register", account)
    ask("POST", f"/v1/orders/{other['id']}/cancel", {"reason": "Out of stock"}, Idempotency_Key="off")


def wait_for(directory):
    """The mails to the shopper by the end of their subjects."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = {}
        for file in sorted(directory.glob("*.eml")):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            if mail["To"] and SHOPPER in mail["To"]:
                found[re.sub(r"^Your order \S+ ?", "", mail["Subject"])] = mail
        if SHOWN.keys() <= found.keys():
            return found
        time.sleep(0.5)
    sys.exit(f"mails are missing: {SHOWN.keys() - found.keys()}")


def seen(ending, mail, shown):
    name = "mail-" + (ending.replace(" ", "-") or "placed")
    text, html = (mail.get_body([kind]).get_content() for kind in ("plain", "html"))
    parser = Text()
    parser.feed(re.sub(r"(?s)<head>.*?</head>", "", html))
    read = " ".join("".join(parser.text).split())
    for part in shown:
        check(f"the text of {name} says {part}", part in text)
        check(f"the page of {name} says {part}", part in read)
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "mail.html"
        measure = "<script>document.title = document.documentElement.scrollWidth - innerWidth</script>"
        page.write_text(html.replace("</body>", f"{measure}</body>"))
        for size, width in [("", 1280), ("-telephone", 500)]:
            window = f"--window-size={width},1400"
            wider = re.search(r"<title>(-?\d+)</title>", look(page.as_uri(), window, "--dump-dom"))
            check(f"{name}{size} is not wider than its window", wider and int(wider.group(1)) <= 0)
            picture = PICTURES / f"{name}{size}.png"
            look(page.as_uri(), window, f"--screenshot={picture}")
            check(f"{picture.name} shows something", picture.stat().st_size > 5_000)


def check(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")


main()
