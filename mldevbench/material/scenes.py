"""Pictures of one shape each with a mask of its pixels, and a second camera that shows such scenes otherwise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mldevbench.material.shapes import SHAPES, SIZE, add_specks, background, local_grid, paint

KINDS = ("disc", "square", "triangle", "plus", "ring")
CLASSES = len(KINDS) + 1  # class 0 is what belongs to no shape


class Scenes(NamedTuple):
    """Light from 0 to 1, channel first, and the class of every pixel."""

    light: NDArray[np.float32]
    masks: NDArray[np.uint8]


class Camera(NamedTuple):
    """How a camera turns light into bytes."""

    channels: tuple[int, ...] = (0, 1, 2)
    negative: bool = False
    soft: bool = False
    gain: float = 1.0
    base: tuple[float, ...] = (0.0, 0.0, 0.0)
    stripes: float = 0.0
    grain: float = 0.05


FIRST_CAMERA = Camera()


def draw_scenes(rng: np.random.Generator, count: int, order: NDArray[np.int64] | None = None) -> Scenes:
    """Draw scenes; `order` gives kind number n the class order[n] + 1."""
    kinds = rng.integers(0, len(KINDS), count)
    light, colour = background(rng, count)
    add_specks(rng, light)
    u, v = local_grid(rng, rng.uniform(7.5, 12.5, count), spread=4.0)
    inside = np.zeros((count, SIZE, SIZE), bool)
    for number, name in enumerate(KINDS):
        chosen = kinds == number
        inside[chosen] = SHAPES[name](u[chosen], v[chosen])
    paint(light, inside, colour)
    classes = (np.arange(len(KINDS)) if order is None else order)[kinds] + 1
    return Scenes(light, (inside * classes[:, None, None]).astype(np.uint8))


def draw_camera(rng: np.random.Generator) -> Camera:
    """Draw a camera that is nothing like the first one: negative, soft, of low contrast, with stripes."""
    turn = int(rng.integers(1, 3))
    return Camera(
        channels=tuple(int(channel) for channel in np.roll(np.arange(3), turn)),
        negative=True,
        soft=True,
        gain=float(rng.uniform(0.32, 0.42)),
        base=tuple(float(level) for level in rng.permutation([0.15, 0.28, 0.4]) + rng.uniform(-0.05, 0.05, 3)),
        stripes=float(rng.uniform(0.08, 0.13)),
        grain=float(rng.uniform(0.04, 0.05)),
    )


def shoot(rng: np.random.Generator, light: NDArray[np.float32], camera: Camera) -> NDArray[np.uint8]:
    """Return what a camera makes of scenes."""
    seen = light[:, camera.channels]
    if camera.soft:
        across = (seen + np.roll(seen, 1, axis=3)) / 2
        seen = (across + np.roll(across, 1, axis=2)) / 2
    seen = (1 - seen if camera.negative else seen) * camera.gain + np.asarray(camera.base)[:, None, None]
    seen = seen + camera.stripes * (np.arange(SIZE) % 4 < 2)
    seen = seen + camera.grain * rng.standard_normal(seen.shape)
    return (np.clip(seen, 0, 1) * 255 + 0.5).astype(np.uint8)
