from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.errors import UserError
from mldevbench.model.price import Price
from mldevbench.model.spec import NO_KEY, ModelSpec, demand_price, resolve
from mldevbench.records import Budget

KEYS = {"OPENAI_API_KEY": "sk-real-0123456789", "OTHER": "sk-other-0123456789"}


def test_everything_about_a_known_model() -> None:
    spec = resolve("openai/gpt-4o", environment=KEYS)
    assert spec.key == KEYS["OPENAI_API_KEY"]
    assert spec.price is not None and spec.window == 128_000 and spec.tools


def test_options_before_settings_before_the_list() -> None:
    settings = {"price": {"input": 1, "output": 2}, "key_env": "OTHER", "rpm": 5, "api_base": "http://a"}
    spec = resolve("openai/gpt-4o", settings=settings, environment=KEYS, api_base="http://b")
    assert (spec.price, spec.key, spec.rpm, spec.api_base) == (Price(1, 2), KEYS["OTHER"], 5, "http://b")
    assert resolve("openai/gpt-4o", settings=settings, environment=KEYS, price=Price(3, 4)).price == Price(3, 4)


def test_the_key_is_never_shown() -> None:
    spec = resolve("openai/gpt-4o", environment=KEYS)
    assert KEYS["OPENAI_API_KEY"] not in repr(spec) + spec.account


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openai/gpt-4o", "set OPENAI_API_KEY .* --env-file"),
        ("gpt-4o", "write openai/gpt-4o"),
        ("opnai/gpt-4o", "did you mean 'openai'"),
        ("hosted_vllm/x", "--api-base"),
        ("scripted/absent.yaml", "no script absent.yaml"),
    ],
)
def test_what_is_missing_is_said_with_the_remedy(name: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        resolve(name, environment={})


def test_wrong_settings_name_the_place() -> None:
    with pytest.raises(UserError, match=r"openai/x: price\.input"):
        resolve("openai/x", settings={"price": {"input": -1, "output": 2}}, environment=KEYS)
    with pytest.raises(UserError, match="rpn"):
        resolve("openai/x", settings={"rpn": 2}, environment=KEYS)


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert resolve("openai/local", environment={}, api_base="http://127.0.0.1:1/v1").key == NO_KEY
    with pytest.raises(UserError, match="MINE"):
        resolve("openai/local", environment={}, settings={"key_env": "MINE"}, api_base="http://127.0.0.1:1/v1")


def test_accounts_differ_by_base_and_key_not_by_model() -> None:
    one = ModelSpec("openai/a", "http://x", "key-1")
    assert one.account == ModelSpec("openai/b", "http://x", "key-1").account
    assert one.account != ModelSpec("openai/a", "http://y", "key-1").account
    assert one.account != ModelSpec("openai/a", "http://x", "key-2").account


def test_models_that_cannot_call_tools_are_known() -> None:
    assert not resolve("openai/x", settings={"tools": False}, environment=KEYS).tools
    assert resolve("openai/unlisted", environment=KEYS).tools


def test_a_budget_in_dollars_demands_a_price() -> None:
    unpriced = resolve("openai/unlisted", environment=KEYS)
    assert unpriced.price is None
    demand_price(unpriced, Budget(steps=3))
    with pytest.raises(UserError, match="--price openai/unlisted="):
        demand_price(unpriced, Budget(usd=1))


def test_a_script_is_read_where_the_driver_is(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("turns: [{text: a}, {text: b}]\n", encoding="utf-8")
    spec = resolve(f"scripted/{path}", environment={})
    assert spec.script == path.read_text(encoding="utf-8") and spec.played and spec.key is None
    path.write_text("turns: [{txt: a}]\n", encoding="utf-8")
    with pytest.raises(UserError, match="unknown key 'txt'; did you mean 'text'"):
        resolve(f"scripted/{path}", environment={})
