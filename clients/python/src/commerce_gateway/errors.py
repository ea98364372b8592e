"""Errors of requests. The class of each problem code is in `generated.errors`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class FieldError:
    """A field that was rejected."""

    pointer: str
    """A JSON Pointer (RFC 6901) into the body; for a parameter, `/` and its name."""
    code: str
    detail: str


class ProblemError(Exception):
    """A rejected request (RFC 9457). Each code has a subclass; an unknown code is a `ProblemError` itself."""

    def __init__(self, problem: dict[str, Any], response: httpx.Response) -> None:
        self.problem = problem
        self.response = response
        self.status = response.status_code
        self.code: str = problem["code"]
        self.errors = [
            FieldError(error["pointer"], error["code"], error["detail"]) for error in problem.get("errors", ())
        ]
        self.request_id: str | None = problem.get("request_id") or response.headers.get("x-request-id")
        fields = [f"{error.pointer}: {error.detail}" for error in self.errors]
        super().__init__("\n".join([problem["detail"], *fields]))


class ConnectionFailed(Exception):
    """No response: every attempt failed before one arrived."""


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """The problem of a response. The OAuth endpoints answer as RFC 6749 §5.2 requires."""
    try:
        body = response.json()
    except ValueError:
        body = None
    known: dict[str, Any] = body if isinstance(body, dict) else {}
    code = known.get("code") or known.get("error") or "unknown"
    detail = known.get("error_description") or f"{response.status_code} {response.reason_phrase}"
    return {"title": response.reason_phrase, "status": response.status_code, "detail": detail} | known | {"code": code}
