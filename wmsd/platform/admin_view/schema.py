"""The answers of the operations for platform admins about the running installation."""

from typing import Any, Literal

from wmsd.contract.fields import Model, Timestamp
from wmsd.platform.admin_view.findings_file import Examination


class Progress(Model):
    """The progress of running work. `doing` is the current step, and `name` the company or file that the step is
    processing. `done` and `all` count files in an examination, and bytes in a backup.
    """

    doing: str
    name: str
    done: int
    all: int


class CheckShown(Model):
    """A health check. `detail` is a sentence about it, and `figures` are its numbers."""

    name: str
    ok: bool
    detail: str | None
    figures: dict[str, Any]


class InstallationFigures(Model):
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
    """The last verification of a backup. A verification examines every file of the backup as doctor does."""

    at: Timestamp
    archive: str
    problems: list[str]


class ExaminationShown(Model):
    """The examinations by doctor.

    `last` is the last examination that ended or was interrupted. `can_begin` is false if this process cannot start
    another one.
    """

    can_begin: bool
    is_running: bool
    progress: Progress | None
    found_so_far: int
    last: Examination | None
    is_wrong: bool
    """True if the last examination has found an error, not only warnings."""
    proof: ProofShown | None


class LastExamination(Model):
    """Whether the last examination by doctor has found an error. Only platform admins may read the findings."""

    is_wrong: bool
    began_at: Timestamp | None


class AlertShown(Model):
    """An open alert.

    `facts` are the values for the placeholders in the alert's sentence. `subject` says what the alert is about,
    such as a company's id.
    """

    kind: str
    subject: str
    facts: dict[str, str]
    sentence: str
    begun_at: Timestamp
    gone_at: Timestamp | None
    """The time when the problem disappeared, or null while the problem lasts. If the problem does not come back
    for a while, the alert ends.
    """


class AlertChannel(Model):
    """A channel for alerts. `waiting` is the number of unsent alerts. `error` is null if the channel works."""

    name: Literal["url", "command", "mail"]
    waiting: int
    failing_since: Timestamp | None
    error: str | None


class AlertsShown(Model):
    """The open alerts. `looked_at` is the time of the last check, which runs every `every_seconds` seconds."""

    looked_at: Timestamp | None
    every_seconds: int
    open: list[AlertShown]
    ways: list[AlertChannel]


class InstallationHealth(Model):
    status: Literal["ok", "degraded", "unavailable"]
    checks: list[CheckShown]
    alerts: AlertsShown
    figures: InstallationFigures
    examination: ExaminationShown


Proof = Literal["proven", "wrong", "none", "unreadable", "another"]
"""The result of the verification of an archive.

`proven`: the archive can be restored. `wrong`: the verification found problems. `none`: no result is recorded.
`unreadable`: the archive cannot be read. `another`: the archive belongs to another installation.
"""


class SealedPhrase(Model):
    """A recovery phrase to which an archive is sealed.

    `checked_at` is the last time when a person typed the phrase before the creation of the archive.
    """

    fingerprint: str
    checked_at: Timestamp | None


class ArchiveShown(Model):
    """A backup archive. `why` is the reason why the archive cannot be restored."""

    name: str
    made_at: Timestamp | None = None
    bytes: int
    companies: int | None = None
    lacks: list[str] = []
    keys: Literal["encrypted", "sealed", "left out"] | None = None
    """How the archive protects the keys of the installation; `sealed` means with the key file."""
    phrases: list[SealedPhrase] = []
    """The recovery phrases that open the keys; empty if a passphrase opens them."""
    proof: Proof
    proven_at: Timestamp | None = None
    why: str | None = None


class ReplicaShown(Model):
    enabled: bool
    ok: bool
    sentence: str


class InstallationBackups(Model):
    """The backups. `next_at` is null if no backup is scheduled. If the next backup is due, `next_at` is now or in
    the past.
    """

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
    """A setting in force.

    `place` says where the setting is set: the path of the file, the name of the variable, or the flag. `read` says
    when a change of the file takes effect.
    """

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
