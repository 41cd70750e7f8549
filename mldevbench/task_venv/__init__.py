"""The task venv: the Python that sandboxes see, with nothing of ours in it."""

from mldevbench.task_venv.building import build, lock, path, python_home

__all__ = ["build", "lock", "path", "python_home"]
