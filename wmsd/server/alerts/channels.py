"""The channels that send alerts out of the installation: a signed request, a program, and e-mail (`mail.py`).

The admin chooses the program. If an alert cannot be sent, a channel raises no error. It returns an Outcome with a
sentence about the error.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from wmsd.base.clock import Clock
from wmsd.base.machine.regular_files import reason_of
from wmsd.base.machine.secret_files import read_signing_secret
from wmsd.base.problems import Problem
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.events.webhooks.signing import headers
from wmsd.host import own_program
from wmsd.http_client.answer import Answer
from wmsd.http_client.lazy_client import LazyClient
from wmsd.installation.child_command import end_of
from wmsd.installation.open_installation import new_guard
from wmsd.server.alerts.alert_json import Outcome, as_bytes, one_line
from wmsd.server.alerts.alerts_file import ChannelName, Notice
from wmsd.server.alerts.mail import ToMail
from wmsd.settings.all_settings import Settings

LOG = logging.getLogger("wmsd.alerts")
COMMAND_SECONDS: Final = 30.0
MOST_SAID: Final = 4096
"""How many bytes at the end of a program's output are stored. The bytes before them are read and discarded."""
LONGEST_SHOWN: Final = 300
NOTHING: Final = "nothing"


class Channel(Protocol):
    name: ChannelName

    async def send(self, notice: Notice, attempt: int) -> Outcome: ...

    async def close(self) -> None: ...


def channels_of(
    settings: Settings, data: Path, clock: Clock, code: str = "", complete: Complete = NOTHING_ADDED
) -> list[Channel]:
    """Return the channels that the settings name.

    `code` is the code that a test e-mail contains and the admin types. `complete` is a function that adds options
    to each command in the text of an alert. The options make the command use this installation.
    """
    found: list[Channel] = []
    if settings.alerts.url:
        found.append(ToReceiver(settings, data, clock, complete))
    if settings.alerts.command:
        found.append(ToCommand(settings.alerts.command, data, complete=complete))
    if settings.alerts.mail_to:
        found.append(ToMail(settings.alerts, data, code, complete=complete, public_url=settings.server.public_url))
    return found


class ToReceiver:
    """The channel that sends requests to the URL in the settings. wmsd signs each request with the secret in the
    file `alerts.secret_file`, and reads this file for each request.
    """

    name: ChannelName = "url"

    def __init__(self, settings: Settings, data: Path, clock: Clock, complete: Complete = NOTHING_ADDED) -> None:
        self._settings = settings.alerts
        self._clock = clock
        self._data = data
        self._complete = complete
        self._client = LazyClient(new_guard(settings, "alerts"), settings.alerts.ca_file)

    async def send(self, notice: Notice, attempt: int) -> Outcome:
        try:
            secret = await asyncio.to_thread(read_signing_secret, Path(self._settings.secret_file))
        except OSError as error:
            return Outcome(
                f"The file {self._settings.secret_file} of alerts.secret_file cannot be read: {reason_of(error)}."
            )
        except ValueError as error:
            return Outcome(str(error))
        body = as_bytes(notice, self._data, self._complete)
        sent = headers(
            auth_type="hmac",
            credentials={"secret": secret},
            previous_secret=None,
            event_id=notice.id,
            event=notice.event,
            attempt=attempt,
            sequence=notice.number,
            seconds=int(self._clock.now().timestamp()),
            body=body,
            is_sandbox=False,
        )
        try:
            return _outcome(await self._client.post(self._settings.url, sent, body))
        except Problem as problem:  # memory, threads or files are short
            return Outcome(problem.message)

    async def close(self) -> None:
        await self._client.close()


def _outcome(answer: Answer) -> Outcome:
    said = end_of_output(answer.body)
    if answer.is_success:
        return Outcome(None, f"{answer.status} in {answer.duration * 1000:.0f} ms, {said}".rstrip(", "))
    if answer.error is not None:
        return Outcome(answer.error)
    return Outcome(f"The receiver answered with status {answer.status}. Its answer was: {said or NOTHING}.")


class ToCommand:
    """The channel that starts a program. Only one process runs at a time.

    Each process has its own process session. So wmsd can also kill the child processes at the time limit.
    """

    name: ChannelName = "command"

    def __init__(
        self,
        command: Sequence[str],
        data: Path,
        seconds: float = COMMAND_SECONDS,
        complete: Complete = NOTHING_ADDED,
    ) -> None:
        self._command = command
        self._data = data
        self._seconds = seconds
        self._complete = complete
        self._one = asyncio.Lock()

    async def send(self, notice: Notice, attempt: int) -> Outcome:
        async with self._one:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    env=own_program.environment_of_others(),
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = str(getattr(error, "strerror", None) or error).lower()
                return Outcome(f"The program {self._command[0]} of alerts.command cannot be started: {reason}.")
            has_ended = False
            try:
                async with asyncio.timeout(self._seconds):
                    said = await _talk(process, as_bytes(notice, self._data, self._complete))
                    code = await process.wait()
                    has_ended = True
            except TimeoutError:
                seconds = f"{self._seconds:.0f}"
                return Outcome(
                    f"The program of alerts.command did not end within {seconds} s, and wmsd stopped it."
                )
            finally:
                if not has_ended:
                    await asyncio.shield(_end(process))
        if code:
            return Outcome(
                f"The program of alerts.command ended with exit status {code}. Its output was: {said or NOTHING}."
            )
        return Outcome(None, said)

    async def close(self) -> None:
        """Do nothing: a running process ends with the task that waits for it."""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> str:
    """Send the alert to the program, and return its output.

    Send and receive at the same time, because the program may fill the output pipe before it reads the alert.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    heard = asyncio.ensure_future(end_of(process.stdout, MOST_SAID))
    try:
        with suppress(OSError, RuntimeError):  # the program may stop reading; uvloop then raises RuntimeError
            process.stdin.write(body + b"\n")
            await process.stdin.drain()
            process.stdin.close()
        return end_of_output(await heard)
    finally:
        heard.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process and every process in its group, such as its child processes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def end_of_output(said: bytes) -> str:
    """Return the end of a program's output or of a receiver's answer: at most LONGEST_SHOWN characters on one
    line, without control characters.
    """
    return one_line(said.decode(errors="replace"))[-LONGEST_SHOWN:].rstrip(".")
