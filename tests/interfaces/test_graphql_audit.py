"""GraphQL over HTTP, by the audits of the specification's reference implementation (npm's graphql-http)."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.programs import packages, program
from tests.support.tools import output_of
from tests.support.world import World
from wmsd.interfaces.graphql.over_http import PATH

FOLDER = Path(__file__).parent / "graphql_audit"
LEVELS = ("MUST", "SHOULD", "MAY")
PATIENCE = 60


@dataclass(frozen=True)
class Audit:
    """The result of an audit. `status` is `ok` or the name of the failure; `reason` then gives details."""

    id: str
    name: str
    status: str
    reason: str = ""

    @property
    def level(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def is_passed(self) -> bool:
        return self.status == "ok"

    def __str__(self) -> str:
        outcome = "passed" if self.is_passed else f"failed ({self.reason})"
        return f"{self.id} {self.name}: {outcome}"


async def audited(world: World) -> list[Audit]:
    """Run all audits on the world's server, and return their results."""
    packages(FOLDER)
    asked = [f"{world.base_url}{PATH}", world.token, str(world.company)]
    written = await output_of(program("node"), FOLDER / "audit.mjs", *asked, seconds=PATIENCE)
    return [Audit(**found) for found in json.loads(written)]


def summary(audits: list[Audit]) -> str:
    all_of = Counter(audit.level for audit in audits)
    passed = Counter(audit.level for audit in audits if audit.is_passed)
    levels = ", ".join(f"{level} {passed[level]} of {all_of[level]}" for level in LEVELS)
    return f"Of {len(audits)} audits of GraphQL over HTTP passed: {levels}"


async def test_every_must_and_should_of_the_audit_holds(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    audits = await audited(world)
    with capsys.disabled():
        print("", *sorted(audits, key=lambda audit: LEVELS.index(audit.level)), summary(audits), sep="\n")
    assert {audit.level for audit in audits} == set(LEVELS)
    assert [str(audit) for audit in audits if audit.level != "MAY" and not audit.is_passed] == []
