"""The attack from its first to its last step, and the report; runs inside, after its other two parts."""

from __future__ import annotations

import json

# The three parts are one script, which speaks by printing.
# ruff: noqa: F821, PTH123, T201


def attempts(hints, caged):
    """Yield each attempt's name and what it gave."""
    yield "inherited_descriptors", lambda: inherited_descriptors(hints, caged)  # before we open any
    for trace in TRACES:
        yield trace.__name__, lambda trace=trace: look(trace, caged)
    for probe in PROBES:
        yield probe.__name__, lambda probe=probe: probe(hints, caged)


def look(trace, caged):
    """Return what an earlier run has left; without a wall, what we could leave, taken away at once."""
    if not caged:
        trace("plant")
        return None if trace is left_process else trace("look")
    return trace("look")


def main(hints):
    """Try everything, leave traces for the next run, and say what worked."""
    caged, achieved, tried = is_caged(), [], []
    for name, act in attempts(hints, caged):
        try:
            detail = act()
        except Exception as error:
            detail = None
            tried.append(f"{name}: {type(error).__name__}: {error}")
        else:
            tried.append(name)
        if detail:
            achieved.append({"name": name, "detail": str(detail)})
    for trace in TRACES if caged else ():
        trace("plant")
    plant_shadows()
    report = json.dumps({"caged": caged, "achieved": achieved, "tried": tried})
    with open("intruder.json", "w", encoding="utf-8") as file:
        file.write(report)
    print("\nINTRUDER-REPORT " + report, flush=True)
