"""A client of the commerce gateway. `Gateway` is synchronous, `AsyncGateway` asynchronous."""

from .client import AsyncGateway, Gateway
from .errors import ConnectionFailed, FieldError, ProblemError
from .generated import errors, models
from .pages import AsyncPages, Pages
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncGateway",
    "AsyncPages",
    "ConnectionFailed",
    "FieldError",
    "Gateway",
    "Pages",
    "ProblemError",
    "WebhookVerificationError",
    "errors",
    "models",
    "verify_webhook",
]
