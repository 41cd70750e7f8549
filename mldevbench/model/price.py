"""What a call costs: dollars per million tokens, given by people or read from litellm's own list."""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mldevbench.errors import UserError
from mldevbench.records import Usage

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens; without a price of their own cached tokens cost what others do."""

    input: float
    output: float
    cached: float | None = None
    listed: bool = False  # from litellm's list, which knows tiers and cache writes that three numbers don't

    def of(self, usage: Usage) -> float:
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        cached_price = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * cached_price + usage.completion_tokens * self.output) / MILLION

    def worst(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return an upper bound; listed prices leave room for cache writes, which cost more than input."""
        prompt_price = max(self.input, self.cached or 0.0) * (1.25 if self.listed else 1.0)
        return (prompt_tokens * prompt_price + completion_tokens * self.output) / MILLION

    def affords(self, prompt_tokens: int, usd: float) -> int:
        """Return how many completion tokens the money still buys after this prompt."""
        left = usd - self.worst(prompt_tokens, 0)
        if left < 0:
            return 0
        # A hair above whole numbers, so that a budget for exactly n tokens buys n.
        return int(left * MILLION / self.output + 1e-6) if self.output else MILLION * MILLION


def parse_price(text: str) -> tuple[str, Price]:
    """Read `MODEL=IN,OUT[,CACHED]`."""
    model, _, numbers = text.partition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not model or len(values) not in (2, 3) or min(values) < 0:
        raise UserError(f"--price {text!r}: write MODEL=IN,OUT[,CACHED] in dollars per million tokens")
    return model, Price(values[0], values[1], values[2] if len(values) == 3 else None)


@functools.cache
def model_list() -> Mapping[str, Mapping[str, Any]]:
    """Return litellm's list of models, read from its file: importing litellm would cost seconds."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    path = Path(found.origin).parent / "model_prices_and_context_window_backup.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def listed(name: str) -> Mapping[str, Any]:
    """Return what the list says about `provider/model`; nothing if it isn't there."""
    models = model_list()
    provider, _, model = name.partition("/")
    entry = models.get(name) or models.get(model) or {}
    same_provider = str(entry.get("litellm_provider", "")).startswith(provider) or name in models
    return entry if same_provider else {}


def listed_price(name: str) -> Price | None:
    entry = listed(name)
    if entry.get("input_cost_per_token") is None or entry.get("output_cost_per_token") is None:
        return None
    cached = entry.get("cache_read_input_token_cost")
    return Price(
        input=entry["input_cost_per_token"] * MILLION,
        output=entry["output_cost_per_token"] * MILLION,
        cached=None if cached is None else cached * MILLION,
        listed=True,
    )
