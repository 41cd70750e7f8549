from __future__ import annotations

import pytest

from mldevbench.errors import UserError
from mldevbench.model.price import Price, listed, listed_price, parse_price
from mldevbench.records import Usage


def test_cached_tokens_cost_their_own_price() -> None:
    usage = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=600)
    assert Price(2.5, 10, 1.25).of(usage) == pytest.approx((400 * 2.5 + 600 * 1.25 + 100 * 10) / 1e6, rel=1e-12)
    assert Price(2.5, 10).of(usage) == pytest.approx((1000 * 2.5 + 100 * 10) / 1e6, rel=1e-12)


def test_worst_case_is_never_below_the_true_cost() -> None:
    price = Price(1, 4, 0.1)
    assert price.worst(1000, 50) >= price.of(Usage(prompt_tokens=1000, completion_tokens=50, cached_tokens=900))


@pytest.mark.parametrize(("usd", "tokens"), [(0.0, 0), (0.001, 0), (0.002, 100), (0.0015, 50), (1.0, 99_900)])
def test_affords(usd: float, tokens: int) -> None:
    assert Price(1, 10).affords(1000, usd) == tokens


@pytest.mark.parametrize("text", ["gpt", "m=1", "m=1,2,3,4", "m=a,b", "=1,2", "m=-1,2"])
def test_wrong_prices_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="dollars per million"):
        parse_price(text)


def test_parse_price() -> None:
    assert parse_price("openai/x=2.5,10,1.25") == ("openai/x", Price(2.5, 10, 1.25))
    assert parse_price("openai/x=2.5,10") == ("openai/x", Price(2.5, 10))


def test_litellms_list_is_read_without_importing_it() -> None:
    price = listed_price("openai/gpt-4o")
    assert price is not None and price.listed and price.output > price.input > 0
    assert listed("openai/gpt-4o")["max_input_tokens"] == 128_000
    assert listed_price("openai/no-such-model") is None
    assert listed("groq/gpt-4o") == {}, "a model of another provider is not this one"
