"""A finding about the installation: what is wrong where, and what to do. Its kind is declared once, with its
sentences.
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
"""In a sentence, for a fact."""
Severity = Literal["wrong", "warning"]
_MET: Final = (
    *(errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
)


REASONS: Final = (*(reason_of(OSError(number, os.strerror(number))) for number in _MET), NOT_REGULAR, IS_DATABASE)
"""Those that files and disks give, and ours."""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """`says` and `remedy` are whole sentences. A finding puts its facts into their places in braces."""

    name: str
    severity: Severity
    says: str
    remedy: str
    words: tuple[str, ...] = ()
    """Texts of ours that may stand in the places, so that they can be translated too. They may have places."""

    def of(self, path: Path | None = None, **facts: object) -> "Finding":
        """A finding of this kind; `path` is the file that it is about, if there is one, and its fact `file`."""
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
