"""Accounts for .ci/fuzz.py, made over HTTP: stores with something in every list, their merchants and
customers, developers with an app, and apps that are installed.

Each account has a budget of its own, so that several by turns are answered where one would be rejected with
429; and each knows ids that exist, which random data never hits.
"""

import base64
import contextlib
import email
import email.policy
import hashlib
import io
import itertools
import json
import random
import re
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

PASSWORD = "fuzz-battery-staple-7"
# Times that a call waits for the budget of its caller.
PATIENCE = 10
ID = re.compile(r"^([a-z]+)_[0-9a-f]{32}$")
ADDRESS = {
    "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru",
    "region": "KA", "postal_code": "560001", "country": "IN",
}
ADDRESS_OF_PLACE = {name: ADDRESS[name] for name in ["line1", "city", "region", "postal_code", "country"]}
RUPEES = {"amount": 50000, "currency": "INR"}
# The keys of the providers that are played (docs/quickstart.md).
KEYS = {
    "razorpay": {"key_id": "rzp_test_1DP5mmOlF5G5ag", "key_secret": "thiIsNotTheRealSecret42"},
    "stripe": {
        "publishable_key": "pk_test_TYooMQauvdEDq54NiTphI7jx",
        "secret_key": "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
    },
}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CALLBACK = "https://app.example.com/callback"


class Rejected(Exception):
    """A request of the preparation was rejected."""


