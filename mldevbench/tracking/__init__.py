"""Studies on Weights & Biases: beside the study, never in its way."""

from mldevbench.tracking.choice import Choice, choose
from mldevbench.tracking.subject import subjects_of
from mldevbench.tracking.tracker import Tracker

__all__ = ["Choice", "Tracker", "choose", "subjects_of"]
