"""Generators of task data, shared by what prepares a workspace and what judges it; no sandbox ever sees them."""