class Server:
    """Where the system is, and where it leaves its mails."""

    def __init__(self, url, mails, document):
        self.url, self.mails, self.document = url, Path(mails), document
        scopes = {scope for _, _, operation in operations(document) for scope in operation.get("x-scopes", [])}
        writes = {scope for scope in scopes if scope.startswith("write_")}
        # What `write_x` implies is not asked for again.
        self.scopes = sorted(writes | {s for s in scopes if s.replace("read_", "write_") not in writes})
        self.random = random.Random(1)
        self.count = itertools.count()
        self.run = f"{time.time_ns():x}"

    def unique(self, word):
        return f"{word}-{self.run}-{next(self.count)}"

    def network(self):
        """An address in a network of its own, which pays for whoever has no other budget."""
        return ".".join(str(part) for part in [10, *self.random.choices(range(256), k=2), 7])

    def call(self, method, path, body=None, **headers):
        """What a request is answered with; a body of bytes is sent as it is."""
        names = {"Content-Type": "application/json", "X-Forwarded-For": self.network()}
        names.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, names, method=method)
        for attempt in range(PATIENCE + 1):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                # What is fuzzed has used the caller's budget up, which fills again.
                if error.code == 429 and attempt < PATIENCE:
                    time.sleep(min(int(error.headers.get("Retry-After") or 1), 2))
                    continue
                raise Rejected(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def code(self, address):
        """The code in the last mail to an address."""
        return self.found(address, r"\b(\d{6})\b")

    def token(self, address):
        """The token in the last mail to an address."""
        return self.found(address, r"(?m)^Token: (\S+)")

    def found(self, address, pattern):
        for _ in range(100):
            for mail in sorted(self.mails.glob("*.eml"), reverse=True):
                mail = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
                text = mail.get_body(["plain"]).get_content()
                if address in mail["To"] and (found := re.search(pattern, text)):
                    return found[1]
            time.sleep(0.1)
        raise Rejected(f"no mail to {address}")


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def parameters(document, operation):
    """The parameters of an operation, those among the components included."""
    for parameter in operation.get("parameters", []):
        name = parameter.get("$ref", "").rsplit("/", 1)[-1]
        yield document["components"]["parameters"][name] if name else parameter


class Account:
    """Who calls: a credential, the store that it acts on, and what it has seen.

    `again` gets the credential anew, since many an operation ends it.
    """

    def __init__(self, server, again, store=None):
        self.server, self.again, self.store = server, again, store
        self.known, self.words = {}, {}
        self.authorization = again()

    def call(self, method, path, body=None, **headers):
        if self.authorization:
            headers["Authorization"] = self.authorization
        if self.store and "{subdomain}" in path:
            path = path.replace("{subdomain}", self.store["subdomain"])
        headers.setdefault("Idempotency_Key", self.server.unique("a-key-that-nobody-guesses"))
        answer = self.server.call(method, path, body, **headers)
        self.learn(answer)
        return answer

    def renew(self):
        """Whether there is a credential again."""
        try:
            self.authorization = self.again()
        except Rejected:
            return False
        return True

    def learn(self, answer):
        """Keeps the ids and handles of an answer."""
        match answer:
            case dict():
                for name, value in answer.items():
                    if name in ("handle", "form") and isinstance(value, str):
                        remember(self.words, name, value)
                    if name == "theme" and isinstance(value, str):
                        remember(self.words, "slug", value)
                    self.learn(value)
            case list():
                for value in answer:
                    self.learn(value)
            case str() if found := ID.match(answer):
                remember(self.known, found[1], answer)

    def look_around(self):
        """Reads every list that takes no parameter."""
        for method, path, operation in operations(self.server.document):
            named = [parameter["name"] for parameter in parameters(self.server.document, operation)]
            if method != "get" or "cursor" not in named or "{" in path.replace("{subdomain}", ""):
                continue
            try:
                self.call("GET", path)
            except Rejected:
                # Another kind of caller's.
                continue


def remember(pool, name, value):
    """Keeps the latest, which are the likeliest to be in the state they were made in."""
    values = pool.setdefault(name, [])
    if value not in values:
        values.append(value)
        del values[:-40]


def merchant(server):
    """A merchant with an open, furnished store."""
    address, subdomain = f"{server.unique('merchant')}@example.com", server.unique("store")
    credentials = {"email": address, "password": PASSWORD}
    server.call("POST", "/v1/auth/signup", credentials)
    account = Account(server, lambda: session(server, credentials))
    # Only the store of a proven owner mails its customers.
    account.call("POST", "/v1/auth/email/verify", {"token": server.token(address)})
    account.store = account.call("POST", "/v1/stores", {
        "name": "Blue Bottle Books", "subdomain": subdomain, "currency": "INR", "country": "IN",
    })
    account.call("POST", f"/v1/stores/{account.store['id']}/activate",
                 {"accept_missing": ["shipping", "payments", "taxes"]})
    furnish(account)
    account.look_around()
    return account


def session(server, credentials):
    answer = server.call("POST", "/v1/auth/signin", credentials)
    return f"Bearer {answer['session']['access_token']}"


def furnish(account):
    """Puts something into every list of a store."""
    def post(path, body, **headers):
        return account.call("POST", path, body, **headers)

    for provider, credentials in KEYS.items():
        body = {"credentials": credentials, "enabled": True, "mode": "test"}
        account.call("PUT", f"/v1/payments/providers/{provider}", body)
    category = post("/v1/products/categories", {"name": "Books"})
    variants = [
        {"price": RUPEES, "options": [size], "inventory": {"levels": [{"quantity": 100000}]}}
        for size in ["S", "L"]
    ]
    products = [
        post("/v1/products", {
            "title": f"Book {number}", "status": "active", "category_id": category["id"],
            "options": [{"name": "Size", "values": ["S", "L"]}], "variants": variants,
        })
        for number in range(3)
    ]
    collection = {"title": "New", "kind": "manual", "published": True, "product_ids": [products[0]["id"]]}
    post("/v1/products/collections", collection)
    post("/v1/inventory/locations", {"name": "Second", "address": ADDRESS_OF_PLACE})
    post("/v1/products/gift-cards", {"initial_value": RUPEES})
    post("/v1/discounts", {"title": "Tenth", "code": "TENTH", "kind": "percentage", "value": {"basis_points": 1000}})
    gst = {"name": "GST", "country": "IN", "basis_points": 1800, "on_shipping": True}
    post(f"/v1/stores/{account.store['id']}/tax-rates", gst)
    post("/v1/media", PIXEL, Content_Type="image/png")
    dress(account)
    subscription = {"url": "http://127.0.0.1:9/hooks", "event_types": ["*"]}
    post("/v1/operations/webhook-subscriptions", subscription)
    store = account.store["id"]
    items = {"items": [{"title": "Home", "type": "link", "url": "https://example.com/"}]}
    account.call("PUT", f"/v1/stores/{store}/navigation/main", items)
    account.call("PUT", f"/v1/stores/{store}/policies/privacy", {"body_html": "<p>None.</p>", "published": True})
    post("/v1/storefront/{subdomain}/forms/contact", {"fields": {"message": "Hello"}})
    variant = products[0]["variants"][0]["id"]
    for steps in [[], ["mark-paid"], ["mark-paid", "fulfill"], ["mark-paid", "fulfill", "refund"], ["cancel"]]:
        order = place(account, variant)
        for step in steps:
            post(f"/v1/orders/{order['id']}/{step}", {})
    storefront = f"/v1/storefront/{account.store['subdomain']}"
    for provider in KEYS:
        body = {"email": "guest@example.com", **cart(variant), "payment": {"provider": provider}}
        key = account.server.unique("a-key-that-nobody-guesses")
        placed = account.server.call("POST", f"{storefront}/orders", body, Idempotency_Key=key)
        proof = {"X_Service_Order_Token": placed["order_token"]}
        begun = {"order_id": placed["order"]["id"]}
        account.server.call("POST", f"{storefront}/payments/{provider}/order", begun, **proof)


def dress(account):
    """Shows the storefront in a theme of the merchant's own, with two releases and a preview."""
    slug = account.server.unique("linen")
    schema = [
        {"name": "theme_info", "theme_name": "Plain Linen", "theme_version": "1.0.0", "theme_author": "Linen Works"},
        {"name": "Look", "settings": [
            {"type": "text", "id": "heading", "label": "Heading", "default": "Hello"},
        ]},
    ]
    files = {
        "theme.json": json.dumps({"slug": slug, "name": "Plain Linen", "version": "1.0.0", "author": "Linen Works"}),
        "layout/theme.liquid": "<html>{{ content_for_layout }}</html>",
        "templates/index.liquid": "<h1>{{ settings.heading }}</h1>",
        "config/settings_schema.json": json.dumps(schema),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as package:
        for path, text in files.items():
            package.writestr(path, text)
    account.call("POST", "/v1/themes/packages/upload", archive.getvalue(), Content_Type="application/zip")
    account.call("POST", f"/v1/themes/{slug}/install", {})
    for draft, heading in enumerate(["First", "Second"], 2):
        account.call("PUT", f"/v1/themes/{slug}/editor/draft", {"settings": {"heading": heading}})
        account.call("POST", f"/v1/themes/{slug}/publish", {"draft_version": draft})
    account.call("POST", f"/v1/themes/{slug}/preview-session", {})
    remember(account.words, "slug", slug)


def cart(variant):
    return {"items": [{"variant_id": variant, "quantity": 2}], "shipping_address": ADDRESS}


def place(account, variant):
    return account.call("POST", "/v1/orders", {"email": "guest@example.com", **cart(variant)})


def stranger(server, shop):
    """Nobody, at the storefront of a store that there is."""
    account = Account(server, lambda: None, shop.store)
    account.known, account.words = dict(shop.known), dict(shop.words)
    account.look_around()
    return account


def customer(server, shop):
    """A customer of a shop, with an address, a wish and an order."""
    subdomain = shop.store["subdomain"]
    credentials = {"email": f"{server.unique('shopper')}@example.com", "password": PASSWORD}
    begun = server.call(
        "POST", "/v1/storefront/customer/register", {**credentials, "subdomain": subdomain}
    )
    proof = {"challenge_id": begun["challenge_id"], "code": server.code(credentials["email"])}
    server.call("POST", "/v1/storefront/customer/login/otp/verify", proof)
    login = {**credentials, "subdomain": subdomain}
    token = lambda: server.call("POST", "/v1/storefront/customer/login", login)["access_token"]
    account = Account(server, lambda: f"Bearer {token()}", shop.store)
    account.call("POST", "/v1/storefront/customer/addresses", ADDRESS)
    product = account.call("GET", "/v1/storefront/{subdomain}/products")["data"][0]
    account.call("POST", "/v1/storefront/customer/wishlist", {"product_id": product["id"]})
    variant = account.call("GET", "/v1/storefront/{subdomain}/products/" + product["handle"])["variants"][0]
    account.call("POST", "/v1/storefront/{subdomain}/orders", cart(variant["id"]))
    account.look_around()
    return account


def developer(server):
    """A developer with a published app that has all scopes."""
    address = f"{server.unique('developer')}@example.com"
    credentials = {"email": address, "password": PASSWORD}
    server.call("POST", "/v1/auth/signup", credentials)
    account = Account(server, lambda: session(server, credentials))
    account.call("POST", "/v1/app-store/developers/register", {
        "company": "Acme Apps", "contact_email": address, "country": "IN", "agree_terms": True,
    })
    app = account.call("POST", "/v1/app-store/developers/apps", {
        "name": "Stock Bell", "slug": server.unique("bell"), "app_url": "https://app.example.com",
        "redirect_uris": [CALLBACK], "scopes": server.scopes, "embedded": True,
    })
    submission = account.call("POST", f"/v1/app-store/developers/apps/{app['id']}/submissions", {
        "version": "1.0.0", "changelog": "First.", "test_instructions": "Install it.",
        "listing": {
            "tagline": "Rings when stock is low", "category": "operations", "pricing": "Free",
            "description": "Watches the stock of every variant and tells you before it runs out.",
            "privacy_policy_url": "https://app.example.com/privacy",
        },
    })
    operator = session(server, {"email": "operator@example.com", "password": "demo-operator-1"})
    path = f"/v1/app-store/submissions/{submission['id']}/approve"
    server.call("POST", path, {"notes": ["Welcome."]}, Authorization=operator)
    account.call("POST", f"/v1/app-store/developers/apps/{app['id']}/publish", {})
    account.app = app
    account.look_around()
    return account


def operator(server):
    """The demo's operator, who has tried and seen something of everything."""
    credentials = {"email": "operator@example.com", "password": "demo-operator-1"}
    account = Account(server, lambda: session(server, credentials))
    runtime, now = "/v1/operations/runtime", int(time.time())
    drill = {
        "kind": "table_throttled", "hypothesis": "Nothing is lost.", "duration_s": 1, "rto_s": 60,
        "rpo_events": 0, "confirm": True,
    }
    # While there is an incident, there are no drills.
    with contextlib.suppress(Rejected):
        account.call("POST", f"{runtime}/failover-drills", drill)
    for _ in range(8):
        fault = {"title": "Late", "severity": "low", "components": ["api"]}
        account.call("POST", f"{runtime}/incidents", fault)
    period = {name: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
              for name, at in [("from", now - 86_400), ("to", now)]}
    account.call("POST", "/v1/operations/certification-reports", {"period": period})
    account.look_around()
    return account


def app(server, shop, author):
    """A developer's app, installed on a shop with all scopes."""
    client = f"{author.app['client_id']}:{author.app['client_secret']}"
    basic = f"Basic {base64.b64encode(client.encode()).decode()}"

    def token():
        verifier = server.unique("verifier-of-at-least-forty-three-characters")
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        granted = shop.call("POST", f"/v1/app-store/apps/{author.app['id']}/oauth/authorize", {
            "store_id": shop.store["id"], "redirect_uri": CALLBACK, "state": "xyz",
            "code_challenge": challenge, "code_challenge_method": "S256",
        })
        redeemed = server.call("POST", "/v1/app-store/oauth/token", {
            "grant_type": "authorization_code", "code": granted["code"], "redirect_uri": CALLBACK,
            "code_verifier": verifier,
        }, Authorization=basic)
        return f"Bearer {redeemed['access_token']}"

    account = Account(server, token, shop.store)
    account.known, account.words = dict(shop.known), dict(shop.words)
    account.look_around()
    return account
