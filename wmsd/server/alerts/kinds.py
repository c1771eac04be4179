"""Every kind of alert, with its sentences.

The sentences have placeholders such as `%(company)s`. The facts of an alert are the values for these placeholders,
by name.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from wmsd.contract.findings import PLACE, FindingKind
from wmsd.host.tls import verdict
from wmsd.maintenance.backups.backup_verdict import REMEDY
from wmsd.tenants.recovery.findings import REMEDY as REMEDY_AFTER

Severity = Literal["warning", "error"]


class AlertKind(NamedTuple):
    """A kind of alert.

    `begins` and `over` are the sentences for the beginning and the end of an alert. If there are very many alerts
    of a kind, wmsd sends only some of them, and one additional alert with the number of the others. `more` and
    `more_over` are the sentences for the beginning and the end of this additional alert. They are "" if only one
    alert of the kind is possible.
    """

    name: str
    severity: Severity
    title: str
    begins: str
    over: str
    remedy: str
    more: str = ""
    more_over: str = ""
    words: tuple[str, ...] = ()
    """The texts that may replace a placeholder in a sentence. They are listed here so that translators find them.
    """


DISK_FILLS: Final = AlertKind(
    "disk-fills",
    "warning",
    "The disk is filling up",
    "The disk of the data folder is filling up: %(free)s MiB were free when this alert began.",
    "The disk of the data folder has enough free space again.",
    "Free some space.",
)
DISK_FULL: Final = AlertKind(
    "disk-full",
    "error",
    "The disk is full",
    "The disk of the data folder is full: wmsd stores no new data. Reading and deleting still work.",
    "The disk of the data folder is no longer full. wmsd stores new data again.",
    "Free some space.",
)
BACKUP: Final = AlertKind(
    "backup",
    "error",
    "No reliable backup",
    "There is no reliable backup: %(why)s.",
    "There is a reliable backup again.",
    REMEDY,
)
RECOVERY: Final = AlertKind(
    "recovery",
    "error",
    "Tasks after a restore are open",
    "Tasks after a restore are not settled: %(number)s entries were open when this alert began.",
    "All tasks after the restore are settled.",
    REMEDY_AFTER,
)
PLATFORM_DOWN: Final = AlertKind(
    "platform-down",
    "error",
    "The service is down",
    "The service cannot use its own data: %(why)s. wmsd cannot answer requests.",
    "The service can use its own data again.",
    "Stop the server and run wmsd doctor, which names the backup to restore.",
)
COMPANY_DOWN: Final = AlertKind(
    "company-down",
    "error",
    "A company is down",
    "The file of the company %(company)s cannot be used or written: %(why)s",
    "The company %(company)s can be used again.",
    "Run wmsd doctor. If the file is damaged, restore this company from a backup.",
    "The files of %(number)s more companies cannot be used or written.",
    "The files of the other companies can be used again.",
)
COMPANY_FILLS: Final = AlertKind(
    "company-fills",
    "warning",
    "A company is almost out of space",
    "The company %(company)s is almost out of space: it used %(held)s MB when this alert began, and "
    "its limit is %(bound)s MB.",
    "The company %(company)s has enough space again.",
    "Delete data that is no longer needed, free some space on the disk, or give the company a larger quota.",
    "%(number)s more companies are almost out of space.",
    "The other companies have enough space again.",
)
GIVEN_UP: Final = AlertKind(
    "deliveries-given-up",
    "warning",
    "Webhook deliveries failed",
    "Webhook deliveries of the company %(company)s failed at their last attempt: %(number)s had "
    "failed when this alert began.",
    "No more webhook deliveries of the company %(company)s have failed for a day, or the failed "
    "ones were sent again.",
    "Fix the receiver, then send the webhook deliveries again on the pages of the company.",
    "Webhook deliveries of %(number)s more companies failed.",
    "No more webhook deliveries of the other companies have failed.",
)
TOKEN_ENDS: Final = AlertKind(
    "token-expires",
    "warning",
    "A token expires soon",
    "The token %(token)s (%(name)s) of %(user)s expires at %(expires_at)s.",
    "The token %(token)s (%(name)s) of %(user)s was renewed or revoked, or it has expired.",
    "Create a new token in time, and give it to the program that uses this token.",
    "%(number)s more tokens expire within 14 days.",
    "The other tokens were renewed or revoked, or they have expired.",
)
REPLICA: Final = AlertKind(
    "replica-behind",
    "error",
    "The replica is behind",
    "The replica is not complete: %(why)s.",
    "The replica is complete again.",
    "Check that Litestream is running and can reach its destination. wmsd replica status shows "
    "which files are behind.",
)


def _of_finding(found: FindingKind, name: str, title: str, over: str) -> AlertKind:
    """Return the kind of alert for a finding of the doctor. Its sentence and its advice are those of the
    finding.
    """
    severity: Severity = "error" if found.severity == "wrong" else "warning"
    says, remedy = (PLACE.sub(r"%(\1)s", text) for text in (found.says, found.remedy))
    return AlertKind(name, severity, title, says, over, remedy, words=found.words)


REPLACED: Final = "The certificate %(file)s was replaced."
OF_CERTIFICATE: Final[Mapping[str, AlertKind]] = {
    found.name: _of_finding(found, name, title, over)
    for found, name, title, over in (
        (
            *(verdict.UNUSABLE, "certificate-unusable", "The certificate cannot be used"),
            "The files of the certificate can be used again.",
        ),
        (verdict.EXPIRED, "certificate-expired", "The certificate has expired", REPLACED),
        (
            *(verdict.NOT_YET, "certificate-early", "The certificate is not valid yet"),
            "The certificate %(file)s was replaced, or has become valid.",
        ),
        (
            *(verdict.ENDS, "certificate-expires", "The certificate expires soon"),
            "The certificate %(file)s was replaced, or it has expired.",
        ),
        (
            *(verdict.NOT_RENEWED, "certificate-not-renewed", "The certificate was not renewed"),
            "The certificate %(file)s was renewed.",
        ),
        (
            *(verdict.AUTHORITY_ENDS, "authority-ends", "The certificate authority for the LAN expires soon"),
            "There is a new certificate authority %(file)s: every user must install it.",
        ),
    )
}
"""The kinds of alerts about certificates, by the name of the finding."""
KINDS: Final = (
    *(DISK_FULL, DISK_FILLS, BACKUP, RECOVERY, REPLICA, PLATFORM_DOWN, COMPANY_DOWN, COMPANY_FILLS, GIVEN_UP),
    TOKEN_ENDS,
    *OF_CERTIFICATE.values(),
)
BY_NAME: Final[Mapping[str, AlertKind]] = {each.name: each for each in KINDS}


def kind_of(name: str) -> AlertKind:
    """Return the kind with this name.

    An alert that another version has stored may have an unknown name. For an unknown name, return a kind with the
    severity "error", whose sentences consist of the name.
    """
    sentence = name.replace("%", "%%")
    unknown = AlertKind(name, "error", name, sentence, sentence, "", sentence, sentence)
    return BY_NAME.get(name, unknown)


MORE: Final = "more"
"""The `subject` of the additional alert that gives the number of alerts that are not sent."""


def alert_pattern(kind: AlertKind, subject: str, is_over: bool) -> str:
    """Return the sentence of an alert, with placeholders for its facts."""
    if subject == MORE:
        return kind.more_over if is_over else kind.more
    return kind.over if is_over else kind.begins


def fill_pattern(pattern: str, facts: Mapping[str, str]) -> str:
    """Return the sentence with the facts in place of the placeholders. A question mark replaces a fact that is
    missing, because another version did not store it.
    """
    return pattern % defaultdict(lambda: "?", facts)


def alert_sentence(name: str, subject: str, facts: Mapping[str, str], is_over: bool = False) -> str:
    """Return the sentence of an alert in English."""
    return fill_pattern(alert_pattern(kind_of(name), subject, is_over), facts)
