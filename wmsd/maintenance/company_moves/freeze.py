"""Freezes a company and ends the freeze. The running server does it where there is one, since it alone knows what
is under way; a command asks for it over the socket of `lending.py`.

From the end of a freeze on, every change that was acknowledged is in the company's file, and nothing adds to it.
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
"""The longest that a freeze waits for what is under way. An attempt of a webhook takes 10 s at most."""
FREEZE_SECONDS: Final = 2 * DRAIN_SECONDS + 30.0
"""The time that a command gives the server for it."""
LOOK_SECONDS: Final = 0.02


class Freeze(NamedTuple):
    since: str
    was_already: bool


class Freezer:
    """The server's side."""

    def __init__(
        self, installation: Installation, at_rest: Callable[[int], bool], thawed: Callable[[int], None]
    ) -> None:
        """`at_rest`: whether no webhook of the company is under way. `thawed` is called at the end of a freeze."""
        self._installation = installation
        self._at_rest = at_rest
        self._thawed = thawed

    @property
    def verbs(self) -> Mapping[str, Verb]:
        return {FREEZE: self._freeze, THAW: self._thaw}

    async def _freeze(self, session: Session, argument: Any) -> dict[str, Any]:
        """`argument`: the code of the company, and who asks, for the audit."""
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
            LOG.warning("company %s is frozen: it takes no changes and sends no webhooks", company.code)
        return Freeze(done.since, done.was_already)._asdict()

    async def _given_up(self, session: Session, argument: Any, done: actions.Frozen) -> str:
        """Ends a freeze that has not come about, unless an earlier command began it. Says which."""
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
            LOG.warning("company %s is frozen no more", company.code)
        return was_frozen

    async def _drain(self, company: Company) -> None:
        """Waits until nothing is under way that may still write. Raises StorageError when that takes too long, and
        what writing to the file raises.
        """
        until = time.monotonic() + DRAIN_SECONDS
        while (what := self._under_way(company)) is not None:
            if time.monotonic() > until:
                raise StorageError(
                    f"{what} of {company.code} is still under way after {DRAIN_SECONDS:.0f} s. Wait for its end, "
                    "then try again."
                )
            await asyncio.sleep(LOOK_SECONDS)
        database = await self._installation.files.get(company.id)
        await database.try_to_write()  # after everything that waits for the writer

    def _under_way(self, company: Company) -> str | None:
        if self._installation.files.file(company.id).is_lent:
            return "A command, such as an import,"
        if self._installation.freezes.has_flows(company.id):
            return "A request"
        return None if self._at_rest(company.id) else "The sending of a webhook"


async def begin_freeze(installation: Installation, code: str, who: Actor) -> actions.Frozen:
    """Freezes a company whose file can be used. Raises Problem (404), and StorageError when it cannot."""
    company = await installation.platform.read(lambda tx: actions.company_of_code(tx, code))
    try:
        await installation.files.get(company.id)
    except Problem:
        why = installation.files.failed.get(company.id) or "its log says why"
        raise StorageError(f"The file of {company.code} cannot be used, so nothing was frozen: {why}") from None
    return await installation.platform.write(lambda tx: actions.freeze_company(tx, code), who)
