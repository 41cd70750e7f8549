"""Single lines of a training's log: epochs, steps, remarks, tracebacks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

FIELDS = ("loss", "accuracy", "val_loss", "val_accuracy")
FILES = ("train.py", "engine/loop.py", "engine/checkpoint.py", "data/loader.py", "models/network.py")
FUNCTIONS = ("main", "fit", "run_epoch", "training_step", "save", "__next__", "forward")


class Clock:
    """The time that stamps lines; it moves on with each."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.now = datetime(2025, 1, 1) + timedelta(seconds=int(rng.integers(0, 300 * 86_400)))

    def stamp(self, level: str, text: str) -> str:
        self.now += timedelta(seconds=float(self.rng.exponential(4.0)))
        return f"{self.now:%Y-%m-%d %H:%M:%S} {level:<7} {text}"


def epoch_line(epoch: int, total: int, metrics: np.ndarray, order: Sequence[int]) -> str:
    told = " - ".join(f"{FIELDS[place]}: {metrics[place]:.5f}" for place in order)
    return f"Epoch {epoch}/{total} - {told}"


def step_lines(rng: np.random.Generator, clock: Clock, epoch: int) -> list[str]:
    """Return the first steps of an epoch that is not completed."""
    count = int(rng.integers(3, 8))
    return [
        clock.stamp("DEBUG", f"Epoch {epoch} step {10 * step}: loss: {rng.uniform(0.1, 2):.5f}")
        for step in range(count)
    ]


def remark(rng: np.random.Generator, clock: Clock, epoch: int) -> list[str]:
    """Return what is noted beside an epoch now and then; some of it sounds worse than it is."""
    if rng.random() > 0.3:
        return []
    amount = rng.uniform(0.1, 9)
    notes = (
        ("INFO", f"saved checkpoint epoch_{epoch:05d}.pt ({amount:.1f} MB)"),
        ("INFO", f"learning rate is now {amount * 1e-4:.3e}"),
        ("DEBUG", f"Epoch {epoch} step 100: loss: {amount / 4:.5f}"),
        ("WARNING", f"reading sample {int(amount * 1000)} failed, trying again"),
        ("WARNING", f"slow step: {amount:.2f} s; CUDA out of memory is near ({amount + 60:.1f} % used)"),
        ("INFO", f"evaluated the moving average: loss: {amount / 6:.5f} - accuracy: {rng.uniform(0.5, 0.9):.5f}"),
    )
    return [clock.stamp(*notes[int(rng.integers(len(notes)))])]


def trouble(rng: np.random.Generator) -> str:
    """Return the last line of a traceback, with numbers of its own."""
    size, rank, number = rng.uniform(0.2, 9), int(rng.integers(8)), int(rng.integers(100, 9999))
    kinds = (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {size:.2f} GiB (GPU {rank}: {number} MiB free)",
        f"RuntimeError: DataLoader worker (pid {number}) is killed by signal: Killed.",
        f"RuntimeError: NCCL communicator was aborted on rank {rank} after {number} ms.",
        f"FloatingPointError: the gradient norm is not finite at step {number}",
        f"OSError: [Errno 28] No space left on device: 'checkpoints/part_{number}.tmp'",
        f"ValueError: expected input batch_size ({number}) to match target batch_size ({number - rank - 1}).",
        f"RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED (device {rank}, stream {number})",
    )
    return kinds[int(rng.integers(len(kinds)))]


def traceback_of(rng: np.random.Generator, error: str) -> list[str]:
    lines = ["Traceback (most recent call last):"]
    for _ in range(int(rng.integers(2, 6))):
        lines.append(f'  File "{rng.choice(FILES)}", line {rng.integers(10, 400)}, in {rng.choice(FUNCTIONS)}')
        lines.append(f"    state = step(state, {rng.integers(1, 99)})")
    return [*lines, error]
