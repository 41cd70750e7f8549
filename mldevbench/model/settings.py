"""What a study file may say about a model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PriceSettings(BaseModel):
    """Dollars per million tokens."""

    model_config = ConfigDict(extra="forbid")
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class ModelSettings(BaseModel):
    """One entry of `models:`; all of it optional."""

    model_config = ConfigDict(extra="forbid")
    api_base: str | None = None
    key_env: str | None = None
    price: PriceSettings | None = None
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    concurrency: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600.0, gt=0)  # seconds for one answer
    patience: float = Field(default=900.0, ge=0)  # seconds of outage before a run is void
    window: int | None = Field(default=None, ge=1)  # tokens
    max_output: int | None = Field(default=None, ge=1)  # tokens
    tools: bool | None = None  # whether the model can call tools
