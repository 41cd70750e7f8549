from __future__ import annotations

from mldevbench.model.estimate import Estimator

FIRST = [{"role": "user", "content": "a task " * 100}]


def test_bytes_bound_an_unknown_prompt() -> None:
    text = "żółć" * 50
    assert Estimator().bound([{"role": "user", "content": text}], None) >= len(text.encode())


def test_a_continued_prompt_is_bounded_by_what_was_counted() -> None:
    estimator = Estimator()
    longer = [*FIRST, {"role": "assistant", "content": "an answer"}]
    loose = estimator.bound(longer, None)
    estimator.learn(FIRST, None, 150)
    tight = estimator.bound(longer, None)
    assert 150 + len("an answer") <= tight < loose / 2


def test_a_changed_prompt_or_other_tools_are_not_continued() -> None:
    estimator = Estimator()
    estimator.learn(FIRST, None, 1)
    assert estimator.bound([{"role": "user", "content": "b task " * 100}], None) > 700
    assert estimator.bound(FIRST, [{"type": "function"}]) > 700
    assert estimator.bound([], None) < 100
