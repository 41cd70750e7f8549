"""Draws: the same secret gives the same instance, another purpose or instance something else."""

from __future__ import annotations

from mldevbench.draw import Draw, salt_digest

SALT = bytes(range(32))


def test_a_draw_repeats() -> None:
    first, second = Draw.of(SALT, "t", 0), Draw.of(SALT, "t", 0)
    assert first.rng("a").integers(1 << 40) == second.rng("a").integers(1 << 40)
    assert first.hex("name") == second.hex("name")


def test_task_instance_purpose_and_salt_all_matter() -> None:
    draws = [
        Draw.of(SALT, "t", 0), Draw.of(SALT, "t", 1), Draw.of(SALT, "u", 0), Draw.of(bytes(32), "t", 0),
        Draw.of(SALT, "t", 0).child("deeper"),
    ]  # fmt: skip
    assert len({draw.hex("name", 32) for draw in draws}) == len(draws)
    assert draws[0].hex("one") != draws[0].hex("two")


def test_the_key_is_not_shown() -> None:
    draw = Draw.of(SALT, "t", 0)
    assert draw.key.hex() not in repr(draw) and str(draw.key) not in repr(draw)
    assert SALT.hex() not in salt_digest(SALT) and len(salt_digest(SALT)) == 16
