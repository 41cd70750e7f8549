"""Agent venvs: for a third-party agent a Python of its own, built once for each node."""

from mldevbench.agent_venv.building import build, installed, wanted
from mldevbench.agent_venv.file import VenvFile

__all__ = ["VenvFile", "build", "installed", "wanted"]
