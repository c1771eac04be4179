"""The texts of the tasks after a restore. They are findings, with placeholders for the fields of a task."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.contract.findings import Finding, FindingKind

SETTLE: Final = (
    "If this access is still right, confirm it (`wmsd recovery confirm {id}`). Otherwise end it (`wmsd "
    "recovery end {id}`)."
)
WORDS: Final[Mapping[str, FindingKind]] = {
    "token": FindingKind(
        "token-lost",
        "wrong",
        "The token {name} of {subject} was lost with the keys. wmsd refuses a program that uses this token.",
        "Create a token with the same name for the same user, and give it to the program: `wmsd token "
        "create`. If no program needs the token: `wmsd recovery dismiss {id}`.",
    ),
    "webhook": FindingKind(
        "credentials-lost",
        "wrong",
        "wmsd can no longer decrypt the credentials of the webhook {name} of {subject}, which sends to "
        "{host}. Its webhook deliveries wait.",
        "Set the credentials of the webhook again, on its page or through the API. wmsd then sends the "
        "waiting webhook deliveries in order. If the webhook is not needed, delete it.",
    ),
    "second-factor": FindingKind(
        "second-factor-lost",
        "wrong",
        "The second factor of {subject} was lost with the keys. wmsd refuses codes of the authenticator "
        "app, but accepts recovery codes.",
        "Remove the second factor: `wmsd user remove-second-factor {subject}`. The user sets up a new "
        "one after signing in.",
    ),
    "company": FindingKind(
        "webhooks-not-looked-at",
        "wrong",
        "wmsd has not checked the webhooks of {subject} since the restore. Their credentials may be lost.",
        "Start the server, which checks the webhooks within seconds. If the server is running, its log "
        "shows why it cannot use the file of the company.",
    ),
    "user": FindingKind(
        "user-unconfirmed",
        "wrong",
        "The user {subject} ({name}) can sign in, but was perhaps disabled after the backup.",
        SETTLE,
    ),
    "site": FindingKind(
        "site-unconfirmed",
        "wrong",
        "The bearer token of the transport site {name} of {subject} works, but was perhaps revoked after the "
        "backup.",
        SETTLE,
    ),
    "platform-token": FindingKind(
        "platform-token-unconfirmed",
        "wrong",
        "The {name} works again since the restore. It was perhaps revoked after the backup.",
        SETTLE,
    ),
}
"""The kind of finding for each kind of task."""
KINDS: Final = tuple(WORDS.values())
TITLE: Final = "Tasks after a restore are open"
OPEN: Final = "Tasks after a restore are not settled. Open entries in the list: {number}."
REMEDY: Final = (
    "Settle the entries on the page After a restore, or with `wmsd recovery list`: create lost "
    "things again, and confirm or end access."
)


def finding_of(entry: Mapping[str, Any]) -> Finding:
    return WORDS[entry["kind"]].of(**{name: entry[name] for name in ("id", "name", "subject", "host")})
