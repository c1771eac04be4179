"""How many attempts begin in a moment."""

from wmsd.webhooks import pace
from wmsd.webhooks.pace import MOMENT_SECONDS, Pace


class Service:
    """Time and requests, as a test steers them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.answered = 0
        self.pace = Pace(lambda: self.answered, lambda: self.seconds)

    def moment(self, requests: int = 0) -> None:
        self.answered += requests
        self.seconds += MOMENT_SECONDS

    def begun(self, is_proven: bool, wanted: int = 1000) -> int:
        count = 0
        while count < wanted and self.pace.may_begin(is_proven):
            self.pace.begin(is_proven)
            count += 1
        return count


def test_while_it_is_idle_only_those_that_fail_are_held_back() -> None:
    service = Service()
    assert service.begun(True) == 1000
    assert service.begun(False) == pace.UNPROVEN
    service.moment(pace.BUSY_REQUESTS - 1)
    assert service.begun(True) == 1000


def test_while_requests_keep_it_busy_some_of_each_kind_begin_in_every_moment() -> None:
    service = Service()
    for _ in range(3):
        service.moment(2 * pace.BUSY_REQUESTS)
        assert service.begun(True) == pace.PROVEN_WHILE_BUSY
        assert service.begun(False) == pace.UNPROVEN_WHILE_BUSY
        assert service.pace.is_busy


def test_when_the_requests_are_over_it_goes_on_at_once() -> None:
    service = Service()
    service.moment(100)
    assert service.begun(True) == pace.PROVEN_WHILE_BUSY
    service.moment()
    assert service.begun(True) == 1000
    assert not service.pace.is_busy


def test_requests_of_a_long_time_are_not_taken_for_those_of_a_moment() -> None:
    service = Service()
    for _ in range(20):
        service.moment(1)
    assert service.begun(True) == 1000
