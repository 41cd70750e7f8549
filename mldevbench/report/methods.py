"""The words beside published numbers: a methods paragraph, whom to cite."""

from __future__ import annotations

from mldevbench.budget_key import budget_of
from mldevbench.report.evidence import Evidence
from mldevbench.report.grouping import groups_of
from mldevbench.report.latex import escaped
from mldevbench.report.wording import counted, listed

BIBTEX = """\
@misc{mldevbench-paper,
  title  = {{ML-Dev-Bench}: Comparative Analysis of {AI} Agents on {ML} Development Workflows},
  author = {Padigela, Harshith and Shah, Chintan and Juyal, Dinkar},
  year   = {2025},
  eprint = {2502.00964},
  archivePrefix = {arXiv},
}

@software{mldevbench-runner,
  title   = {mldevbench: a Ray-distributed benchmark runner for {AI} agents on machine-learning development work},
  version = {VERSION},
}
"""


def bibtex(evidence: Evidence) -> str:
    versions = sorted({row.mldevbench_version for row in evidence.rows})
    return BIBTEX.replace("VERSION", ", ".join(versions))


def methods(evidence: Evidence) -> str:
    """Return one paragraph that says how the numbers came about."""
    return " ".join(part for part in (_what(evidence), _how(evidence), _counted(evidence), STATISTICS) if part)


def methods_latex(evidence: Evidence) -> str:
    return escaped(methods(evidence)) + "\n"


def _what(evidence: Evidence) -> str:
    rows, scope = evidence.rows, evidence.scope
    names = [group.name for group in groups_of(rows)]
    models = sorted({row.model_served or row.model for row in rows if row.model})
    said = f"We evaluated {listed(names, 12)} on {counted(len({row.task for row in rows}), 'task')} of ML-Dev-Bench"
    said += f" (profile {scope.profiles}) with {scope.repeats} runs of each task and agent"
    instances = len({row.instance for row in rows})
    said += f" over {instances} instances" if instances > 1 else ""
    return f"{said}{f'; models: {listed(models, 12)}' if models else ''}."


def _how(evidence: Evidence) -> str:
    rows, scope = evidence.rows, evidence.scope
    budgets = sorted({str(budget_of(row)) for row in rows})
    versions = sorted({row.mldevbench_version for row in rows})
    networks = sorted({row.network for row in rows if row.network})
    said = (
        f"Each run had a budget of {' or '.join(budgets)} and worked in a fresh workspace (sandbox {scope.isolations}"
    )
    said += f", network {' and '.join(networks)})" if networks else ")"
    return f"{said}; submissions were judged outside the agent's environment by mldevbench {', '.join(versions)}."


def _counted(evidence: Evidence) -> str:
    scope = evidence.scope
    said = ""
    if not scope.complete:
        which = "all finished runs" if scope.partial else "complete seeds only"
        said = f"The study is incomplete: {scope.finished:,} of {scope.planned:,} runs have a result; {which} count. "
    lost = f"{counted(scope.void, 'run')} of {len(scope.rows):,} were lost to causes outside the agents and are void"
    return said + (f"{lost}: left out of every rate, with bounds beside." if scope.void else "No run was void.")


STATISTICS = (
    "Rates are means of task rates, every task weighing the same. Intervals are 95%: for tasks like these, Student's t "
    "over task means or Wilson's interval where each task has one run; for these tasks only, stratified by task. "
    "pass@k and pass^k are unbiased estimates, never beyond half of the runs at hand. Unknown costs are not taken as 0."
)
