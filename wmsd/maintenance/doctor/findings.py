"""Every kind of finding about an installation, and the functions that find them."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from wmsd.base.machine.regular_files import reason_of
from wmsd.contract.findings import REASONS, Finding, FindingKind, Found
from wmsd.host.tls import verdict as certificates
from wmsd.maintenance.doctor import (
    backups,
    clock,
    disk,
    file_modes,
    folder_files,
    leftovers,
    mailboxes,
    network,
    settings_files,
    write_ahead_logs,
)
from wmsd.maintenance.doctor.situation import Situation
from wmsd.tenants.recovery import findings as recovery

NOT_LISTED: Final = FindingKind(
    "recovery-not-listed",
    "wrong",
    "The list of tasks that the last restore requires does not exist yet.",
    "Start the server, or run `wmsd recovery list`: both create the list.",
)
OF_RECOVERY: Final = (NOT_LISTED, *recovery.KINDS)
INVALID_SETTING: Final = FindingKind(
    "settings-mistaken",
    "wrong",
    "There is an error in the settings. {sentence}",
    "Correct the setting, then run wmsd config check. Until then, no server can start; this examination "
    "ignored the setting.",
)


def recovery_findings(at: Situation) -> Found:
    """Find the open tasks after a restore, and a restore whose list of tasks was not created yet."""
    if at.recovery is None:
        return
    if at.recovery.is_unlisted:
        yield NOT_LISTED.of()
    for entry in at.recovery.entries:
        yield recovery.finding_of(entry)


def settings_findings(at: Situation) -> Found:
    """Find the errors in the settings. A setting with an error is ignored; the other settings are examined."""
    return (INVALID_SETTING.of(sentence=sentence) for sentence in at.mistakes)


def certificate_findings_at(at: Situation) -> Found:
    """Find problems of the certificate: missing, not valid now, or not valid for the address that people use."""
    return certificates.certificate_findings(at.settings.server, at.data, at.now)


class Group(NamedTuple):
    """Kinds of findings that belong together, and the two functions that find them. `measures` is slower than
    `look`, so wmsd calls it only for a complete examination.
    """

    title: str
    kinds: Sequence[FindingKind]
    look: Callable[[Situation], Found]
    measures: Callable[[Situation], Found] | None = None


GROUPS: Final = (
    Group("The data folder", folder_files.KINDS, folder_files.findings),
    Group("Write-ahead logs", write_ahead_logs.KINDS, write_ahead_logs.findings),
    Group("Permissions", file_modes.KINDS, file_modes.findings),
    Group("Unfinished files", leftovers.KINDS, leftovers.findings),
    Group("Disks", disk.KINDS, disk.findings, disk.findings_of_speed),
    Group("Backups", backups.KINDS, backups.findings),
    Group("After a restore", OF_RECOVERY, recovery_findings),
    Group("Users", mailboxes.KINDS, mailboxes.findings),
    Group("Clock", clock.KINDS, clock.findings),
    Group("Settings", (INVALID_SETTING,), settings_findings),
    Group("Files named in the settings", settings_files.KINDS, settings_files.findings),
    Group("Address and proxy", network.KINDS, network.findings),
    Group("Certificate", certificates.KINDS, certificate_findings_at),
)
BEFORE_START: Final = (
    Group("The data folder", folder_files.KINDS, folder_files.findings_before_start),
    Group("Address and proxy", network.KINDS, network.findings_before_start),
    Group("Clock", (clock.ZONE_UNKNOWN,), clock.findings_of_zone),
    Group("Files named in the settings", settings_files.KINDS, settings_files.findings),
    Group("Backups", backups.KINDS, backups.findings_before_start),
    Group("Permissions", file_modes.KINDS, file_modes.findings_of_secrets),
    Group("Certificate", certificates.KINDS, certificate_findings_at),
)
"""The checks before a start. They find problems that prevent a server from starting, or from doing what the
settings say. The data folder need not exist.
"""
LOG = logging.getLogger("wmsd.doctor")
UNEXAMINED: Final = FindingKind(
    "unexamined",
    "wrong",
    "This part could not be examined: {group}, because {reason}.",
    "Make sure that this user may read the data folder, the backup folder and the temporary folder. Then run "
    "wmsd doctor again.",
    words=(*(group.title for group in GROUPS), *REASONS),
)
BROKEN_OFF: Final = FindingKind(
    "broken-off",
    "wrong",
    "An error in wmsd interrupted this part of the examination: {group}. The message is: {reason}.",
    "Send this message to the developers of wmsd. The other parts were examined.",
    words=tuple(group.title for group in GROUPS),
)
KINDS: Final = (*(kind for group in GROUPS for kind in group.kinds), UNEXAMINED, BROKEN_OFF)
MOST_OF_KIND: Final = 20
"""How many findings of one kind are reported, for example when a thousand files have the same problem."""


def diagnose(at: Situation, measured: bool = True, groups: Sequence[Group] = GROUPS) -> list[Finding]:
    """Return the findings, errors first, then warnings. `measured` includes the checks that take longer."""
    found = [finding for group in groups for finding in _found(group, at, measured)]
    return sorted(_bounded(found), key=lambda finding: not finding.is_wrong)


def _found(group: Group, at: Situation, measured: bool) -> Iterator[Finding]:
    """Yield the findings of one group. An error in this group does not stop the other groups."""
    try:
        yield from group.look(at)
        if measured and group.measures is not None:
            yield from group.measures(at)
    except OSError as error:
        yield UNEXAMINED.of(group=group.title, reason=reason_of(error))
    except Exception as error:  # a defect of wmsd
        LOG.error("the examination of %s was interrupted", group.title, exc_info=error)
        yield BROKEN_OFF.of(group=group.title, reason=f"{type(error).__name__}: {error}")


def _bounded(found: Sequence[Finding]) -> Iterator[Finding]:
    counts: dict[str, int] = {}
    for finding in found:
        counts[finding.kind.name] = counts.get(finding.kind.name, 0) + 1
        if counts[finding.kind.name] <= MOST_OF_KIND:
            yield finding
