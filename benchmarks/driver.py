"""What a real driver holds in memory as its study goes on: agents that do nothing, on embedded Ray."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

MORE = 10  # runs after the last look: at its end a driver loads what makes tables


def driver_memory(looks: tuple[int, ...]) -> list[float]:
    """Return the driver's peak in MB when so many runs were done."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        words = ["run", "--agent", "noop", "--task", "hello_world", "--seeds", str(looks[-1] + MORE), "--quiet"]
        command = [sys.executable, "-m", "mldevbench", *words, "--storage", folder]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stderr
            found, done = [], 0
            for line in process.stderr:
                done += line.startswith(("failed ", "passed "))
                if len(found) < len(looks) and done == looks[len(found)]:
                    found.append(peak_mb(process.pid))
        if process.returncode or len(found) < len(looks):
            raise RuntimeError(f"the study ended with {process.returncode} after {done} runs")
    return found


def peak_mb(pid: int | str) -> float:
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    match = re.search(r"VmHWM:\s+(\d+) kB", text)
    assert match
    return int(match[1]) / 1024
