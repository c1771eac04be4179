"""Starts processes that preview uploads, import them, and undo imports.

In a separate process, this work does not delay the server's requests. The process runs `wmsd import`. Like every
command that changes a company's file, `wmsd import` asks a running server for exclusive use of the file.

The process writes all rows or none, even if it is killed, together with a record of the import. Only this record
in the company's file says reliably whether an upload was imported.
"""

import asyncio
import logging
import math
import tempfile
from collections.abc import Awaitable, Callable, Container
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.machine.disk import disk_of
from wmsd.base.machine.memory import machine_memory
from wmsd.base.machine.private_files import new_private
from wmsd.base.problems import Problem, unavailable
from wmsd.contract.context import Caller, Company
from wmsd.data_folder.folder import DataFolder
from wmsd.dispatch.limits.costs import Costs
from wmsd.host import child_process, own_program
from wmsd.host.child_process import Limits
from wmsd.imports.csv_rows import NO_ROWS
from wmsd.imports.uploads import SAID, About, State, Upload, Uploads, last_lines, sentences_of
from wmsd.settings.sections.fields import MEGABYTE
from wmsd.settings.sections.imports import Imports

LOG = logging.getLogger("wmsd.imports")
Work = Callable[[Company, Upload, About], Awaitable[None]]
MOST_AT_ONCE: Final = 2
"""How many import processes run at the same time, for all companies together. Further imports wait in a queue. A
small machine runs only one process at a time (see `at_once_here`).
"""
LONGEST_SECONDS: Final = 3600.0
LONGEST_LOOK_SECONDS: Final = 900.0
"""How many seconds a preview may take. Without this limit, one user with many uploads could block the imports of
others.
"""
MOST_MEMORY: Final = 1_000_000_000
"""The largest memory limit of a process, in bytes. The import of a million articles or rows of stock took 0.13 GB,
with any number of errors. The import of a million partners took 0.26 GB. A file needs more than the limit only if
one document, or one article in one warehouse, has very many rows.
"""
SHARE_OF_MEMORY: Final = 4
"""The memory of the machine is divided by this number, and all processes together may use one part. Each process
may use at least `LEAST_MEMORY` and at most `MOST_MEMORY`.
"""
LEAST_MEMORY: Final = 256_000_000
"""The smallest memory limit of a process, in bytes. A process needs 0.08 GB to start, so the limit is always
enough for a million articles or rows of stock.
"""
CPU_SECONDS: Final = 1800
"""The limit of processor time for a process, in seconds. It is more than ten times what a million rows of articles
or stock took.
"""
STOP_SECONDS: Final = 5.0
ENDING_SECONDS: Final = 3.0
NO_ROOM: Final = "The server's disk has no space for an upload. Tell the platform admin."
BUSY: Final = "Another import of this company is running. Wait until it ends, then try again."
OF_MEMORY: Final = (
    "This file needs more than the {megabytes} MB of memory that an import may use. Nothing was imported: "
    "split the file, and import the parts one after the other."
)
OF_TIME: Final = (
    "This file took more than {minutes} minutes of processor time and was stopped. Nothing was "
    "imported: split the file, and import the parts one after the other."
)
TOO_LONG: Final = (
    "This file took more than {minutes} minutes and was stopped. Nothing was imported: split the file."
)
BROKEN_OFF: Final = "The service was stopped in the meantime. Nothing was changed: repeat the import or the undo."


class Running(NamedTuple):
    """The work that is running for a company. `upload_id` is None while an import is being undone."""

    task: "asyncio.Task[int]"
    upload_id: str | None
    state: State = "importing"


