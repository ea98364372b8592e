"""What Schemathesis loads for one role of .ci/fuzz.py: who calls, with which ids, from which network.

Of the environment: FUZZ_ROLE; where the system is, FUZZ_URL, FUZZ_MAILS and FUZZ_DOCUMENT; and FUZZ_REACHED,
the file that gets the number of operations that were answered with success.
"""

import atexit
import itertools
import json
import os
import random
import re
import sys
from pathlib import Path

import schemathesis
from schemathesis.core import NotSet
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.generation.meta import coverage_scenario
from schemathesis.openapi.checks import RejectedPositiveData

sys.path.insert(0, str(Path(__file__).resolve().parent))
import fuzz_accounts as accounts

ROLE = os.environ["FUZZ_ROLE"]
DOCUMENT = json.loads(Path(os.environ["FUZZ_DOCUMENT"]).read_text())
SERVER = accounts.Server(os.environ["FUZZ_URL"], os.environ["FUZZ_MAILS"], DOCUMENT)
RANDOM = random.Random(ROLE)
# What a role shows, by its name in the document.
SCHEMES = {
    "stranger": None, "merchant": "merchantSession", "developer": "merchantSession",
    "customer": "customerToken", "app": "appToken", "operator": "merchantSession",
}
# How often an id or a handle of a valid request becomes one that exists.
KNOWN = 0.8
# How many cases of the coverage phase are sent that are alike.
ALIKE = 2
# Bytes of an address above which the HTTP server of a local system answers 414, before the gateway sees it.
LONGEST_URL = 65_000
KEY = re.compile("^[!-~]{1,255}$")
SENT = {}
# Codes of rejections that are about the form of one value. Others are about the state of things, about what
# exists, or about several values together, of which a schema says nothing.
OF_FORM = {
    "empty_cart", "idempotency_key_invalid", "idempotency_key_required", "invalid_characters",
    "invalid_choice", "invalid_code_challenge", "invalid_color", "invalid_date", "invalid_email", "invalid_handle", "invalid_json",
    "invalid_length", "invalid_locale", "invalid_order_prefix", "invalid_phone", "invalid_secret",
    "invalid_sku", "invalid_subdomain", "invalid_time", "invalid_timezone", "invalid_type",
    "invalid_version", "out_of_range", "password_too_long", "password_too_short", "too_long", "too_many",
    "too_short", "unknown_field", "unknown_parameter",
}
# Those that depend on what Unicode says of a character: whether it is assigned, a letter, visible, blank.
OF_CHARACTERS = {"invalid_characters", "invalid_handle", "invalid_phone", "too_short"}
# An operation that shuts the store, and the one that opens it again for the rest.
SHUTS = {"/v1/stores/{id}/close": "reopen", "/v1/stores/{id}/pause": "activate"}


def makers():
    """What makes each account of this role. Each can be made anew when it is lost."""
    match ROLE:
        case "merchant":
            return [lambda: accounts.merchant(SERVER)] * 4
        case "operator":
            return [lambda: accounts.operator(SERVER)]
        case "developer":
            return [lambda: accounts.developer(SERVER)] * 3
        case "app":
            shops, author = [accounts.merchant(SERVER) for _ in range(3)], accounts.developer(SERVER)
            return [lambda shop=shop: accounts.app(SERVER, shop, author) for shop in shops]
        case "customer":
            shop = accounts.merchant(SERVER)
            return [lambda: accounts.customer(SERVER, shop)] * 6
        case "stranger":
            shops = [accounts.merchant(SERVER) for _ in range(2)]
            return [lambda shop=shop: accounts.stranger(SERVER, shop) for shop in shops]


MAKERS = makers()
ACCOUNTS = [make() for make in MAKERS]
TURNS = itertools.count()
REACHED = set()
atexit.register(lambda: Path(os.environ["FUZZ_REACHED"]).write_text(str(len(REACHED))))


@schemathesis.auth(refresh_interval=None)
class Turns:
    """One account after the other, each with its own credential, network and ids."""

    def get(self, case, context):
        return ACCOUNTS[next(TURNS) % len(ACCOUNTS)]

    def set(self, case, account, context):
        known, meta = Known(account), case.meta
        negative = {place.value for place in meta.components if meta.is_negative_at(place)}
        if meta.generation.mode.is_positive:
            negative.clear()
        if "path" not in negative:
            case.path_parameters = {
                name: known.parameter(name, value) for name, value in case.path_parameters.items()
            }
        if "query" not in negative:
            # A cursor that is not one of ours is rejected, and a schema cannot say which are.
            case.query = {
                name: known.value(value) for name, value in case.query.items() if name != "cursor"
            }
        if "body" not in negative:
            case.body = known.value(case.body)
            self.name_provider(case)
            self.shorten(case)
        self.set_headers(case, account, "header" not in negative)
        case.headers["X-Forwarded-For"] = SERVER.network()
        if account.authorization:
            case.headers["Authorization"] = account.authorization

    def name_provider(self, case):
        """Credentials are those of one provider."""
        credentials = case.body.get("credentials") if isinstance(case.body, dict) else None
        if "provider" in case.path_parameters and isinstance(credentials, dict):
            case.path_parameters["provider"] = "stripe" if "publishable_key" in credentials else "razorpay"

    def shorten(self, case):
        """What an operator tries on the canary is over soon: there is one at a time."""
        if ROLE == "operator" and isinstance(case.body, dict):
            for name in ["duration_s", "requests_per_second"]:
                if isinstance(case.body.get(name), int):
                    case.body[name] = min(case.body[name], 3)

    def set_headers(self, case, account, valid):
        # Generated keys repeat, and the answer of an earlier request says nothing about this one.
        if KEY.match(case.headers.get("Idempotency-Key", "")) and RANDOM.random() < KNOWN:
            case.headers["Idempotency-Key"] = SERVER.unique("a-key-that-nobody-guesses")
        if valid and "X-Service-Store-Id" in case.headers and account.store:
            case.headers["X-Service-Store-Id"] = account.store["id"]
        # Schemathesis leaves it empty.
        if valid and "If-Match" in case.headers:
            case.headers["If-Match"] = RANDOM.choice(["*", '"1"'])


