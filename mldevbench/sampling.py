"""Best of n: an attempt that lets the agent try n times and hands in the try that looks best from inside."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mldevbench.execute import Attempt, Means, Order
from mldevbench.records import Step, StopReason, Submitted, Usage
from mldevbench.store.place import Place
from mldevbench.trajectory import Trajectory, stored_steps
from mldevbench.visible import Bench, Look

SEEDS_APART = 1_000  # samples of one seed, so that no sample has the seed of another run's


@dataclass(frozen=True)
class Sample:
    number: int
    submitted: Submitted
    look: Look


@dataclass(frozen=True)
class Total:
    """What all samples together have spent."""

    usage: Usage


class Sampled:
    """Has the form of an Attempt; each sample is one, with a fresh workspace and the whole budget."""

    def __init__(self, order: Order, means: Means) -> None:
        self.order, self.means = order, means
        self._now: Attempt | None = None
        self._before: list[Usage] = []
        self._lock = threading.Lock()
        self._stopped = False

    @property
    def meter(self) -> Total:
        with self._lock:
            running = [self._now.meter.usage] if self._now else []
            return Total(added([*self._before, *running]))

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            running = self._now
        if running:
            running.stop()

    def execute(self) -> Submitted:
        samples = [self._try(number) for number in range(self.order.run.samples)]
        chosen = best(samples)
        self._tell(samples, chosen)
        one = chosen.submitted
        told = f"sample {chosen.number + 1} of {len(samples)} was handed in; {chosen.look.told}"
        return replace(
            one,
            run_id=self.order.run.run_id,
            archive=f"{self._folder(chosen.number)}/{one.archive}",
            detail=f"{told}; {one.detail}" if one.detail else told,
            usage=self.meter.usage,
            started_at=samples[0].submitted.started_at,
            finished_at=samples[-1].submitted.finished_at,
            wall_seconds=sum(sample.submitted.wall_seconds for sample in samples),
            working_seconds=sum(sample.submitted.working_seconds for sample in samples),
        )

    def _folder(self, number: int | None = None) -> str:
        folder = f"artifacts/{self.order.run.run_id}/{self.order.attempt}"
        return folder if number is None else f"{folder}/samples/{number}"

    def _try(self, number: int) -> Sample:
        run = replace(self.order.run, seed=self.order.run.seed * SEEDS_APART + number, samples=1)
        place = self.means.place.child(self._folder(number))
        attempt = Attempt(replace(self.order, run=run), replace(self.means, place=place))
        with self._lock:
            self._now = attempt
            if self._stopped:
                attempt.stop()
        submitted = attempt.execute()
        with self._lock:
            self._before.append(attempt.meter.usage)
            self._now = None
        return Sample(number, submitted, self._look(place, submitted))

    def _look(self, place: Place, submitted: Submitted) -> Look:
        order, means = self.order, self.means
        means.scratch.mkdir(parents=True, exist_ok=True)
        archive = means.scratch / f"{submitted.digest[:24]}.tar"
        archive.write_bytes(place.read(submitted.archive))
        try:
            bench = Bench(means.task, order.draw, order.run.profile, order.isolation, means.venv, means.scratch)
            return bench.look(archive, submitted.digest)
        finally:
            archive.unlink()

    def _tell(self, samples: Sequence[Sample], chosen: Sample) -> None:
        """Put the samples' trajectories together, one after the other."""
        aside = self.means.scratch / f"{chosen.submitted.digest[:24]}.jsonl"
        with Trajectory(aside, self.means.place.child(self._folder())) as whole:
            for sample in samples:
                part = f"artifacts/{sample.submitted.run_id}/{sample.submitted.attempt}"
                for step in stored_steps(self.means.place.child(f"{self._folder(sample.number)}/{part}")):
                    whole.record(step)
                mark = " (handed in)" if sample is chosen else ""
                whole.record(Step(role="note", text=f"sample {sample.number + 1}: {sample.look.told}{mark}"))
        Path(aside).unlink(missing_ok=True)


def best(samples: Sequence[Sample]) -> Sample:
    """Choose by what the agent itself could see: its visible tests, then whether it ended by itself, then the first."""

    def merit(sample: Sample) -> tuple[float, bool, int]:
        finished = sample.submitted.stop_reason is StopReason.FINISHED
        return sample.look.share or 0.0, finished, -sample.number

    return max(samples, key=merit)


def added(parts: Sequence[Usage]) -> Usage:
    """Return the sum; the cost is unknown as soon as one part's is."""
    unknown = any(part.cost_usd is None for part in parts)
    return Usage(
        steps=sum(part.steps for part in parts),
        prompt_tokens=sum(part.prompt_tokens for part in parts),
        completion_tokens=sum(part.completion_tokens for part in parts),
        cached_tokens=sum(part.cached_tokens for part in parts),
        reasoning_tokens=sum(part.reasoning_tokens for part in parts),
        cost_usd=None if unknown else sum(part.cost_usd or 0.0 for part in parts),
        model_seconds=sum(part.model_seconds for part in parts),
        wait_seconds=sum(part.wait_seconds for part in parts),
        model_served=next((part.model_served for part in reversed(parts) if part.model_served), None),
    )


def attempt_of(order: Order, means: Means) -> Attempt | Sampled:
    """Return what executes an order."""
    return Sampled(order, means) if order.run.samples > 1 else Attempt(order, means)
