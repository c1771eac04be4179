"""The sentences of the list of tasks after a restore, as findings. Each placeholder is filled from a field of the
entry.
"""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.contract.findings import Finding, FindingKind

SETTLE: Final = "Confirm that this is right (`wmsd recovery confirm {id}`), or end it (`wmsd recovery end {id}`)."
WORDS: Final[Mapping[str, FindingKind]] = {
    "token": FindingKind(
        "token-lost",
        "wrong",
        "The token {name} of {subject} was lost with the keys: a program that uses it is refused.",
        "Make a token with the same name for the same user, and give it to the program: `wmsd token create`. If "
        "no program needs it: `wmsd recovery dismiss {id}`.",
    ),
    "webhook": FindingKind(
        "credentials-lost",
        "wrong",
        "The credentials of the webhook {name} of {subject}, which sends to {host}, cannot be opened any more: "
        "its deliveries wait.",
        "Set the credentials of the webhook again, at its page or over the API. Its deliveries go out then, in "
        "their order. If nobody needs the webhook, delete it.",
    ),
    "second-factor": FindingKind(
        "second-factor-lost",
        "wrong",
        "The second factor of {subject} was lost with the keys: codes of the authenticator app are refused, "
        "recovery codes are not.",
        "Remove it: `wmsd user remove-second-factor {subject}`. The user sets it up again after signing in.",
    ),
    "company": FindingKind(
        "webhooks-not-looked-at",
        "wrong",
        "The webhooks of {subject} have not been looked at since the restore: their credentials may be lost.",
        "Start the server, which looks at them within seconds. If it runs, its log says why it cannot use the "
        "file of the company.",
    ),
    "user": FindingKind(
        "user-unconfirmed",
        "wrong",
        "The user {subject} ({name}) may come in. Whether somebody shut this user out after the backup is not "
        "known.",
        SETTLE,
    ),
    "site": FindingKind(
        "site-unconfirmed",
        "wrong",
        "The bearer of the transport site {name} of {subject} works. Whether somebody revoked it after the "
        "backup is not known.",
        SETTLE,
    ),
    "platform-token": FindingKind(
        "platform-token-unconfirmed",
        "wrong",
        "The {name} works. Whether somebody revoked it after the backup is not known.",
        SETTLE,
    ),
}
"""The kinds of findings, by the kind of the entry."""
KINDS: Final = tuple(WORDS.values())
TITLE: Final = "The day after a restore is not settled"
OPEN: Final = "What a restore has lost or brought back is not settled: open entries of the list: {number}."
REMEDY: Final = (
    "Work through the page The day after, or `wmsd recovery list`: it says what must be made anew, and whose "
    "access must be confirmed or ended."
)


def finding_of(entry: Mapping[str, Any]) -> Finding:
    return WORDS[entry["kind"]].of(**{name: entry[name] for name in ("id", "name", "subject", "host")})
