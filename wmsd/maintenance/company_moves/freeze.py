"""The freeze of a company, and its end. A running server does both, because only the server knows which work is
still running. A command requests them over the socket of `lending.py`.

When a freeze is complete, every acknowledged change is in the company's file, and nothing changes the file any
more.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from wmsd.base.problems import Problem
from wmsd.contract.context import Actor, Company
from wmsd.data_folder.lending import Session, Verb
from wmsd.db.engine.failures import StorageError
from wmsd.installation.open_installation import Installation
from wmsd.tenants.companies import actions

LOG = logging.getLogger("wmsd.companies")
FREEZE: Final = "freeze_company"
THAW: Final = "thaw_company"
DRAIN_SECONDS: Final = 30.0
"""The longest time that a freeze waits for running work. One attempt to send a webhook takes at most 10 s."""
FREEZE_SECONDS: Final = 2 * DRAIN_SECONDS + 30.0
"""How long a command waits for the server to freeze a company."""
LOOK_SECONDS: Final = 0.02


class Freeze(NamedTuple):
    since: str
    was_already: bool


class Freezer:
    """The server's side of a freeze."""

    def __init__(
        self, installation: Installation, at_rest: Callable[[int], bool], thawed: Callable[[int], None]
    ) -> None:
        """Create the freezer.

        `at_rest` returns True if no webhook of a company is being sent. `thawed` is called with the company's id
        at the end of a freeze.
        """
        self._installation = installation
        self._at_rest = at_rest
        self._thawed = thawed

    @property
    def verbs(self) -> Mapping[str, Verb]:
        return {FREEZE: self._freeze, THAW: self._thaw}

    async def _freeze(self, session: Session, argument: Any) -> dict[str, Any]:
        """Freeze a company, and return the fields of `Freeze`. `argument` is a pair: the code of the company, and
        the name of the actor for the audit.
        """
        at, (code, who) = self._installation, argument
        done = await begin_freeze(at, code, Actor(who))
        company = done.company
        at.freezes.begin(company.id, done.since)
        try:
            await self._drain(company)
        except StorageError as error:
            raise StorageError(f"{error} {await self._given_up(session, argument, done)}") from None
        except BaseException:
            await self._given_up(session, argument, done)
            raise
        if not done.was_already:
            LOG.warning("company %s is frozen: it accepts no changes and sends no webhooks", company.code)
        return Freeze(done.since, done.was_already)._asdict()

    async def _given_up(self, session: Session, argument: Any, done: actions.Frozen) -> str:
        """Undo the failed freeze `done`. If the company was already frozen before, leave it frozen. Return a
        sentence that says whether the company is still frozen.
        """
        if done.was_already:
            return f"{done.company.code} is still frozen."
        await self._thaw(session, argument)
        return f"{done.company.code} is not frozen."

    async def _thaw(self, session: Session, argument: Any) -> bool:
        at, (code, who) = self._installation, argument
        company = await at.platform.read(lambda tx: actions.company_of_code(tx, code))
        was_frozen = await at.platform.write(lambda tx: actions.thaw_company(tx, code), Actor(who))
        at.freezes.end(company.id)
        self._thawed(company.id)
        if was_frozen:
            LOG.warning("company %s is no longer frozen", company.code)
        return was_frozen

    async def _drain(self, company: Company) -> None:
        """Wait until no running work can write to the company's file.

        Raise StorageError if that takes too long. At the end, commit an empty write, and raise its error if it
        fails.
        """
        until = time.monotonic() + DRAIN_SECONDS
        while (what := self._under_way(company)) is not None:
            if time.monotonic() > until:
                raise StorageError(
                    f"{what} of {company.code} is still running after {DRAIN_SECONDS:.0f} s. Try again when it "
                    "is finished."
                )
            await asyncio.sleep(LOOK_SECONDS)
        database = await self._installation.files.get(company.id)
        await database.try_to_write()  # runs after all writes that were waiting

    def _under_way(self, company: Company) -> str | None:
        if self._installation.files.file(company.id).is_lent:
            return "A command (such as an import)"
        if self._installation.freezes.has_flows(company.id):
            return "A request"
        return None if self._at_rest(company.id) else "A webhook delivery"


async def begin_freeze(installation: Installation, code: str, who: Actor) -> actions.Frozen:
    """Record in platform.db that the company is frozen. Work that is already running may still write to its file.

    Raise Problem (404) if the company does not exist, and StorageError if its file cannot be used.
    """
    company = await installation.platform.read(lambda tx: actions.company_of_code(tx, code))
    try:
        await installation.files.get(company.id)
    except Problem:
        why = installation.files.failed.get(company.id) or "the server log says why"
        raise StorageError(
            f"The file of {company.code} cannot be used, so the company was not frozen: {why}"
        ) from None
    return await installation.platform.write(lambda tx: actions.freeze_company(tx, code), who)
