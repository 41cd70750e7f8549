"""Sandboxes: the boundary that agents and their code run inside."""

from mldevbench.sandbox.protocol import Bind, Finished, Limits, Sandbox, SandboxSpec

__all__ = ["Bind", "Finished", "Limits", "Sandbox", "SandboxSpec"]
