"""Whether a study is logged to W&B, and where; what is said nearest to the call wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mldevbench.errors import unknown

MODES = ("disabled", "offline", "online")
OLD_NAMES = {"dryrun": "offline", "run": "online", "": "disabled"}


@dataclass(frozen=True)
class Choice:
    mode: str = "disabled"
    project: str = "mldevbench"

    @property
    def on(self) -> bool:
        return self.mode != "disabled"


def choose(mode: str | None, project: str | None, environment: Mapping[str, str]) -> Choice:
    """Return what the study or its option says, else the environment; else W&B is off."""
    chosen = mode or OLD_NAMES.get(environment.get("WANDB_MODE", ""), environment.get("WANDB_MODE", ""))
    if chosen not in MODES:
        raise unknown("W&B mode", chosen, MODES)
    return Choice(chosen, project or environment.get("WANDB_PROJECT") or "mldevbench")
