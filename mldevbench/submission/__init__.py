"""The frozen snapshot of an attempt: how it is taken from a workspace and opened for validation."""

from mldevbench.submission.archive import collect, read_manifest
from mldevbench.submission.erase import erase
from mldevbench.submission.pattern import matches
from mldevbench.submission.record import Entry, Manifest, Refused, Submission, refusals_that_matter
from mldevbench.submission.unpack import open_submission

__all__ = [
    "Entry",
    "Manifest",
    "Refused",
    "Submission",
    "collect",
    "erase",
    "matches",
    "open_submission",
    "read_manifest",
    "refusals_that_matter",
]
