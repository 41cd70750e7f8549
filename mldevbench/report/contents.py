"""The tables of a report, in order, each with what it rests on in its title."""

from __future__ import annotations

from mldevbench.records import Outcome
from mldevbench.report.costs import cost_by_task, effort_by_task
from mldevbench.report.diagnosis import first_failing_checks, spend_on_lost, stops_by_outcome, void_by_cause
from mldevbench.report.evidence import Evidence
from mldevbench.report.table import Table
from mldevbench.report.tables import outcomes_by_task, success_by_category


def main_tables(evidence: Evidence) -> list[Table]:
    """Return the paper's tables."""
    tables = [success_by_category(evidence.rows), outcomes_by_task(evidence.rows), cost_by_task(evidence.rows)]
    return _titled(evidence, tables)


def all_tables(evidence: Evidence) -> list[Table]:
    """Return the paper's tables and ours; one that has nothing to say is left out."""
    extra = [effort_by_task(evidence.rows)]
    if any(row.stop_reason for row in evidence.rows):
        extra.append(stops_by_outcome(evidence))
    if evidence.checks:
        extra.append(first_failing_checks(evidence))
    extra.append(void_by_cause(evidence))
    if any(row.attempts > 1 or row.outcome is Outcome.VOID for row in evidence.rows):
        extra.append(spend_on_lost(evidence))
    return [*main_tables(evidence), *_titled(evidence, [table for table in extra if table.rows])]


def _titled(evidence: Evidence, tables: list[Table]) -> list[Table]:
    heading = evidence.scope.heading
    return [table.under(heading) for table in tables]
