"""More orders than the stock allows: the mix of requests that need the stock, and their answers.

Article A is scarce, and there is plenty of B. Single orders and whole batches take multiples of 0.3 A. The stock
of A is not such a multiple, so it cannot be used up without a batch that is accepted in part.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from tests.support.raw_http import Answer, Caller, Connection

V1 = "/api/sales-orders"
V2 = "/api/v2/sales-orders"
BATCH = "/api/v2/batch"
Order = dict[str, Any]


def order(*lines: tuple[str, float], **fields: Any) -> Order:
    sent = [{"article_code": code, "quantity": quantity} for code, quantity in lines]
    return {"partner_id": 1, "warehouse_id": 1, "lines": sent, **fields}


SINGLE = (
    order(("A", 0.3)),
    order(("A", 0.1), ("A", 0.2)),
    order(("B", 5), ("A", 0.3)),
)
IN_A_BATCH = tuple(order(("A", tenths / 10)) for tenths in (1, 2, 3, 3, 2, 1, 3, 1, 2, 3))
IN_A_ROUND = 20
"""The orders in a round: ten in one batch, and ten single orders, alternately by v1 and v2."""


@dataclass(frozen=True)
class Post:
    path: str
    orders: tuple[Order, ...]

    @property
    def body(self) -> Any:
        if self.path != BATCH:
            return self.orders[0]
        return {"requests": [{"method": "POST", "path": V2, "body": order} for order in self.orders]}

    def slots(self, answer: Answer) -> list[tuple[int, Any]]:
        """Return the status and the body for each order in the answer, also for a batch."""
        if self.path != BATCH or answer.status != 200:
            return [(answer.status, answer.body)] * len(self.orders)
        return [(slot["status"], slot["body"]) for slot in answer.body["responses"]]


def mix(attempts: int) -> Iterator[Post]:
    singles = cycle(SINGLE)
    for _ in range(attempts // IN_A_ROUND):
        yield Post(BATCH, IN_A_BATCH)
        for path in (V1, V2) * 5:
            yield Post(path, (next(singles),))


@dataclass
class Tally:
    """The answers to the mix, counted. Quantities are in millionths, by article."""

    accepted: int = 0
    refused: int = 0
    batches_in_part: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Answers that are neither the order as it was sent nor a refusal because A is out of stock."""

    @property
    def attempts(self) -> int:
        return self.accepted + self.refused + len(self.wrong)

    def add(self, post: Post, slots: list[tuple[int, Any]]) -> None:
        for sent, (status, told) in zip(post.orders, slots, strict=True):
            if status == 201 and _lines(told) == _lines(sent):
                self.accepted += 1
                self.taken.update(_quantities(sent))
            elif status == 422 and told["errors"].keys() == _scarce(sent) and told["code"] == "INSUFFICIENT_STOCK":
                self.refused += 1
            else:
                self.wrong.append(f"{post.path}: {status} {told}")
        self.batches_in_part += len({status for status, _ in slots}) > 1


def _lines(record: Order) -> list[tuple[str, float]]:
    return [(line["article_code"], line["quantity"]) for line in record["lines"]]


def _quantities(sent: Order) -> Counter[str]:
    sums: Counter[str] = Counter()
    for code, quantity in _lines(sent):
        sums[code] += round(quantity * 1_000_000)
    return sums


def _scarce(sent: Order) -> set[str]:
    return {f"lines.{number}.quantity" for number, (code, _) in enumerate(_lines(sent)) if code == "A"}


async def contend(caller: Caller, attempts: int, connections: int, tally: Tally) -> None:
    """Send the mix over several connections at the same time, and add the answers to `tally`.

    Each connection sends its next request when it has received the answer to the one before.
    """
    posts = mix(attempts)

    async def work(connection: Connection) -> None:
        for post in posts:
            answer = await connection.ask(caller.post(post.path, post.body))
            tally.add(post, post.slots(answer))

    async with caller.connections(connections) as opened:
        await asyncio.gather(*map(work, opened))
