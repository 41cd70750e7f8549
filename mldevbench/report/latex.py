"""Tables and words as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from mldevbench.report.table import Table
from mldevbench.report.visible import visible

SPECIAL = {
    "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "✓": r"$\checkmark$", "✗": r"$\times$", "–": "--", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$",
    "…": r"\ldots{}", "≥": r"$\geq$",
}  # fmt: skip


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in visible(text))


def latex(tables: Sequence[Table]) -> str:
    return "% needs: amssymb\n" + "\n".join(_table(table) for table in tables)


def _table(table: Table) -> str:
    lines = [r"\begin{table}", rf"\caption{{{escaped(table.title)}}}"]
    if table.name:
        lines.append(rf"\label{{tab:{table.name}}}")
    lines += [r"\begin{tabular}{" + "l" * len(table.columns) + "}", r"\hline", _cells(table.columns), r"\hline"]
    lines += [_cells(row) for row in table.rows]
    lines += [r"\hline", r"\end{tabular}"]
    if table.note:
        lines.append(rf"\par\small {escaped(table.note)}")
    return "\n".join([*lines, r"\end{table}", ""])


def _cells(cells: Sequence[str]) -> str:
    # A bracket at the start of a row would be read as the length of the line break before it.
    said = [escaped(cell) for cell in cells]
    return " & ".join(f"{{}}{cell}" if cell.startswith("[") else cell for cell in said) + r" \\"
