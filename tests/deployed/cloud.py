"""`sam deploy`, against an emulated CloudFormation, and requests to what it made."""

import json
import urllib.request
from pathlib import Path

from builds import SAM, have_build, have_local
from machine import ROOT, VENV, WORK, Failed, afresh, need_free, process, run, until
from shop import Browser, buy

PORT = 4599
EMULATED = f"http://127.0.0.1:{PORT}"
STACK = "commerce-gateway"
# The emulator has no names of one's own. So the shops' domain is its own, and the store's subdomain the id of their API:
# the name by which the emulator knows the API is that of the store's shop.
SHOP_DOMAIN = "execute-api.localhost"
PARAMETERS = [
    "Architecture=x86_64", "BaseUrl=https://api.example.com", f"ShopDomain={SHOP_DOMAIN}",
    "MailFrom=no-reply@example.com",
]
TITLE = "The Invisible Library"


def deploy():
    """The stack comes up with all that the emulator knows, and the API in it answers."""
    log = afresh("deploy")
    built = have_build("x86_64")
    binary = have_local(log)
    need_free(PORT)
    template = built.with_name("emulated.yaml")
    left_out = run(log, VENV / "bin/python", Path(__file__).with_name("emulated.py"), built, template, EMULATED)
    # It runs functions as processes of this machine, each for one event.
    emulator = {
        "GATEWAY_PORT": str(PORT), "BIND_HOST": "127.0.0.1", "LAMBDA_EXECUTOR": "local",
        "AWS_ENDPOINT_URL": EMULATED,
    }
    with process(log, VENV / "bin/ministack", **emulator) as begun:
        until(begun, "ministack", lambda: get("/_ministack/health")[0] == 200)
        run(log, SAM, "deploy", "--template-file", template, "--config-file", ROOT / "samconfig.toml",
            "--no-confirm-changeset", "--parameter-overrides", *PARAMETERS, AWS_ENDPOINT_URL=EMULATED)
        keys = WORK / "keys.json"
        keys.write_text(run(log, binary, "--generate-keys"))
        script = Path(__file__).with_name("stack.py")
        stack = json.loads(run(log, VENV / "bin/python", script, EMULATED, STACK, template, keys))
        keys.unlink()
        requests = at_no_shop(stack["shops"]) + smoke(stack["api"], stack["shops"])
    return (f"{stack['resources']} resources and {stack['routes']} routes, {requests} requests answered as they should; "
            f"the emulator knows no {left_out.strip()}")


def smoke(api, shops):
    """Requests through the emulated API Gateway to functions, the table and the secrets: a merchant opens a store, and
    somebody buys in its shop."""
    host = {"Host": api.removeprefix("http://")}
    shop = shops.removeprefix("http://")
    subdomain = shop.split(".")[0]
    expect(200, get("/v1/openapi.json", **host))
    expect(404, get("/v1/nothing", **host))
    expect(401, get("/v1/stores", **host))
    merchant = {
        "email": "ann@example.com", "password": "correct horse battery", "store_name": "Blue Bottle Books",
        "subdomain": subdomain,
    }
    signed_up = expect(201, get("/v1/auth/signup", merchant, **host))
    signed_in = {**host, "Authorization": f"Bearer {signed_up['session']['access_token']}"}
    stores = expect(200, get("/v1/stores", **signed_in))
    if [store["id"] for store in stores["data"]] != [signed_up["store"]["id"]]:
        raise Failed(f"the store that was made is not listed: {stores}")
    expect(200, get("/v1/orders", **signed_in))
    store = f"/v1/stores/{signed_up['store']['id']}"
    # With a key the store opens once, however often the function is invoked for it.
    once = {**signed_in, "Idempotency-Key": "the-store-opens-for-its-shoppers"}
    expect(200, get(f"{store}/activate", {"accept_missing": ["shipping", "payments", "taxes"]}, **once))
    expect(200, get(f"/v1/storefront/{subdomain}", **host))
    return 8 + sell(signed_in, signed_up["store"]["currency"], Browser(PORT, shop))


def sell(merchant, currency, browser):
    """The merchant stocks a book, somebody buys it in the shop, and the API has the order that the shop has shown."""
    price = {"amount": 49_900, "currency": currency}
    book = {
        "title": TITLE, "status": "active",
        "variants": [{"price": price, "inventory": {"levels": [{"quantity": 9}]}}],
    }
    made = expect(201, get("/v1/products", book, **merchant, **{"Idempotency-Key": "the-first-book-of-the-store"}))
    order, total = buy(browser, made["variants"][0]["id"], TITLE)
    found = expect(200, get(f"/v1/orders/{order}", **merchant))
    sold = [(item["title"], item["quantity"]) for item in found["items"]]
    if found["totals"]["total"]["amount"] != total or sold != [(TITLE, 2)]:
        raise Failed(f"the shop has sold something else than two books for {total}: {found}")
    listed = expect(200, get("/v1/orders", **merchant))["data"]
    if [one["id"] for one in listed] != [order]:
        raise Failed(f"there is not the one order: {listed}")
    return 3 + browser.requests


def at_no_shop(shops):
    """Before a store has it, the name is no shop's: the function says so, in a page."""
    status, page = get("/", Host=shops.removeprefix("http://"))
    if status != 404 or b"This page does not exist" not in page:
        raise Failed(f"{status} of the shops: {page[:300]!r}")
    return 1


def expect(status, answer):
    if answer[0] != status:
        raise Failed(f"{answer[0]} instead of {status}: {answer[1][:300]!r}")
    return json.loads(answer[1])


def get(path, body=None, **headers):
    """The status and the body of an answer; a POST, if it has a body."""
    data = None if body is None else json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    request = urllib.request.Request(EMULATED + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()
    except OSError as cause:
        return 0, str(cause).encode()
