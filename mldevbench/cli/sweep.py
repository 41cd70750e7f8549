"""The runs of a scaling study: one call of `mldevbench run` for each part of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mldevbench.axis import Axis
from mldevbench.cli.studying import STOPPING, Studying
from mldevbench.errors import UserError

FLAGS = {Axis.GPUS: "--gpus-per-run", Axis.SAMPLES: "--samples"}


@dataclass(frozen=True)
class Sweep:
    axis: Axis
    levels: tuple[float, ...]
    way: str
    budget: str = ""
    calibrate_at: float | None = None

    def calls(self) -> Iterator[list[str]]:
        """Yield what each call of `run` is told."""
        if self.axis in FLAGS:
            for level in self.levels:
                yield [FLAGS[self.axis], f"{level:g}", *self._other()]
        elif self.way == "rerun":
            yield [word for level in self.levels for word in ("--budget", self._budget(level))]
        else:
            yield ["--budget", self._budget(self.levels[-1]), "--snapshot-every", f"{self.axis}=log"]
            yield ["--budget", self._budget(self._calibration())]

    def _budget(self, level: float) -> str:
        return f"{self.axis}={level:g}" + (f",{self.budget}" if self.budget else "")

    def _other(self) -> list[str]:
        return ["--budget", self.budget] if self.budget else []

    def _calibration(self) -> float:
        """Return the small budget that is run for real: as said, else the grid's smallest, else an eighth."""
        longest = self.levels[-1]
        if self.calibrate_at is not None:
            return self.calibrate_at
        small = self.levels[0] if len(self.levels) > 1 else longest / 8
        return max(1.0, float(int(small))) if self.axis in (Axis.STEPS, Axis.TOKENS) else small


def parse_levels(text: str) -> tuple[float, ...]:
    """Read `8,16,32` into rising levels."""
    try:
        levels = sorted({float(part) for part in text.split(",")})
    except ValueError:
        levels = []
    if not levels or levels[0] <= 0:
        raise UserError(f"--grid {text!r}: write the budgets to run, such as --grid 8,16,32,64")
    return tuple(levels)


def run_grid(work: Studying, sweep: Sweep) -> int:
    """Run every part; what stops one stops the rest, and the worst exit code is the answer."""
    if sweep.way == "replay" and not sweep.axis.replayable:
        raise UserError(f"--way replay: a long run doesn't show what fewer {sweep.axis} would give; use --way rerun")
    worst = 0
    for words in sweep.calls():
        code = work.run(*words)
        worst = max(worst, code)
        if code in STOPPING:
            return code
    return worst
