"""Loading a plug-in's Python file by path, under a private name that nothing else can meet."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from mldevbench.digest import of_value


def load(path: Path) -> ModuleType:
    """Execute a file as a module of its own; its siblings are not importable from it."""
    name = f"_mldevbench_plugin_{of_value(str(path.resolve()), 16)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
