"""What a driver tells Prometheus through Ray: one series per study and state, however many runs there are."""

from __future__ import annotations

from cluster.job import Tally
from mldevbench.records import RunRow

STATES = ("passed", "failed", "void", "running", "grading", "owed")
SECONDS = [1.0, 10.0, 60.0, 300.0, 1800.0, 7200.0, 36000.0]


class Metrics:
    """Gauges show where the study stands; counters begin with each driver, as counters may."""

    def __init__(self, study: str) -> None:
        from ray.util.metrics import Counter, Gauge, Histogram

        always = {"study": study}
        self.runs = Gauge("mldevbench_runs", "Runs of a study by state.", ("study", "state"))
        self.gpus = Gauge("mldevbench_gpus", "GPUs that actors hold, at work or idle.", ("study", "state"))
        self.gpu_seconds = Counter("mldevbench_gpu_seconds", "GPU-seconds held by ended runs.", ("study",))
        self.spent_usd = Counter("mldevbench_spent_usd", "Dollars spent by ended runs, where known.", ("study",))
        self.retries = Counter("mldevbench_retries", "Attempts beyond the first.", ("study",))
        self.waits = Histogram(
            "mldevbench_wait_seconds", "Waiting for resources (queue) or a model.", SECONDS, ("study", "kind")
        )
        for metric in (self.runs, self.gpus, self.gpu_seconds, self.spent_usd, self.retries, self.waits):
            metric.set_default_tags(always)

    def update(self, tally: Tally, finished: RunRow | None) -> None:
        """Take over where the study stands, and add what a run that ended has cost."""
        for state in STATES:
            self.runs.set(getattr(tally, state), {"state": state})
        self.gpus.set(tally.gpus_held, {"state": "held"})
        self.gpus.set(tally.gpus_idle, {"state": "idle"})
        if finished is None:
            return
        for counter, amount in (
            (self.gpu_seconds, finished.spent_gpu_seconds),
            (self.spent_usd, finished.spent_usd or 0.0),
            (self.retries, finished.attempts - 1),
        ):
            if amount > 0:
                counter.inc(amount)
        self.waits.observe(finished.queue_seconds, {"kind": "queue"})
        self.waits.observe(finished.wait_seconds, {"kind": "model"})
