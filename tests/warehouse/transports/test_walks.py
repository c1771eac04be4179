"""Planners and users act in any order: the books stay right, a refusal changes nothing, and a repetition changes
nothing.
"""

import random
from collections import Counter
from typing import Any

import pytest

from tests.support.planner import Planner
from tests.support.thorough import IS_THOROUGH
from tests.support.world import ETSM, Answer

ORDERS, TRANSPORTS, STEPS = 10, ("T1", "T2", "T3", "T4"), 200
BY_HAND = ("CREAT", "IN_LUCRU", "IN_LUCRU", "INCARCAT", "LIVRAT")


class Walk:
    def __init__(self, planner: Planner, seed: int) -> None:
        self.planner = planner
        self.random = random.Random(seed)
        self.answers: Counter[tuple[str, int]] = Counter()

    async def step(self) -> None:
        kind, path, body = self.random.choice((self._by_hand, self._plan, self._call, self._call))()
        before = await self.planner.everything()
        answer = await self._send(kind, path, body)
        self.answers[(kind, answer.status)] += 1
        assert answer.status in (200, 201, 409, 422), answer.raw
        after = await self.planner.everything()
        if answer.status >= 400:
            assert after == before, "a refusal changes nothing"
        else:
            again = await self._send(kind, path, body)
            assert (again.status, again.raw) == (200, answer.raw)
            assert await self.planner.everything() == after, "a repetition changes nothing"
        await self.planner.is_right()

    async def _send(self, kind: str, path: str, body: Any) -> Answer:
        if kind == "hand":
            return await self.planner.world.send("PATCH", path, body)
        return await self.planner.world.send("POST", path, body, token=self.planner.token, company="")

    def _by_hand(self) -> tuple[str, str, Any]:
        order = self.random.randint(1, ORDERS)
        return (
            "hand",
            f"/api/v2/sales-orders/{order}/status",
            {"status": self.random.choice(BY_HAND)},
        )

    def _plan(self) -> tuple[str, str, Any]:
        orders = sorted(self.random.sample(range(1, ORDERS + 1), self.random.choice((0, 1, 2, 3))))
        codes = [f"SO-{order:06d}" for order in orders]
        packaging = self._packaging(codes)
        body = {"transport_ecc": self.random.choice(TRANSPORTS), "order_codes": codes, "packaging": packaging}
        return "plan", f"{ETSM}/transports", body

    def _call(self) -> tuple[str, str, Any]:
        body: dict[str, Any] = {"status": self.random.choice((*["INCARCAT"] * 5, "LIVRAT"))}
        if body["status"] == "LIVRAT":
            body["packaging_returned"] = self._packaging([f"SO-{self.random.randint(1, ORDERS):06d}"])
        return "call", f"{ETSM}/transports/{self.random.choice(TRANSPORTS)}/status", body

    def _packaging(self, codes: list[str]) -> list[dict[str, Any]]:
        return [
            {"packaging_type_code": "EUR", "quantity": 1, "order_code": code}
            for code in codes
            if self.random.random() < 0.5
        ]


@pytest.mark.parametrize("seed", range(6 if IS_THOROUGH else 2))
async def test_a_walk(planner: Planner, seed: int) -> None:
    for number in range(ORDERS):
        line = {"article_id": 1, "quantity": 1}
        await planner.shop.order(line, status="IN_LUCRU", partner_id=1 + number % 2)
    for ecc in TRANSPORTS:
        await planner.plan(ecc=ecc)
    walk = Walk(planner, seed)
    for _ in range(STEPS):
        await walk.step()
    assert {("hand", 200), ("plan", 200), ("call", 200), ("call", 409)} <= set(walk.answers)
