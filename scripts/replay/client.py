"""A client with a few connections, which sends every write with a separate Idempotency-Key."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import aiohttp

from benchmarks.processes import Failed
from replay.shop import Shop

CONNECTIONS: Final = 8
PATIENCE: Final = aiohttp.ClientTimeout(total=60)
Job = TypeVar("Job")
Teller = Callable[[int], None]


@dataclass(slots=True)
class Client:
    session: aiohttp.ClientSession
    requests: int = 0

    async def send(self, method: str, path: str, key: str, expected: int, body: dict[str, Any]) -> Any:
        """Send a request and return the answer's body, or None if the body is empty.

        Raise Failed if there is no answer, or if its status is not `expected`.
        """
        text, _ = await self._send(method, path, key, expected, body)
        return json.loads(text) if text else None

    async def send_twice(self, path: str, key: str, body: dict[str, Any]) -> None:
        """Send the same request twice at the same time with the same key, as after a lost answer.

        Raise Failed unless exactly one of the answers is a replay of the other.
        """
        answers = await asyncio.gather(*(self._send("POST", path, key, 201, body) for _ in range(2)))
        (first, first_replays), (second, second_replays) = answers
        if first != second or first_replays == second_replays:
            raise Failed(
                f"POST {path} for {key} was sent twice and executed twice: {first[:250]} and {second[:250]}"
            )

    async def _send(
        self, method: str, path: str, key: str, expected: int, body: dict[str, Any]
    ) -> tuple[str, bool]:
        """Return the body, and True if the answer is a replay of an earlier one."""
        headers = {"Idempotency-Key": key}
        try:
            async with self.session.request(method, path, json=body, headers=headers) as answer:
                text = await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Failed(f"{method} {path} for {key} was not answered: {error!r}") from error
        self.requests += 1
        if answer.status != expected:
            raise Failed(f"{method} {path} for {key} was answered {answer.status}: {text[:500]}")
        return text, "Idempotent-Replayed" in answer.headers


@asynccontextmanager
async def client(shop: Shop) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(
        shop.server.url,
        headers=shop.company.headers,
        connector=aiohttp.TCPConnector(limit=CONNECTIONS),
        timeout=PATIENCE,
    ) as session:
        yield Client(session)


async def work_off(jobs: Sequence[Job], work: Callable[[Job], Awaitable[None]], tell: Teller) -> float:
    """Run the jobs over all connections, and return the duration in seconds.

    The jobs start in order: each connection takes the next job when it has finished one.
    """
    waiting = iter(jobs)
    done = 0

    async def worker() -> None:
        nonlocal done
        for job in waiting:
            await work(job)
            done += 1
            tell(done)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONNECTIONS)))
    return time.perf_counter() - started
