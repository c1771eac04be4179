"""What platform admins are told of the running house."""

from typing import Any, Literal

from wmsd.contract.fields import Model, Timestamp
from wmsd.platform.admin_view.findings_file import Examination


class Progress(Model):
    """Of work that is under way: at what, and how much of how much is done. Empty before it says anything."""

    doing: str
    name: str
    done: int
    all: int


class CheckShown(Model):
    """A check of health. `detail` is what it says itself; `figures` are those of the check."""

    name: str
    ok: bool
    detail: str | None
    figures: dict[str, Any]


class HouseFigures(Model):
    version: str
    started_at: Timestamp
    up_seconds: int
    memory_bytes: int
    companies: int
    open_companies: int
    data_bytes: int
    free_bytes: int
    disk_bytes: int


class ProofShown(Model):
    """The last proof of a backup, which examines every file of it as doctor does."""

    at: Timestamp
    archive: str
    problems: list[str]


class ExaminationShown(Model):
    """`last` has ended, or was broken off. `can_begin` is false where this process cannot start another one."""

    can_begin: bool
    is_running: bool
    progress: Progress | None
    found_so_far: int
    last: Examination | None
    is_wrong: bool
    """Whether the last has found more than warnings."""
    proof: ProofShown | None


class LastExamination(Model):
    """Whether the last examination by doctor has found something wrong. What it is, platform admins may read."""

    is_wrong: bool
    began_at: Timestamp | None


class AlertShown(Model):
    """`facts` fill the places of the sentence of its kind. `subject`: which of it, such as a company's id."""

    kind: str
    subject: str
    facts: dict[str, str]
    sentence: str
    begun_at: Timestamp
    gone_at: Timestamp | None
    """Since when the trouble has been gone. If it stays away for a while, the alert ends."""


class AlertWay(Model):
    """A way that alerts take. `error` is null where it takes them; `waiting` are not taken yet."""

    name: Literal["url", "command", "mail"]
    waiting: int
    failing_since: Timestamp | None
    error: str | None


class AlertsShown(Model):
    """`looked_at`: when they were looked for last, which is every so many seconds."""

    looked_at: Timestamp | None
    every_seconds: int
    open: list[AlertShown]
    ways: list[AlertWay]


class HouseHealth(Model):
    status: Literal["ok", "degraded", "unavailable"]
    checks: list[CheckShown]
    alerts: AlertsShown
    figures: HouseFigures
    examination: ExaminationShown


Proof = Literal["proven", "wrong", "none", "unreadable", "another"]
"""Whether it was proven that an archive can be restored; `another`: it is of another installation."""


class SealedPhrase(Model):
    """`checked_at`: when somebody had last typed the phrase, as the archive says."""

    fingerprint: str
    checked_at: Timestamp | None


class ArchiveShown(Model):
    """`why` says why it cannot be restored."""

    name: str
    made_at: Timestamp | None = None
    bytes: int
    companies: int | None = None
    lacks: list[str] = []
    keys: Literal["encrypted", "sealed", "left out"] | None = None
    """Whether it has the keys of the installation; `sealed` means with the key file."""
    phrases: list[SealedPhrase] = []
    """The recovery phrases that open them; empty where a passphrase does."""
    proof: Proof
    proven_at: Timestamp | None = None
    why: str | None = None


class ReplicaShown(Model):
    enabled: bool
    ok: bool
    sentence: str


class HouseBackups(Model):
    """`next_at` is null where none are scheduled, and not after now where one is due."""

    ok: bool
    sentence: str
    every: Literal["never", "hour", "day"]
    at: str
    folder: str
    is_on_disk_of_data: bool
    keep_hourly: int
    keep_daily: int
    keep_weekly: int
    next_at: Timestamp | None
    is_due: bool
    can_begin: bool
    is_running: bool
    progress: Progress | None
    archives: list[ArchiveShown]
    more: int
    replica: ReplicaShown


class JobShown(Model):
    name: str
    title: str
    says: str
    every_seconds: float
    is_running: bool
    began_at: Timestamp | None
    seconds: float | None
    runs: int
    failures: int
    error: str | None
    failed_at: Timestamp | None
    next_in_seconds: float


class JobsShown(Model):
    data: list[JobShown]


class SettingShown(Model):
    """`place` is the path of the file, the variable or the flag. `read` is when a change of the file counts."""

    name: str
    value: str
    default: str
    is_default: bool
    source: Literal["default", "file", "environment", "command line"]
    place: str | None
    line: int | None
    says: str
    read: Literal["at the start", "each time"]


class SettingsShown(Model):
    file: str | None
    data: list[SettingShown]
