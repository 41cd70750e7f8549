"""Validation: from a submission's archive to a verdict, or to whose fault it is that there is none."""

from mldevbench.room.settings import RoomSettings
from mldevbench.validate.blame import Judgement, blame_validation, judge
from mldevbench.validate.run import ValidatorBroke, validate_submission

__all__ = ["Judgement", "RoomSettings", "ValidatorBroke", "blame_validation", "judge", "validate_submission"]
