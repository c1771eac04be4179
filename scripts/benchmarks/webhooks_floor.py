"""The floor for webhooks: aiohttp's client on uvloop, which sends without signing and without recording anything.

    python -m benchmarks.webhooks_floor COMPANY.db URL CONNECTIONS

The program sends the bodies of the pending deliveries in COMPANY.db, over as many connections as wmsd uses for a
subscription.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import aiohttp
import uvloop

from wmsd.db.engine.sqlite import connect
from wmsd.events.webhooks.deliveries.due_store import BODY

BODIES: Final = f"""
    SELECT {BODY} || events.data || '}}'
    FROM webhook_deliveries AS delivery JOIN events ON events.sequence = delivery.event_sequence
    WHERE delivery.status = 'pending' ORDER BY delivery.id
"""


async def send_all(bodies: Iterator[bytes], url: str, connections: int) -> None:
    async with aiohttp.ClientSession() as session:

        async def send() -> None:
            for body in bodies:
                async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
                    await answer.read()
                    answer.raise_for_status()

        await asyncio.gather(*(send() for _ in range(connections)))


def bodies_of(company: Path) -> list[bytes]:
    source = connect(company)
    bodies = [body.encode() for (body,) in source.execute(BODIES)]
    source.close()
    return bodies


if __name__ == "__main__":
    company, url, connections = sys.argv[1:]
    uvloop.run(send_all(iter(bodies_of(Path(company))), url, int(connections)))
