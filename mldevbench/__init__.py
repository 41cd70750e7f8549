"""Evaluate AI agents on machine-learning development work."""

__version__ = "0.1.0"
