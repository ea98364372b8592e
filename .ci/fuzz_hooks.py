"""What Schemathesis adds to each request: a credential, by turns, and a network of its own."""

import itertools
import json
import os

import schemathesis

CREDENTIALS = itertools.cycle(json.load(open(os.environ["CREDENTIALS"])))
NUMBER = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(NUMBER)
    headers = {"X-Forwarded-For": f"13.{number // 256 % 256}.{number % 256}.9"}
    case.headers = {**(case.headers or {}), **next(CREDENTIALS), **headers}
