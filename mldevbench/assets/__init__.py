"""Assets: the files of others that a profile needs, declared by tasks, fetched once, verified and kept by content."""

from mldevbench.assets.declared import Asset, declared
from mldevbench.assets.fetching import ensure, fetch
from mldevbench.assets.provision import provided

__all__ = ["Asset", "declared", "ensure", "fetch", "provided"]
