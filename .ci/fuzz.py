"""Schemathesis against the local system, by docs/openapi.json: as a merchant, a customer, an app, a
developer and a stranger. Nothing may answer 5xx, with a status that the document does not name, or with
a body or a header that breaks its schema. The seed is fixed, the time is bounded.

Each role has several credentials, which take turns: a budget is one caller's, and some operations end a
session. A stranger's requests come from many networks.
"""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import system

SEED = 20260101
SECONDS = 50
EACH = 6
PASSWORD = "correct horse battery"
CHECKS = ",".join([
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "ignored_auth", "missing_required_header",
])


def unique(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def merchants(url, count=EACH):
    for _ in range(count):
        name = unique("fuzz")
        body = {"email": f"{name}@example.com", "password": PASSWORD, "store_name": name, "subdomain": name}
        made = system.call(url, "POST", "/v1/auth/signup", body, X_Forwarded_For=network())
        yield {**bearer(made["session"]["access_token"]), "X-Service-Store-Id": made["store"]["id"]}


def customers(url):
    who = {"email": "demo-customer@example.com", "password": "demo-customer-1", "subdomain": "demo-store"}
    for _ in range(EACH):
        session = system.call(url, "POST", "/v1/storefront/customer/login", who, X_Forwarded_For=network())
        yield bearer(session.get("access_token") or session["session"]["access_token"])


def developers(url):
    for merchant in merchants(url):
        body = {"company": "Acme", "contact_email": "dev@example.com", "country": "IN", "agree_terms": True}
        auth = {"Authorization": merchant["Authorization"]}
        system.call(url, "POST", "/v1/app-store/developers/register", body, **auth)
        yield auth


def network(number=[0]):
    number[0] += 1
    return f"12.{number[0] // 256 % 256}.{number[0] % 256}.9"


def fuzz(url, role, credentials):
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "credentials.json"
        given.write_text(json.dumps(list(credentials)))
        environment = {
            **os.environ,
            "SCHEMATHESIS_HOOKS": "fuzz_hooks",
            "PYTHONPATH": str(Path(__file__).parent),
            "CREDENTIALS": str(given),
        }
        command = [
            Path(sys.executable).parent / "schemathesis", "--config-file", ".ci/schemathesis.toml", "run",
            "docs/openapi.json", "--url", url,
            "--seed", str(SEED), "--max-time", str(SECONDS), "--phases", "examples,coverage,fuzzing",
            "--max-examples", "5", "--checks", CHECKS, "--continue-on-failure", "--no-shrink",
            "--workers", "2", "--warnings", "off", "--request-timeout", "20",
        ]
        print(f"== {role}", flush=True)
        return subprocess.run(command, cwd=system.ROOT, env=environment).returncode


def main():
    failed = []
    with system.running("--trust-proxy") as (url, _):
        roles = {
            "stranger": [{}],
            "merchant": merchants(url),
            "customer": customers(url),
            "developer": developers(url),
        }
        for role, credentials in roles.items():
            if fuzz(url, role, credentials) != 0:
                failed.append(role)
    if failed:
        sys.exit(f"what was answered is not what is documented, as {', '.join(failed)}")


main()
