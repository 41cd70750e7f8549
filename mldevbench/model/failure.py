"""What a provider's error means and whether to try again: pure, and free of litellm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mldevbench.errors import Fault, UserError
from mldevbench.model.budget import AgentStopped, RequestRefused
from mldevbench.records import Cause, StopReason

LONGEST_WAIT = 60.0


class StudyStopper(UserError):
    """No run of the study can work with this model; the study ends at once."""


class Kind(StrEnum):
    RATE = "rate"
    SERVER = "server"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    CONTEXT = "context"
    CONTENT = "content"
    REQUEST = "request"
    ACCESS = "access"
    DENIED = "denied"
    MODEL = "model"


WORTH_RETRYING = {Kind.RATE, Kind.SERVER, Kind.TIMEOUT, Kind.MALFORMED}
# Said of a whole account, or of one request alone: some providers deny flagged texts and unserved features so.
DOUBTFUL = {Kind.DENIED, Kind.MODEL}

_BY_CLASS = {
    "ContextWindowExceededError": Kind.CONTEXT,
    "ContentPolicyViolationError": Kind.CONTENT,
    "AuthenticationError": Kind.ACCESS,
    "PermissionDeniedError": Kind.DENIED,
    "NotFoundError": Kind.MODEL,
    "RateLimitError": Kind.RATE,
    "Timeout": Kind.TIMEOUT,
    "TimeoutError": Kind.TIMEOUT,
    "APIResponseValidationError": Kind.MALFORMED,
    "JSONSchemaValidationError": Kind.MALFORMED,
    "BadRequestError": Kind.REQUEST,
    "UnprocessableEntityError": Kind.REQUEST,
    "APIConnectionError": Kind.SERVER,
}
_BY_STATUS = {
    400: Kind.REQUEST,
    401: Kind.ACCESS,
    402: Kind.ACCESS,
    403: Kind.DENIED,
    404: Kind.MODEL,
    408: Kind.TIMEOUT,
    413: Kind.CONTEXT,
    422: Kind.REQUEST,
    429: Kind.RATE,
}
_TOO_LONG = ("context length", "context window", "maximum context", "too many tokens", "prompt is too long")
_UNPAID = ("insufficient_quota", "credit balance", "billing", "exceeded your current quota")


@dataclass(frozen=True)
class Failure:
    """One failed call."""

    kind: Kind
    detail: str
    retry_after: float | None = None


class Malformed(Exception):
    """An answer that isn't one."""


class Failed(Exception):
    """A failure that was understood in another process, where the provider's own exception stays."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


def failure_of(error: BaseException, scrub: Callable[[str], str] = str) -> Failure:
    """Say what kind of failure an exception is; what nobody knows is the provider's."""
    if isinstance(error, Failed):
        return error.failure
    # Providers quote keys in their complaints, and these reach rows, terminals and the sandbox.
    detail = scrub(" ".join(str(error).split()))[:400]
    return Failure(_kind(error, detail.lower()), detail, retry_after_of(error))


def _kind(error: BaseException, text: str) -> Kind:
    if isinstance(error, Malformed):
        return Kind.MALFORMED
    status = getattr(error, "status_code", None)
    kind = next((_BY_CLASS[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in _BY_CLASS), None)
    if kind is None:
        kind = _BY_STATUS.get(status, Kind.SERVER) if isinstance(status, int) else Kind.SERVER
    if kind is Kind.REQUEST and any(words in text for words in _TOO_LONG):
        return Kind.CONTEXT
    if kind is Kind.RATE and any(words in text for words in _UNPAID):
        return Kind.ACCESS
    return kind


def retry_after_of(error: BaseException) -> float | None:
    """Return the wait in seconds that the provider asked for."""
    response = getattr(error, "response", None)
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        if headers is None:
            continue
        for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
            seconds = _number(headers.get(name))
            if seconds is not None:
                return seconds * scale
    return None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 86_400 else None


def backoff(failure: Failure, tries: int, chance: float) -> float:
    """Return the seconds before the next try: doubling, spread by chance, never below Retry-After."""
    wait = min(LONGEST_WAIT, 0.5 * 2 ** (tries - 1)) * (0.5 + chance / 2)
    return max(wait, failure.retry_after or 0.0)


def final(failure: Failure, model: str) -> AgentStopped | Fault | StudyStopper:
    """Return the exception that a failure ends in when it is not tried again."""
    if failure.kind in (Kind.ACCESS, Kind.DENIED):
        return StudyStopper(f"{model}: the provider refuses the key: {failure.detail}; check the key and its quota")
    if failure.kind is Kind.MODEL:
        return StudyStopper(f"{model}: unknown to the provider: {failure.detail}; check the name and --api-base")
    if failure.kind is Kind.CONTEXT:
        return RequestRefused(StopReason.CONTEXT, failure.detail)
    if failure.kind in (Kind.REQUEST, Kind.CONTENT):
        return RequestRefused(StopReason.REQUEST, failure.detail)
    return Fault(Cause.PROVIDER_ERROR, f"{model}: {failure.kind}: {failure.detail}")
