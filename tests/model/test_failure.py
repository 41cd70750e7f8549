from __future__ import annotations

from typing import Any

import pytest

from mldevbench.errors import Fault
from mldevbench.model.budget import RequestRefused
from mldevbench.model.failure import Failure, Kind, Malformed, StudyStopper, backoff, failure_of, final
from mldevbench.model.secrets import Scrubber
from mldevbench.records import StopReason


class Answered:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


def error(name: str, status: int | None = None, text: str = "", **headers: str) -> Exception:
    members: dict[str, Any] = {"status_code": status, "response": Answered(headers)}
    return type(name, (Exception,), members)(text)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (error("RateLimitError", 429), Kind.RATE),
        (error("RateLimitError", 429, "You exceeded your current quota"), Kind.ACCESS),
        (error("InternalServerError", 500), Kind.SERVER),
        (error("BadGatewayError", 502), Kind.SERVER),
        (error("APIConnectionError", 500), Kind.SERVER),
        (error("Timeout", 408), Kind.TIMEOUT),
        (TimeoutError(), Kind.TIMEOUT),
        (error("ContextWindowExceededError", 400), Kind.CONTEXT),
        (error("BadRequestError", 400, "this model's maximum context length is 8192"), Kind.CONTEXT),
        (error("BadRequestError", 400, "bad tools"), Kind.REQUEST),
        (error("ContentPolicyViolationError", 400), Kind.CONTENT),
        (error("AuthenticationError", 401), Kind.ACCESS),
        (error("APIError", 402), Kind.ACCESS),
        (error("PermissionDeniedError", 403), Kind.DENIED),
        (error("APIError", 403), Kind.DENIED),
        (error("NotFoundError", 404), Kind.MODEL),
        (Malformed("half"), Kind.MALFORMED),
        (KeyError("choices"), Kind.SERVER),
    ],
)
def test_kinds(raised: Exception, kind: Kind) -> None:
    assert failure_of(raised).kind is kind


def test_retry_after() -> None:
    assert failure_of(error("RateLimitError", 429, **{"retry-after": "7"})).retry_after == 7
    assert failure_of(error("RateLimitError", 429, **{"retry-after-ms": "250"})).retry_after == 0.25
    assert failure_of(error("RateLimitError", 429, **{"retry-after": "Wed, 21 Oct"})).retry_after is None


def test_backoff_doubles_is_spread_and_honours_the_provider() -> None:
    plain = Failure(Kind.SERVER, "")
    assert [backoff(plain, tries, 0.999) for tries in (1, 2, 3)] == pytest.approx([0.5, 1, 2], rel=0.01)
    assert backoff(plain, 1, 0.0) == 0.25
    assert backoff(plain, 30, 0.999) <= 60
    assert backoff(Failure(Kind.RATE, "", 90), 1, 0.5) == 90


@pytest.mark.parametrize(
    ("kind", "cls", "reason"),
    [
        (Kind.CONTEXT, RequestRefused, StopReason.CONTEXT),
        (Kind.REQUEST, RequestRefused, StopReason.REQUEST),
        (Kind.CONTENT, RequestRefused, StopReason.REQUEST),
        (Kind.ACCESS, StudyStopper, None),
        (Kind.DENIED, StudyStopper, None),
        (Kind.MODEL, StudyStopper, None),
        (Kind.SERVER, Fault, None),
        (Kind.RATE, Fault, None),
    ],
)
def test_whose_fault_it_is(kind: Kind, cls: type[Exception], reason: StopReason | None) -> None:
    ended = final(Failure(kind, "why"), "openai/x")
    assert isinstance(ended, cls)
    assert getattr(ended, "stop_reason", None) is reason
    assert "\n" not in str(ended)


def test_a_key_that_the_provider_quotes_is_blotted_out_before_the_text_is_cut() -> None:
    key = "sk-planted-0123456789"
    quoted = error("AuthenticationError", 401, "x" * 390 + key)
    assert "sk-plan" not in failure_of(quoted, Scrubber([key])).detail
