"""`mldevbench status`: where a study stands, without touching it."""

from __future__ import annotations

from pathlib import Path

from mldevbench.cli.output import Json, Root, Storage, StudyName, print_json, usd_text


def status(study: StudyName, storage: Storage = "results", root: Root = [], json_: Json = False) -> None:
    """Show what is done, running, owed, void and spent."""
    from mldevbench.standing import standing_of
    from mldevbench.store.study_store import find_study

    standing = standing_of(find_study(study, storage), [Path(folder) for folder in root])
    if json_:
        print_json(standing)
        return
    print(f"study {standing.study}: {standing.done} of {standing.planned} runs done")
    print(f"  passed {standing.passed}, failed {standing.failed}, void {standing.void}, owed {standing.owed}")
    print(
        f"  running {standing.running}, spent {usd_text(standing.spent_usd)}, {standing.spent_gpu_hours:.2f} GPU-hours"
    )
    print(f"  driver: {standing.driver or 'none'}")
    for label, numbers in standing.labels.items():
        print(f"  {label}: {numbers['passed']} passed of {numbers['done']}")
    if standing.regrade:
        print(f"  the validator changed since for: {', '.join(standing.regrade)}; 'mldevbench regrade' judges again")
    if standing.changed:
        print(f"  changed since, so the same command makes new runs: {', '.join(standing.changed)}")
