"""Tests of what is loaded for a subscription while deliveries are sent and their results are recorded."""

from typing import Any, cast

from wmsd.base.vault import Vault
from wmsd.db.engine.database import Database
from wmsd.events.webhooks.deliveries.due_store import Due, DuePage, Target
from wmsd.events.webhooks.deliveries.results_store import Result
from wmsd.events.webhooks.sending.attempt import open_receiver
from wmsd.events.webhooks.sending.due_scanner import Scan
from wmsd.events.webhooks.sending.subscription_queue import SubscriptionQueue, update_queues
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION

VAULT = Vault("secret")
TARGET = Target(1, "https://erp.example.com/", "hmac", VAULT.seal('{"secret": "s"}'), None, None)


class File:
    """A company's file in which these deliveries are due, except those already taken.

    `meanwhile` runs while the file is read.
    """

    def __init__(self, due: list[Due], meanwhile: Any = lambda: None) -> None:
        self.due = due
        self.meanwhile = meanwhile

    async def read(self, action: Any) -> DuePage:
        taken = action.keywords["taken"]
        self.meanwhile()
        return DuePage(TARGET, [due for due in self.due if due.id not in taken], is_all=True)


def due(id: int) -> Due:
    return Due(id, id, 0, f"e{id}", "article.created", "{}", "1", None)


def result(status: int) -> Result:
    return Result(1, 1, "article.created", "2026-11-20T12:00:00.000Z", 1, status, None, None, status == 200)


async def load(queue: SubscriptionQueue, file: File) -> list[int]:
    """Load the queue, and return the ids that are ready then."""
    await queue.load(cast(Database, file), 1000)
    return [each.id for each in queue.ready]


async def test_what_is_under_way_or_not_written_down_yet_is_not_loaded_again() -> None:
    queue, first, second, third = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT), due(1), due(2), due(3)
    assert await load(queue, File([first, second])) == [1, 2]
    assert (queue.begin(), queue.begin()) == (first, second)
    queue.answered(second, result(200))
    assert await load(queue, File([first, second, third])) == [3]


async def test_what_was_written_down_while_it_loads_is_not_sent_a_second_time() -> None:
    queue, first = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT), due(1)
    await load(queue, File([first]))
    queue.answered(queue.begin(), result(200))
    assert await load(queue, File([first, due(2)], lambda: queue.recorded(1))) == [2]


async def test_what_is_due_again_later_is_taken_again() -> None:
    queue, first = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT), due(1)
    await load(queue, File([first]))
    queue.answered(queue.begin(), result(500))
    queue.recorded(1)
    assert await load(queue, File([first])) == [1]


async def test_what_was_dropped_while_it_was_read_is_not_sent() -> None:
    queue = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT)
    assert await load(queue, File([due(1)], queue.drop)) == []
    assert await load(queue, File([due(1)])) == [1]


async def test_what_came_to_nothing_is_given_back_and_nothing_else_is_sent() -> None:
    queue, first = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT), due(1)
    await load(queue, File([first, due(2)]))
    queue.give_back(queue.begin())
    assert (list(queue.ready), queue.size, queue.is_at_rest) == ([], 0, True)
    assert await load(queue, File([first])) == [1]


async def test_it_may_have_one_more_at_a_time_after_each_success_and_one_after_a_failure() -> None:
    queue = SubscriptionQueue(1, open_receiver(TARGET, VAULT), VAULT)
    for succeeded in range(1, PER_SUBSCRIPTION + 5):
        assert queue.allowed == min(succeeded, PER_SUBSCRIPTION)
        queue.answered(due(1), result(200))
    queue.answered(due(1), result(500))
    assert (queue.allowed, queue.lane.is_reliable) == (1, False)


async def test_a_scan_keeps_what_is_due_and_forgets_what_is_deleted() -> None:
    queues: dict[int, SubscriptionQueue] = {}
    (queue,) = update_queues(queues, Scan(1, [TARGET], {1}), VAULT)
    assert await load(queue, File([due(1)])) == [1]
    moved = TARGET._replace(url="https://other.example.com/")
    assert update_queues(queues, Scan(1, [moved], {1}), VAULT) == [queue]
    assert (queue.lane.host, len(queue.ready)) == ("other.example.com", 1)
    assert update_queues(queues, Scan(1, [], {1}), VAULT) == []
    assert (list(queue.ready), list(queues)) == ([], [1])
    update_queues(queues, Scan(1, [], set()), VAULT)
    assert queues == {}
