"""Backups and restores that are killed: afterwards the state is the old one or the new one, never a mix."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tests.support.backups import back_up
from tests.support.command import Home, first_day
from tests.support.forked import LONGEST
from tests.support.injected import killed_at
from tests.support.thorough import IS_THOROUGH
from wmsd.db.engine.sqlite import connect_as_it_is
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

STRIDE: Final = 1 if IS_THOROUGH else 6
COMPANIES: Final = ("ACME", "OTHER")
ARTICLES: Final = 2000
"""The number of articles. With so many, a kill at any moment hits the work, and not only its start or end."""
FEW_ARTICLES: Final = 50
"""The number of articles for kills at each step, which are slow because every system call is traced."""
MARK: Final = "SELECT count(*) FROM articles WHERE code = 'AFTER'"
AFTER: Final = "code,name\nAFTER,made after the backup\n"


@dataclass
class Drill:
    """An installation with a backup. After the backup each company got the article AFTER."""

    home: Home
    archive: Path

    def marks(self) -> set[int]:
        """Return how many articles AFTER each company's file has: {0} if all files have the state of the backup,
        {1} if all have the state after the backup, {0, 1} if they differ.

        A command runs first, because it finishes what a killed command began.
        """
        self.home.ok("company", "list")
        return {self._mark(file) for file in sorted((self.home.data / "companies").glob("*.db"))}

    def _mark(self, file: Path) -> int:
        connection = connect_as_it_is(file)
        try:
            [count] = connection.execute(MARK).fetchone()
            return int(count)
        finally:
            connection.close()

    def flaws(self) -> Iterator[str]:
        """Yield a sentence for each broken law."""
        marks = self.marks()
        if len(marks) != 1 or len(list((self.home.data / "companies").glob("*.db"))) != len(COMPANIES):
            yield f"The companies are in different states: {marks}."
        examined = self.home.run("doctor", "--json")
        if examined.code not in (0, ONLY_WARNINGS):
            yield f"wmsd doctor finds {examined.out.strip() or examined.err.strip()}"
        listed = self.home.run("backup", "list")
        if listed.code:
            yield f"There is an archive that cannot be read: {listed.err.strip()}"

    def mark(self) -> None:
        """Import the article AFTER into each company, so that all have the state after the backup again."""
        for code in COMPANIES:
            self.home.ok("import", "articles", "-", "--company", code, stdin=AFTER)


def prepared(home: Home, number: int = ARTICLES) -> Drill:
    first_day(home)
    home.ok("company", "create", COMPANIES[1], "--name", "Other", "--all-modules")
    articles = "code,name\n" + "".join(f"A{each},Article {each}\n" for each in range(number))
    for code in COMPANIES:
        home.ok("import", "articles", "-", "--company", code, stdin=articles)
    drill = Drill(home, back_up(home, home.folder / "kept.tar.gz"))
    drill.mark()
    return drill


def killed_at_each(
    home: Home, calls: Sequence[str], command: Callable[[], Sequence[str | Path]]
) -> Iterator[tuple[str, int]]:
    """Run the command again and again, and kill it at one of these system calls each time. Yield the name and the
    number of the call after each kill.

    For each name, the kills hit the first, the seventh, the thirteenth call and so on, until the command makes no
    more such calls. In a THOROUGH run they hit every call.
    """
    for call in calls:
        number = 1
        while _is_killed(home, call, number, *command()):
            yield call, number
            number += STRIDE


def _is_killed(home: Home, call: str, number: int, *command: str | Path) -> bool:
    with home.paused(*command) as process, killed_at(process.pid, call, number):
        os.kill(process.pid, signal.SIGCONT)
        return process.wait(LONGEST) == -signal.SIGKILL


OF_ONE: Final = ("--company", COMPANIES[0])
WAYS: Final = {
    "a backup": 3,
    "a restore of everything": 4,
    "a restore of one company": 1,
    "a restore beside a server": 1,
    "the server of a restore": 1,
}
"""The processes that are killed, with their relative frequency."""


def killed_at_random(drill: Drill, kills: int, chance: Random, tell: Callable[[str], None]) -> list[str]:
    """Kill backups and restores at random moments, until `kills` of them were killed before they had ended.

    Return the sentences of broken laws.
    """
    broken: list[str] = []
    struck = 0
    while struck < kills:
        [way] = chance.choices(list(WAYS), list(WAYS.values()))
        is_of_one = way not in ("a backup", "a restore of everything")
        arguments: list[str | Path] = ["backup", "create"]
        if way != "a backup":
            arguments = ["backup", "restore", "--yes", drill.archive, *(OF_ONE if is_of_one else ())]
        struck += _killed(drill.home, way, arguments, chance)
        flaws = [*drill.flaws()]
        if is_of_one:  # the other company is not restored, so it keeps AFTER
            flaws = [flaw for flaw in flaws if "different states" not in flaw]
        broken += [f"Kill {struck}, {way}: {flaw}" for flaw in flaws]
        drill.mark()
        tell(f"kill {struck} of {kills}, {way}: {len(broken)} laws broken")
    return broken


def _killed(home: Home, way: str, arguments: Sequence[str | Path], chance: Random) -> bool:
    """Kill the command or its server. Return True if the command was still running."""
    with ExitStack() as stack:
        server = stack.enter_context(home.serving()) if "server" in way else None
        command = stack.enter_context(home.start(*arguments))
        time.sleep(chance.uniform(0.2, 0.7))
        is_at_work = command.poll() is None
        if server is not None and way == "the server of a restore":
            server.kill()
        else:
            command.kill()
        command.communicate(timeout=LONGEST)
    return is_at_work
