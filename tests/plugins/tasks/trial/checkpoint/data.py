"""Draw points on two sides of a secret plane, and weights that know nothing of it."""

from safetensors.numpy import save_file


def labelled(draw, purpose, count):
    rng, direction = draw.rng(purpose), draw.rng("direction").normal(size=6)
    points = rng.normal(size=(count, 6)).astype("float32")
    return points, (points @ direction > 0).astype("float32")


def prepare(destination, draw, profile):
    points, kinds = labelled(draw, "given", profile["points"])
    save_file({"points": points, "kinds": kinds}, destination / "points.safetensors")
    save_file({"direction": points[0] * 0}, destination / "weights.safetensors")
