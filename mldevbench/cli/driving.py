"""The driver under a person's eyes: Ray, progress, signals, and the tables at the end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from mldevbench.cli.audience import Audience
from mldevbench.cli.output import note, print_json, print_table
from mldevbench.report import outcomes_by_task, success_by_category
from mldevbench.report.scope import Scope
from mldevbench.store.lease import Lease
from mldevbench.store.place import Place
from mldevbench.store.salt import read_salt
from mldevbench.store.study_store import StudyStore

if TYPE_CHECKING:
    from cluster.job import Ended
    from mldevbench.cli.running import Call, Ready

PATIENCE_SECONDS = 300.0  # with a storage that fails for a while
SLURM_SPARE_SECONDS = 120.0


def drive(call: Call, ready: Ready, place: Place) -> int:
    from cluster.session import session
    from mldevbench.cli.running import frozen_plan, resume_command

    lease = Lease(place)
    lease.take()
    try:
        whole = frozen_plan(ready, place)
        note(f"study {ready.name}: {len(whole)} runs, results in {place.shown}/")
        note(f"  goes on with: {resume_command(ready.name)}")
        with lease.kept(), session(ready.address) as embedded:
            where = "embedded on this machine" if embedded else ready.address
            note(f"  Ray: {where}; sandbox: {ready.request.isolation}")
            ended = _run(call, ready, place, whole, lease, embedded)
    finally:
        lease.release()
    _conclude(call, ready, place, ended)
    return ended.exit_code


def _run(call: Call, ready: Ready, place: Place, whole: object, lease: Lease, embedded: bool) -> Ended:
    from cluster.berth import versions_here
    from cluster.driver import Driver, Interrupted
    from cluster.job import Ended, Job, Policy, Tally
    from cluster.mark import marked
    from cluster.preflight import preflight
    from cluster.progress import Progress
    from cluster.site import Site
    from cluster.travel import agents_with_packages
    from mldevbench.plan import Plan

    assert isinstance(whole, Plan)
    limits, cpus = call.study.limits, call.study.resources.cpus
    job = Job(
        name=ready.name,
        plan=whole,
        catalog=ready.catalog,
        store=StudyStore(replace(place, patience=PATIENCE_SECONDS)),
        salt=read_salt(ready.storage),
        isolation=ready.request.isolation,
        network=ready.request.network,
        cpus=None if isinstance(cpus, str) else cpus,
        models=ready.models,
        policy=Policy(
            call.void_retries,
            call.order,
            call.only,
            limits.runs_at_once,
            limits.usd,
            limits.gpu_hours,
            call.fresh_actors,
            hours_left(call.max_hours, os.environ),
            call.wait_for_nodes,
        ),
        site=Site(
            call.scratch,
            call.offline,
            call.no_install,
            ready.request.isolation,
            versions_here(),
            agents_with_packages(ready.catalog, (run.spec.agent for run in whole.runs)),
            call.cache,
        ),
        snapshot_every=call.study.snapshot_every,
        gpu_type=call.study.resources.gpu_type or "",
    )

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    with Progress() as progress, Audience(call, ready, place, whole, progress.update) as audience:
        before = signal.signal(signal.SIGTERM, interrupt)  # after ray.init, which sets one of its own
        try:
            with nullcontext() if embedded else marked(place, f"process {lease.mine.pid} on {lease.mine.host}"):
                driver = Driver(job, lease, audience.tell)  # what no node can hold is refused before any is looked at
                signal.signal(signal.SIGUSR1, lambda number, frame: driver.drain())
                preflight(job, embedded)
                return audience.heard(driver.run())
        except (KeyboardInterrupt, Interrupted):  # before the driver took them over
            return Ended(Tally(len(whole)), interrupted=True)
        finally:
            signal.signal(signal.SIGTERM, before)


def hours_left(said: float | None, environment: Mapping[str, str]) -> float | None:
    """Return what --max-hours says, else what Slurm leaves until it ends the job, less a while to end in order."""
    end = environment.get("SLURM_JOB_END_TIME", "")
    if said is not None or not end.isdigit():
        return said
    return max(int(end) - time.time() - SLURM_SPARE_SECONDS, 0.0) / 3600


def _conclude(call: Call, ready: Ready, place: Place, ended: Ended) -> None:
    from mldevbench.cli.running import resume_command

    rows = list(StudyStore(place).runs.all())
    tally = ended.tally
    if call.json:
        print_json(
            {
                "study": ready.name,
                "storage": place.shown,
                "exit_code": ended.exit_code,
                "planned": tally.planned,
                "passed": tally.passed,
                "failed": tally.failed,
                "void": tally.void,
                "owed": tally.owed,
                "spent_usd": tally.usd,
            }
        )
    elif rows and not call.quiet and not ended.interrupted:  # who stops us leaves no time for tables
        scope = Scope((ready.name,), tuple(rows), tally.planned, len(rows), partial=True)
        for table in (success_by_category(rows), outcomes_by_task(rows)):
            print_table(table.under(scope.heading).title, table.columns, table.rows, table.note)
    note(
        f"{tally.done} of {tally.planned} runs done: {tally.passed} passed, {tally.failed} failed"
        + (f", {tally.void} void" if tally.void else "")
        + (f", {tally.owed} owed" if tally.owed else "")
    )
    if ended.limit:
        note(f"stopped: {ended.limit}")
    if ended.interrupted:
        note("interrupted: what is finished stays")
    note(f"study {ready.name}: Parquet in {place.shown}/runs/; goes on with: {resume_command(ready.name)}")
