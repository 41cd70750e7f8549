"""Files of ours that run inside a sandbox: standard library only, bound read-only."""

from pathlib import Path

FORWARDER = Path(__file__).with_name("forwarder.py")
REPORT = Path(__file__).with_name("report.py")
