"""What is loaded for a subscription, while what came of its deliveries is written down."""

from wmsd.base.vault import Vault
from wmsd.webhooks.deliveries import Due, Target
from wmsd.webhooks.feed import Feed

VAULT = Vault("secret")
TARGET = Target(1, 1, "https://erp.example.com/", "hmac", VAULT.seal('{"secret": "s"}'), None, None)


def due(id: int) -> Due:
    return Due(id, id, 0, f"e{id}", "article.created", "{}")


def test_what_is_written_down_while_it_loads_is_not_sent_a_second_time() -> None:
    feed = Feed(1, 1)
    feed.take(TARGET, [due(1), due(2)], VAULT)
    feed.ready.clear()
    feed.is_loading = True
    feed.written({1})
    feed.take(TARGET, [due(1), due(2), due(3)], VAULT)  # read before 1 was written
    feed.loaded()
    assert [each.id for each in feed.ready] == [3]
    assert feed.taken == {2, 3}


def test_what_is_due_again_later_is_taken_again() -> None:
    feed = Feed(1, 1)
    feed.take(TARGET, [due(1)], VAULT)
    feed.ready.clear()
    feed.is_loading = True
    feed.written({1})
    feed.loaded()
    feed.is_loading = True
    feed.take(TARGET, [due(1)], VAULT)
    feed.loaded()
    assert [each.id for each in feed.ready] == [1]
