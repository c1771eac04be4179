"""Findings about the installation. A finding says what is wrong, in which file or record, and what to do.

A kind of finding is declared once, with its sentences.
"""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.regular_files import IS_DATABASE, NOT_REGULAR, reason_of

PLACE: Final = re.compile(r"\{(\w+)\}")
"""A placeholder in a sentence, such as `{file}`, which a value replaces."""
Severity = Literal["wrong", "warning"]
_MET: Final = (
    *(errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
)


REASONS: Final = (*(reason_of(OSError(number, os.strerror(number))) for number in _MET), NOT_REGULAR, IS_DATABASE)
"""All reasons for an error that a finding can name. They are reasons of the operating system, about files and
disks, and two reasons of wmsd.
"""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding.

    `says` and `remedy` are whole sentences with placeholders in braces. A finding replaces these with its `facts`.
    """

    name: str
    severity: Severity
    says: str
    remedy: str
    words: tuple[str, ...] = ()
    """English texts that may replace the placeholders. They are listed so that they can be translated. They may
    contain placeholders themselves.
    """

    def of(self, path: Path | None = None, **facts: object) -> "Finding":
        """Return a finding of this kind. `facts` are the values of the placeholders.

        `path` is the file that the finding is about. The placeholder `{file}` gets this path too.
        """
        named = {} if path is None else {"file": str(path)}
        return Finding(self, {**named, **{name: str(fact) for name, fact in facts.items()}}, path)


@dataclass(frozen=True, slots=True)
class Finding:
    kind: FindingKind
    facts: Mapping[str, str]
    path: Path | None = None

    @property
    def is_wrong(self) -> bool:
        return self.kind.severity == "wrong"

    @property
    def sentence(self) -> str:
        return self.kind.says.format_map(self.facts)

    @property
    def remedy(self) -> str:
        return self.kind.remedy.format_map(self.facts)


Found = Iterator[Finding]
