"""What an attempt keeps of its doors."""

from __future__ import annotations

from pathlib import Path

from mldevbench.catalog import Catalog
from mldevbench.digest import canonical
from mldevbench.draw import Draw
from mldevbench.execute import Attempt, Means, Order
from mldevbench.records import AgentSpec, Budget, Run
from mldevbench.store.place import open_place


def test_an_open_host_is_recorded_in_the_row_and_its_log_is_kept(tmp_path: Path, task_venv: Path) -> None:
    catalog = Catalog.of([])
    task, agent = catalog.task("hello_world"), catalog.agent("noop")
    spec = AgentSpec("noop", "noop", agent.digest(), None, canonical(agent.settings({})))
    run = Run(spec, task.id, task.category, "digest", "mini", 0, 0, Budget())
    place = open_place(str(tmp_path / "study"))
    means = Means(task=task, agent=agent, venv=task_venv, scratch=tmp_path / "scratch", place=place)
    for network, logs in (("none", []), ("allow=pypi.org", ["egress.jsonl"])):
        order = Order("study", run, 1, Draw.of(bytes(32), task.id, 0), "bubblewrap", network=network)
        assert Attempt(order, means).execute().network == network
        kept = (tmp_path / "study" / "artifacts" / run.run_id / "1").glob("*.jsonl")
        assert [path.name for path in kept if path.name != "trajectory.jsonl"] == logs
