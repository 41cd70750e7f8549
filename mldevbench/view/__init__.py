"""The page over a study, served on loopback; reads the storage only."""

from mldevbench.view.serving import Server, serve

__all__ = ["Server", "serve"]
