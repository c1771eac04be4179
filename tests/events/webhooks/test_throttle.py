"""Tests of how many attempts start in a short time."""

import asyncio

from wmsd.events.webhooks.sending import throttle
from wmsd.events.webhooks.sending.throttle import MOMENT_SECONDS, Throttle


class Service:
    """Time and requests, as the test controls them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.answered = 0
        self.throttle = Throttle(lambda: self.answered, lambda: self.seconds)

    def moment(self, requests: int = 0) -> None:
        self.answered += requests
        self.seconds += MOMENT_SECONDS

    def begun(self, is_reliable: bool, wanted: int = 1000) -> int:
        count = 0
        while count < wanted and self.throttle.may_begin(is_reliable):
            self.throttle.begin(is_reliable)
            count += 1
        return count


def test_while_it_is_idle_only_those_that_fail_are_held_back() -> None:
    service = Service()
    assert service.begun(True) == 1000
    assert service.begun(False) == throttle.UNPROVEN
    service.moment(throttle.BUSY_REQUESTS - 1)
    assert service.begun(True) == 1000


def test_while_requests_keep_it_busy_some_of_each_kind_begin_in_every_moment() -> None:
    service = Service()
    for _ in range(3):
        service.moment(2 * throttle.BUSY_REQUESTS)
        assert service.begun(True) == throttle.PROVEN_WHILE_BUSY
        assert service.begun(False) == throttle.UNPROVEN_WHILE_BUSY
        assert service.throttle.is_busy


def test_when_the_requests_are_over_it_goes_on_at_once() -> None:
    service = Service()
    service.moment(100)
    assert service.begun(True) == throttle.PROVEN_WHILE_BUSY
    service.moment()
    assert service.begun(True) == 1000
    assert not service.throttle.is_busy


def test_requests_of_a_long_time_are_not_taken_for_those_of_a_moment() -> None:
    service = Service()
    for _ in range(20):
        service.moment(1)
    assert service.begun(True) == 1000


async def test_who_waits_for_a_turn_gets_it_in_a_later_moment_in_the_order_of_coming() -> None:
    began: list[int] = []
    service = Throttle(lambda: 0)

    async def begin(number: int) -> None:
        await service.turn(is_reliable=False)
        began.append(number)

    waiting = [asyncio.create_task(begin(number)) for number in range(2 * throttle.UNPROVEN)]
    await asyncio.sleep(0)
    await service.turn(is_reliable=True)  # this attempt does not wait for the others
    assert len(began) <= throttle.UNPROVEN
    await asyncio.gather(*waiting)
    assert began == list(range(2 * throttle.UNPROVEN))
