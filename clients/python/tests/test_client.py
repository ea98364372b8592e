"""The client without a gateway: retries, pages, errors and webhooks."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

import httpx
import pytest

from commerce_gateway import AsyncGateway, Gateway, WebhookVerificationError, errors, verify_webhook
from commerce_gateway.retries import Retries

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
RETRIES = Retries(delay=0.001, max_delay=2.0)


class Script(httpx.MockTransport):
    """Answers with these responses, one after the other."""

    def __init__(self, *responses: Callable[[], httpx.Response]) -> None:
        self.seen: list[httpx.Request] = []
        self.responses = responses
        super().__init__(self.answer)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        return self.responses[len(self.seen) - 1]()


def problem(status: int, code: str, **headers: str) -> Callable[[], httpx.Response]:
    body = {"type": "about:blank", "title": code, "status": status, "detail": code, "code": code}
    return lambda: httpx.Response(status, json=body, headers=headers)


def broken() -> httpx.Response:
    raise httpx.ReadError("connection reset")


def page(ids: list[str], cursor: str | None) -> Callable[[], httpx.Response]:
    data = [{"id": identifier, "name": identifier, "scope": "read"} for identifier in ids]
    body = {"data": data, "page": {"limit": 2, "has_more": cursor is not None, "next_cursor": cursor}}
    return lambda: httpx.Response(200, json=body)


def test_a_write_is_repeated_with_its_idempotency_key() -> None:
    script = Script(
        problem(503, "service_unavailable"),
        broken,
        problem(409, "request_in_progress", **{"Retry-After": "1"}),
        lambda: httpx.Response(204),
    )
    with Gateway("http://gateway.test", transport=script, retries=RETRIES) as gateway:
        gateway.sign_out()
    assert len(script.seen) == 4
    assert len({request.headers["Idempotency-Key"] for request in script.seen}) == 1


def test_a_rejection_is_not_repeated_nor_is_a_wait_that_is_too_long() -> None:
    script = Script(problem(429, "rate_limited", **{"Retry-After": "60"}), problem(409, "version_conflict"))
    with Gateway("http://gateway.test", transport=script, retries=RETRIES) as gateway:
        with pytest.raises(errors.RateLimitedError):
            gateway.get_account()
        with pytest.raises(errors.VersionConflictError) as caught:
            gateway.sign_out()
    assert caught.value.status == 409
    assert len(script.seen) == 2


def verified(body: bytes, age: float = 0.0, **changes: str) -> str:
    timestamp = "1750000000"
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, f"msg_1.{timestamp}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,AAAA v1a,BBBB v1,{base64.b64encode(digest).decode()}"
    headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": timestamp, "Webhook-Signature": signature} | changes
    return str(verify_webhook(body, headers, SECRET, now=1_750_000_000 + age).type)


EVENT = {
    "id": "evt_" + "0" * 32, "type": "order.created", "api_version": "v1", "created_at": "2026-01-01T00:00:00Z",
    "entity": {"type": "order", "id": "0" * 32, "version": 1}, "data": {"id": "ord_1"},
}


def test_a_delivery_is_verified_by_any_of_its_signatures_and_not_when_it_is_old() -> None:
    body = json.dumps(EVENT).encode()
    assert verified(body, 300) == "order.created"
    for faulty in ({"age": 301.0}, {"Webhook-Timestamp": "1750000001"}, {"Webhook-Signature": "v1,AAAA"}):
        with pytest.raises(WebhookVerificationError):
            verified(body, **faulty)