class ImportDesk:
    """The manager of uploads and of the processes that preview or import the uploads.

    `config_file` is the file with the settings of the server. `limits` are the limits of each process, or None for
    `limits_here`.
    """

    def __init__(
        self,
        settings: Imports,
        folder: DataFolder,
        clock: Clock,
        costs: Costs,
        config_file: Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.most_bytes = settings.megabytes * MEGABYTE
        self._limits = limits or limits_here()
        self.uploads = Uploads(folder.path / "imports")
        self._folder = folder
        self._clock = clock
        self._costs = costs
        self._config_file = config_file
        self._running: dict[int, Running] = {}
        """The running work, by the company's id."""
        self._at_once = asyncio.Semaphore(at_once_here())
        self._processes: dict[asyncio.subprocess.Process, int] = {}
        """The running processes, each with the id of its company."""

    def is_at_work(self, company: Company) -> bool:
        running = self._running.get(company.id)
        return running is not None and not running.task.done()

    def _is_at(self, upload: Upload, company: Company, state: State) -> bool:
        running = self._running.get(company.id)
        return running is not None and self.is_at_work(company) and running[1:] == (upload.id, state)

    async def make(self, company: Company, caller: Caller) -> Upload:
        """Create an upload. Raise Problem: 409 while an import, preview or undo is running for the company, 503 if
        the disk is full.
        """
        await self._wait_until_idle(company)
        about = About(by=caller.actor.name, user_id=caller.actor.user_id, at=timestamps.to_text(self._clock.now()))
        try:
            disk = disk_of(self._folder.path)
            if disk.free < self.most_bytes + disk.refused_below:
                raise unavailable(NO_ROOM, 30)
            return await asyncio.to_thread(self.uploads.make, company.id, about)
        except OSError as error:
            LOG.error("an upload cannot be stored: %s", error)
            raise unavailable("The upload cannot be stored now. Tell the platform admin.", 30) from None

    async def bytes_kept(self, company: Company) -> int:
        """Return the number of bytes that all files of the company's uploads occupy on the disk."""
        return await asyncio.to_thread(self.uploads.bytes_of, company.id)

    async def find(self, company: Company, upload_id: str) -> tuple[Upload, About]:
        """Return the upload and its description. Raise Problem (404) if there is no such upload."""
        upload = await asyncio.to_thread(self.uploads.find, company.id, upload_id)
        return upload, await asyncio.to_thread(upload.about)

    async def look(self, company: Company, upload: Upload, about: About) -> None:
        """Start the preview of an upload. Raise Problem (409) if an import, preview or undo is already running for
        the company.
        """
        await self._begin(company, upload, about, "looking", self._look)

    async def start_import(
        self, company: Company, upload: Upload, about: About, most_growth: int | None = None
    ) -> None:
        """Start the import of an upload whose preview is finished. If the upload has any other state, do nothing.

        `most_growth` is the number of bytes by which the company's data may grow, or None for no limit. Raise
        Problem (409) if the file has errors or no rows. Also raise it if another import, preview or undo is
        running for the company.
        """
        if about.state != "looked":
            return
        preview = await asyncio.to_thread(upload.preview)
        if self._is_at(upload, company, "looking"):  # the preview's process ends shortly after writing its result
            await asyncio.wait([self._running[company.id].task], timeout=ENDING_SECONDS)
        if self._is_at(upload, company, "importing"):
            return
        if preview is None or preview["counts"] is None:
            raise Problem(
                "INVALID_STATUS", "A file with errors cannot be imported. Fix the file, and upload it again."
            )
        if not any(preview["counts"].values()):
            raise Problem("INVALID_STATUS", NO_ROWS)
        await self._begin(company, upload, about, "importing", partial(self._start_import, most_growth))

    async def undo(self, company: Company, import_id: int, caller: Caller) -> None:
        """Undo an import, and wait until the undo is finished. Raise Problem (409) if an import, preview or undo
        is already running for the company. If the import cannot be undone, raise Problem (409) with the reasons.
        """
        await self._wait_until_idle(company)
        with tempfile.NamedTemporaryFile(prefix="wmsd-undo-") as said:
            arguments = ["undo", f"--company={company.code}", f"--number={import_id}", f"--by={caller.actor.name}"]
            task = asyncio.ensure_future(
                self._run(company, caller.actor.user_id, arguments, asyncio.subprocess.DEVNULL, Path(said.name))
            )
            self._running[company.id] = Running(task, None)
            code = await asyncio.shield(task)
            if code:
                sentences = sentences_of(last_lines(Path(said.name)))
                raise Problem("INVALID_STATUS", " ".join(sentences) or BROKEN_OFF)

    async def _wait_until_idle(self, company: Company) -> None:
        """If a process is running for the company, wait a few seconds for its end. Raise Problem (409) if it is
        still running.

        The wait is needed because requests see the result of an import shortly before its process ends.
        """
        if self.is_at_work(company):
            await asyncio.wait([self._running[company.id].task], timeout=ENDING_SECONDS)
        self._check_idle(company)

    def _check_idle(self, company: Company) -> None:
        if self.is_at_work(company):
            raise Problem("INVALID_STATUS", BUSY)

    async def _begin(self, company: Company, upload: Upload, about: About, state: State, work: Work) -> None:
        """Store the new state of the upload and start the work, but do not wait for its end.

        Raise Problem (409) if an import, preview or undo is already running for the company. Raise OSError if the
        state cannot be stored.
        """
        self._check_idle(company)
        about.state, about.message = state, ""
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(self._do(work, company, upload, about, begun))
        self._running[company.id] = Running(task, upload.id, state)
        await begun

    async def _do(
        self, work: Work, company: Company, upload: Upload, about: About, begun: "asyncio.Future[None]"
    ) -> int:
        try:
            await asyncio.to_thread(upload.write, about)
            begun.set_result(None)
            await work(company, upload, about)
        except Exception as error:
            if not begun.done():
                begun.set_exception(error)
            else:
                LOG.exception("an upload could not be processed")
        return 0

    async def _look(self, company: Company, upload: Upload, about: About) -> None:
        arguments = [*_arguments(company, upload, about), "--preview", "--errors", str(upload.errors_file)]
        await self._run_on(company, about, arguments, upload.preview_file, upload, "looked", LONGEST_LOOK_SECONDS)

    async def _start_import(self, most_growth: int | None, company: Company, upload: Upload, about: About) -> None:
        arguments = [*_arguments(company, upload, about), f"--upload={upload.id}", f"--named={about.file_name}"]
        arguments.append(f"--by={about.by}")
        if most_growth is not None:
            arguments.append(f"--most-growth={most_growth}")
        await self._run_on(company, about, arguments, upload.folder / "outcome.json", upload, "imported")

    async def _run_on(
        self,
        company: Company,
        about: About,
        arguments: list[str],
        out: Path,
        upload: Upload,
        done: State,
        longest: float = LONGEST_SECONDS,
    ) -> None:
        """Run `wmsd import` with `arguments` for at most `longest` seconds, and write its output to the file
        `out`.

        Then store the state of the upload: `done`, or "failed" if the command failed.
        """
        for path in (out, upload.said_file, upload.errors_file):
            path.unlink(missing_ok=True)
        for path in (upload.said_file, upload.errors_file):
            new_private(path).close()
        with new_private(out) as answer:
            command = [*arguments, f"--scratch={upload.folder}", "--tell-progress", "--json"]
            code = await self._run(company, about.user_id, command, answer.fileno(), upload.said_file, longest)
        await asyncio.to_thread(_note, upload, about, "failed" if code else done)

    async def _run(
        self,
        company: Company,
        user_id: int | None,
        arguments: list[str],
        out: int,
        said_file: Path,
        longest: float = LONGEST_SECONDS,
    ) -> int:
        """Run `wmsd import` with `arguments` for at most `longest` seconds, and return its exit code.

        The descriptor `out` gets the standard output, and `said_file` the error output. If a limit ends the
        command, the reason is added to `said_file`.
        """
        charge = partial(self._costs.note_beside, company.id, user_id or 0)
        command = own_program.command("import", *arguments, data=self._folder.path, config_file=self._config_file)
        async with self._at_once:
            with said_file.open("ab") as said:
                process = await child_process.start(command, self._limits, stdout=out, stderr=said)
            self._processes[process] = company.id
            try:
                code = await child_process.ended(process, self._limits, longest, charge)
                why = self._limit_reached(code, said_file)
            except TimeoutError:
                process.kill()
                code = await process.wait()
                why = TOO_LONG.format(minutes=round(longest / 60))
            finally:
                self._processes.pop(process, None)
            if why is not None:
                with said_file.open("ab") as said:
                    said.write(f"\n{SAID}{why}\n".encode())
            return code

    def _limit_reached(self, code: int, said_file: Path) -> str | None:
        """Return the error sentence for a process that ran out of memory or processor time, or None."""
        if child_process.ran_out_of_time(code):
            return OF_TIME.format(minutes=math.ceil(self._limits.cpu_seconds / 60))
        if code and child_process.ran_out_of_memory(code, last_lines(said_file)):
            return OF_MEMORY.format(megabytes=self._limits.data_bytes // MEGABYTE)
        return None

    def end_of(self, company_ids: Container[int]) -> None:
        """Terminate the processes of these companies. An import that is not committed yet leaves no changes."""
        for process in [each for each, company_id in self._processes.items() if company_id in company_ids]:
            with suppress(ProcessLookupError):
                process.terminate()

    async def stop(self) -> None:
        """Terminate all processes, and wait for their tasks. An import that is not committed yet leaves no
        changes.
        """
        self.end_of(set(self._processes.values()))
        tasks = [running.task for running in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)

    async def forget_old(self) -> None:
        await asyncio.to_thread(self.uploads.forget_old)


def at_once_here() -> int:
    """Return how many import processes may run at the same time on this machine, according to its memory."""
    return max(1, min(MOST_AT_ONCE, machine_memory() // SHARE_OF_MEMORY // LEAST_MEMORY))


def limits_here() -> Limits:
    """Return the limits of memory and processor time for an import process on this machine."""
    share = machine_memory() // SHARE_OF_MEMORY // at_once_here()
    return Limits(max(LEAST_MEMORY, min(MOST_MEMORY, share)), CPU_SECONDS)


def _arguments(company: Company, upload: Upload, about: About) -> list[str]:
    options = [
        f"--{name}={value}" for name, value in {**about.choices, **about.options}.items() if value is not True
    ]
    flags = [f"--{name}" for name, value in about.options.items() if value is True]
    return [about.kind, str(upload.file), f"--company={company.code}", *options, *flags]


def _note(upload: Upload, about: About, state: State) -> None:
    """Store the new state of the upload. If the upload's folder was deleted meanwhile, do nothing."""
    about.state = state
    if state == "failed":
        about.message = upload.failure()
    with suppress(OSError):
        upload.write(about)
