"""Published results that a study can be compared with, as rows like its own."""

from mldevbench.reference.paper import PAPER, paper_rows

__all__ = ["PAPER", "paper_rows"]
