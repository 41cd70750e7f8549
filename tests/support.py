"""What tests import by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Cli = Callable[..., subprocess.CompletedProcess[str]]
