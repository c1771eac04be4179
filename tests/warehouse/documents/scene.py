"""A company with its model: each reply, and all visible data, must agree with the model."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy

from tests.support.dispatching import dispatch
from tests.support.dock import Dock, open_dock
from tests.support.world import Answer, World
from tests.warehouse.documents.answers import Depot, Request
from tests.warehouse.documents.observing import differences, foreseen, observe
from tests.warehouse.sales_orders.answers import Reply, told
from tests.warehouse.sales_orders.observing import in_order
from tests.warehouse.stock.goods import Moved
from tests.warehouse.stock.model import MILLION, Event, Place
from wmsd.maintenance.file_checks.company_checks import Difference, examine

OPENING: list[tuple[Place, int]] = [((1, 1), 20 * MILLION), ((2, 1), 1_500_000), ((1, 2), 5 * MILLION)]
"""The opening stock of the dock: article and warehouse, with the quantity in millionths."""
PAIRS = "code,name,track_lot,track_serial,unit_3pl,um3pl_factor\nPAIR,In pairs,true,true,pair,2\n"


class Scene:
    def __init__(self, dock: Dock, last_event: int, last_change: int) -> None:
        self.dock, self.world, self.last_event = dock, dock.world, last_event
        self.depot = Depot()
        self.depot.clock.begin_after(last_change)
        for place, quantity in OPENING:
            self.depot.stock.post(Moved("count", *place, quantity, 0, 0, None, None, 0, 0))
        self.caused: list[Event] = []

    async def ask(self, request: Request) -> None:
        self.world.clock.advance(1)
        expected, events = self.depot.answer(request, self.world.installation.clock)
        self.caused += events
        answer = await dispatch(self.world, request.method, request.path, request.body, request.key)
        found = told(answer.status, answer.body, answer.headers)
        assert found == expected, f"{request}\n{found}, but not\n{expected}"

    async def look(self) -> None:
        seen = await observe(self.world, self.last_event)
        self.last_event += len(seen["events"])
        expected = foreseen(self.depot, self.caused)
        assert seen == expected, "\n".join(differences(seen, expected))
        self.caused = []

    async def examined(self) -> list[Difference]:
        return (await (await self.world.database()).read_long(examine)).differences

    async def ask_at_once(self, requests: Sequence[Request]) -> Counter[int]:
        """Send the requests over as many connections at the same time. The order of the event log must explain
        every reply, event and record.

        Requests that changed something were done in the order of their events. Any other reply, a refusal or a
        repetition, must be the model's reply at some point between these events.
        """
        answers = await asyncio.gather(
            *(self.world.send(request.method, request.path, request.body) for request in requests)
        )
        events = in_order(await self.world.events_after(self.last_event))
        waiting = [_Asked(request, answer) for request, answer in zip(requests, answers, strict=True)]
        moments = [deepcopy(self.depot)]
        while events:
            first = next(asked for asked in waiting if asked.begins_with(events[0]))
            waiting.remove(first)
            reply, caused = self.depot.answer(first.request, self.world.installation.clock)
            assert first.reply == reply, f"{first.request}\n{first.reply}, but not\n{reply}"
            assert events[: len(caused)] == in_order(caused), first.request
            self.caused += caused
            events = events[len(caused) :]
            moments.append(deepcopy(self.depot))
        for asked in waiting:
            assert any(self._explains(moment, asked) for moment in reversed(moments)), asked.request
        await self.look()
        assert await self.examined() == []
        return Counter(answer.status for answer in answers)

    def _explains(self, moment: Depot, asked: "_Asked") -> bool:
        return deepcopy(moment).answer(asked.request, self.world.installation.clock) == (asked.reply, [])


class _Asked:
    def __init__(self, request: Request, answer: Answer) -> None:
        self.request = request
        self.reply: Reply = told(answer.status, answer.body, answer.headers)

    def begins_with(self, event: Event) -> bool:
        """Return True if the event is the first one of this request, which changed something."""
        name, data = event
        if self.reply.status not in (200, 201) or name.partition(".")[0] != ENTITIES[self.request.kind]:
            return False
        if self.request.id is None:
            return name.endswith(".created") and bool(data["id"] == self.reply.body["id"])
        wanted = (self.request.id, self.request.body.get("status"))
        return name.endswith(".status_changed") and (data["id"], data["status"]) == wanted


ENTITIES = {
    "purchase-orders": "purchase_order",
    "receptions": "reception",
    "sales-orders": "sales_order",
    "returns": "return",
}


async def open_scene(world: World) -> Scene:
    dock = await open_dock(world)
    await world.import_csv("articles", PAIRS)
    return Scene(dock, await world.last_event(), await world.last_change())