class Known:
    """Puts what an account knows in the place of random ids."""

    def __init__(self, account):
        self.account = account

    def parameter(self, name, value):
        store, words = self.account.store, self.account.words
        if RANDOM.random() > KNOWN:
            return value
        if name == "subdomain" and store:
            return store["subdomain"]
        if name == "provider":
            return RANDOM.choice([*accounts.KEYS, "manual"])
        if name in words:
            return RANDOM.choice(words[name])
        return self.value(value)

    def value(self, value):
        match value:
            case dict():
                return {name: self.value(inner) for name, inner in value.items()}
            case list():
                return [self.value(inner) for inner in value]
            case str() if (found := accounts.ID.match(value)) and RANDOM.random() < KNOWN:
                # What exists of another kind is the next best: it is rejected later than nonsense.
                return RANDOM.choice(self.account.known.get(found[1], [value]))
        return value


@schemathesis.hook
def filter_case(context, case):
    """A few of the cases that differ in nothing but which member they are about."""
    scenario = coverage_scenario(case)
    if scenario is None:
        return True
    data, mode = case.meta.phase.data, case.meta.generation.mode
    alike = (case.operation.label, scenario, mode, data.parameter_location)
    SENT[alike] = SENT.get(alike, 0) + 1
    return SENT[alike] <= ALIKE


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps the rejections of valid requests whose reason a schema could have said, and drops that a
    body which may be left out was, which Schemathesis takes for a fault of the request, answers
    of an earlier request with the same key, and addresses that no HTTP server reads.
    """
    if response.status_code == 414 and len(response.request.url) > LONGEST_URL:
        return False
    if isinstance(failure, AcceptedNegativeData):
        if response.headers.get("idempotent-replayed"):
            return False
        # A part of a file is bytes, whatever they say; of many operations each is rejected by itself.
        if case.path == "/v1/imports/{id}/parts/{part}":
            return False
        if case.path == "/v1/products/bulk" and response.json()["failed"]:
            return False
        body = case.operation.definition.raw.get("requestBody", {})
        return not (isinstance(case.body, NotSet) and not body.get("required"))
    if not isinstance(failure, RejectedPositiveData) or response.status_code not in (400, 422):
        return True
    for parameter in accounts.parameters(SERVER.document, case.operation.definition.raw):
        # It leaves a header out that it found no value for.
        is_header = parameter.get("required") and parameter["in"] == "header"
        if is_header and parameter["name"] not in response.request.headers:
            return False
    # An error page names no codes.
    if "text/html" in str(response.headers.get("content-type")):
        return False
    problem = response.json()
    # To a schema 4.0 is an integer; to the system it is none.
    errors = [error for error in problem.get("errors", []) if error["detail"] != "Must be an integer."]
    given = case.query if isinstance(case.body, NotSet) else case.body
    codes = {problem.get("code"), *(error["code"] for error in errors if not is_of_unicode(error, given))}
    return not codes.isdisjoint(OF_FORM)


def is_of_unicode(error, given):
    """Whether a value was rejected for a character's Unicode category, which no portable pattern names."""
    if error["code"] not in OF_CHARACTERS:
        return False
    for step in error.get("pointer", "").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(given, dict):
            given = given.get(name)
        elif isinstance(given, list) and name.isdigit() and int(name) < len(given):
            given = given[int(name)]
    return isinstance(given, str) and not given.isascii()


@schemathesis.hook
def after_call(context, case, response):
    """Learns what an answer shows, and gets back what a request has ended."""
    if 200 <= response.status_code < 300:
        REACHED.add((case.method, case.path))
    token = response.request.headers.get("Authorization")
    found = [n for n, account in enumerate(ACCOUNTS) if account.authorization == token]
    if len(found) != 1:
        return
    [place] = found
    account = ACCOUNTS[place]
    if 200 <= response.status_code < 300:
        learn(account, case, response)
    elif response.status_code == 401 and is_lost(case, response) and not account.renew():
        ACCOUNTS[place] = MAKERS[place]()


def learn(account, case, response):
    try:
        answer = response.json()
    except ValueError:
        return
    if case.method != "GET":
        account.learn(answer)
    is_store = account.store and isinstance(answer, dict) and answer.get("id") == account.store["id"]
    if is_store and "subdomain" in answer:
        account.store = answer
        # An answer of an earlier request shuts nothing again.
        if case.path in SHUTS and not response.headers.get("idempotent-replayed"):
            account.call("POST", f"/v1/stores/{answer['id']}/{SHUTS[case.path]}", {})


def is_lost(case, response):
    """Whether a credential that the operation takes does not hold any more."""
    security = DOCUMENT["paths"][case.path].get(case.method.lower(), {}).get("security", [])
    takes = any(SCHEMES[ROLE] in alternative for alternative in security)
    return takes and response.json().get("code") in ("unauthenticated", "invalid_token")
