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
        "The log and wmsd doctor say which and why.",
    ),
    "cache": CheckWords(
        "Memory of access",
        "Who may do what is known without the disk.",
        "Who may do what cannot be kept in memory.",
        "Start the server again.",
    ),
    "job_queue": CheckWords(
        "Work in the background",
        "It goes on.",
        "The work in the background stands still.",
        "Look at the log.",
    ),
    "disk": CheckWords("Disk", "There is room.", "The disk fills up, or is full.", "Free some space."),
    "webhooks": CheckWords(
        "Webhooks",
        "None was switched off.",
        "Webhooks were switched off because their receivers failed for days.",
        "Mend the receivers, and switch the webhooks on again at the pages of their companies.",
    ),
    "clock": CheckWords(
        "Clock",
        "It can be trusted.",
        "The clock was set.",
        "Nothing old is deleted until somebody confirms it with wmsd clock confirm.",
    ),
    "backup": CheckWords(
        "Backup",
        "It is as it should be.",
        "There is no backup that can be relied on.",
        REMEDY,
    ),
    "recovery": CheckWords(
        "The day after",
        "All tasks after the restore are settled.",
        "What a restore has lost or brought back is not settled.",
        REMEDY_AFTER,
    ),
    "moves": CheckWords(
        "Moves of companies",
        "A company is frozen, because it is being moved.",
        "A company has been frozen for over a day, and takes no changes.",
        "Finish its move and delete it here, or end the freeze with wmsd company thaw. wmsd status names it.",
    ),
    "keys": CheckWords(
        "Installation keys",
        "Nothing to decide.",
        "The keys are not protected against the loss of this box.",
        "Create a recovery phrase and check it, at the page Recovery phrase or with wmsd recovery-phrase create.",
    ),
    "replica": CheckWords(
        "Replica",
        "It has everything.",
        "The replica is behind.",
        "wmsd replica status says since when. Look at the log of the server, and at the place of the replica.",
    ),
}
REMEDIES: Final[Mapping[str, str]] = {
    "damage": "Restore this company from a backup that is proven. The others go on meanwhile.",
    "index": "Run wmsd doctor --fix: it empties the search index, and the server fills it again from the records.",
    "difference": "Write down what is told here, keep a copy of the file, and restore this company from a backup "
    "of before. Tell those who maintain wmsd.",
    "unproved": "The damage keeps this from being checked. Restore this company from a backup that is proven.",
    "error": "Look whether the file and its disk can be read. If not, restore this company from a backup.",
}
"""The remedies by the kind of a finding."""


def failed_checks(checks: Mapping[str, Any]) -> list[str]:
    """Return what is wrong and what to do, for each check that fails."""
    wrong = [words_of(name) for name, found in checks.items() if not found["ok"]]
    return [f"{each.wrong} {each.remedy}" for each in wrong]


def words_of(name: str) -> CheckWords:
    """Return the texts of a check in the language of the page."""
    return CheckWords(*map(_, WORDS[name])) if name in WORDS else _unknown(name)


def _unknown(name: str) -> CheckWords:
    wrong = _("The check %(name)s fails.") % {"name": name}
    return CheckWords(name, _("It is good."), wrong, _("Look at the log."))


def title_of(alert: Mapping[str, Any]) -> str:
    return translate_text(kind_of(alert["kind"]).title)


def sentence_of(alert: Mapping[str, Any]) -> str:
    """Return the sentence of an alert in the language of the page.

    A fact may be a sentence of wmsd, such as the reason why a file cannot be used. Such a fact is translated, too.
    """
    kind = kind_of(alert["kind"])
    facts = {name: translate_error(fact_of(value, kind.words)) for name, value in alert["facts"].items()}
    return fill_pattern(translate_text(alert_pattern(kind, alert["subject"], is_over=False)), facts)


def remedy_of(alert: Mapping[str, Any]) -> str:
    return translate_text(kind_of(alert["kind"]).remedy)


def is_error(alert: Mapping[str, Any]) -> bool:
    return kind_of(alert["kind"]).severity == "error"
