from __future__ import annotations

import pickle
import threading

import pytest

from mldevbench.model.budget import Ask, BudgetExhausted, BudgetMeter, RequestRefused
from mldevbench.model.price import Price
from mldevbench.records import Budget, StopReason, Usage

PRICE = Price(1, 10)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def spent(prompt: int = 10, completion: int = 5, usd: float | None = 0.001) -> Usage:
    return Usage(steps=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=usd, model_served="m")


def exhausted(meter: BudgetMeter, ask: Ask) -> StopReason:
    with pytest.raises(BudgetExhausted) as caught:
        meter.reserve(ask)
    return caught.value.stop_reason


def test_steps() -> None:
    meter = BudgetMeter(Budget(steps=2))
    for number in (1, 2):
        reservation = meter.reserve(Ask(10))
        assert reservation is not None
        assert meter.settle(reservation, spent(), 0, 1) == number
    assert exhausted(meter, Ask(10)) is StopReason.STEPS


def test_a_released_call_costs_nothing() -> None:
    meter = BudgetMeter(Budget(steps=1))
    for _ in range(3):
        reservation = meter.reserve(Ask(10))
        assert reservation is not None
        meter.release(reservation)
    assert meter.usage == Usage()


def test_a_call_that_fits_only_when_others_are_done_waits() -> None:
    meter = BudgetMeter(Budget(tokens=100))
    first = meter.reserve(Ask(40, max_tokens=20))
    assert first is not None
    assert meter.reserve(Ask(40, max_tokens=20)) is None
    meter.settle(first, spent(20, 5), 0, 1)
    assert meter.reserve(Ask(40, max_tokens=20)) is not None


def test_tokens_shorten_the_answer_then_end_the_agent() -> None:
    meter = BudgetMeter(Budget(tokens=100))
    reservation = meter.reserve(Ask(30, max_tokens=500))
    assert reservation is not None and reservation.max_tokens == 70
    meter.release(reservation)
    assert exhausted(meter, Ask(99)) is StopReason.TOKENS


def test_dollars_shorten_the_answer_then_end_the_agent() -> None:
    meter = BudgetMeter(Budget(usd=0.001), PRICE)
    reservation = meter.reserve(Ask(500, max_tokens=500))
    assert reservation is not None and reservation.max_tokens == 50
    assert reservation.usd == pytest.approx(0.001)
    meter.release(reservation)
    assert exhausted(meter, Ask(900)) is StopReason.USD


def test_without_a_bound_the_answer_is_left_as_it_is() -> None:
    reservation = BudgetMeter(Budget()).reserve(Ask(10))
    assert reservation is not None and reservation.max_tokens is None


def test_fifty_threads_never_pass_a_budget_for_five() -> None:
    meter = BudgetMeter(Budget(steps=50, usd=5 * PRICE.worst(100, 20)), PRICE)
    most, lock, sent = [0.0], threading.Lock(), [0]

    def call() -> None:
        try:
            while (reservation := meter.reserve(Ask(100, max_tokens=20))) is None:
                pass
        except BudgetExhausted:
            return
        with lock:
            sent[0] += 1
        meter.settle(reservation, spent(100, 20, PRICE.worst(100, 20)), 0, 1)
        with lock:
            most[0] = max(most[0], meter.usage.cost_usd or 0.0)

    threads = [threading.Thread(target=call) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sent[0] == 5
    assert most[0] <= 5 * PRICE.worst(100, 20) * (1 + 1e-9)


def test_unknown_cost_is_none_for_good() -> None:
    meter = BudgetMeter(Budget())
    for usd in (0.5, None, 0.5):
        reservation = meter.reserve(Ask(1))
        assert reservation is not None
        meter.settle(reservation, spent(usd=usd), 0, 1)
    assert meter.usage.cost_usd is None
    assert meter.usage.total_tokens == 45


def test_working_time_is_the_wall_less_waits() -> None:
    clock = Clock()
    meter = BudgetMeter(Budget(minutes=1, wall_minutes=2), clock=clock)
    with meter.waiting():
        clock.now += 50
        assert meter.working_seconds == 0
    clock.now += 59
    meter.check()
    meter.failed(clock.now - 9, clock.now)
    assert meter.working_seconds == pytest.approx(50)
    assert meter.usage.wait_seconds == pytest.approx(59)
    clock.now += 10.5
    assert exhausted(meter, Ask(1)) is StopReason.MINUTES
    clock.now += 1
    assert meter.remaining().wall_seconds == pytest.approx(-0.5)
    assert exhausted(meter, Ask(1)) is StopReason.WALL_MINUTES


def test_waits_beside_a_successful_call_are_work() -> None:
    clock = Clock()
    meter = BudgetMeter(Budget(), clock=clock)
    reservation = meter.reserve(Ask(1))
    assert reservation is not None
    with meter.waiting():
        clock.now += 10
    meter.settle(reservation, spent(), clock.now - 6, clock.now)
    assert meter.working_seconds == pytest.approx(6)


def test_exceptions_cross_processes() -> None:
    for error in (BudgetExhausted(StopReason.USD, "x"), RequestRefused(StopReason.CONTEXT, "y")):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert (copy.stop_reason, copy.detail) == (error.stop_reason, error.detail)
