"""Lets a torchvision that was built for another torch be imported beside a CPU torch.

Its compiled operators are missing then, and their Python half fails at import. The hook declares the operators'
names; calling one is an error, everything else of torchvision works.
"""

import importlib.abc
import importlib.util
import re
import sys


def _compiled_part_loads(folder):
    import torch

    for name in ("_C.so", "_C_stable.so"):
        try:
            torch.ops.load_library(f"{folder}/{name}")
            return True
        except OSError:
            continue
    return False


def _declare(folder):
    import torch

    with open(f"{folder}/_meta_registrations.py", encoding="utf-8") as file:
        text = file.read()
    library = torch.library.Library("torchvision", "FRAGMENT")
    _kept.append(library)
    for name in sorted(set(re.findall(r'register_(?:meta|fake)\("(?:torchvision::)?(\w+)"', text))):
        library.define(f"{name}(Tensor input) -> Tensor")


class _Hook(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname == "torchvision":
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(fullname)
            for folder in (spec.submodule_search_locations if spec else None) or ():
                if not _compiled_part_loads(folder):
                    _declare(folder)
        return None


_kept = []
sys.meta_path.insert(0, _Hook())
