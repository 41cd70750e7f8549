"""Which model a study means: its address, key, price and limits, found before anything is spent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mldevbench.errors import UserError, unknown
from mldevbench.model.limiter import Pace
from mldevbench.model.price import Price, listed, listed_price, model_list
from mldevbench.model.settings import ModelSettings
from mldevbench.records import Budget

KEYLESS = {"scripted", "replay"}
LOCAL = {"hosted_vllm", "ollama", "ollama_chat", "lm_studio", "llamafile"}  # a key is rare there
KEY_NAMES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "xai": "XAI_API_KEY",
    "cohere": "COHERE_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "azure": "AZURE_API_KEY",
    "hosted_vllm": "HOSTED_VLLM_API_KEY",
    "ollama": "OLLAMA_API_KEY",
    "ollama_chat": "OLLAMA_API_KEY",
    "lm_studio": "LM_STUDIO_API_KEY",
    "llamafile": "LLAMAFILE_API_KEY",
}
NEEDS_BASE = {"azure", "hosted_vllm", "lm_studio"}
NO_KEY = "none"  # what servers get that ask for no key


@dataclass(frozen=True)
class ModelSpec:
    """All that a call needs; travels as an argument of an actor call, never in its constructor."""

    name: str
    api_base: str | None = None
    key: str | None = field(default=None, repr=False)
    price: Price | None = None
    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None
    script: str | None = field(default=None, repr=False)  # the text that scripted and replay play
    window: int | None = None
    max_output: int | None = None
    tools: bool = True
    timeout_seconds: float = 600.0
    patience_seconds: float = 900.0

    @property
    def provider(self) -> str:
        return self.name.partition("/")[0]

    @property
    def played(self) -> bool:
        """Whether the turns come from a text and not from a provider."""
        return self.provider in KEYLESS

    @property
    def pace(self) -> Pace:
        return Pace(self.rpm, self.tpm, self.concurrency)

    @property
    def account(self) -> str:
        """Name who pays and paces: API base and a fingerprint of the key, the same for all models behind them."""
        mark = f"{self.provider}\0{self.api_base or ''}\0{self.key or ''}\0{self.script or ''}"
        return hashlib.sha256(mark.encode()).hexdigest()[:24]


def resolve(
    name: str,
    *,
    settings: ModelSettings | Mapping[str, Any] | None = None,
    environment: Mapping[str, str],
    price: Price | None = None,
    api_base: str | None = None,
) -> ModelSpec:
    """Find everything about `provider/model`, or say what is missing; options come before settings."""
    chosen = _settings(name, settings)
    provider = _provider(name)
    script = _script(name) if provider == "scripted" else None
    base = api_base or chosen.api_base
    if provider in NEEDS_BASE and not base:
        raise UserError(f"model {name}: {provider} has no address of its own; give --api-base URL")
    entry = listed(name)
    return ModelSpec(
        name=name,
        api_base=base,
        key=None if provider in KEYLESS else _key(name, chosen, base, environment),
        price=price or _price(chosen) or listed_price(name),
        rpm=chosen.rpm,
        tpm=chosen.tpm,
        concurrency=chosen.concurrency,
        script=script,
        window=chosen.window or entry.get("max_input_tokens"),
        max_output=chosen.max_output or entry.get("max_output_tokens"),
        tools=_tools(chosen, entry),
        timeout_seconds=chosen.timeout,
        patience_seconds=chosen.patience,
    )


def demand_price(spec: ModelSpec, budget: Budget) -> None:
    """Refuse a budget in dollars that nobody could keep."""
    if budget.usd is not None and spec.price is None:
        raise UserError(
            f"a budget in dollars needs the price of {spec.name}: give --price {spec.name}=IN,OUT in dollars "
            "per million tokens"
        )


def _settings(name: str, settings: ModelSettings | Mapping[str, Any] | None) -> ModelSettings:
    if isinstance(settings, ModelSettings):
        return settings
    try:
        return ModelSettings.model_validate(dict(settings or {}))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"models: {name}: {where}: {first['msg']}") from None


def _provider(name: str) -> str:
    provider, slash, model = name.partition("/")
    if not slash or not model:
        owner = str(model_list().get(name, {}).get("litellm_provider", "openai"))
        raise UserError(f"model {name!r} has no provider; write {owner}/{name}")
    if provider not in KEY_NAMES and provider not in KEYLESS:
        raise unknown("model provider", provider, [*KEY_NAMES, *KEYLESS])
    return provider


def _script(name: str) -> str:
    from mldevbench.model.script import parse_script

    path = Path(name.partition("/")[2])
    if not path.is_file():
        raise UserError(f"model {name}: there is no script {path}")
    text = path.read_text(encoding="utf-8")
    parse_script(text, str(path))
    return text


def _key(name: str, chosen: ModelSettings, base: str | None, environment: Mapping[str, str]) -> str:
    provider = name.partition("/")[0]
    variable = chosen.key_env or KEY_NAMES[provider]
    key = environment.get(variable, "").strip()
    if key:
        return key
    if chosen.key_env is None and (base or provider in LOCAL):
        return NO_KEY
    raise UserError(f"model {name}: set {variable} in the environment, or in a file given by --env-file")


def _price(chosen: ModelSettings) -> Price | None:
    given = chosen.price
    return Price(given.input, given.output, given.cached) if given else None


def _tools(chosen: ModelSettings, entry: Mapping[str, Any]) -> bool:
    if chosen.tools is not None:
        return chosen.tools
    return bool(entry.get("supports_function_calling", False)) if entry else True
