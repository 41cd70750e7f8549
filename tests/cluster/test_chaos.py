"""A study in a storm comes out as if nothing had been: see chaos.py, which can also be run by hand for longer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.crowd, pytest.mark.timeout(900)]


def test_a_storm_changes_nothing_in_the_table(clean_environment: None) -> None:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root here")
    command = [sys.executable, str(Path(__file__).parent / "chaos.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=880, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
