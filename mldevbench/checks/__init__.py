"""What a task's validate.py is made of: strict readers, comparisons, and rooms for submitted code."""

from mldevbench.checks.arrays import read_npy, read_safetensors
from mldevbench.checks.capacity import parameter_count, small_code, within_capacity
from mldevbench.checks.compare import all_finite, at_least, at_most, beats, check, close, equal, metric, require
from mldevbench.checks.predict import predict, shards
from mldevbench.checks.text import number, numeral, read_csv, read_json, read_text, whole
from mldevbench.room import Room, ran_well
from mldevbench.submission import Submission
from mldevbench.unmet import Unmet

__all__ = [
    "Room",
    "Submission",
    "Unmet",
    "all_finite",
    "at_least",
    "at_most",
    "beats",
    "check",
    "close",
    "equal",
    "metric",
    "number",
    "numeral",
    "parameter_count",
    "predict",
    "ran_well",
    "read_csv",
    "read_json",
    "read_npy",
    "read_safetensors",
    "read_text",
    "require",
    "shards",
    "small_code",
    "whole",
    "within_capacity",
]
