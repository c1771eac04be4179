"""[storage]: limits for disk space and memory."""

from typing import Annotated, Final

from pydantic import Field

from wmsd.base.machine.memory import machine_memory
from wmsd.settings.sections.fields import MEGABYTE, Section

LEAST_MEMORY: Final = 32 * MEGABYTE
MOST_MEMORY: Final = 1024 * MEGABYTE


class Storage(Section):
    """Limits for the storage of companies, and the memory for their open files."""

    quota_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000_000,
            description="Maximum size of a company's file, in MB, if the company has no quota of its own. "
            "0: limited only by the disk.",
        ),
    ] = 0
    memory_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="Memory, in MB, for the open files of companies and their caches. With more memory, "
            "more files stay open. 0: an eighth of the machine's memory, from 32 to 1 024 MB.",
        ),
    ] = 0

    @property
    def memory(self) -> int:
        """The memory for the companies' open files and their caches, in bytes. If `memory_megabytes` is 0, return
        the default: an eighth of the machine's memory, within fixed limits.
        """
        own = min(max(machine_memory() // 8, LEAST_MEMORY), MOST_MEMORY)
        return self.memory_megabytes * MEGABYTE or own
