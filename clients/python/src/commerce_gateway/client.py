"""Sends the requests of the generated operations."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter

from .errors import ConnectionFailed, ProblemError, problem_of
from .generated.errors import ERRORS
from .generated.operations import AsyncOperations, Operations
from .retries import Retries


class _Requests:
    """What both clients share: how a request is built, and a response read."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        store_id: str | None = None,
        locale: str | None = None,
        timeout: float = 30.0,
        retries: Retries | None = None,
    ) -> None:
        self.retries = retries or Retries()
        named = {"X-Service-Store-Id": store_id, "X-Service-Locale": locale}
        headers = {name: value for name, value in named.items() if value is not None}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._settings: dict[str, Any] = {"base_url": base_url, "headers": headers, "timeout": timeout}

    @staticmethod
    def _arguments(
        method: str,
        path: str,
        parts: Mapping[str, str],
        query: Mapping[str, Any],
        headers: Mapping[str, str | None],
        body: Any,
        media_type: str | None,
    ) -> dict[str, Any]:
        sent = {name: value for name, value in headers.items() if value is not None}
        if method != "GET":
            # So that a repetition takes effect once.
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        arguments: dict[str, Any] = {
            "method": method,
            "url": path.format(**{name: quote(str(part), safe="") for name, part in parts.items()}),
            "params": {name: _plain(value) for name, value in query.items() if value is not None},
            "headers": sent,
        }
        if media_type == "application/json":
            arguments["json"] = _plain(body if body is not None else {})
        elif media_type is not None:
            sent["Content-Type"] = media_type
            arguments["content"] = body
        return arguments

    @staticmethod
    def _result(response: httpx.Response, models: dict[int, Any]) -> Any:
        if not response.is_success:
            problem = problem_of(response)
            raise ERRORS.get(problem["code"], ProblemError)(problem, response)
        # An operation has a model for each status: a dry run of an order is no order.
        model = models.get(response.status_code)
        if model is None:
            return None
        if model is bytes:
            return response.content
        return TypeAdapter(model).validate_json(response.content)


def _plain(value: Any) -> Any:
    """A value as JSON has it. Members of a model that were not set are left out."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)


class Gateway(_Requests, Operations):
    """A synchronous client. Each operation of the API is a method, which raises `ProblemError`."""

    def __init__(self, base_url: str, *, transport: httpx.BaseTransport | None = None, **settings: Any) -> None:
        super().__init__(base_url, **settings)
        self._http = httpx.Client(transport=transport, **self._settings)

    def _request(self, *arguments: Any, models: dict[int, Any]) -> Any:
        request = self._http.build_request(**self._arguments(*arguments))
        attempt = 0
        while True:
            response, failure = None, None
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                failure = error
            wait = self.retries.wait(request, attempt, response)
            if wait is None:
                if response is None:
                    raise ConnectionFailed(f"no response from {request.method} {request.url}") from failure
                return self._result(response, models)
            time.sleep(wait)
            attempt += 1

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncGateway(_Requests, AsyncOperations):
    """An asynchronous client. Each operation of the API is a method, which raises `ProblemError`."""

    def __init__(self, base_url: str, *, transport: httpx.AsyncBaseTransport | None = None, **settings: Any) -> None:
        super().__init__(base_url, **settings)
        self._http = httpx.AsyncClient(transport=transport, **self._settings)

    async def _request(self, *arguments: Any, models: dict[int, Any]) -> Any:
        request = self._http.build_request(**self._arguments(*arguments))
        attempt = 0
        while True:
            response, failure = None, None
            try:
                response = await self._http.send(request)
            except httpx.TransportError as error:
                failure = error
            wait = self.retries.wait(request, attempt, response)
            if wait is None:
                if response is None:
                    raise ConnectionFailed(f"no response from {request.method} {request.url}") from failure
                return self._result(response, models)
            await asyncio.sleep(wait)
            attempt += 1

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
