"""When a failed request is repeated."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

TRANSIENT = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Retries:
    """How failed requests are repeated: only those without effect or with an idempotency key, so that nothing takes
    effect twice."""

    limit: int = 3
    """Repetitions at most, after the first attempt."""
    delay: float = 0.5
    """Seconds before the first repetition. They double with each, and vary by half."""
    max_delay: float = 30.0
    """The longest wait in seconds. A longer `Retry-After` is not waited for."""

    def wait(self, request: httpx.Request, attempt: int, response: httpx.Response | None) -> float | None:
        """The seconds until the next attempt; none if this was the last. `response` is none if none arrived."""
        is_repeatable = request.method in ("GET", "HEAD") or "Idempotency-Key" in request.headers
        if not is_repeatable or attempt >= self.limit or response is not None and not is_transient(response):
            return None
        asked = None if response is None else retry_after(response)
        if asked is not None:
            return asked if asked <= self.max_delay else None
        delay: float = min(self.delay * 2**attempt, self.max_delay)
        return delay * random.uniform(0.5, 1)


def is_transient(response: httpx.Response) -> bool:
    """Whether a later attempt may be answered otherwise."""
    if response.status_code != 409:
        return response.status_code in TRANSIENT
    # The first request with this key is still running.
    return '"request_in_progress"' in response.text


def retry_after(response: httpx.Response) -> float | None:
    """The seconds that `Retry-After` asks for: seconds, or a date (RFC 9110 §10.2.3)."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return max((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
