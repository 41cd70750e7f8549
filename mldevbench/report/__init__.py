"""Reports: from rows to the paper's tables, figures and pages, in any format."""

from mldevbench.report.formats import FORMATS, render
from mldevbench.report.table import Table
from mldevbench.report.tables import outcomes_by_task, success_by_category

__all__ = ["FORMATS", "Table", "outcomes_by_task", "render", "success_by_category"]
