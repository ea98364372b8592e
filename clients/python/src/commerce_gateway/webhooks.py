"""Verifies deliveries by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping

from pydantic import TypeAdapter

from .generated.models import WebhookEvent


class WebhookVerificationError(Exception):
    """A delivery that the gateway did not sign with this secret, or that is too old."""


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secret: str, *, tolerance: float = 300.0, now: float | None = None
) -> WebhookEvent:
    """Returns the event of a delivery. The body is what arrived, before it is parsed. After a rotation of the secret, a
    delivery has a signature for each."""
    given = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, timestamp, signatures = (
            given[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
        age = abs((time.time() if now is None else now) - float(timestamp))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except KeyError as error:
        raise WebhookVerificationError(f"{error.args[0]} is missing") from None
    except (ValueError, binascii.Error) as error:
        raise WebhookVerificationError(str(error)) from None
    if not age <= tolerance:
        raise WebhookVerificationError("webhook-timestamp is not recent")
    content = body.encode() if isinstance(body, str) else body
    digest = hmac.new(key, f"{identifier}.{timestamp}.".encode() + content, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, signature.encode()) for signature in signatures.split(" ")):
        raise WebhookVerificationError("no signature is valid")
    return TypeAdapter(WebhookEvent).validate_json(content)
