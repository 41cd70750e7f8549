"""MNIST's own file form (IDX): a magic number, the sizes, the bytes."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Split(NamedTuple):
    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]


def encode(array: NDArray[np.uint8]) -> bytes:
    head = struct.pack(f">HBB{array.ndim}I", 0, 0x08, array.ndim, *array.shape)
    return head + np.ascontiguousarray(array).tobytes()


def decode(data: bytes) -> NDArray[np.uint8]:
    dimensions = data[3]
    shape = struct.unpack(f">{dimensions}I", data[4 : 4 + 4 * dimensions])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist_files(train: Split, test: Split) -> dict[str, bytes]:
    """Return the four files by the names that every MNIST reader knows."""
    return {
        "train-images-idx3-ubyte": encode(train.images),
        "train-labels-idx1-ubyte": encode(train.labels),
        "t10k-images-idx3-ubyte": encode(test.images),
        "t10k-labels-idx1-ubyte": encode(test.labels),
    }
