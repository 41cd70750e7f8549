# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Sizes of two dimensions."""

Size = int | tuple[int, int]


def to_pair(size: Size) -> tuple[int, int]:
    """Return (height, width); one number stands for both."""
    return size if isinstance(size, tuple) else (size, size)
