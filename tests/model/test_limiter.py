from __future__ import annotations

import asyncio
import heapq

import pytest

from mldevbench.model.limiter import LEASE, Limiter, Outcome, Pace
from mldevbench.model.pacer import LocalPacer


def simulate(limiter: Limiter, allowed: int, calls: int, runs: int, seconds: float = 1.0) -> tuple[float, int]:
    """Let runs call one after another against a server that takes so many at once; return time and refusals."""
    now, waiting, done, refused, left = 0.0, runs, 0, 0, calls - runs
    ends: list[tuple[float, int, Outcome]] = []
    for _ in range(waiting):
        limiter.ask(1)
    while done < calls:
        for permit in limiter.grant(now):
            inside = sum(outcome is Outcome.OK for _, _, outcome in ends)
            fine = inside < allowed
            heapq.heappush(
                ends, (now + (seconds if fine else 0.01), permit.number, Outcome.OK if fine else Outcome.RATE)
            )
        if not ends:
            wake = limiter.wake_at(now)
            assert wake is not None and wake > now
            now = wake
            continue
        now, number, outcome = heapq.heappop(ends)
        limiter.release(number, outcome, now, 0.5 if outcome is Outcome.RATE else None)
        if outcome is Outcome.OK:
            done += 1
            if left > 0:
                left -= 1
                limiter.ask(1)
        else:
            refused += 1
            limiter.ask(1)
    return now, refused


def test_thirty_two_runs_share_five_places_with_few_refusals() -> None:
    calls = 32 * 12
    took, refused = simulate(Limiter(), allowed=5, calls=calls, runs=32)
    assert refused <= 6
    assert took <= calls / 5 * 1.1


def test_grows_to_the_demand_where_nothing_is_refused() -> None:
    limiter = Limiter()
    took, refused = simulate(limiter, allowed=1000, calls=2000, runs=100)
    assert refused == 0 and limiter.limit >= 90
    assert took < 2000 / 100 * 1.6


def test_a_burst_of_refusals_is_one_message() -> None:
    limiter = Limiter(start=40)
    for _ in range(40):
        limiter.ask(1)
    for permit in limiter.grant(0.0):
        limiter.release(permit.number, Outcome.RATE, 1.0)
    assert limiter.limit == 20


def test_retry_after_holds_everybody() -> None:
    limiter = Limiter()
    limiter.ask(1)
    (permit,) = limiter.grant(0.0)
    limiter.release(permit.number, Outcome.RATE, 1.0, retry_after=10)
    limiter.ask(1)
    assert limiter.grant(5.0) == []
    assert limiter.wake_at(5.0) == 11.0
    assert len(limiter.grant(11.0)) == 1


def test_fixed_rates() -> None:
    limiter = Limiter(Pace(rpm=3, concurrency=10))
    for _ in range(5):
        limiter.ask(1)
    assert len(limiter.grant(0.0)) == 3
    assert limiter.wake_at(1.0) == 60.0
    assert len(limiter.grant(60.0)) == 2
    tokens = Limiter(Pace(tpm=100, concurrency=10))
    for size in (60, 60, 500):
        tokens.ask(size)
    assert [permit.tokens for permit in tokens.grant(0.0)] == [60]
    assert [permit.tokens for permit in tokens.grant(60.0)] == [60]
    assert [permit.tokens for permit in tokens.grant(120.0)] == [500], "larger than the allowance goes alone"


def test_fixed_concurrency() -> None:
    limiter = Limiter(Pace(concurrency=2))
    for _ in range(5):
        limiter.ask(1)
    assert len(limiter.grant(0.0)) == 2


def test_a_permit_whose_holder_is_silent_comes_back() -> None:
    limiter = Limiter(Pace(concurrency=1))
    limiter.ask(1)
    limiter.ask(1)
    (first,) = limiter.grant(0.0)
    limiter.renew([first.number], LEASE - 1)
    assert limiter.grant(LEASE + 1) == []
    assert len(limiter.grant(2 * LEASE)) == 1


def test_places_are_given_in_order() -> None:
    limiter = Limiter(Pace(concurrency=1))
    tickets = [limiter.ask(1) for _ in range(4)]
    order = []
    for second in range(4):
        (permit,) = limiter.grant(float(second))
        order.append(permit.number)
        limiter.release(permit.number, Outcome.OK, float(second))
    assert order == tickets


async def _crowd(pacer: LocalPacer, callers: int) -> int:
    inside = most = 0

    async def call() -> None:
        nonlocal inside, most
        permit = await pacer.acquire(1)
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.001)
        inside -= 1
        await pacer.release(permit, Outcome.OK)

    await asyncio.gather(*(call() for _ in range(callers)))
    return most


def test_local_pacer_lets_everybody_through_a_few_at_a_time() -> None:
    assert asyncio.run(_crowd(LocalPacer(Pace(concurrency=3)), 40)) == 3


async def _impatient(pacer: LocalPacer) -> None:
    held = await pacer.acquire(1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await pacer.acquire(1)
    await pacer.release(held, Outcome.OK)
    async with asyncio.timeout(5):
        await pacer.release(await pacer.acquire(1), Outcome.OK)
    assert pacer.limiter.idle


def test_a_caller_that_gives_up_leaves_no_permit_behind() -> None:
    asyncio.run(_impatient(LocalPacer(Pace(concurrency=1))))
