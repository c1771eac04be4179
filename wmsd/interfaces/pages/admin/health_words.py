"""The health checks and the alerts in the language of the page, each with its remedy."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wmsd.interfaces.pages.kit.text.finding_sentences import fact_of
from wmsd.interfaces.pages.kit.text.language import translate_error, translate_text
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.maintenance.backups.backup_verdict import REMEDY
from wmsd.server.alerts.kinds import alert_pattern, fill_pattern, kind_of
from wmsd.tenants.recovery.findings import REMEDY as REMEDY_AFTER


class CheckWords(NamedTuple):
    title: str
    good: str
    wrong: str
    remedy: str


WORDS: Final[Mapping[str, CheckWords]] = {
    "database": CheckWords(
        "Files",
        "Every company's file can be read and written.",
        "A company's file cannot be used.",
        "The log and wmsd doctor show which file and why.",
    ),
    "cache": CheckWords(
        "Permissions",
        "Permissions are loaded in memory.",
        "Permissions cannot be kept in memory.",
        "Restart the server.",
    ),
    "job_queue": CheckWords(
        "Background jobs",
        "Background jobs are running.",
        "Background jobs have stopped.",
        "Check the log.",
    ),
    "disk": CheckWords("Disk", "There is enough space.", "The disk is full or almost full.", "Free some space."),
    "webhooks": CheckWords(
        "Webhooks",
        "wmsd did not switch off any webhook.",
        "wmsd switched off webhooks because their receivers failed for days.",
        "Fix the receivers, and switch the webhooks on again on the pages of their companies.",
    ),
    "clock": CheckWords(
        "Clock",
        "The check found no problem with the clock.",
        "The clock was changed.",
        "If the clock is wrong, set it, preferably by NTP. If the clock is right, run wmsd clock confirm, "
        "and wmsd deletes old data again.",
    ),
    "backup": CheckWords(
        "Backup",
        "The check found no problem.",
        "There is no reliable backup.",
        REMEDY,
    ),
    "recovery": CheckWords(
        "After a restore",
        "All tasks after the restore are settled.",
        "Not everything that a restore lost or brought back is settled.",
        REMEDY_AFTER,
    ),
    "moves": CheckWords(
        "Moves of companies",
        "A company is frozen, because it is being moved.",
        "A company has been frozen for over a day, and takes no changes.",
        "Finish the move and delete the company here, or end the freeze with wmsd company thaw. wmsd "
        "status shows which company.",
    ),
    "keys": CheckWords(
        "Installation keys",
        "The installation keys need no action now.",
        "The keys are not protected against the loss of this machine.",
        "Create a recovery phrase and check it, on the page Recovery phrase or with wmsd recovery-phrase create.",
    ),
    "replica": CheckWords(
        "Replica",
        "The replica is up to date.",
        "The replica is behind.",
        "Check that Litestream is running and can reach its destination. wmsd replica status shows which "
        "files are behind, and since when.",
    ),
}
REMEDIES: Final[Mapping[str, str]] = {
    "damage": "Restore this company from a verified backup. The other companies continue to work.",
    "index": "Run wmsd doctor --fix. The command empties the search index, and the server rebuilds the "
    "index from the records.",
    "difference": "Write down this finding, keep a copy of the file, and restore this company from an "
    "earlier backup. Report the finding to the maintainers of wmsd.",
    "unproved": "The damage prevents this check. Restore this company from a verified backup.",
    "error": "Check whether the file and its disk can be read. If not, restore this company from a backup.",
}
"""The remedies, by the kind of the finding."""


def failed_checks(checks: Mapping[str, Any]) -> list[str]:
    """Return what is wrong and what to do, for each check that fails."""
    wrong = [words_of(name) for name, found in checks.items() if not found["ok"]]
    return [f"{each.wrong} {each.remedy}" for each in wrong]


def words_of(name: str) -> CheckWords:
    """Return the texts for the check with this name, in the language of the page."""
    return CheckWords(*map(_, WORDS[name])) if name in WORDS else _unknown(name)


def _unknown(name: str) -> CheckWords:
    wrong = _("The check %(name)s fails.") % {"name": name}
    return CheckWords(name, _("The check passes."), wrong, _("Check the log."))


def title_of(alert: Mapping[str, Any]) -> str:
    return translate_text(kind_of(alert["kind"]).title)


def sentence_of(alert: Mapping[str, Any]) -> str:
    """Return the sentence of an alert in the language of the page.

    A value in the sentence may itself be a sentence, such as the reason why a file cannot be used. Such a value is
    translated, too.
    """
    kind = kind_of(alert["kind"])
    facts = {name: translate_error(fact_of(value, kind.words)) for name, value in alert["facts"].items()}
    return fill_pattern(translate_text(alert_pattern(kind, alert["subject"], is_over=False)), facts)


def remedy_of(alert: Mapping[str, Any]) -> str:
    return translate_text(kind_of(alert["kind"]).remedy)


def is_error(alert: Mapping[str, Any]) -> bool:
    return kind_of(alert["kind"]).severity == "error"
