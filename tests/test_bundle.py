"""Bundles in a node's cache: unpacked once, and again when they were damaged."""

from __future__ import annotations

from pathlib import Path

from mldevbench import bundle
from mldevbench.bundle import pack, unpack


def test_a_whole_one_is_left_alone_and_a_damaged_one_mended_once(tmp_path: Path) -> None:
    source = tmp_path / "mine"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file.py").write_text("right", encoding="utf-8")
    packed = pack({"part": source}, "task", "category")
    cache = tmp_path / "cache"
    file = unpack(packed, cache) / "part" / "deep" / "file.py"
    first = file.stat().st_ino
    unpack(packed, cache)
    assert file.stat().st_ino == first
    file.write_text("wrong", encoding="utf-8")
    bundle._whole.cache_clear()  # as another process finds it
    unpack(packed, cache)
    assert file.read_text(encoding="utf-8") == "right"
    mended = file.stat().st_ino
    unpack(packed, cache)
    assert file.stat().st_ino == mended, "it was unpacked again"
