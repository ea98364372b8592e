"""Somebody buys in a shop, by the requests of a browser without scripts."""

import http.client
import re
import urllib.parse
from html import unescape

from machine import Failed

ADDRESS = {
    "email": "asha@example.com", "ship[first_name]": "Asha", "ship[last_name]": "Rao", "ship[line1]": "12 MG Road",
    "ship[city]": "Bengaluru", "ship[region]": "KA", "ship[postal_code]": "560001", "ship[country]": "IN",
    "bill_choice": "same",
}


class Browser:
    """It keeps cookies, and says what a browser says of a page that somebody opens. It follows no redirect."""

    def __init__(self, port, host):
        self.port, self.host, self.cookies, self.requests = port, host, {}, 0

    def open(self, path):
        return self.send("GET", path)

    def submit(self, path, **fields):
        return self.send("POST", path, urllib.parse.urlencode(fields), "application/x-www-form-urlencoded")

    def send(self, method, path, body=None, kind=None):
        headers = {
            "Host": self.host, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
            "Sec-Fetch-Site": "same-origin", "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        if kind:
            headers["Content-Type"] = kind
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {name: value for name, value in headers.items() if value})
            answer = connection.getresponse()
            page = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as cause:
            raise Failed(f"{method} {path} of the shop: {cause}") from cause
        finally:
            connection.close()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        self.requests += 1
        return answer.status, page, answer.headers.get("Location", "")


def buy(browser, variant, title):
    """Finds a product on the home page, puts two into the cart, and orders them, to be paid by arrangement. Returns the
    order's id and the total that the shop has shown."""
    page = expect(200, browser.open("/"))[0]
    if title not in unescape(page):
        raise Failed(f"the home page does not show {title!r}: {page[:300]!r}")
    expect(303, browser.submit("/cart/add", id=variant, quantity="2"), "/cart")
    expect(200, browser.open("/checkout"))
    expect(303, browser.submit("/checkout", **ADDRESS, act="to:shipping"), "/checkout")
    page = expect(200, browser.open("/checkout"))[0]
    shown = {name: value_of(page, name) for name in ["key", "total", "cart"]}
    order = {**ADDRESS, **shown, "payment": "manual", "act": "place"}
    to = expect(303, browser.submit("/checkout", **order), "/orders/ord_")[1]
    # A payment by arrangement has no page: it leads to the order.
    to = expect(303, browser.open(to), "/orders/ord_")[1]
    page = expect(200, browser.open(to))[0]
    if "Your order is placed" not in page:
        raise Failed(f"the page of the order does not say so: {page[:300]!r}")
    # The button is pressed again.
    again = expect(303, browser.submit("/checkout", **order), "/orders/ord_")[1]
    if again.removesuffix("/pay") != to:
        raise Failed(f"pressed twice, the button has led to {to} and {again}")
    return to.removeprefix("/orders/"), int(shown["total"])


def expect(status, answer, to=None):
    """The page, and where it leads."""
    found, page, location = answer
    if found != status or to and not location.startswith(to):
        raise Failed(f"the shop answers {found} {location}, and not {status} {to or ''}: {page[:300]!r}")
    return page, location


def value_of(page, name):
    found = re.search(f'name="{name}" value="([^"]*)"', page)
    if not found:
        raise Failed(f"the checkout has no {name}: {page[:300]!r}")
    return unescape(found[1])
