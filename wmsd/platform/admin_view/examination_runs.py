"""Examinations of all files by doctor, and their findings. Each examination has a separate process, and only one
runs at a time.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from wmsd.base import timestamps
from wmsd.base.clock import Clock
from wmsd.base.plurals import count_of
from wmsd.data_folder.folder import DataFolder
from wmsd.installation.child_command import STOP_SECONDS, Beside
from wmsd.platform.admin_view.findings_file import (
    Diagnosed,
    Examination,
    Examined,
    read_examination,
    write_examination,
)

LOG = logging.getLogger("wmsd.doctor")
STOPPED: Final = "The server was stopped."


class Examinations:
    """Runs examinations. `command` starts `wmsd doctor --progress` with the program of this server."""

    def __init__(self, command: Sequence[str], data: DataFolder, clock: Clock) -> None:
        self._data = data
        self._clock = clock
        self._beside = Beside(command, self._hear)
        self._under_way: asyncio.Task[None] | None = None
        self.progress: Mapping[str, Any] = {}
        """The file that is being examined, the number of examined files, and the number of all files. Empty before
        the first file.
        """
        self.found = Examination(began_at="")
        """The findings of the current examination so far."""
        self._is_stopping = False
        self._last: Examination | None = None
        self._has_read_last = False

    @property
    def is_running(self) -> bool:
        return self._under_way is not None and not self._under_way.done()

    async def last(self) -> Examination | None:
        """Return the last examination that has ended or was interrupted, or None if there is none.

        The first call after a start of the server reads the examination from its file.
        """
        if not self._has_read_last:
            found = await asyncio.to_thread(read_examination, self._data.path)
            if not self._has_read_last:  # an examination may have ended meanwhile
                self._keep(found)
        return self._last

    def _keep(self, ended: Examination | None) -> None:
        self._last, self._has_read_last = ended, True

    def begin(self) -> bool:
        """Start an examination. Return False if one is already running."""
        if self.is_running:
            return False
        self.progress, self.found = {}, Examination(began_at=self._now())
        self._under_way = asyncio.ensure_future(self._examine())
        return True

    async def _examine(self) -> None:
        error: str | None = None
        try:
            ended = await self._beside.run()
            if ended.code:
                error = (
                    STOPPED
                    if self._is_stopping
                    else ended.said[-1]
                    if ended.said
                    else f"The examination failed with exit status {ended.code}. Run wmsd doctor to see why."
                )
        except OSError as failed:
            error = str(failed)
        kept = self.found.model_copy(update={"ended_at": None if error else self._now(), "error": error})
        self._keep(kept)
        try:
            await asyncio.to_thread(write_examination, self._data.path, kept)
        except OSError as failed:
            LOG.error("the findings of the examination cannot be stored: %s", failed)
        for each in kept.findings:
            LOG.error("examined %s: %s", each.file, each.sentence)
        for found in kept.installation:
            LOG.log(logging.ERROR if found.severity == "wrong" else logging.WARNING, "%s", found.sentence)
        if error:
            LOG.error("the examination was interrupted: %s", error)
        else:
            LOG.info("examined %s, %d with errors", count_of(kept.files, "file"), kept.wrong)

    def _hear(self, line: dict[str, Any]) -> None:
        try:
            if "examined" in line:
                self.found = self.found.with_file(Examined.model_validate(line["examined"]))
            elif "installation" in line:
                self.found = self.found.with_installation(Diagnosed.model_validate(line))
            else:
                self.progress = line
        except ValidationError:
            LOG.error("the examination wrote a line that wmsd cannot read: %.200r", line)

    def _now(self) -> str:
        return timestamps.to_text(self._clock.now())

    async def stop(self) -> None:
        """Stop the examination. Its findings so far are stored."""
        self._is_stopping = True
        await self._beside.stop()
        if self._under_way is not None:
            await asyncio.wait([self._under_way], timeout=STOP_SECONDS)
            self._under_way.cancel()
