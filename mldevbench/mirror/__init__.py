"""The mirror: the one door from a sandbox to downloads; it serves what the task declares and nothing else."""

from mldevbench.mirror.address import URL
from mldevbench.mirror.route import Fault, cut, fails

__all__ = ["URL", "Fault", "cut", "fails"]
